"""The build: patches, settings, errors, the list of stubs."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.helpers import builds
from tests.helpers.engine import described
from tests.helpers.engine.making import make, objects, patch
from tests.helpers.engine.simulator import ROOT, Json, Simulator, build, build_folder
from tests.helpers.kernel_source import kernel_source, sched_features

HOGS = {
    "duration": "200ms",
    "tasks": [{"name": "h", "count": 9, "program": [{"run": "3ms"}, {"sleep": "300us"}]}],
}


def patched_make(
    series: str,
    name: str,
    tmp_path: Path,
    file: str,
    pattern: str,
    replacement: str,
    sanitize: bool = False,
) -> tuple[Path, list[str]]:
    """schedsim with one substitution in one file, beside the build without it; what was compiled."""
    tree, base = kernel_source(series), objects(series, sanitize)
    change = patch(tmp_path, tree, file, pattern, replacement)
    out = build_folder("-".join([series, name, *(["sanitized"] if sanitize else [])]))
    variables = {"O": str(out), "KERNEL": str(tree), "PATCHES": str(change), "BASE": str(base)}
    done = make(**variables, **builds.variables(series, sanitize=sanitize))
    assert done.returncode == 0, done.stdout + done.stderr
    return out / "schedsim", re.findall(r"CC \w+\s+(\S+)", done.stdout)


def patched_build(
    series: str,
    name: str,
    tmp_path: Path,
    file: str,
    pattern: str,
    replacement: str,
    sanitize: bool = False,
) -> Path:
    """The same, without what was compiled."""
    return patched_make(series, name, tmp_path, file, pattern, replacement, sanitize)[0]


def test_the_line_of_the_idle_cpus_flags_is_paid_for_however_it_is_written(tmp_path: Path) -> None:
    """By an exchange as by WRITE_ONCE(); a plain store in its place is not seen, so it is cheaper.

    One build has both: the slice says which.
    """
    written = r"WRITE_ONCE\((nohz\.has_blocked_load), 1\)(;\n}\n)"
    ways = r"if (sysctl_sched_base_slice == 3000001)\n\t\t\1 = 1;\n\telse\n\t\txchg(&\1, 1)\2"
    program = patched_build("7.3", "either", tmp_path, "kernel/sched/fair.c", written, ways)

    def same(slice_ns: str) -> bool:
        hogs = {**HOGS, "knobs": {"/sys/kernel/debug/sched/base_slice_ns": slice_ns}}
        patched, plain = (
            Simulator(made, tmp_path)("numa16", hogs)["trace_hash"]
            for made in (program, build("7.3"))
        )
        return bool(patched == plain)

    exchanged, stored = same("3000000"), same("3000001")
    assert exchanged and not stored


def test_patch_that_does_not_apply(series: str, tmp_path: Path) -> None:
    tree = kernel_source(series)
    change = tmp_path / "bad.patch"
    change.write_text(
        "--- a/kernel/sched/fair.c\n+++ b/kernel/sched/fair.c\n@@ -1,3 +1,3 @@\n-no such line\n+x\n y\n z\n"
    )
    done = make(O=str(tmp_path / "o"), KERNEL=str(tree), PATCHES=str(change))
    assert done.returncode != 0
    assert "bad.patch does not apply" in done.stderr
    assert "kernel/sched/fair.c" in done.stderr and "Hunk #1 FAILED" in done.stderr


@pytest.mark.parametrize(
    ("variables", "compiled"),
    [
        ({"HZ": "1000"}, {"KERNEL", "SHIM"}),
        ({"SANITIZE": "1"}, {"SHIM", "HW", "REGISTRY", "RUN", "CALLS", "LOAD"}),
    ],
)
def test_another_build_shares_what_comes_out_the_same(
    tmp_path: Path, variables: dict[str, str], compiled: set[str]
) -> None:
    """Of another configuration what reads no kernel; when sanitized, the kernel's own objects."""
    base = {"KERNEL": str(kernel_source("6.12")), "BASE": str(objects("6.12"))}
    command = ["make", "-n", "-C", str(ROOT / "engine"), f"O={tmp_path / 'o'}"]
    command += [f"{name}={value}" for name, value in (base | variables).items()]
    # With -n make takes a header for new whose stamp is newer, though it would find it unchanged.
    for header in ("rq-offsets.h", "rq-lines.h"):
        command += ["-o", str(tmp_path / "o/gen/generated" / header)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert set(re.findall(r"'CC (\w+)'", done.stdout)) == compiled


READS = {
    "plain": "#include <linux/export.h>\n#include <linux/mm.h>\n#define LATER 1\n",
    "traced": "#include <linux/mm.h>\n#define CREATE_TRACE_POINTS\n#include <trace/events/x.h>\n",
    "own": '#include <linux/mm.h>\n#define SIZE 8\n#include "own.h"\n',
}
READS_ELSE = {
    "few": "#include <linux/export.h>\n",
    "format": "#define pr_fmt(fmt) fmt\n#include <linux/mm.h>\n",
    "between": "#include <linux/mm.h>\n # undef FEATURE\n#include <linux/slab.h>\n",
    "none": "int x;\n",
}


def test_files_that_read_precompiled_headers(tmp_path: Path) -> None:
    """Those that name one of them and define nothing that a header could look at."""
    for name, text in {**READS, **READS_ELSE}.items():
        (tmp_path / f"{name}.c").write_text(text)
    (tmp_path / "set.h").write_text("#include <linux/sched.h>\n#include <linux/mm.h>\n")
    files = [f"{name}.c" for name in sorted({**READS, **READS_ELSE})]
    command = [ROOT / "engine/scripts/common-readers", "set.h", *files]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [f"{name}.c" for name in sorted(READS)]


def test_precompiled_headers_are_read(series: str) -> None:
    """The compiler refuses none of them, and they have no tracepoints, which files define."""
    kernel = objects(series) / "k"
    headers = (kernel / "common.h.d").read_text()
    assert "include/linux/sched.h" in headers and "trace/events" not in headers
    readers = [file for file in kernel.rglob("*.d") if "k/common.h " in file.read_text()]
    assert len(readers) > 25
    assert not [w for w in kernel.rglob("*.warn") if "-Winvalid-pch" in w.read_text()]


@pytest.mark.parametrize("series", ["7.3"], indirect=True)  # the engine's check, of any tree
def test_more_features_than_bits(series: str, tmp_path: Path) -> None:
    """Those behind the last bit would be off for good: the build says so, beside a base too."""
    tree, base = kernel_source(series), objects(series)
    room = 32 - len(sched_features(series))
    for count, builds_it in ((room, True), (room + 1, False)):
        more = "".join(f"SCHED_FEAT(MORE_{i}, true)\n" for i in range(count))
        change = patch(tmp_path, tree, "kernel/sched/features.h", r"\Z", more)
        out = tmp_path / f"o{count}"
        given = {"O": out, "KERNEL": tree, "PATCHES": change, "BASE": base}
        variables = [f"{k}={v}" for k, v in given.items()]
        done = subprocess.run(
            ["make", "-C", str(ROOT / "engine"), *variables, str(out / "kernel/check.o")],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode == 0) == builds_it, done.stderr
        refused = "more sched features than sysctl_sched_features has bits" in done.stderr
        assert refused != builds_it


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"KERNEL": "/nowhere"}, "no kernel/sched/core.c there"),
        ({"HZ": "77"}, "HZ=77: one of 100 250 300 1000"),
        ({"PREEMPT": "maybe"}, "PREEMPT=maybe: this tree has voluntary full"),
    ],
)
def test_wrong_variables(tmp_path: Path, variables: dict[str, str], message: str) -> None:
    tree = kernel_source("6.12")
    given = {"O": str(tmp_path), "KERNEL": str(tree), **variables}
    done = subprocess.run(
        ["make", "-C", str(ROOT / "engine"), *(f"{k}={v}" for k, v in given.items())],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert message in done.stderr


@pytest.mark.parametrize(
    ("release", "message"),
    [
        ("VERSION = 6\nPATCHLEVEL = 0\n", "is Linux 6.0; 6.1 is the oldest that is taken"),
        ("VERSION = 5\nPATCHLEVEL = 19\n", "is Linux 5.19; 6.1 is the oldest that is taken"),
        ("all:\n", "its Makefile names no version"),
    ],
)
def test_wrong_trees(tmp_path: Path, release: str, message: str) -> None:
    (tmp_path / "kernel/sched").mkdir(parents=True)
    (tmp_path / "kernel/sched/core.c").touch()
    (tmp_path / "Makefile").write_text(release)
    done = make(O=str(tmp_path / "o"), KERNEL=str(tmp_path))
    assert done.returncode != 0 and message in done.stderr


@pytest.mark.parametrize("compiler", ["gcc", "clang", "aarch64-linux-gnu-gcc"])
def test_new_undefined_symbol_fails_with_its_name(tmp_path: Path, compiler: str) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    objects = tmp_path / "x.c"
    objects.write_text(
        "extern int some_table; int f(void); int g(void); int main(void) { return f() + g() + some_table; }"
    )
    subprocess.run(
        [compiler, "-c", "-O2", "-fno-pie", str(objects), "-o", str(tmp_path / "x.o")], check=True
    )
    (tmp_path / "list.txt").write_text("f\nsome_table\n")
    run = [
        str(ROOT / "engine/scripts/make-stubs"),
        compiler,
        str(tmp_path / "list.txt"),
        str(tmp_path / "s.c"),
        "-no-pie",
        "",
        str(tmp_path / "x.o"),
    ]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "\ng\n" in done.stderr
    (tmp_path / "list.txt").write_text("f\ng\nsome_table\n")
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert (
        done.returncode == 1
        and "undefined data symbols" in done.stderr
        and "some_table" in done.stderr
        and "\nf\n" not in done.stderr
    )
    (tmp_path / "x.c").write_text("int f(void); int main(void) { return f(); }")
    subprocess.run(
        [compiler, "-c", "-O2", "-fno-pie", str(objects), "-o", str(tmp_path / "x.o")], check=True
    )
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert 'hw_stub("f")' in (tmp_path / "s.c").read_text()


@pytest.fixture
def fully_preempted(tmp_path: Path) -> Simulator:
    """A simulator of 1000 ticks a second, with full preemption."""
    return Simulator(builds.fully_preempted(), tmp_path)


def test_tick_rate(fully_preempted: Simulator) -> None:
    result = fully_preempted(
        "smp4", {"duration": "1s", "tasks": [{"name": "h", "count": 4, "program": [{"run": "1s"}]}]}
    )
    assert result["hz"] == 1000
    assert result["counters"]["timer:hrtimer_expire_entry"] == pytest.approx(4000, rel=0.1)


FORK_BESIDE_RT: Json = {
    "duration": "500ms",
    "tasks": [
        {
            "name": "sh",
            "count": 16,
            "program": [{"fork": True, "body": [{"exec": True}, {"run": "200us"}]}],
        },
        {
            "name": "rt",
            "policy": "fifo",
            "priority": 9,
            "program": [{"run": "50us"}, {"sleep": "1ms"}],
        },
    ],
}


def light_sleepers() -> Json:
    """A machine whose CPUs wake up quickly."""
    machine = described.machine("smt8")
    machine["idle"]["state"] = machine["idle"]["state"][:2]
    return machine


def test_full_preemption(fully_preempted: Simulator) -> None:
    """A real-time task comes through in the middle of fork and exec, on CPUs that sleep lightly."""
    result = fully_preempted(light_sleepers(), FORK_BESIDE_RT)
    assert max(t["wait_max_ns"] for t in result["tasks"] if t["name"] == "rt") < 60_000
