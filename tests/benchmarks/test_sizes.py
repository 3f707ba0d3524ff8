"""Sizes relative to a machine."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.base.errors import UsageError
from schedlab.benchmarks.benchmark import Span
from schedlab.benchmarks.sizes import amount, binary, count, span

NAMES = {"cpus": 128, "nodes": 4, "memory_gib": 125}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (7, 7),
        ("7", 7),
        ("cpus/2", 64),
        ("cpus*80", 10240),
        ("(cpus - 8) / nodes", 30),
        ("cpus/1000", 1),
    ],
)
def test_count(text: int | str, value: int) -> None:
    assert count(text, NAMES, "x") == value


def test_amount_keeps_its_unit() -> None:
    assert amount("memory_gib/4 GB", NAMES, "x") == "31GB"
    assert amount("512MB", NAMES, "x") == "512MB"


def test_the_tools_count_in_powers_of_two() -> None:
    assert [binary(size) for size in ("31GB", "1KB", "64B")] == ["31GiB", "1KiB", "64B"]


@pytest.mark.parametrize("work_out", [count, amount])
def test_a_size_the_machine_lacks(work_out: Callable[..., object]) -> None:
    text = "memory_gib/4 GB" if work_out is amount else "memory_gib/4"
    with pytest.raises(UsageError, match="Add the key memory_gib to the machine's file"):
        work_out(text, {"cpus": 4}, "x")


@pytest.mark.parametrize("text", ["1.5", "7/2"])
def test_a_figure_that_is_not_whole_is_not_rounded(text: str) -> None:
    with pytest.raises(UsageError, match=f"x: {text} is not a whole number"):
        count(text, NAMES, "x")


@pytest.mark.parametrize("text", ["", "31", "31 XB", "GB", "-1GB", "1.5GB", "cpus/2"])
def test_bad_amounts(text: str) -> None:
    with pytest.raises(UsageError, match="x: "):
        amount(text, NAMES, "x")


@given(st.one_of(st.text(), st.text("0123456789cpus+-*/(). ", max_size=30), st.integers()))
def test_any_text_is_a_size_or_one_clear_error(text: str | int) -> None:
    try:
        assert count(text, NAMES, "x") >= 1
    except UsageError as error:
        assert str(error).startswith("x: ")


@pytest.mark.parametrize(
    ("value", "expected"),
    [(60, "60s"), ("60", "60s"), ("200ms", "0.2s"), ("1.5 s", "1.5s"), ("2min", "120s")],
)
def test_spans(value: int | str, expected: str) -> None:
    assert span(value, "here") == expected
    assert span(expected, "here") == expected


@pytest.mark.parametrize("value", [0, -1, True, "", "0ms", "soon", "5 days", "1e3", "ms"])
def test_what_is_no_span(value: int | str) -> None:
    with pytest.raises(UsageError, match=r"here: .* is not a duration"):
        span(value, "here")


def test_tools_take_whole_seconds() -> None:
    assert Span("60s").whole_seconds == 60
    for text in ("0.2s", "1.5s"):
        with pytest.raises(UsageError, match="for simulated runs"):
            _ = Span(text).whole_seconds
