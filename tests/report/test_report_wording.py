"""Figures and verdicts in words."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.base.printable import printable, printable_lines
from schedlab.counters.cpuidle import idle_counter
from schedlab.judging.stats import judge
from schedlab.judging.verdict import Comparison, Interval, Verdict
from schedlab.plan.design import Design
from schedlab.report import wording

VERDICT = Verdict(key="x", better="lower", word="can't tell", n=(6, 6), blocks_done=6, effect=0.01)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0.0, "0"),
        (5.07684, "5.0768"),
        (44.9994, "44.999"),
        (214_580.6, "214,581"),
        (0.012345678, "0.012346"),
        (3e-7, "3.0000e-07"),
        (2.5e11, "2.5000e+11"),
        (9.99997, "10.000"),
    ],
)
def test_a_mean_has_five_digits(value: float | None, text: str) -> None:
    assert wording.number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(44.821, "44.821"), (120.3559, "120.3559"), (10240.0, "10240"), (214897.15, "214897.15")],
)
def test_a_run_shows_what_the_tool_printed(value: float, text: str) -> None:
    assert wording.exact(value) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (0.0940, "+9.40 %"),
        (-0.3236, "-32.36 %"),
        (0.00001, "0.00 %"),
        (-0.00001, "0.00 %"),
        (5.59, "+559 %"),
        (math.inf, "+inf %"),
        (1e9, "+1.0e+11 %"),
        (0.99997, "+100 %"),
        (999.998, "+100,000 %"),
        (None, "-"),
    ],
)
def test_percent_always_has_its_sign(ratio: float | None, text: str) -> None:
    assert wording.percent(ratio) == text


@given(ratio=st.floats(-1, 1e9))
def test_a_change_read_back_reads_the_same(ratio: float) -> None:
    """A figure that rounds up to the next power of ten has the next one's form."""
    text = wording.points(ratio)
    assert wording.points(float(text.replace(",", "")) / 100) == text


@given(value=st.floats(-1e12, 1e12))
def test_a_mean_read_back_reads_the_same(value: float) -> None:
    text = wording.number(value)
    assert wording.number(float(text.replace(",", ""))) == text


def test_an_interval_has_both_signs() -> None:
    assert wording.interval(Interval(-0.0123, 0.02)) == "[-1.23, +2.00]"
    assert wording.interval(None) == "-"


@pytest.mark.parametrize(
    ("value", "text"), [(1_895_534.0, "1,895,534"), (12.34, "12.34"), (1e16, "1.000e+16")]
)
def test_a_count_is_written_in_full(value: float, text: str) -> None:
    assert wording.count(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0.0, "0"), (0.004, "<0.01"), (12.345, "12.35"), (1e13, "1.0000e+13")],
)
def test_a_mean_count_is_short(value: float | None, text: str) -> None:
    assert wording.mean_count(value) == text


@pytest.mark.parametrize(
    ("counter", "unit"),
    [
        ("sched:sched_migrate_task", "events"),
        ("cpu:busy-seconds", "s"),
        ("cpuidle:C6:seconds", "s"),
        ("cost:lock_wait_ns", "ns"),
        ("cpuidle:C6:usage", "events"),
        ("schedstat:wait-ns", "ns"),
    ],
)
def test_a_counter_has_its_unit(counter: str, unit: str) -> None:
    assert wording.counter_unit(counter) == unit


def test_idle_counters_are_taken_apart_whatever_the_state_is_called() -> None:
    assert idle_counter("cpuidle:cpu:sleep:usage") == ("cpu:sleep", "usage")
    assert idle_counter("sched:sched_stick_numa") is None


@pytest.mark.parametrize(
    ("counter", "is_one"),
    [
        ("sched:sched_migrate_task", True),
        ("schedstat:wakeups", False),
        ("cpu:busy-seconds", False),
        ("cpuidle:C6:usage", False),
        ("context-switches", False),
    ],
)
def test_tracepoints_are_told_from_other_counters(counter: str, is_one: bool) -> None:
    assert wording.is_tracepoint(counter) is is_one


def test_cant_tell_says_what_would_settle_it() -> None:
    open_ = replace(VERDICT, blocks_needed=24)
    assert wording.verdict_phrase(open_) == "can't tell: about 24 blocks would settle it"
    futile = replace(open_, blocks_needed=230, futile=True)
    assert wording.outlook(futile).endswith("; more than this plan has")
    assert "no number of blocks" in wording.outlook(VERDICT)
    unpaired = replace(open_, extendable=False)
    assert wording.outlook(unpaired) == "about 24 values of each would settle it"
    assert wording.outlook(replace(open_, n=(1, 1))) == ""


def test_screening_and_open_verdicts_are_no_evidence() -> None:
    better = replace(VERDICT, word="better", settled=True)
    assert wording.is_evidence(better)
    assert not wording.is_evidence(replace(better, screening=True))
    assert not wording.is_evidence(VERDICT)


def test_manipulation_checks_and_silent_counters_are_not_called_undecided() -> None:
    def judged(base: list[float], other: list[float]) -> Verdict:
        counts = Comparison("c", base, other, better=None, blocks_done=6, counts=True)
        return judge([counts], Design())[0]

    check = judged([9.0] * 6, [0.0] * 6)
    assert check.name == "manipulation check"
    silent = judged([0.0] * 6, [0.0] * 6)
    assert silent.name == "never happened"
    assert {wording.mark(check), wording.mark(silent)} == {"·"}


def test_blocks_lost_to_failed_runs_show() -> None:
    assert wording.blocks_used(VERDICT) == "6"
    assert wording.blocks_used(replace(VERDICT, blocks_done=8)) == "6/8"
    assert wording.blocks_used(replace(VERDICT, n=(5, 7), extendable=False)) == "5+7"


@pytest.mark.parametrize(
    ("seconds", "text"), [(1.23456, "1.23 s"), (600.0, "10 min"), (7860.0, "2 h 11 min")]
)
def test_durations(seconds: float, text: str) -> None:
    assert wording.duration(seconds) == text


def test_nothing_printed_can_move_a_cursor_or_hide() -> None:
    assert printable("a\x1b[31m\nb\u202ec") == "a\\x1b[31m b\\u202ec"
    assert printable("naïve – 測試") == "naïve – 測試"
    assert printable_lines("a\tb\n\x07") == "a       b\n\\x07"


def test_a_figure_is_not_parted_from_its_sign() -> None:
    assert wording.wrapped("between 130 and 210 % worse", 20) == ["between 130 and", "210 % worse"]


@given(st.text(), st.integers(20, 100))
def test_wrapped_lines_fit_and_lose_nothing_but_spaces(text: str, width: int) -> None:
    lines = wording.wrapped(text, width, "- ", "  ")
    assert all(wording.columns(line) <= width for line in lines)
    kept = "".join(line[2:] for line in lines).replace(" ", "")
    assert kept == printable(text).replace(" ", "")


@given(st.text(min_size=1), st.integers(6, 40))
def test_a_name_fitted_is_never_too_wide(text: str, width: int) -> None:
    assert wording.columns(wording.fitted(text, width)) <= width
