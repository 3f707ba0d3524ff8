"""STREAM as a native program."""

from tests.helpers.load import refused, run


def test_four_rates() -> None:
    results = run("stream", array_size=1_000_000, ntimes=3, threads=2)
    assert list(results) == ["Copy", "Scale", "Add", "Triad"]
    # a loop the compiler dropped would be faster than any memory
    assert all(10 < rate < 10_000_000 for rate in results.values())


def test_arrays_that_do_not_divide() -> None:
    assert run("stream", array_size=1001, ntimes=2, threads=3)["Triad"] > 0


def test_bad_parameters() -> None:
    assert "--ntimes" in refused("stream", "--ntimes", "1")
