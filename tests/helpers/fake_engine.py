"""An engine and kernel trees that only pretend, so that the lab around them is tested anywhere.

The fake simulator's figure is a constant of the tree's fair.c, times a little noise of the seed;
what a scenario's features and knobs say makes it slower, fail, hang or warn.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import tomli_w

from schedlab.cli import main
from schedlab.kernels.shelf import Base, Shelf
from tests.helpers.load import share_own_programs

MAKEFILE = """\
all: $(if $(SCX),$(SCX_OUT),$(O))/schedsim
ifneq ($(PATCHES),)
SRC := $(O)/src
$(O)/schedsim: $(SRC)/kernel/sched/fair.c
$(SRC)/kernel/sched/fair.c: $(KERNEL)/kernel/sched/fair.c $(PATCHES)
\t@mkdir -p $(SRC) && cp -r $(KERNEL)/kernel $(SRC)/
\t@for p in $(PATCHES); do patch -s -p1 -d $(SRC) < $$p; done
else
SRC := $(KERNEL)
endif
$(O)/schedsim: $(SRC)/kernel/sched/fair.c schedsim.py
\t@printf '  %-10s %s\\n' 'CC KERNEL' 'kernel/sched/fair.c'
\t@mkdir -p $(O)/gen/generated && scripts/probe $(KERNEL) $(SRC) > $(O)/gen/generated/tree.h
\t@if grep -q 'slow compile' $<; then sleep 30; fi
\t@mkdir -p $(O)/k && echo 'fair.o: $<' > $(O)/k/fair.d
\t@sed -n 's,.*warns: \\(.*\\) \\*/,$<:3:1: warning: \\1,p' $< > $(O)/k/fair.o.warn
\t@if grep -q 'not C' $<; then echo "$<:3:1: error: expected ';'" >&2; exit 1; fi
\t@if grep -q 'asserts' $<; then \\
\t\techo '3:1: error: static assertion failed: "too many of them"' >&2; exit 1; fi
\t@if grep -q 'fills the disk' $<; then echo "No space left on device" >&2; exit 1; fi
\t@if grep -q 'kills the compiler' $<; then \\
\t\techo 'gcc: fatal error: Killed signal terminated program cc1' >&2; exit 1; fi
\t@if grep -q 'calls away' $<; then \\
\t\tprintf 'undefined symbols that are not in stubs.txt:\\nfar_away\\n' >&2; exit 1; fi
\t@echo 'objects of: $(BASE)'
\t@printf '  %-10s %s\\n' 'LD' 'schedsim'
\t@sed -n 's,.*unmatched: \\(.*\\) \\*/,\\1,p' $< > $(O)/unmatched.txt
\t@sed -n 's,.*changed: \\(.*\\) \\*/,\\1,p' $< | tr '|' '\\t' > $(O)/changed-calls.txt
\t@sed "s/@SPEED@/$$(sed -n 's/.*speed = \\(.*\\);/\\1/p' $<)/" schedsim.py > $@ && chmod +x $@
calls: $(SRC)/kernel/sched/fair.c
\t@mkdir -p $(O)/k/kernel/sched
\t@sed -n 's,.*calls: \\(.*\\) \\*/,\\1,p' $< | tr '|' '\\t' > $(O)/k/kernel/sched/fair.calls
ifneq ($(SCX),)
$(SCX_OUT)/schedsim: $(O)/schedsim $(SCX)
\t@if grep -q unheard_of $(SCX); then echo "scx: $(SCX_NAME): calls unheard_of"; exit 1; fi
\t@mkdir -p $(@D) && cp $< $@
endif
"""

PROBE = """\
#!/bin/sh
tree=$2
has() { grep -q "$3" "$tree/${2%[?]}" && echo "#define TREE_HAS_$1 1"; }
has A_FACT kernel/sched/fair.c? '^int here;'
true
"""

LIMITS = """\
[[limit]]
shared = true
types = ["atomic_t"]
what = "is a new word whose line costs nothing"
"""

SCHEDSIM = """\
# Without json, random and argparse, whose imports would be most of what a run takes.
import math, os, sys, time
from _json import encode_basestring_ascii as quoted
from _random import Random
words = {f"--{name}" for name in ("machine", "scenario", "out", "seed", "trace", "trace-format",
         "trace-events", "trace-cpus", "trace-tasks", "trace-from", "trace-to", "trace-ring")}
given, rest = {}, iter(sys.argv[1:])
for word in rest:
    if word != "--print-domains" and word not in words:
        sys.exit(f"schedsim: unknown option {word}")
    given[word] = word if word == "--print-domains" else next(rest)

def end(status, text):
    sys.stderr.write(f"schedsim: {text}\\n")
    sys.exit(status)

def load(path):
    with open(path) as file:
        return eval(file.read(), {"true": True, "false": False, "null": None})

def dump(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(key)}: {dump(of)}" for key, of in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(dump, value)) + "]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return quoted(value) if isinstance(value, str) else repr(value)

def lognormal(seed, sigma):
    # As random.Random(seed).lognormvariate(0, sigma).
    draw = Random(seed).random
    while True:
        u1, u2 = draw(), 1.0 - draw()
        z = 4 * math.exp(-0.5) / math.sqrt(2.0) * (u1 - 0.5) / u2
        if z * z / 4.0 <= -math.log(u2):
            return math.exp(0.0 + z * sigma)

machine = load(given["--machine"])
if "line_core" not in machine["cost"]:
    end(2, f"{given['--machine']}: cost.line_core: missing")
if "--print-domains" in given:
    print("cpu0/domain0/name=MC span=0-3")
    sys.exit()
scenario = load(given["--scenario"])
knobs = scenario["knobs"]
for path in knobs:
    if "nosuch" in path:
        end(2, f"writing {path}: No such file or directory")
if "sched_ext" in scenario:
    name = scenario["sched_ext"]["scheduler"]
    if name.startswith("refused"):
        end(2, f"sched_ext: the kernel does not load {name}: Invalid argument (name)")
    end(3, f"{name}: the scheduler fails")
features = scenario["features"]
# Machines of 7 ns do not feel how fast the scheduler is.
speed = 1.0 if str(machine["cost"]["line_core"]).startswith("7") else @SPEED@
took = speed * lognormal(int(given.get("--seed", 1)), 0.02)
if features.get("WA_IDLE") is False:
    took *= 0.8
report = {"status": "done", "metrics": {}, "counters": {
    "sched:sched_migrate_task": 1000.0 * took, "sched:pelt_se_tp": 3,
    "switches:voluntary": 10, "switches:involuntary": 5, "engine:spins": 1}}
known = {"WA_IDLE": True, "WA_WEIGHT": True} | features
words = [name if on else f"NO_{name}" for name, on in known.items()]
report["settings"] = {"/sys/kernel/debug/sched/features": " ".join(words), **knobs}
report["settings"] |= {f"cpufreq {name}": text for name, text in scenario["cpufreq"].items()}
if "/sys/kernel/debug/sched/preempt" in knobs:
    report["settings"]["/sys/kernel/debug/sched/preempt"] = "none voluntary (full)"
for workload in scenario.get("workloads", []):
    if workload["kind"] == "nanosleep":
        continue
    mode = knobs.get("/sys/kernel/debug/sched/mode")
    if mode == "warn":
        sys.stderr.write("schedsim: kernel WARNING at kernel/sched/core.c:7 in f()\\n"
                         "  simulated time 0.5 s, CPU 1, task a/2\\n")
        sys.exit(3)
    if mode == "hang":
        time.sleep(1000)
    if mode == "endless":
        sys.exit(4)
    if mode == "short":
        report["steady"] = {"unsettled": ["load averages remember 1 s", "MC is not balanced"]}
    if mode == "brief":
        domains = [{"busy_interval_s": 0.06}, {"busy_interval_s": 0.124}]
        report["steady"], report["window_s"] = {"unsettled": [], "domains": domains}, 0.0024
    if mode == "slow":
        open(os.path.join(os.path.dirname(given["--out"]), f"pid-{os.getpid()}"), "w").close()
        time.sleep(1.5)
    time.sleep(os.urandom(1)[0] / 256 * 0.05)
    loops = workload.get("loops", workload.get("loop"))
    report["metrics"][workload["kind"] + ".time"] = took * loops
if "--trace" in given:
    told = (given.get(f"--trace-{name}") for name in ("format", "events", "ring"))
    with open(given["--trace"], "w") as file:
        file.write(f"# {' '.join(map(str, told))}\\n")
with open(given["--out"], "w") as file:
    file.write(dump(report))
"""

FAIR = """\
/* Completely pretended scheduler */

int here;
int speed = {speed};
int there;

/* More of it. */
{more}
/* the end */
"""


def write_engine(folder: Path) -> Path:
    """Write an engine, with what makes it one."""
    folder.mkdir(parents=True)
    (folder / "kernel-sources.mk").write_text("KERNEL_SOURCES := kernel/sched/fair.c fs/seq.c\n")
    (folder / "Makefile").write_text(MAKEFILE)
    (folder / "limits.toml").write_text(LIMITS)
    (folder / "scripts").mkdir()
    (folder / "scripts/generate").touch()
    (folder / "scripts/probe").write_text(PROBE)
    (folder / "scripts/probe").chmod(0o755)
    # Isolated and without packages, Python starts in a fifth of the time.
    (folder / "schedsim.py").write_text(f"#!{sys.executable} -IS\n{SCHEDSIM}")
    return folder


def write_tree(
    folder: Path, *, version: str = "6.12.7", speed: float = 1.0, more: str = ""
) -> Path:
    """Write a kernel tree with just the files the fake engine reads."""
    major, minor, patch = version.split(".")
    files = {
        "Makefile": f"VERSION = {major}\nPATCHLEVEL = {minor}\nSUBLEVEL = {patch}\n",
        "kernel/Kconfig.preempt": "config PREEMPT_VOLUNTARY\nconfig PREEMPT\n",
        "kernel/sched/core.c": "int core;\n",
        "kernel/sched/fair.c": FAIR.format(speed=speed, more=more),
        "kernel/sched/features.h": "SCHED_FEAT(WA_IDLE, true)\nSCHED_FEAT(WA_WEIGHT, true)\n",
        "include/linux/sched.h": "\n",
        "io_uring/io-wq.h": "\n",
        "lib/sort.c": "\n",
        "mm/internal.h": "\n",
        "fs/seq.c": "\n",
        "Documentation/scheduler.rst": "Words.\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def git_tree(folder: Path, **more: object) -> Path:
    """Write a kernel tree and commit it as v6.12-test."""
    write_tree(folder, **more)  # type: ignore[arg-type]
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "x"), ("tag", "v6.12-test")):
        subprocess.run(["git", "-C", str(folder), *identity, *words], check=True)
    return folder


def speed_patch(old: float, new: float, *, also: str = "") -> str:
    """Return a patch that changes the speed, with a description around it."""
    return (
        "From: Somebody\nSubject: [PATCH] faster\n\nWhy.\n---\n"
        " kernel/sched/fair.c | 2 +-\n\n"
        "diff --git a/kernel/sched/fair.c b/kernel/sched/fair.c\n"
        "--- a/kernel/sched/fair.c\n+++ b/kernel/sched/fair.c\n@@ -1,7 +1,7 @@\n"
        " /* Completely pretended scheduler */\n \n int here;\n"
        f"-int speed = {old};\n+int speed = {new};\n"
        f" int there;\n \n /* More of it. */\n{also}-- \n2.39\n"
    )


def write_machine(path: Path, **changes: object) -> Path:
    """Write a machine of four CPUs that can be simulated."""
    machine = {
        "name": "four",
        "topology": {"cpus": 4},
        "cache": {"l2": "512KiB", "llc": "32MiB"},
        "cost": {"line_core": "5ns"},
        **changes,
    }
    path.write_text(tomli_w.dumps({key: value for key, value in machine.items() if value}))
    return path


class FakeLab:
    """A lab with the fake engine, a cache of its own and a fake 6.12 tree."""

    def __init__(
        self, folder: Path, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.folder = folder
        self.engine = write_engine(folder / "engine")
        self.tree = write_tree(folder / "tree")
        self.machine = write_machine(folder / "four.toml")
        self.cache = folder / "cache"
        self.env = {"SCHEDLAB_ENGINE": str(self.engine), "SCHEDLAB_CACHE": str(self.cache)}
        share_own_programs(self.cache)
        for name, value in self.env.items():
            patch.setenv(name, value)
        self._patch = patch
        self._capsys = capsys

    def call(self, *words: object) -> tuple[int, str, str]:
        """Run a command line; give status, output and errors."""
        self._patch.setattr(sys, "argv", ["schedlab", *map(str, words)])
        status = 0
        try:
            main()
        except SystemExit as end:
            status = int(end.code or 0)
        streams = self._capsys.readouterr()
        assert "schedlab: internal error" not in streams.err, streams.err
        return status, streams.out, streams.err

    def refused(self, *words: object) -> str:
        """Run a command line that is refused; give what it says."""
        status, out, errors = self.call(*words)
        assert status == 2, (out, errors)
        return errors

    def add_tree(self) -> None:
        """Add the fake tree as 6.12."""
        status, _, errors = self.call("kernel", "add", "--tree", self.tree, "--name", "6.12")
        assert status == 0, errors

    def add_debians(self, series: str = "6.12", **tree: object) -> None:
        """Add a fake tree of Debian's."""
        folder = write_tree(self.cache / f"debian-{series}", version=f"{series}.1", **tree)  # type: ignore[arg-type]
        base = Base(
            name=f"debian-{series}",
            series=series,
            release=f"{series}.1",
            origin=f"Debian linux-source-{series} {series}.1-1",
            tree=folder,
            identity=f"linux-source-{series}",
        )
        Shelf(self.cache).put_base(base)

    def patch_file(self, old: float = 1.0, new: float = 0.5, name: str = "faster.patch") -> Path:
        """Write a patch that changes the fake scheduler's speed."""
        path = self.folder / name
        path.write_text(speed_patch(old, new))
        return path

    def start(self, *words: object) -> "subprocess.Popen[str]":
        """Start a command line in a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-c", "from schedlab.cli import main; main()", *map(str, words)],
            env={**os.environ, **self.env},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
