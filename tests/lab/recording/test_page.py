"""A trace's page: self-contained, hostile names stay text, an arrow for each pair."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from schedlab.cli.trace import trace
from schedlab.lab.recording.choice import Choice
from schedlab.lab.recording.inference import infer
from schedlab.lab.recording.page import trace_page
from schedlab.lab.recording.setup import Setup, TaskSetup
from schedlab.lab.recording.stats import describe_stats, trace_stats
from tests.helpers.browser import Page
from tests.helpers.traces import Line, ftrace, perf_script, read, switch, waking

IDLE, A, B = ("swapper/0", 0), ("worker1", 10), ("</title></svg><script>", 11)
LINES = [
    switch(0, 0, IDLE, "R", A),
    switch(0, 1, IDLE, "R", B),
    switch(1_000, 1, B, "S", IDLE),
    waking(2_000, 0, A, B),
    switch(3_000, 1, IDLE, "R", B),
    switch(4_000, 0, A, "S", IDLE),
    waking(5_000, 1, B, A),
    switch(6_000, 0, IDLE, "R", A),
    switch(7_000, 1, B, "S", IDLE),
]


def page_of(lines: list[Line]) -> str:
    return trace_page(trace_stats(read(lines), Choice()), "<x>")


def test_each_way_of_waking_is_an_arrow() -> None:
    text = page_of(LINES)
    page = Page(text)
    arrows = [attrs for tag, attrs in page.tags if tag == "path" and attrs.get("class") == "wake"]
    assert len(arrows) == 2 and len({arrow["d"] for arrow in arrows}) == 2
    assert len([tag for tag, _ in page.tags if tag == "circle"]) == 2
    assert "<script" not in text and not re.search(r"https?:|@import", text)
    assert "worker* wakes" in text and "&lt;x&gt;" in text


def test_of_many_groups_the_busiest_are_drawn() -> None:
    lines = [switch(0, 0, IDLE, "R", A)]
    for n in range(30):
        other = (f"t{chr(65 + n)}x", 100 + n)
        lines += [
            switch(10_000 * n + 1, 1, IDLE, "R", other),
            switch(10_000 * n + 2, 1, other, "S", IDLE),
            waking(10_000 * n + 3, 0, A, other),
            switch(10_000 * n + 4, 1, IDLE, "R", other),
            switch(10_000 * n + 5, 1, other, "S", IDLE),
        ]
    text = page_of(lines)
    assert text.count("<circle") == 16
    assert "15 groups that wake least" in text


def test_a_trace_without_wakes_says_so() -> None:
    assert "No task woke another one" in page_of(LINES[:3])


@pytest.mark.parametrize("place", ["page.html", "missing/page.html"])
def test_the_command_writes_it(place: str, tmp_path: Path) -> None:
    file = tmp_path / "trace.txt"
    file.write_text("".join(f"{ftrace(line)}\n" for line in LINES))
    target = tmp_path / place
    done = CliRunner().invoke(trace, ["stats", str(file), "--html", str(target)])
    if target.parent.exists():
        assert done.exit_code == 0 and "Who wakes whom" in target.read_text()
    else:
        assert done.exit_code == 2 and "there is no folder" in done.output


@pytest.mark.parametrize(("cpus", "idle"), [("0-1", 3_000), ("0", 0), (None, 3_000)])
def test_only_cpus_on_which_a_task_may_run_count_as_idle(cpus: str | None, idle: int) -> None:
    waits = [
        switch(0, 0, IDLE, "R", A),
        switch(0, 1, IDLE, "R", ("other", 12)),
        switch(1_000, 0, A, "R", ("one", 13)),
        switch(2_000, 1, ("other", 12), "S", IDLE),
        switch(5_000, 0, ("one", 13), "S", A),
        switch(6_000, 0, A, "S", IDLE),
    ]
    events = read(waits)
    if cpus:
        events = replace(events, setup=Setup("", "0-1", {10: TaskSetup(10, cpus)}))
    [group] = [each for each in trace_stats(events, Choice()).groups if each.name == "worker*"]
    assert (group.waiting, group.waiting_idle) == (4_000, idle)


def test_stats_tell_what_an_import_tells() -> None:
    """A trace without sched_waking, of which switches were lost."""
    lines = [switch(0, 0, IDLE, "R", A), switch(2_000, 0, B, "S", IDLE)]
    lines += [switch(3_000, 0, IDLE, "R", A), switch(4_000, 0, A, "S", IDLE)]
    said = "\n".join(describe_stats(trace_stats(read(lines), Choice())))
    assert "sched_waking is not recorded" in said and "switches were lost" in said
    *notes, _ = infer(read(lines), Choice(), "x").recorded["notes"]
    assert all(f"note: {note}" in said for note in notes)


@pytest.mark.parametrize(
    "within",
    [("hrtimer_expire", "hrtimer=0 now=1"), ("softirq", "vec=1 [action=TIMER]")],
)
def test_a_timer_wakes_nobody_in_the_name_of_who_ran(within: tuple[str, str]) -> None:
    """As `perf script` prints it: without flags, so that the interrupt's own events tell."""
    event, text = within
    lines = [
        *(switch(0, 0, IDLE, "R", A), switch(0, 1, IDLE, "R", B), switch(1_000, 1, B, "S", IDLE)),
        Line(5_000, 0, *A, f"{event}_entry", text),
        waking(5_001, 0, A, B),
        Line(5_002, 0, *A, f"{event}_exit", text.partition(" now")[0]),
        *(switch(6_000, 1, IDLE, "R", B), switch(7_000, 1, B, "S", IDLE)),
        *(waking(8_000, 0, A, B), switch(8_500, 1, IDLE, "R", B)),
        *(switch(9_000, 1, B, "S", IDLE), switch(9_000, 0, A, "S", IDLE)),
    ]
    stats = trace_stats(read(lines, perf_script), Choice())
    assert [count for _, _, count in stats.wakes] == [1]
