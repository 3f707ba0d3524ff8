"""A plan over many machines, kernels and seeds: a result of each, here or on a cluster."""

import os
import signal
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from schedlab.base.errors import StoreError, UsageError
from schedlab.base.system.process import end_descendants
from schedlab.base.validation import validate
from schedlab.plan.plan import Plan
from schedlab.plan.sweep import points
from schedlab.result.folder import DATABASE
from schedlab.result.store import Store
from tests.helpers.fake_engine import FakeLab, write_machine, write_tree
from tests.helpers.patience import PATIENCE_SECONDS, wait_until
from tests.helpers.processes import is_alive

BENCHMARK = ("--benchmark", "HackbenchPipeThreads:groups=1,loops=10")
NO_WA = ("--variant", "base", "--variant", "no-wa: NO_WA_IDLE")
SLOW = ("--variant", "base: sched mode=slow", "--variant", "no-wa: sched mode=slow; NO_WA_IDLE")
GOOD = {
    "benchmark": [{"name": "HackbenchPipeThreads"}],
    "variant": [{"name": "base"}, {"name": "new", "kernel": "mine"}],
    "kernel": [{"name": "mine", "base": "6.12", "patches": ["a.patch"], "hz": 1000}],
}


@pytest.fixture
def no_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what takes time and is not looked at."""
    monkeypatch.setattr("schedlab.cli.sweep.write_reports", lambda _: [])


def plan(**changes: Any) -> Plan:
    return validate({**GOOD, **changes}, Plan, "plan.toml")


def essence(out: Path) -> list[dict[str, Any]]:
    """Return everything a result says but when and where it was made."""
    kept = [vars(record) for record in Store.open(out).records()]
    for record in kept:
        for name in ("started", "seconds", "command"):
            del record[name]
    return kept


def recorded(sweep: Path) -> int:
    """Return how many runs of a sweep are kept, which may be under way."""
    kept = 0
    for database in sweep.glob(f"*/{DATABASE}"):
        with suppress(StoreError), closing(Store.open(database.parent)) as store:
            kept += len(store.records())
    return kept


@pytest.mark.parametrize(
    ("targets", "names"),
    [
        (["sim:a/b.toml", "sim:a-b.toml"], ["sim-a-b.toml", "sim-a-b.toml-2"]),
        (
            ["ssh:root@h1", "ssh:root-h1", "ssh:Root.h1"],
            ["ssh-root-h1", "ssh-root-h1-2", "ssh-Root.h1"],
        ),
        (["sim:A", "sim:a", "sim:a-2"], ["sim-A", "sim-a-2", "sim-a-2-2"]),
        (["sim:" + "x" * 300, "sim:" + "x" * 301], ["sim-" + "x" * 96, "sim-" + "x" * 96 + "-2"]),
        (["sim:ä", "sim:ö"], ["sim", "sim-2"]),
    ],
)
def test_no_point_is_dropped_for_its_name(targets: list[str], names: list[str]) -> None:
    found = points(plan(sweep={"target": targets}))
    assert list(found) == names
    assert [point.plan.target for point in found.values()] == targets


def test_no_name_leaves_the_folder() -> None:
    found = points(
        plan(kernel=[], variant=[{"name": "a"}, {"name": "b"}], sweep={"kernel": ["..", "."]})
    )
    assert len(found) == 2
    assert not {"", ".", ".."} & set(found)


def test_each_combination_is_a_plan() -> None:
    sweep = {"target": ["sim:a", "ssh:u@box"], "kernel": ["6.1", "6.12"], "seed": [1, 2]}
    found = points(plan(sweep=sweep))
    assert len(found) == 8
    assert next(iter(found)) == "sim-a-6.1-seed-1"
    assert list(found)[-1] == "ssh-u-box-6.12-seed-2"
    one = found["sim-a-6.1-seed-2"].plan
    assert (one.target, one.blocks.seed, one.blocks.warmup) == ("sim:a", 2, 0)
    assert [(k.name, k.base, k.hz) for k in one.kernel] == [("mine-6.1", "6.1", 1000)]
    assert [v.kernel for v in one.variant] == [None, "mine-6.1"], "base stands on what it stood on"
    assert found["ssh-u-box-6.1-seed-1"].plan.blocks.warmup == 1
    assert "sweep" not in one.to_toml()
    plain = {"kernel": [], "variant": [{"name": "a"}, {"name": "b"}]}
    [only] = points(plan(**plain, sweep={"kernel": ["x"]})).values()
    assert [v.kernel for v in only.plan.variant] == ["x", "x"]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"target": "sim:a", "sweep": {"target": ["sim:b"]}},
            "target is both given and swept over",
        ),
        ({"blocks": {"seed": 3}, "sweep": {"seed": [1, 2]}}, "seed is both given and swept over"),
        ({"sweep": {"target": ["sim:a", "sim:a"]}}, r"sweep.target: a value is given twice"),
        ({"sweep": {"targets": ["sim:a"]}}, r"sweep.targets: unknown key. Did you mean target\?"),
        (
            {"variant": [{"name": n, "kernel": n} for n in "ab"], "sweep": {"kernel": ["x"]}},
            "the sweep would change nothing",
        ),
    ],
)
def test_a_sweep_that_cannot_be(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        points(plan(**changes))


@pytest.mark.usefixtures("pages")
def test_a_sweep_over_machines_and_kernels(lab: FakeLab, tmp_path: Path) -> None:
    other = write_machine(tmp_path / "other.toml", name="other")
    write_tree(tmp_path / "old", version="6.1.9", speed=3.0)
    lab.call("kernel", "add", "--tree", tmp_path / "old", "--name", "6.1")
    out = tmp_path / "out"
    words = ("run", *BENCHMARK, *NO_WA, "--blocks", 6)
    machines = ("--target", f"sim:{lab.machine}", "--target", f"sim:{other}")
    many = (*machines, "--kernel", "6.1", "--kernel", "6.12")
    status, text, errors = lab.call(*words, *many, "--output", out)
    assert status == 0, errors
    names = sorted(path.name for path in out.iterdir() if path.is_dir())
    assert len(names) == 4
    assert text.count("no-wa against base: 1 better") == 4
    page = (out / "overview.html").read_text()
    assert all(f'href="{name}/report.html"' in page for name in names)
    assert all((out / name / "report.html").is_file() for name in names)
    alone = tmp_path / "alone"
    one = ("--target", f"sim:{other}", "--kernel", "6.1")
    assert lab.call(*words, *one, "--output", alone)[0] == 0
    [name] = [n for n in names if "other" in n and n.endswith("-6.1")]
    assert essence(out / name) == essence(alone), "a result of a sweep is one like any other"
    status, _, errors = lab.call(*words, *many, "--output", out)
    assert (status, "is not empty" in errors) == (2, True)
    missing = (*machines, "--target", "sim:nosuch")
    status, _, errors = lab.call(*words, *missing, "--output", tmp_path / "none")
    assert (status, (tmp_path / "none").exists()) == (2, False), errors


@pytest.mark.usefixtures("no_reports")
def test_a_stopped_sweep_goes_on(lab: FakeLab, tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    words = ("run", "--target", f"sim:{lab.machine}", *BENCHMARK, *SLOW, "--blocks", 2)
    words += ("--seed", 1, "--seed", 2, "--jobs", 3)
    assert lab.call(*words, "--output", whole)[0] == 0
    process = lab.start(*words, "--output", cut)
    wait_until(lambda: recorded(cut), "a recorded run")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, "kept below" in errors) == (130, True), errors
    status, text, errors = lab.call("run", "--resume", cut)
    assert status == 0, errors
    assert text.count("no-wa against base: ") == 2, "a line for each result"
    for name in ("seed-1", "seed-2"):
        assert essence(cut / name) == essence(whole / name)


@pytest.mark.usefixtures("no_reports")
def test_a_cluster_loses_a_worker_but_no_run(lab: FakeLab, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    here, there = tmp_path / "here", tmp_path / "there"
    words = ("run", "--target", f"sim:{lab.machine}", *BENCHMARK, *SLOW, "--blocks", 2)
    words += ("--seed", 1, "--seed", 2)
    assert lab.call(*words, "--jobs", 8, "--output", here)[0] == 0
    killed: list[int] = []
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=None,
            local_directory=str(tmp_path / "workers"),
        ) as cluster,
        distributed.Client(cluster.scheduler_address, set_as_default=False) as client,
    ):
        workers = client.run(_whereabouts)

        def kill_one() -> None:
            """Kill the first worker that is in the middle of a run, and tell its simulator."""
            while True:
                for pid, folder in workers.values():
                    for mark in Path(folder).glob("*/pid-*"):
                        killed.extend((pid, int(mark.name.removeprefix("pid-"))))
                        os.kill(pid, signal.SIGKILL)
                        return
                time.sleep(0.01)

        killer = threading.Thread(target=kill_one, daemon=True)
        killer.start()
        address = cluster.scheduler_address
        status, _, errors = lab.call(*words, "--cluster", address, "--output", there)
        killer.join(timeout=1)
    assert status == 0, errors
    assert killed, "a worker was killed in the middle"
    wait_until(lambda: not any(map(is_alive, killed)), "the end of the killed worker")
    end_descendants()  # of multiprocessing, which the next test would find
    for name in ("seed-1", "seed-2"):
        assert len(essence(there / name)) == 4
        assert essence(there / name) == essence(here / name), "nothing lost, nothing twice"


def _whereabouts(dask_worker: Any) -> tuple[int, str]:
    return os.getpid(), dask_worker.local_directory


def test_a_cluster_that_cannot_be(
    lab: FakeLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = ("--cluster", "tcp://127.0.0.1:9", "--output", tmp_path / "out")
    status, _, errors = lab.call("run", *BENCHMARK, "--aa", *address)
    assert (status, "only sim:MACHINE runs on a cluster, host does not" in errors) == (2, True)
    words = ("run", "--target", f"sim:{lab.machine}", *BENCHMARK, "--aa", *address)
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "schedlab.targets.cluster", None)
        status, _, errors = lab.call(*words)
        assert (status, "pip install distributed" in errors) == (2, True)
    cluster = pytest.importorskip("schedlab.targets.cluster")
    monkeypatch.setattr(cluster, "_CONNECT_SECONDS", 1)
    status, _, errors = lab.call(*words)
    assert (status, "no scheduler answers there" in errors) == (2, True), errors
    assert not (tmp_path / "out").exists()
