"""netperf and tbench as native programs."""

import pytest

from tests.helpers.load import refused, run


@pytest.mark.parametrize("test", ["TCP_RR", "UDP_RR"])
def test_netperf(test: str) -> None:
    results = run("netperf", test=test, clients=2, length="200ms", request=64, response=1024)
    assert (
        0
        < results["slowest client"]
        <= results["transactions per client"]
        <= results["fastest client"]
    )


def test_tbench() -> None:
    results = run("tbench", nprocs=2, timelimit="500ms", warmup="50ms")
    # client.txt: 5428 bytes a line
    assert results["Throughput"] * 1e6 / results["operations"] == pytest.approx(5428, rel=0.3)


def test_bad_parameters() -> None:
    assert "--test" in refused("netperf", "-t", "TCP_STREAM")
    assert "--timelimit" in refused("tbench", "-t", "0")
