"""Shapes of published tables, whole and damaged: read alike, or refused with the line."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.base.errors import UsageError
from schedlab.importers.number import change_bounds, follows, parse_number
from schedlab.importers.publication import Publication
from schedlab.importers.reading import read_publication
from schedlab.importers.source import Source

MMTESTS = """
tbench4
                         6.5.0-rc1             6.5.0-rc1
                           vanilla            ilb-util-v1
Hmean     1        452.49 (   0.00%)      449.93 (  -0.57%)
Hmean     64     13956.71 (   0.00%)    15581.58 *  11.64%*
Stddev    1          1.20 (   0.00%)        2.40 (-100.00%)
CoeffVar  64         0.50 (   0.00%)        0.75 ( -50.00%)
"""
INTEL = """
hackbench
=========
case             load        baseline(std%)  compare%( std%)
process-pipe     group-1      1.00 (  0.26)   +6.02 (  1.53)
threads-sockets  group-4      1.00 (  2.19)  -15.20 (  5.55)
"""
LKP = """
commit:
  e2a1f85bf9 ("sched/psi: Avoid resetting")
  0123456789 ("sched/fair: Limit the scan")

e2a1f85bf9f509af 0123456789abcdef0123456789a
---------------- ---------------------------
         %stddev     %change         %stddev
             \\          |                \\
  11833041            +6.9%   12648250 ±  2%  will-it-scale.104.threads_ops
      8.12 ± 12%      -1.2        6.93 ±  5%  mpstat.cpu.all.sys%
    204810           -11.3%     181700        vmstat.system.cs
"""
TIP = """
~~~~~~~~~~~~~
~ hackbench ~
~~~~~~~~~~~~~

o NPS1

Test:           tip                 ILB_UTIL
1-groups:       3.92 (0.00 pct)     3.66 (6.63 pct)
16-groups:      7.88 (0.00 pct)     10.43 (-32.36 pct)
"""


def read(text: str) -> Publication:
    return read_publication(Source(Path("mail.txt"), text.encode(), text))


def figures(publication: Publication) -> dict[tuple[str, str, str], float]:
    return {
        (run.key.case, run.key.variant, name): value
        for run in publication.records
        for name, value in run.metrics.items()
    }


def test_mmtests_with_spreads_on_lines_of_their_own() -> None:
    found = read(MMTESTS)
    assert [case.label for case in found.cases] == ["mail 1-load", "mail 64-load"]
    values = figures(found)
    assert values["mail 64-load", "ilb-util-v1", "mail"] == 15581.58
    first, second = found.printed
    assert first.base_spread == pytest.approx(1.20 / 452.49)
    assert (second.base_spread, second.other_spread) == (0.005, 0.0075)
    assert second.said == "starred"
    assert found.cases[0].metrics[0].better == "higher"


def test_intel() -> None:
    found = read(INTEL)
    values = figures(found)
    assert values["hackbench process-pipe group-1", "compare", "performance"] == pytest.approx(
        1.0602
    )
    assert found.printed[1].other_spread == pytest.approx(0.0555)
    assert [variant.name for variant in found.plan.variant] == ["baseline", "compare"]


def test_lkp() -> None:
    found = read(LKP)
    assert [variant.name for variant in found.plan.variant] == ["e2a1f85bf9f5", "0123456789ab"]
    label = "will-it-scale"
    assert figures(found) == {
        (label, "e2a1f85bf9f5", "104.threads_ops"): 11833041,
        (label, "0123456789ab", "104.threads_ops"): 12648250,
    }
    assert found.records[1].counters == {"mpstat.cpu.all.sys%": 6.93, "vmstat.system.cs": 181700}
    assert found.printed[0].other_spread == 0.02


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: re.sub("^", "> ", text, flags=re.M),
        lambda text: "Somebody wrote:\n" + re.sub("^", ">> ", text, flags=re.M),
        lambda text: re.sub("^", "    ", text, flags=re.M),
        lambda text: re.sub(" {2,}", " ", text),
        lambda text: re.sub(" {2,}", "\t", text),
        lambda text: text.replace("     ", " \u00a0 "),
        lambda text: re.sub(r"(pct\)) +", r"\1", text),
        lambda text: re.sub(r"(pct\)) +", r"\1\n", text),
        lambda text: text.replace("16-groups:", "\n16-groups:"),
        lambda text: text.replace(":      ", ": "),
        lambda text: "\ufeff" + text,
    ],
)
def test_what_mail_clients_do(damage: object) -> None:
    assert callable(damage)
    assert figures(read(damage(TIP))) == figures(read(TIP))
    assert len(figures(read(TIP))) == 4


def test_numbers_with_separators_and_units() -> None:
    text = TIP.replace("3.92 ", "3,920 ms ").replace("3.66 ", "3.66 s ")
    values = figures(read(text))
    assert values["hackbench NPS1 1-groups", "tip", "time"] == 3920
    assert values["hackbench NPS1 1-groups", "ILB_UTIL", "time"] == pytest.approx(3660)
    narrow = TIP.replace("7.88 (", "7\u202f880 (").replace("10.43 (", "10\u00a0430 (")
    assert figures(read(narrow))["hackbench NPS1 16-groups", "ILB_UTIL", "time"] == 10430


def test_what_is_quoted_counts_only_where_nothing_else_does() -> None:
    mine = TIP.replace("3.66 (6.63", "3.50 (10.71")
    reply = re.sub("^", "> ", TIP, flags=re.M) + mine
    assert figures(read(reply)) == figures(read(mine))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (TIP.replace("(-32.36 pct)", ""), r"mail.txt:10: the row is incomplete"),
        (TIP.replace("10.43 (-32.36 pct)", ""), r"mail.txt:10: the row is incomplete"),
        (TIP[: TIP.index("7.88")], r"mail.txt:10: the row is cut off"),
        (
            TIP.replace("tip                 ILB_UTIL", "tip"),
            r"mail.txt:8: the head names 1 columns, the rows below have 2",
        ),
        (TIP.replace("ILB_UTIL", "tip"), r"mail.txt:8: two columns have one name"),
        (TIP.replace("Test: ", "\n\n\nX").replace("ILB_UTIL", "\n\n\n"), r"rows without a head"),
        (TIP.replace("3.92 ", "0.00 "), r"mail.txt:9: .*no ratio can be made of it"),
        (TIP.replace("3.92 (0.00", "3.92 (1.00"), r"mail.txt:9: .*is not a baseline"),
        (TIP.replace("3.92 ", "3.92 s ").replace("3.66 ", "3.66 MB/s "), r"mail.txt:9: .*MB/s"),
        (TIP + TIP.replace("3.66", "3.67"), r"mail.txt:19: .*is there already, .* in line 9"),
        (
            TIP.replace("hackbench", "frobnicate")
            .replace("6.63", "0.00")
            .replace("3.66", "3.92")
            .replace("10.43 (-32.36", "7.88 (0.00"),
            r"is more or less of 'frobnicate' better",
        ),
        ("base: 1.00 (var: 0.2%)\n", r"mail.txt:1: there is nothing below"),
        ("base: 1.00 (var: 0.2%)\nnew: 1.03 (var: 0.2%)\n", r"mail.txt:2: is not NAME: FIGURE"),
        (INTEL.replace("+6.02 (  1.53)", "+6.02"), r"mail.txt:5: is not CASE LOAD"),
        (LKP.replace("+6.9%", ""), r"mail.txt:10: is not FIGURE CHANGE FIGURE NAME"),
        ("2 run summary\n A B\n avg max avg\nx 1 2 3\ny 1 2 3\n", r"mail.txt:3: 3 columns cannot"),
        ("2 run summary\n A\n avg max\nx 1\ny 1 2\n", r"mail.txt:4: x has 1 figures"),
        ("2 run summary\n A\n avg max\nx 3 2\ny 1 2\n", r"mail.txt:4: A: the mean of x is above"),
        (
            "J (tip)\n total time: 1s\n\nJ (new)\n total time: 1s\n total time: 2s\n",
            r"mail.txt:4: J: 2 tasks finished",
        ),
        ("$ ./cpuidle-smt-performance -r 10\nno summary\n", r"mail.txt:1: the output below has no"),
        ('{"schema": "x"}', r"mail.txt:1: is JSON, but not a report of schedlab"),
        ('{\n"schema": ', r"mail.txt:2: is not JSON"),
        (
            "benchmark,variant,block,kind,name,value,better\nx,a,zero,metric,t,1,lower\n",
            r"mail.txt:2: block: 'zero' is not a whole number",
        ),
        (
            "benchmark,variant,block,kind,name,value,better\nx,a,0,metric,t,1,lower\nx,b,0\n",
            r"mail.txt:3: has not the 7 columns",
        ),
        (
            "benchmark,variant,block,kind,name,value,better\nx,a,0,metric,t,1,sideways\n",
            r"mail.txt:2: better is 'sideways'",
        ),
        (
            "<!DOCTYPE html><p>Hello</p>",
            r"mail.txt:1: is a page that carries no result of schedlab",
        ),
        ("Dear all,\nno figures today.\n", r"mail.txt:1: begins with 'Dear all,' and has no table"),
    ],
)
def test_what_is_refused_with_its_line(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        read(text)


def test_files_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"one\ntwo\xff\n")
    with pytest.raises(UsageError, match=r"x:2: is not text in UTF-8"):
        Source.read(path)
    path.write_bytes(b"one\n\n\0\n")
    with pytest.raises(UsageError, match=r"x:3: is not text"):
        Source.read(path)
    with pytest.raises(UsageError, match="cannot be read"):
        Source.read(tmp_path / "none")


def test_a_row_that_is_printed_twice_is_read_once() -> None:
    row = "1-groups:       3.92 (0.00 pct)     3.66 (6.63 pct)\n"
    found = read(TIP.replace(row, row * 2))
    assert figures(found) == figures(read(TIP))
    assert any("repeats line 9; read once" in line for line in found.notices)


def test_a_percentage_that_does_not_follow_is_doubted() -> None:
    found = read(TIP.replace("6.63", "7.63"))
    (doubtful,) = [each for each in found.printed if each.doubts]
    assert doubtful.doubts == ("printed as +7.63 %, but the figures give +6.63 %",)
    assert doubtful.where == "mail.txt:9"


@given(
    base=st.floats(0.01, 1e6),
    other=st.floats(0.01, 1e6),
    digits=st.integers(0, 4),
    cut=st.booleans(),
)
def test_a_change_worked_out_of_what_was_rounded_follows(
    base: float, other: float, digits: int, cut: bool
) -> None:
    printed = [parse_number(f"{value:.{digits}f}") for value in (base, other)]
    change = 100 * (other / base - 1)
    shown = parse_number(f"{int(change * 100) / 100 if cut else change:.2f}")
    low, high = change_bounds(printed[0], printed[1])
    rounding = 1e-9 * (1 + abs(change))
    assert low - rounding <= change <= high + rounding
    assert follows(printed[0], printed[1], shown)


@given(value=st.floats(-1e12, 1e12), digits=st.integers(0, 6))
def test_numbers_come_back(value: float, digits: int) -> None:
    for text in (f"{value:.{digits}f}", f"{value:,.{digits}f}"):
        found = parse_number(f" {text}us ")
        assert found.value == float(text.replace(",", ""))
        assert found.step == pytest.approx(10.0**-digits)
        assert found.unit == "us"


numbers = st.floats(1e-2, 1e9).map(lambda value: f"{value:.2f}")


@st.composite
def tables(draw: st.DrawFn) -> tuple[str, dict[tuple[int, str], float]]:
    """A table as a mail has it, aligned or not, with its figures by load and variant."""
    variants = draw(
        st.lists(st.sampled_from(["tip", "A", "B_2", "v6.5-rc1"]), min_size=2, unique=True)
    )
    loads = sorted(draw(st.lists(st.integers(1, 4096), min_size=1, max_size=6, unique=True)))
    suffix, mmtests = draw(st.sampled_from([("-groups:", False), (":", False), ("", True)]))
    gap = draw(st.sampled_from([" ", "   ", "\t"]))
    lines = [gap.join([*([] if mmtests else ["Test:"]), *variants])]
    expected = {}
    for load in loads:
        values = [draw(numbers) for _ in variants]
        base = float(values[0])
        cells = []
        for variant, value in zip(variants, values, strict=True):
            change = 100 * (float(value) / base - 1)
            if mmtests:
                cells.append(f"{value} ( {change:.2f}%)")
            else:
                cells.append(f"{value} ({change:.2f} pct)")
            expected[load, variant] = float(value)
        prefix = f"Hmean{gap}netperf-{load}" if mmtests else f"{load}{suffix}"
        lines.append(gap.join([prefix, *cells]))
    return "\n~~~~~~~~~~~\n~ netperf ~\n~~~~~~~~~~~\n\n" + "\n".join(lines) + "\n", expected


@settings(max_examples=60, deadline=None)
@given(table=tables(), quote=st.sampled_from(["", "> ", ">> ", "> > "]), crlf=st.booleans())
def test_any_table_is_read_as_it_was_written(
    table: tuple[str, dict[tuple[int, str], float]], quote: str, crlf: bool
) -> None:
    text, expected = table
    text = "".join(f"{quote}{line}\n" for line in text.splitlines())
    found = read(text.replace("\n", "\r\n") if crlf else text)
    loads = {
        case.label: next(v for v in case.params.values() if isinstance(v, int))
        for case in found.cases
    }
    found_figures = {(loads[c], v): value for (c, v, _), value in figures(found).items()}
    assert found_figures == pytest.approx(expected, abs=1e-4)  # of 1.00, by the printed change
    assert not [each for each in found.printed if each.doubts]


FRAGMENTS = "\n".join([
    MMTESTS, INTEL, LKP, TIP,
    "base: 1.00 (var: 0.27%)\nILB_UTIL: 1.03 (var: 0.16%) (+3.31%)\n\nmax-jOPS 1.00 0.99 (-1.11%)",
    "Juno (tip)\n total time:   1.26s\n total time:   1.29s\n\nJuno (misfit)\n total time: 1.2s",
    "10 run summary (longest)\n  Juno Hikey\n avg max avg max\ntip 1 2 3 4\nmisfit 1 2 3 4",
    "$ ./cpuidle-smt-performance -w 8 -r 10 -t 60\nIrritator wakeup period = 10 us",
    "Workload Throughput = 46.0 Mops/seconds\nOverall average sleep duration = 16.5 us",
    "Overall average wakeup latency = 8.2 us",
    "Overall State CEDE : Usage = 4, Time = 88 us(0.00 %)",
    "# Platform\n|CPUs|128|\n## PerfBenchSchedPipe\n~~~\nperf bench\n~~~\n|Test|Time (sec)|",
    "|Default-0-0|44.8|\n|G-Util-0-0|45.1|\n",
    "Node 0: 0-63, 128-191\nNode 1: 64-127, 191-255\no System Details\no Kernel Versions",
    "- tip - tip:sched/core\n> quoted\n| x |\n- 10 Runs:\n{\n<!doctype html>\n,,,",
]).splitlines()  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    lines=st.lists(
        st.sampled_from(FRAGMENTS) | st.text(st.characters(codec="utf-8"), max_size=12), max_size=14
    ),
    cut=st.integers(0, 60),
)
def test_any_text_is_read_or_refused_with_its_line(lines: list[str], cut: int) -> None:
    text = "\n".join(lines)
    try:
        read(text[: len(text) - cut] if cut < 30 else text)
    except UsageError as error:
        assert re.match(r"mail.txt(:\d+)?: ", str(error))
