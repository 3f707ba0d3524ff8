"""Metrics of the user's own: what they are written as, and what is read with them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.base.errors import IncompleteRun, UsageError
from schedlab.base.validation import validate
from schedlab.benchmarks import Output
from schedlab.benchmarks.own_metric import OwnMetric, parse_metric, read

THROUGHPUT = "throughput: ([0-9.]+) req/s higher"
UNITS = st.text(st.sampled_from("abcdefgzMB/%µ1-_°"), min_size=1, max_size=10).filter(
    lambda unit: unit not in ("higher", "lower")
)
DIRECTIONS = st.sampled_from(["higher", "lower"])
TEXTS = st.text(max_size=80) | st.text(st.sampled_from('ab:( )[]{}\\|*+?."0 json:higher'))
NUMBERS = st.floats(min_value=1e-9, max_value=1e12)
KEYS = st.text(min_size=1, max_size=8).filter(lambda key: '"' not in key and key.isprintable())


def metric(text: str) -> OwnMetric:
    return validate(parse_metric(text), OwnMetric, "--metric")


def value(text: str, stdout: str, stderr: str = "") -> float:
    [figure] = read([metric(text)], Output(stdout, stderr)).values()
    return figure


def refusal(text: str, stdout: str, stderr: str = "") -> str:
    with pytest.raises(IncompleteRun) as error:
        value(text, stdout, stderr)
    return str(error.value)


@given(UNITS, DIRECTIONS)
def test_a_metric_is_an_expression_a_unit_and_a_direction(unit: str, better: str) -> None:
    found = parse_metric(f"requests  done:  (\\d+)   {unit} {better} ")
    expected = {"name": "requests-done", "regex": r"requests  done:  (\d+)"}
    assert found == {**expected, "unit": unit, "better": better}


@given(TEXTS, st.sampled_from(["", " us", " lower", " us lower"]))
def test_any_text_is_a_metric_or_refused_in_a_sentence(text: str, ending: str) -> None:
    try:
        found = metric(text + ending)
    except UsageError as error:
        assert str(error)
    else:
        assert OwnMetric.model_validate(found.model_dump()) == found
        assert (found.regex is None) != (found.path is None)


@given(NUMBERS, st.sampled_from(["{:g}", "{:.3f}", "{:e}", "{!r}"]))
def test_numbers_are_read_as_programs_print_them(number: float, how: str) -> None:
    printed = how.format(number)
    found = value(r"done in (\S+) us lower", f"begin\ndone in {printed} us\nend\n")
    assert found == float(printed) if float(printed) else found == 0


@given(st.lists(KEYS | st.integers(0, 3), min_size=1, max_size=5), NUMBERS)
def test_a_path_leads_to_what_it_names(steps: list[str | int], number: float) -> None:
    document: Any = number
    for step in reversed(steps):
        document = {step: document} if isinstance(step, str) else [None] * step + [document]
    path = "".join(f'["{step}"]' if isinstance(step, str) else f"[{step}]" for step in steps)
    own = OwnMetric(name="x", json=path, unit="us", better="lower")
    assert list(read([own], Output(json.dumps(document))).values()) == [number]


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("throughput: ([0-9.]+)", "add its unit and whether higher or lower is better, such as"),
        ("throughput: ([0-9.]+) req/s", "add whether higher or lower is better, such as --metric"),
        ("throughput: ([0-9.]+) higher", "add its unit, such as --metric"),
        ("json:p99 lower", "add its unit"),
        ("", "add its unit and whether"),
        ("([0-9]+ us lower", "regex: '([0-9]+' is not a regular expression: missing )"),
        ("time: [0-9]+ us lower", "has no group; put parentheses around the number alone"),
        ("(a)(b) us lower", "has 2 groups"),
        ("json:a..b us lower", "'a..b' is not a path into JSON (at '..b')"),
        ("json:.a us lower", "is not a path into JSON"),
        ("json: us lower", "'' is not a path into JSON"),
        (f"({'a' * 1001}) us lower", "at most 1000 characters"),
    ],
)
def test_what_is_wrong_with_a_metric_is_said(text: str, advice: str) -> None:
    with pytest.raises(UsageError) as error:
        metric(text)
    assert advice in str(error.value)


@pytest.mark.parametrize(
    ("table", "advice"),
    [
        ({"name": "a", "regex": "(a)"}, 'add unit = "req/s" and better = "higher" or "lower"'),
        ({"name": "a", "regex": "(a)", "unit": "s"}, 'add better = "higher" or "lower"'),
        ({"name": "a", "unit": "s", "better": "lower"}, "either regex or json says where"),
        (
            {"name": "a", "unit": "s", "better": "lower", "regex": "(a)", "json": "a"},
            "either regex or json",
        ),
        ({"name": "a", "regex": "(a)", "unit": "s", "better": "more"}, "better: "),
        ({"name": "\x1b", "regex": "(a)", "unit": "s", "better": "lower"}, "not a metric's name"),
        ({"name": "a", "regex": "(a)", "unit": "\n", "better": "lower"}, "is not a unit"),
    ],
)
def test_what_is_wrong_with_a_plans_metric_is_said(table: dict[str, str], advice: str) -> None:
    with pytest.raises(UsageError) as error:
        validate(table, OwnMetric, "plan.toml")
    assert advice in str(error.value)


def test_a_figure_stands_on_either_output() -> None:
    assert value(THROUGHPUT, "throughput: 12.5 req/s\n") == 12.5
    assert value(THROUGHPUT, "starting\n", "throughput: 12.5\n") == 12.5
    assert value(r"^([0-9,]+) bytes MB higher", "total\n1,234,567 bytes copied\n") == 1234567


def test_json_is_all_that_is_printed_or_its_last_line() -> None:
    assert value("json:a[1].p99 us lower", '{"a": [0,\n {"p99": 3}]}') == 3
    assert value("json:p99 us lower", 'warming up\n{"p99": "2.5"}\n') == 2.5


@pytest.mark.parametrize(
    ("text", "printed", "reason"),
    [
        (THROUGHPUT, "", "matches nothing in what was printed (nothing)"),
        (THROUGHPUT, "oops \x1b[2J\0", r"(standard output: oops \x1b[2J\x00)"),
        (THROUGHPUT, "throughput: 1\nthroughput: 2\n", "matches 2 times (1, 2); one is expected"),
        (THROUGHPUT, "throughput: 1\n" * 99, "matches more than 8 times"),
        (THROUGHPUT, "throughput: 1.2.3\n", "'1.2.3' is not a finite number"),
        (r"t: (\S+) s lower", "t: nan", "'nan' is not a finite number"),
        (r"t: (\S+) s lower", "t: inf", "'inf' is not a finite number"),
        (r"t: (\S+) s lower", "t: 1,5", "'1,5' is not a finite number"),
        (r"t:(x)? s lower", "t:", "'' is not a finite number"),
        ("json:a s lower", "no json", "neither standard output nor its last line is JSON"),
        ("json:a s lower", "[" * 100_000, "neither standard output nor its last line is JSON"),
        ("json:latency s lower", '{"latencys": 1}', "it has latencys. Did you mean latencys?"),
        ("json:a[3] s lower", '{"a": [1]}', "has no a[3]: a: a list of 1"),
        ("json:a.b s lower", '{"a": 1}', "has no a.b: a: it has no keys"),
        ("json:a s lower", '{"a": true}', "a of the JSON printed is not a number"),
        ("json:a s lower", '{"a": NaN}', "'nan' is not a finite number"),
        ("json:a s lower", '{"a": {}}', "is not a number"),
    ],
)
def test_a_run_without_its_figure_says_what_it_printed(
    text: str, printed: str, reason: str
) -> None:
    assert reason in refusal(text, printed)


def test_an_expression_that_never_ends_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedlab.benchmarks.matching._SECONDS", 1)
    plain, endless = metric(THROUGHPUT), metric("(a+)+b us lower")
    printed = Output(f"throughput: 1\n{'a' * 60}\n")
    with pytest.raises(IncompleteRun) as error:
        read([plain, endless], printed)
    assert "to match '(a+)+b' takes more than 1 s on 76 characters" in str(error.value)
    assert str(error.value).endswith("avoid repetitions of repetitions: write (a+)+ as (a+)")
