"""The lab on the host we stand on: real tools, real knobs; skipped where they are not."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from schedlab.base.errors import KnobError
from schedlab.base.system import LocalSystem
from schedlab.counters.perf_stat import TRACEPOINTS, probe
from schedlab.judging.analysis import analyse
from schedlab.result.store import Store
from schedlab.settings.switchable import switchable
from schedlab.settings.switchboard import Switchboard
from schedlab.settings.variant import parse_variant
from tests.helpers.command_line import Cli

SYSTEM = LocalSystem()
# Long enough for tools that print milliseconds: shorter ones read 0 s on a quick host.
QUICK = {
    "PerfBenchSchedPipe": "loops=1000",
    "PerfBenchSchedMessaging": "loops=100",
    "PerfBenchMemMemset": "size=8MB,loops=3",
    "PerfBenchFutexWake": "threads=16",
    "PerfBenchNumaMem": "memory=8,time=1",
    "SysBenchCpu": "time=1",
    "SysBenchMemory": "time=1",
    "SysBenchThreads": "time=1",
    "SysBenchMutex": "threads=4,locks=50",
    "HackbenchForkSockets": "loops=100,groups=2",
    "HackbenchPipeThreads": "loops=100,groups=2",
    "HackbenchPipeThreads4k": "loops=100,groups=2",
    "Tbench": "time=2,clients=2",  # of one second tbench measures nothing,
}
TOOLS = ("perf", "sysbench", "hackbench", "tbench", "tbench_srv")
missing = [tool for tool in TOOLS if shutil.which(tool) is None]
needs_tools = pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


@needs_tools
def test_every_benchmark_gives_its_figure(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = [word for name, params in QUICK.items() for word in ("--benchmark", f"{name}:{params}")]
    status, text, err = cli(
        *("run", *words, "--aa", "--blocks", 1, "--warmup", 0, "--no-counters", "--output", out)
    )
    assert status == 0, err
    records = Store.open(out).records()
    assert {record.key.case for record in records} == {f"{n}:{p}" for n, p in QUICK.items()}
    assert not [(record.key, record.error) for record in records if record.status == "failed"]
    assert all(record.metrics for record in records)
    assert "A/A" in text


@needs_tools
@pytest.mark.skipif(not switchable(SYSTEM), reason="this host lets us switch nothing (no root?)")
def test_a_real_knob_is_switched_and_put_back(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "out"
    numa = SYSTEM.read_or("/proc/sys/kernel/numa_balancing", "")
    status, _, err = cli(
        *("run", "--benchmark", "HackbenchPipeThreads:loops=5", "--variant", "auto"),
        *("--blocks", 2, "--counters", "procstat", "--output", out),
    )
    assert status == 0, err
    store = Store.open(out)
    base, other = (
        {tuple(r.settings.items()) for r in store.records() if r.key.variant == variant.name}
        for variant in store.plan.variant
    )
    assert len(base) == len(other) == 1
    assert base != other
    assert SYSTEM.read_or("/proc/sys/kernel/numa_balancing", "") == numa
    assert not (SYSTEM.state_folder() / "journal.json").exists()


@pytest.mark.skipif(
    not SYSTEM.writable("/proc/sys/vm/swappiness"), reason="sysctls cannot be written (no root?)"
)
def test_what_this_kernel_makes_of_values_is_put_back() -> None:
    respelled = parse_variant("x: sysctl vm.swappiness=010; sysctl vm.dirty_bytes=100000000")
    rounded = parse_variant("x: sysctl net.core.rps_sock_flow_entries=1000")
    board = Switchboard(SYSTEM, [respelled])
    before = [knob.read(SYSTEM) for knob in (entry.knob for entry in board.entries)]
    assert len(before) == 3, "vm.dirty_ratio goes with vm.dirty_bytes"
    with board.applied(respelled) as found:
        assert found["vm.swappiness"] == "8"
    assert before == [entry.knob.read(SYSTEM) for entry in board.entries]
    board = Switchboard(SYSTEM, [rounded])
    with pytest.raises(KnobError, match="ask for 1024 if that will do"), board.applied(rounded):
        raise AssertionError
    (entry,) = board.entries
    assert entry.knob.read(SYSTEM) == entry.original


@needs_tools
def test_tracepoints_are_counted_system_wide(cli: Cli, tmp_path: Path) -> None:
    refused = probe(SYSTEM, TRACEPOINTS)
    if refused:
        pytest.skip(f"tracepoints cannot be counted: {next(iter(refused.values()))}")
    out = tmp_path / "out"
    status, _, err = cli(
        *("run", "--benchmark", "HackbenchForkSockets:loops=5", "--aa", "--blocks", 2),
        *("--counters", "tracepoints,migrations", "--output", out),
    )
    assert status == 0, err
    store = Store.open(out)
    assert all(record.counters["sched:sched_migrate_task"] > 0 for record in store.records())
    assert {o.counter for o in analyse(store).counters} == {*TRACEPOINTS, "cpu-migrations"}


@needs_tools
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become an ordinary user")
def test_an_ordinary_user_gets_results_and_is_told_what_is_missing() -> None:
    drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        environment = {"HOME": folder, "PATH": os.environ["PATH"], "MPLCONFIGDIR": folder}
        imported = [*drop, sys.executable, "-c", "import schedlab"]
        if subprocess.run(imported, capture_output=True, check=False, cwd="/").returncode != 0:
            pytest.skip("an ordinary user cannot read this Python environment")
        lab = [sys.executable, "-c", "from schedlab.cli import main; main()", "run"]
        words = ["--benchmark", "HackbenchPipeThreads:loops=5", "--aa", "--blocks", "2"]
        done = subprocess.run(
            [*drop, *lab, *words, "--output", f"{folder}/out"],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
            cwd="/",
        )
        assert done.returncode == 0, done.stderr
        assert "not counted: sched:sched_migrate_task" in done.stderr
        assert "A/A" in done.stdout
        assert (Path(folder) / "out" / "report.html").exists()
