"""The build: patches, settings, errors, the list of stubs."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import described
import pytest
from conftest import ROOT, Simulator, build, build_folder, kernel_tree

HOGS = {
    "duration": "200ms",
    "tasks": [{"name": "h", "count": 9, "program": [{"run": "3ms"}, {"sleep": "300us"}]}],
}


def make(series: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = ["make", "-j2", "-C", str(ROOT / "engine"), f"SERIES={series}"]
    return subprocess.run(
        [*command, *(f"{k}={v}" for k, v in variables.items())],
        capture_output=True,
        text=True,
        check=False,
    )


def patch(tmp_path: Path, tree: Path, file: str, pattern: str, replacement: str) -> Path:
    """A patch that makes one substitution in one file."""
    for side in "ab":
        (tmp_path / side / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(tree / file, tmp_path / side / file)
    target = tmp_path / "b" / file
    text, changed = re.subn(pattern, replacement, target.read_text(), count=1)
    assert changed
    target.write_text(text)
    diff = subprocess.run(
        ["diff", "-u", f"a/{file}", f"b/{file}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    path = tmp_path / "change.patch"
    path.write_text(diff.stdout)
    return path


def patched_build(
    series: str, name: str, tmp_path: Path, file: str, pattern: str, replacement: str
) -> Path:
    """schedsim with one substitution in one file, beside the plain build of the series."""
    base, tree = build(series), kernel_tree(series)
    assert tree
    change = patch(tmp_path, tree, file, pattern, replacement)
    out = build_folder(f"{series}-{name}")
    done = make(series, O=str(out), KERNEL=str(tree), PATCHES=str(change), BASE=str(base.parent))
    assert done.returncode == 0, done.stdout + done.stderr
    return out / "schedsim"


def test_patch_changes_the_scheduler_and_shares_objects(series: str, tmp_path: Path) -> None:
    tree = kernel_tree(series)
    base = build(series)
    assert tree
    change = patch(
        tmp_path,
        tree,
        "kernel/sched/fair.c",
        r"(normalized_sysctl_sched_(base_slice|latency)\s*= )",
        r"\g<1>5 * ",
    )
    out = build_folder(f"{series}-patched")
    shutil.rmtree(out, ignore_errors=True)
    done = make(series, O=str(out), KERNEL=str(tree), PATCHES=str(change), BASE=str(base.parent))
    assert done.returncode == 0, done.stdout + done.stderr
    compiled = re.findall(r"CC \w+\s+(\S+)", done.stdout)
    assert compiled == ["kernel/sched/fair.c"]
    plain, patched = (Simulator(b, tmp_path)("smp4", HOGS) for b in (base, out / "schedsim"))
    assert plain["trace_hash"] != patched["trace_hash"]


def test_patch_that_does_not_apply(series: str, tmp_path: Path) -> None:
    tree = kernel_tree(series)
    build(series)
    change = tmp_path / "bad.patch"
    change.write_text(
        "--- a/kernel/sched/fair.c\n+++ b/kernel/sched/fair.c\n@@ -1,3 +1,3 @@\n-no such line\n+x\n y\n z\n"
    )
    done = make(series, O=str(tmp_path / "o"), KERNEL=str(tree), PATCHES=str(change))
    assert done.returncode != 0
    assert "bad.patch does not apply" in done.stderr
    assert "kernel/sched/fair.c" in done.stderr and "Hunk #1 FAILED" in done.stderr


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"SERIES": "5.4"}, "SERIES=5.4 is not supported; supported: 6.1 6.12"),
        ({"KERNEL": "/nowhere"}, "no kernel/sched/core.c there"),
        ({"HZ": "77"}, "HZ=77: one of 100 250 300 1000"),
        ({"PREEMPT": "maybe"}, "PREEMPT=maybe: voluntary or full"),
    ],
)
def test_wrong_variables(tmp_path: Path, variables: dict[str, str], message: str) -> None:
    tree = kernel_tree("6.12")
    if not tree:
        pytest.skip("no kernel source for 6.12")
    given = {"O": str(tmp_path), "KERNEL": str(tree), "SERIES": "6.12", **variables}
    done = subprocess.run(
        ["make", "-C", str(ROOT / "engine"), *(f"{k}={v}" for k, v in given.items())],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert message in done.stderr


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
    assert 'sim_stub("f")' in (tmp_path / "s.c").read_text()


OTHER_CONFIG = {"HZ": "1000", "PREEMPT": "full"}


def test_tick_rate(variant: Callable[..., Simulator]) -> None:
    result = variant("6.12", **OTHER_CONFIG)(
        "smp4", {"duration": "1s", "tasks": [{"name": "h", "count": 4, "program": [{"run": "1s"}]}]}
    )
    assert result["hz"] == 1000
    assert result["counters"]["timer:hrtimer_expire_entry"] == pytest.approx(4000, rel=0.1)


def test_full_preemption(variant: Callable[..., Simulator]) -> None:
    """A real-time task comes through in the middle of fork and exec, on CPUs that sleep lightly."""
    machine = described.machine("smt8")
    machine["idle"]["state"] = machine["idle"]["state"][:2]
    result = variant("6.12", **OTHER_CONFIG)(
        machine,
        {
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
        },
    )
    assert max(t["wait_max_ns"] for t in result["tasks"] if t["name"] == "rt") < 60_000
