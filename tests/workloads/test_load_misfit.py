"""The misfit series' test and nanosleep as native programs."""

from pathlib import Path

import pytest

from tests.helpers.load import refused, run

CAPACITIES = {
    path.read_text() for path in Path("/sys/devices/system/cpu").glob("cpu[0-9]*/cpu_capacity")
}


def test_misfit_times_every_unpinned_task() -> None:
    results = run("misfit", unpinned=2, requests=40)
    times = [results["time 1"], results["time 2"]]
    assert "time 3" not in results
    assert results["longest"] == max(times)
    assert results["mean"] == pytest.approx(sum(times) / 2)


def test_misfit_in_rounds() -> None:
    results = run("misfit", unpinned=2, requests=40, rounds=2)
    assert max(results["time 1"], results["time 2"]) == results["longest 1"]
    assert results["longest"] == pytest.approx((results["longest 1"] + results["longest 2"]) / 2)


@pytest.mark.skipif(len(CAPACITIES) > 1, reason="there are big and little CPUs here")
def test_misfit_needs_little_cpus_or_a_number() -> None:
    assert "--unpinned says how many" in refused("misfit")


def test_nanosleep() -> None:
    results = run("nanosleep", processes=2, time=0.2)
    assert results["loops"] > 0
    assert 0 < results["oversleep p50"] <= results["oversleep max"]


def test_bad_parameters() -> None:
    assert "--sleep" in refused("nanosleep", "--sleep=0")
    assert "--requests" in refused("misfit", "--requests=1")
