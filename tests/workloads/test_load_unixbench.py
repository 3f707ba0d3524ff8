"""UnixBench's tests as native programs."""

import pytest

from tests.helpers.load import refused, run


@pytest.mark.parametrize("test", ["dhry2reg", "syscall", "pipe", "context1", "spawn", "execl"])
def test_counts(test: str) -> None:
    assert run("unixbench", test=test, copies=2, duration="200ms")["lps"] > 0


def test_bad_parameters() -> None:
    assert "--test" in refused("unixbench", "-t", "whetstone")
    assert "--copies" in refused("unixbench", "-c", "0")
