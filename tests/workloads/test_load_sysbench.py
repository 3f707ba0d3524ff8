"""sysbench's tests as native programs."""

import pytest

from tests.helpers.load import refused, run


def test_cpu_counts_its_events() -> None:
    results = run("sysbench-cpu", threads=2, time=0, events=50, cpu_max_prime=1000)
    assert results["total number of events"] == 50
    assert results["latency avg"] <= results["latency max"] <= 1000 * results["total time"]


@pytest.mark.parametrize("test", ["cpu", "threads"])
def test_time_is_a_limit(test: str) -> None:
    results = run(f"sysbench-{test}", threads=4, time=0.1)
    assert results["total time"] >= 0.1
    rate = results["total number of events"] / results["total time"]
    assert results["events per second"] == pytest.approx(rate, rel=0.01)


def test_mutex_is_one_event_a_thread() -> None:
    results = run("sysbench-mutex", threads=8, mutex_num=2, mutex_locks=200, mutex_loops=100)
    assert results["total number of events"] == 8


@pytest.mark.parametrize("scope", ["global", "local"])
def test_memory_stops_at_its_total(scope: str) -> None:
    results = run("sysbench-memory", threads=2, memory_total_size="64KiB", memory_scope=scope)
    assert (results["total number of events"], results["transferred"]) == (64, 1 / 16)


def test_bad_parameters() -> None:
    assert "--threads" in refused("sysbench-cpu", "--threads=0")
    assert "--thread-locks" in refused("sysbench-threads", "--thread-locks=0")
    assert "a time such as" in refused("sysbench-mutex", "--time=soon")
