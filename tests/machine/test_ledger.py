"""Figures written with their range, source and rows: what is read, kept, written and refused."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from schedlab.base.errors import UsageError
from schedlab.judging.marks import mark_of
from schedlab.machine.ledger import Entry, around, number
from schedlab.machine.model import Machine, find_machine, known_machines, load_machine

FILE = """\
name = "x"
cpus = "0-3"

[[cpu]]
cpus = "0-3"
opp = { value = [{ mhz = 1, power_mw = 4 }], range = [
  [{ mhz = 1, power_mw = 2 }], [{ mhz = 1, power_mw = 8 }],
] }

[smt]
speed = { value = [1.0, 0.6], range = [[1.0, 0.5], [1.0, 0.7]], source = "estimate" }
polling = 0.5

[cost]
line_llc = { value = "26ns", range = ["20ns", "0.03us"], source = "measured", rows = ["a/b"] }
line_cluster = { value = "26ns", range = ["9ns", "30ns"], moves_with = "cost.line_llc" }
spin = { value = "100ns", source = "the engine's own" }
tick = "1us"
"""


@pytest.fixture
def loaded(tmp_path: Path) -> Callable[[str], Machine]:
    """Return a reader of a file's text."""

    def load(text: str) -> Machine:
        path = tmp_path / "m.toml"
        path.write_text(text)
        return load_machine(path)

    return load


def test_values_stand_where_they_always_do(loaded: Callable[[str], Machine]) -> None:
    machine = loaded(FILE)
    assert machine.cost == {
        **{"line_llc": "26ns", "line_cluster": "26ns", "spin": "100ns", "tick": "1us"}
    }
    assert machine.smt and machine.smt.speed == (1.0, 0.6)
    assert machine.ledger["cost.line_llc"] == Entry(
        range=("20ns", "0.03us"), source="measured", rows=("a/b",)
    )
    assert machine.ledger["cpu[0].opp"].source == "not given"
    assert "cost.tick" not in machine.ledger


def test_it_is_written_as_it_was_read(loaded: Callable[[str], Machine]) -> None:
    machine = loaded(FILE)
    text = machine.to_toml()
    assert FILE.splitlines()[-5] in text.splitlines()
    assert loaded(text) == machine
    assert Machine.model_validate(machine.model_dump(mode="json")) == machine


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('range = ["1us", "2us"]', "cost.tick"),  # no value: not a figure at all
        ('value = "1us", sorce = "x"', "unknown key 'sorce' of a figure. Did you mean source?"),
        ('value = "1us", range = ["2us", "3us"]', "cost.tick.range: the value is not between"),
        ('value = "1us", range = ["3us", "0.5us"]', "cost.tick.range: the value is not between"),
        ('value = "1us", range = [1, 2]', "cost.tick.range: must be [lowest, highest]"),
        ('value = "1us", range = ["1us", "2GB/s"]', "cost.tick.range: must be [lowest, highest]"),
        (
            'value = "1us", range = ["30ns", "9000000s"]',
            "cost.tick: '9000000s' is too long; the most is 4s (at the highest end of its range)",
        ),
        ('value = "9000000s"', "cost.tick: '9000000s' is too long; the most is 4s"),
        ("value = 5, range = [0.5, inf]", "cost.tick.range: an end is not a finite number"),
        ("value = 5, range = [nan, 6]", "cost.tick.range: an end is not a finite number"),
        ('value = "1us", range = ["1us"]', "ledger.cost.tick.range"),
        ('value = "1us", rows = "a"', "ledger.cost.tick.rows"),
        ('value = "1us", source = ""', "ledger.cost.tick.source"),
        ('value = "1 foot"', "cost.tick"),
        (
            'value = "1us", range = ["1us", "2us"], moves_with = "cost.tock"',
            "cost.tick.moves_with: 'cost.tock' is not a figure with a range of its own",
        ),
        (
            'value = "1us", range = ["1us", "2us"], moves_with = "cost.line_cluster"',
            "not a figure with a range of its own",
        ),
        ('value = "1us", moves_with = "cost.line_llc"', "cost.tick.moves_with: needs a range"),
    ],
)
def test_what_does_not_fit_is_refused(
    loaded: Callable[[str], Machine], line: str, problem: str
) -> None:
    with pytest.raises(UsageError) as refused:
        loaded(FILE.replace('tick = "1us"', f"tick = {{ {line} }}"))
    assert problem in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_range_has_the_limits_of_its_figure(loaded: Callable[[str], Machine]) -> None:
    with pytest.raises(UsageError, match=r"smt.speed\[1\]: .*\(at the highest end of its range\)"):
        loaded(FILE.replace("[1.0, 0.7]", "[1.0, 1.7]"))


@pytest.mark.parametrize(
    ("core", "instead"),
    [
        ("", "write [core] with mhz = 3704 instead"),
        ("[core]\nmhz = 3700\n", "core.mhz says it"),
    ],
)
def test_a_cost_that_the_frequency_says_is_refused(
    loaded: Callable[[str], Machine], core: str, instead: str
) -> None:
    """Files of before say cost.cycles_1000; the refusal says what to write now."""
    with pytest.raises(UsageError) as refused:
        loaded(f'name = "x"\ncpus = "0"\n{core}[cost]\ncycles_1000 = "270ns"\n')
    assert "cost.cycles_1000: what programs' cycles take follows" in str(refused.value)
    assert str(refused.value).endswith(f"Delete the line; {instead}.")


def test_a_range_by_a_factor_holds_the_figure() -> None:
    for value in ("1.24us", "24ns", 3, 0, 0.61, [1.0, 0.6], "11.3GB/s"):
        low, high = around(value, 1.1)
        pairs = zip(low, high, strict=True) if isinstance(value, list) else [(low, high)]
        assert all(number(one) <= number(other) for one, other in pairs)


def test_a_range_by_a_factor_is_written_as_files_have_it() -> None:
    """Digits alone: a number with an exponent is no quantity of a machine file."""
    assert around("705012ns", 2.0) == ("353000ns", "1410000ns")
    assert around("0.0001s", 2.0) == ("0.00005s", "0.0002s")


SCHED_PIPE = {
    "the group_util report": "group-util-kunpeng",
    "the NUMA balancing report": "numa-balancing-kunpeng",
}
DOCUMENTS = {**SCHED_PIPE, "the misfit series": "misfit", "the ILB_UTIL thread": "ilb-util-epyc"}


def test_a_source_that_names_a_document_names_the_row_in_rows() -> None:
    """Else a row that set a figure would count as one that the simulator predicts."""
    found = 0
    for name in known_machines():
        for key, entry in find_machine(name).ledger.items():
            if entry.source.startswith("as "):
                continue  # that figure has the rows
            for document in re.findall("|".join(DOCUMENTS), entry.source):
                rows = [row for row in entry.rows if row.startswith(f"{DOCUMENTS[document]}/")]
                assert rows, f"{name}: {key}: {entry.source}"
                if "sched pipe" in entry.source:
                    assert f"{SCHED_PIPE[document]}/PerfBenchSchedPipe" in rows, f"{name}: {key}"
                found += 1
    assert found


def test_the_row_that_set_what_an_operation_of_mongodb_takes_is_calibration() -> None:
    assert mark_of("ilb-util-epyc", "ycsb-mongodb", "throughput") == "calibration"
