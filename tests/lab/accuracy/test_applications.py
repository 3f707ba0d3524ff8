"""Applications on a host and simulated: one suite for both, and the table."""

import os
from pathlib import Path

import pytest

from schedlab.base.errors import UsageError
from schedlab.benchmarks import find_benchmark
from schedlab.lab.accuracy.applications import chosen, compared, plan_of_applications, table
from schedlab.lab.accuracy.real_time import real_time
from schedlab.machine.model import find_machine
from schedlab.plan.plan import Plan, find_suite
from schedlab.result.record import RunKey, RunRecord
from schedlab.result.store import Store, describe

MACHINE = find_machine("smp4")
HOST, SIM = plan_of_applications("host"), plan_of_applications("sim:smp4", "6.12")
SELECT = "PostgreSQL select-1-clients"
CONNECTIONS = {
    "PostgreSQL": "clients",
    "MariaDB": "threads",
    "Memcached": "connections",
    "Nginx": "connections",
    "Redis": "clients",
}


def store(folder: Path, plan: Plan, figures: dict[str, float]) -> Store:
    """A result in which each run of a case has 1 more than the one before."""
    cases = [case for case in plan.cases(MACHINE) if case.label in figures]
    made = Store.create(
        folder, plan, MACHINE, {}, [describe(case, "x") for case in cases], "a test"
    )
    position = 0
    for case in cases:
        for variant in plan.variant:
            record = RunRecord(RunKey(case.label, variant.name, 0), position, 1, "x")
            if figures[case.label]:
                value = figures[case.label] + (variant.name == "second")
                record.metrics = {metric.name: value for metric in case.metrics}
            else:
                record.status, record.error = "failed", "no port is free"
            record.busy_during = 0.25
            record.seconds, record.cpu_seconds = 2.0, 3.0
            record.counters = {"cpu-time:user:ns": 2e9, "cpu-time:idle:ns": 6e9}
            made.add(record)
            position += 1
    return made


def test_every_case_runs_on_both_at_three_loads() -> None:
    here, there = HOST.cases(MACHINE), SIM.cases(MACHINE)
    assert [case.label for case in here] == [case.label for case in there]
    assert all(case.model() for case in there)
    sweeps = {case.sweep for case in here}
    assert all(sum(case.sweep == sweep for case in here) == 3 for sweep in sweeps)
    assert {variant.kernel for variant in SIM.variant} == {"6.12"}


def test_the_table_has_a_row_for_each_metric(tmp_path: Path) -> None:
    build = "Build-1-jobs"
    here = store(tmp_path / "h", HOST, {SELECT: 10, build: 4})
    there = store(tmp_path / "s", SIM, {SELECT: 20.5, build: 0})
    assert table(list(compared(here, there)), 4).splitlines()[2:] == [
        f"| {SELECT} | throughput, 1/s | 10.5 | 10 to 11 | 21 | 2.00 | 25% |",
        f"| {SELECT} | latency_p50, us | 10.5 | 10 to 11 | 21 | 2.00 | 25% |",
        f"| {SELECT} | latency_p99, us | 10.5 | 10 to 11 | 21 | 2.00 | 25% |",
        f"| {SELECT} | CPU time of an operation, us | 1.432e+05 | 1.364e+05 to 1.5e+05 | 4.765e+04"
        " | 0.33 | 25% |",
        f"| {build} |  |  |  |  | no port is free |  |",
    ]


def test_what_a_real_time_task_starts_is_real_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(os, "sched_setscheduler", lambda *asks: asked.append(asks[:2]))
    before = os.sched_getscheduler(0)
    with real_time():
        assert asked == [(0, os.SCHED_FIFO)]
    assert asked == [(0, os.SCHED_FIFO), (0, before)]


def test_applications_are_chosen_by_benchmark_or_label() -> None:
    assert chosen(["MariaDB", "Redis get"]) == ("MariaDB", "Redis get")
    with pytest.raises(UsageError, match=r"no application 'Rediss'\. Did you mean Redis"):
        chosen(["Rediss"])


@pytest.mark.parametrize("suite", ["applications", "applications-quick"])
def test_every_application_has_a_model_of_its_own_parameters(suite: str) -> None:
    for entry in find_suite(suite)[0].benchmark:
        params = {**entry.params, **entry.simulated}
        model = find_benchmark(entry.name, "").case(MACHINE, params, None, "").model()
        assert model and set(model.figures) == set(find_benchmark(entry.name, "").metrics)


@pytest.mark.parametrize(
    ("name", "params", "why"),
    [
        ("PostgreSQL", {"transactions": "all"}, "transactions is select or tpcb, not 'all'"),
        ("MariaDB", {"handling": "fibres"}, "handling is one of threads, pool, not 'fibres'"),
        ("Nginx", {"threads": 3, "connections": 2}, "3 threads for 2 connections"),
        ("Redis", {"test": "incr"}, "test is get or set, not 'incr'"),
        ("FfmpegX264", {"preset": "slow"}, "simulated, preset is medium, not 'slow'"),
        *(
            (name, {parameter: 100_000}, f"{name}: {parameter} is at most 28,232, not 100,000")
            for name, parameter in CONNECTIONS.items()
        ),
    ],
)
def test_a_model_refuses_what_the_program_has_not(
    name: str, params: dict[str, int | str], why: str
) -> None:
    case = find_benchmark(name, "").case(MACHINE, params, None, "")
    with pytest.raises(UsageError, match=why):
        case.model()


@pytest.mark.parametrize(("name", "parameter"), CONNECTIONS.items())
def test_more_connections_than_an_address_can_make_are_refused_before_anything_runs(
    name: str, parameter: str
) -> None:
    case = find_benchmark(name, "").case(MACHINE, {parameter: 100_000}, None, "")
    with pytest.raises(UsageError, match="no more ports"):
        case.commands()
