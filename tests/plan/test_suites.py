"""The suites: each runs on a host and, with sizes of its own, on a simulated machine."""

import pytest

from schedlab.benchmarks import find_benchmark
from schedlab.benchmarks.benchmark import Span
from schedlab.machine.model import find_machine
from schedlab.plan.plan import Plan, all_suites, find_suite

CHEAP = {
    "Stream": "a round over the arrays is a few hundred events",
    "UnixbenchDhry2reg": "tasks that only compute",
    "UnixbenchSyscall": "its calls are not simulated one by one",
    "UnixbenchSpawn": "creating tasks is slow in itself",
    "UnixbenchExecl": "creating tasks is slow in itself",
    "SchbenchOld": "it sleeps most of the time",
    "YcsbMongodb": "5 s by itself",
    "DeathStarBench": "5 s by itself",
    "Specjbb2015MultiJvm": "2 s by itself",
    "BuildGoogleTest": "of few files, the same on hosts and simulated",
    "FfmpegX264": "of few frames, the same on hosts and simulated",
    "Load": "the same load on hosts and simulated is the suite's purpose",
}
"""Benchmarks that need no simulated sizes; docs/internals/engine-speed.md has their cost."""


@pytest.mark.parametrize("name", all_suites())
def test_every_benchmark_has_a_simulated_size_or_needs_none(name: str) -> None:
    suite, _ = find_suite(name)
    for entry in suite.benchmark:
        needs_none = entry.name in CHEAP or find_benchmark(entry.name, name).model is None
        assert entry.simulated or needs_none, f"{name}: {entry.label or entry.name}"


@pytest.mark.parametrize("name", all_suites())
@pytest.mark.parametrize("machine", ["smp4", "epyc-7713-2p-nps1"])
def test_a_simulated_run_is_no_longer_than_a_few_seconds(name: str, machine: str) -> None:
    plan = Plan.model_validate(
        {"suite": name, "target": f"sim:{machine}", "variant": [{"name": "a"}, {"name": "b"}]}
    )
    for case in (case for case in plan.cases(find_machine(machine)) if case.benchmark.model):
        assert case.seconds is None, "a simulated size is not fitted"
        for key, value in case.params.items():
            assert not isinstance(value, Span) or value.seconds <= 30, (case.label, key)
        grows = case.benchmark.grows
        assert not grows or int(case.params[grows]) <= 20_000, case.label


def test_quick_runs_are_about_a_second_on_every_host() -> None:
    suite, _ = find_suite("quick")
    for entry in suite.benchmark:
        assert entry.seconds == 1 or entry.params.get("time") == 1 or not entry.params
