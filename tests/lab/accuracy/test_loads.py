"""The suite of `schedlab validate`: one plan for a host and for the simulator."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from schedlab.base.errors import UsageError
from schedlab.benchmarks import Output, find_benchmark
from schedlab.kernels.native import schedlab_load
from schedlab.lab.accuracy import validation
from schedlab.lab.accuracy.loads import (
    SUITE,
    chosen,
    compared,
    disturbed,
    plan_of_loads,
    table,
    workloads,
)
from schedlab.lab.accuracy.validation import Validation
from schedlab.lab.result import Lab
from schedlab.machine.model import find_machine
from schedlab.plan.plan import Plan, find_suite
from schedlab.result.record import RunKey, RunRecord
from schedlab.result.store import Store, describe

MACHINE = find_machine("smp4")
HOST, SIM = plan_of_loads("host"), plan_of_loads("sim:smp4", "6.12")
PIPE, PINNED = "sched-pipe --loop 20000 --threaded", "sched-pipe --loop 20000 on CPU 0"


def store(folder: Path, plan: Plan, figures: dict[str, float], others: float = 0.0) -> Store:
    """A result of a plan: each load's figure, once as it is and once 2 more."""
    cases = [case for case in plan.cases(MACHINE) if case.label in figures]
    infos = [describe(case, "x") for case in cases]
    made = Store.create(folder, plan, MACHINE, {}, infos, "a test")
    for position, (case, variant) in enumerate(
        (case, variant) for case in cases for variant in plan.variant
    ):
        record = RunRecord(RunKey(case.label, variant.name, 0), position, 1, "x")
        if figures[case.label]:
            [metric] = case.metrics
            record.metrics = {metric.name: figures[case.label] + 2 * (variant.name == "second")}
            record.counters = {"context-switches": 40_000.0}
        else:
            record.status, record.error = "failed", "exit status 1: out of pipes"
        record.busy_during = others
        made.add(record)
    return made


def test_the_plan_is_the_same_but_for_what_a_host_does_not_have() -> None:
    assert (HOST.suite, HOST.exact, SIM.exact, SIM.cold) == (SUITE, False, True, True)
    assert {variant.kernel for variant in SIM.variant} == {"6.12"}
    here, there = HOST.cases(MACHINE), SIM.cases(MACHINE)
    assert [(c.label, c.params) for c in here] == [(c.label, c.params) for c in there]
    for case in there:
        model = case.model()
        assert model
        kind, *_ = str(case.params["load"]).split()
        assert list(model.figures.values()) == [f"{kind}.{case.params['figure']}"]
        assert model.workload.get("affinity", "") == case.params.get("cpus", "")


def test_both_are_called_with_the_same_options() -> None:
    [case] = [case for case in HOST.cases(MACHINE) if case.label == PIPE]
    [command] = case.commands
    assert command.argv == ("schedlab-load", *PIPE.split(), "--json")
    model = case.model()
    assert model and model.workload == {"kind": "sched-pipe", "loop": 20000, "threaded": True}
    said = '{"results": [{"name": "ops/sec", "value": 12.5}, {"name": "x", "value": 3}]}'
    values, _ = case.measure(command, Output(said))
    assert {m.name: v for m, v in values.items()} == {"rate": 12.5}
    assert case.benchmark.count(Output(said)) == {"load:ops/sec": 12.5, "load:x": 3}
    assert model.count({"x": 3}) == {"load:x": 3}


def test_the_table_sets_both_side_by_side(tmp_path: Path) -> None:
    here = store(tmp_path / "h", HOST, {PIPE: 99.0, PINNED: 99.0}, others=0.01)
    there = store(tmp_path / "s", SIM, {PIPE: 49.0, PINNED: 0.0})
    found = list(compared(here, there))
    assert table(found).splitlines()[2:] == [
        f"| `{PIPE}` | ops/sec | 100 | 50 | 0.50 | 2 / 2 | - / - | - / - | 1% |",
        "| `sched-pipe --loop 20000` on CPU 0 | ops/sec |  |  |  |  |  |"
        " exit status 1: out of pipes |  |",
    ]
    assert disturbed(found) == ""


def test_a_host_is_measured_in_a_group_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, made = [False], dict[str, bool]()

    class Groups:
        @contextmanager
        def enclosure(self) -> Iterator[None]:
            inside[0] = True
            yield
            inside[0] = False

    def this_host(self: Validation, folder: Path, say: object) -> SimpleNamespace:
        made["calibration"] = inside[0]
        return SimpleNamespace(which="smp4", machine=MACHINE)

    def brought(results: Path, name: str, plan: Plan, *about: object) -> Store:
        made[name] = inside[0]
        return store(tmp_path / name, plan, {PIPE: 99.0})

    monkeypatch.setattr(validation, "Groups", Groups)
    monkeypatch.setattr(validation, "brought_to_its_end", brought)
    monkeypatch.setattr(validation, "schedlab_load", lambda: Path("build/schedlab-load"))
    monkeypatch.setattr(Validation, "_build", lambda self: None)
    monkeypatch.setattr(Validation, "_this_host", this_host)
    monkeypatch.setattr(Validation, "_headed", lambda self, there, words: words)
    text = Validation(kernel="6.12").of_loads(tmp_path, (), Lab())
    assert f"| `{PIPE}` | ops/sec | 100 | 100 | 1.00 |" in text
    assert made == {"calibration": True, "host": True, "simulated": False}


def test_less_is_faster_where_the_figure_is_a_time(tmp_path: Path) -> None:
    label = "hackbench --groups 1 --loops 500"
    here = store(tmp_path / "h", HOST, {label: 9.0}, others=0.4)
    found = list(compared(here, store(tmp_path / "s", SIM, {label: 19.0})))
    assert found[0].speed == 0.5
    assert "up to 40% of its CPUs" in disturbed(found)


def test_workloads_are_chosen_by_name() -> None:
    assert chosen(["sched-pipe"]) == tuple(workloads()["sched-pipe"])
    assert len(HOST.model_copy(update={"only": chosen(["stream"])}).cases(MACHINE)) == 1
    with pytest.raises(
        UsageError, match=r"no workload 'strem'. Did you mean stream\?\n  There are: hackbench, "
    ):
        chosen(["strem"])


def test_every_load_says_what_its_counts_are_divided_by() -> None:
    suite, _ = find_suite(SUITE)
    loads = [(entry.params["load"], entry.params.get("cpus", "")) for entry in suite.benchmark]
    assert len(set(loads)) == len(loads)
    assert all(entry.params["per"] for entry in suite.benchmark)


@pytest.mark.parametrize("label", workloads()["deathstarbench"])
def test_no_thread_of_wrk_is_without_a_connection(label: str) -> None:
    words = label.split()
    words[words.index("--duration") + 1] = "10ms"
    done = subprocess.run(
        [schedlab_load(), *words], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"better": "faster"}, "'faster' is neither higher nor lower"),
        ({"load": "sched-pipe 7"}, "expected --OPTION or its value, found '7'"),
    ],
)
def test_a_load_that_cannot_be_read(params: dict[str, int | str], words: str) -> None:
    case = find_benchmark("Load", "test").case(MACHINE, params, None, "test")
    with pytest.raises(UsageError, match=words):
        _ = case.commands
