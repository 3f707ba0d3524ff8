"""schbench, old and new, as native programs."""

from tests.helpers.load import refused, run


def test_old() -> None:
    results = run(
        "schbench-old", message_threads=1, threads=2, runtime=0.5, warmuptime=0, cputime=1000
    )
    assert results["samples"] > 0
    assert 1 <= results["latency p50"] <= results["latency p99"] <= results["latency max"]


def test_new() -> None:
    results = run("schbench", threads=2, runtime=0.5, operations=1)
    assert results["average rps"] > 0
    # a request sleeps 100 us and multiplies
    assert results["request p50"] > 100
    assert results["wakeup p50"] <= results["wakeup p99"] <= results["wakeup max"]


def test_bad_parameters() -> None:
    assert "--message-threads" in refused("schbench", "-m", "0")
    assert "--runtime" in refused("schbench-old", "-r", "0")
