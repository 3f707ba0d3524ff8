"""The commands of README and the manual, and a desk at which they can be run as a reader would.

The desk has what the examples name: plans, patches, results, mails, a host to run on (an emulated
one), a box behind ssh (this machine), kernel trees, and a make that gives a real simulator at once.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from schedlab.kernels.engine import find_engine
from schedlab.kernels.shelf import Shelf
from tests.helpers import builds
from tests.helpers.emulated import emulated_host
from tests.helpers.fake_engine import write_tree
from tests.helpers.kernel_source import kernel_base, kernel_source
from tests.helpers.load import share_own_programs
from tests.helpers.patience import PATIENCE_SECONDS
from tests.helpers.rt_app_files import EXAMPLES

SERIES = ("6.1", "6.12")
ROOT = builds.ROOT


@dataclass(frozen=True)
class Documented:
    """A command as a page has it, joined where it goes on in the next line."""

    page: str
    line: int
    text: str


def documented() -> list[Documented]:
    """Return every command of `schedlab` that stands in a line of its own."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [found for page in pages for found in _commands(page)]


def _commands(page: Path) -> Iterator[Documented]:
    lines = iter(enumerate(page.read_text().splitlines(), 1))
    for number, line in lines:
        text = line.strip()
        if not text.startswith("schedlab "):
            continue
        while text.endswith("\\"):
            text = text[:-1] + next(lines)[1].strip()
        if text.partition("  # ")[0].count("'") % 2 == 0:  # a quoted text may go on below
            yield Documented(str(page.relative_to(ROOT)), number, text)


MAKE = """\
#!/bin/sh
# Applies the patches as the real one does, and takes a simulator that is there already.
set -e
case " $* " in *" KERNEL="*) ;; *) exec {make} "$@";; esac
for word; do case $word in O=*) out=${{word#O=}};; KERNEL=*) tree=${{word#KERNEL=}};; esac; done
series=$(sed -n 's/^\\(VERSION\\|PATCHLEVEL\\) *= *//p' "$tree/Makefile" | paste -sd.)
{make} -n "$@"
case " $* " in *" -n "*) exit 0;; esac
mkdir -p "$out/gen/generated" && : > "$out/gen/generated/tree.h"
: > "$out/unmatched.txt"
: > "$out/changed-calls.txt"
case " $* " in *PSI=y*) series=$series-debian;; esac
cp "{simulators}/$series" "$out/schedsim"
"""
SERVER = """\
import json, os, sys
import matplotlib.pyplot, rich.console, scipy.stats
import schedlab.cli.planning, schedlab.report
for line in sys.stdin:
    words, out, err = json.loads(line)
    child = os.fork()
    if not child:
        for number, name in ((0, os.devnull), (1, out), (2, err)):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
        sys.argv = words
        status = 0
        try:
            schedlab.cli.main()
        except SystemExit as end:
            status = end.code or 0
        sys.stdout.flush()
        os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Runs command lines as `schedlab` does, but loads Python and its libraries once."""
SSH = """\
#!/bin/sh
# A far host that is this one.
while [ "$1" != -- ]; do shift; done
shift 2
exec sh -c "$*"
"""
NO_SCAN = """\
--- a/kernel/sched/fair.c
+++ b/kernel/sched/fair.c
@@ -{line},1 +{line},1 @@
-{old}
+{new}
"""
PLAN = """\
suite = "quick"
only = ["SysBenchCpu"]
[[variant]]
name = "base"
[[variant]]
name = "nb"
sysctl = { "kernel.numa_balancing" = 0 }
"""
PLAN_OF_BOOTS = """\
benchmark = [{ name = "SysBenchCpu" }]
[[variant]]
name = "NPS1"
boot = { "NUMA nodes" = "2" }
[[variant]]
name = "NPS4"
boot = { "NUMA nodes" = "8" }
"""
HOST = "emulated:host"


class Desk:
    """A folder in which a reader types commands."""

    def __init__(self, folder: Path, package: Path) -> None:
        """Lay out the folder; `package` is where schedlab is installed."""
        self.folder = folder
        self.cache = folder / "cache"
        share_own_programs(self.cache)
        self._bin = folder / "bin"
        self.env = {
            "PATH": f"{self._bin}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": str(folder),
            "PYTHONPATH": str(package),
            "SCHEDLAB_CACHE": str(self.cache),
            "COLUMNS": "100",
            "LC_ALL": "C.UTF-8",
        }
        self._programs()
        self._server = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            cwd=folder,
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._kernels()
        self._files()

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a command line: by a shell, where it is more than the words of a command."""
        words = shlex.split(command, comments=True)
        if words[0] == "schedlab" and not re.search(r"[>*~&|]", command):
            return self._serve(words)
        return subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )

    def close(self) -> None:
        """End the server."""
        assert self._server.stdin
        self._server.stdin.close()
        self._server.wait()

    def _serve(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        """Have a command run by the server."""
        out, err = self.folder / ".out", self.folder / ".err"
        assert self._server.stdin and self._server.stdout
        print(json.dumps([words, str(out), str(err)]), file=self._server.stdin, flush=True)
        status = int(self._server.stdout.readline())
        texts = (path.read_text(errors="replace") for path in (out, err))
        return subprocess.CompletedProcess(words, status, *texts)

    def _put(self, name: str | Path, text: str, mode: int = 0o644) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)

    def _programs(self) -> None:
        simulators = self.folder / "simulators"
        simulators.mkdir(parents=True)
        for series in SERIES:
            (simulators / series).symlink_to(builds.patched(series))
        debian = builds.build("6.12", name="6.12-debian", config="debian")
        (simulators / "6.12-debian").symlink_to(debian)
        lab = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m schedlab "$@"\n'
        self._put("bin/schedlab", lab, 0o755)
        self._put("bin/make", MAKE.format(make=shutil.which("make"), simulators=simulators), 0o755)
        self._put("bin/ssh", SSH, 0o755)

    def _kernels(self) -> None:
        """Add the trees under their names; the example's own git tree has empty files."""
        shelf, engine = Shelf(self.cache), find_engine()
        for series in SERIES:
            shelf.put_base(kernel_base(series))
        linux = write_tree(self.folder / "linux", version="6.12.0")
        for part in engine.needs:
            if not (linux / part).exists():
                file = linux / part if Path(part).suffix else linux / part / "Kconfig"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.touch()
        git = "git -c user.name=t -c user.email=t@example.org"
        commit = f"{git} add . && {git} commit -qm v6.12 && {git} tag v6.12"
        self._must(f"cd linux && {git} init -q && {commit}")

    def _files(self) -> None:
        lines = (kernel_source("6.12") / "kernel/sched/fair.c").read_text().split("\n")
        old = "\tunsigned long next_balance = jiffies + HZ;"
        new = old.replace("HZ;", "HZ / 2;")
        patch = NO_SCAN.format(line=lines.index(old) + 1, old=old, new=new)
        for name in ("my.patch", "0001-no-scan.patch"):
            self._put(name, patch)
        self._put("video.json", EXAMPLES[-2].read_text())
        self._put("my.config", "CONFIG_PSI=y\n")
        self._put("plan.toml", PLAN)
        self._put("nps.toml", PLAN_OF_BOOTS)
        usual = (ROOT / "machines/spr-8480-1p.toml").read_text()
        self._put("spr-adjacent.toml", usual.replace("stride = 56", "stride = 1"))
        self._put("one.toml", (ROOT / "machines/smp4.toml").read_text())
        emulated_host(self.folder / "host")
        files = Path("host") / "root"
        cpuidle = files / "sys/devices/system/cpu/cpuidle"
        self._put(f"{cpuidle}/available_governors", "menu teo\n")
        self._put(f"{cpuidle}/current_governor", "menu\n")
        boot_id = self.folder / files / "proc/sys/kernel/random/boot_id"
        for number, result in enumerate(("results/A", "results/B", "boot1", "boot2")):
            boot_id.write_text(f"5f1c8a0e-0000-4000-8000-00000000000{number}\n")
            self._must(f"schedlab run plan.toml --target {HOST} --blocks 6 --output {result}")
        self._must("schedlab machine --here --output my.toml")
        self._must("schedlab report results/A --format lkml >mail.txt")
        self._must("schedlab report results/A --format markdown --output report.md")

    def _must(self, command: str) -> None:
        done = self.run(command)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
