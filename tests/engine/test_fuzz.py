"""A few of the fuzzer's random cases: they come to an end, and to the same one again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.helpers.engine.fuzz import BUILDS, Broken, Runner, label, shape
from tests.helpers.engine.simulator import ROOT, build
from tests.helpers.engine.wide import MACHINES, case

BIGGEST = {"power10-768"}


def test_random_cases(series: str, tmp_path: Path) -> None:
    runner, schedsim = Runner(tmp_path), build(series)
    shapes = {name: shape(name) for name in MACHINES}
    ends = []
    for seed in range(1, 41):
        tried = case(seed, series, shapes)
        if tried.machine not in BIGGEST:
            ends.append(runner.run(schedsim, tried)[0])
    # The others are refused: an action by a task that got no CPU before the end.
    assert ends.count("done") + ends.count("simulated_bound") > 0.7 * len(ends)


def test_a_run_that_differs_when_repeated_is_found(tmp_path: Path) -> None:
    """A stand-in whose results are of the host's time."""
    schedsim = tmp_path / "schedsim"
    schedsim.write_text(
        "#!/bin/sh\n"
        'echo "{\\"status\\": \\"done\\", \\"engine\\": {\\"events\\": 1$(date +%N)}}" > result.json\n'
    )
    schedsim.chmod(0o755)
    tried = case(1, "6.12", {name: shape(name) for name in MACHINES})
    with pytest.raises(Broken, match="another result when run again: engine"):
        Runner(tmp_path).run(schedsim, tried)


def test_every_build_is_of_its_own() -> None:
    """Each series with each HZ, and both ways of preemption with each series and each HZ."""
    assert len({label(build) for build in BUILDS}) == len(BUILDS) == 8
    for key in ("series", "HZ"):
        assert len({(build[key], build["PREEMPT"]) for build in BUILDS}) == 2 * len(
            {build[key] for build in BUILDS}
        )


def test_every_machine_and_workload_is_among_the_cases() -> None:
    assert set(MACHINES) == {path.stem for path in (ROOT / "machines").glob("*.toml")}
    sources = "".join(path.read_text() for path in (ROOT / "workloads").glob("*.c"))
    known = {name.replace("_", "-") for name in re.findall(r"^WORKLOAD\((\w+)\)", sources, re.M)}
    shapes = {name: shape(name) for name in MACHINES}
    drawn = [case(seed, "6.12", shapes).scenario["workloads"] for seed in range(1000)]
    assert {workload["kind"] for workloads in drawn for workload in workloads} == known
