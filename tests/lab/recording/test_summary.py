"""Workload files that are compressed or summarised, and what comes back of them."""

import gzip
import json
import re
from pathlib import Path

import pytest

from schedlab.base.errors import UsageError
from schedlab.benchmarks.recorded_file import one_line_each, read_workload_text
from schedlab.benchmarks.recordings.summary import summarised
from schedlab.benchmarks.rt_app import check, rt_app_model
from schedlab.benchmarks.rt_app_file import RtAppFile
from schedlab.lab.recording.ideal import IdealRun
from schedlab.lab.recording.workload import (
    Item,
    Message,
    RecordedTask,
    RecordedWorkload,
    read_workload,
)
from tests.helpers.command_line import Cli

ROUNDS = 200
WHOLE = RecordedWorkload(
    [
        RecordedTask(
            1,
            "client1",
            " ".join(f"{5_000 + at} p{at} m1 @{100_000 * at + at % 7} w" for at in range(1, 201)),
        ),
        RecordedTask(2, "server2", "3000 q1"),
        RecordedTask(3, "reader", " ".join(["r1 1000 y t4000 s20 d30 l1 50 u1"] * ROUNDS)),
    ],
    {"source": "x", "seconds": 1, "notes": []},
    [Message("pipe", 1, 100)],
    barriers=[],
    items=[Item(1, f"{7_000 + 3 * at} >1") for at in range(1, 201)],
)


def words_of(made: RecordedWorkload) -> list[str]:
    """Return all words without the times that are drawn."""
    return [re.sub(r"(?<![^ sd@])\d+", "N", words) for words in made.all_words()]


def test_a_compressed_file_is_read_wherever_a_file_is(tmp_path: Path) -> None:
    file = tmp_path / "x.slw.gz"
    WHOLE.write(file)
    assert file.read_bytes()[:2] == b"\x1f\x8b" and read_workload(file) == WHOLE
    description = RtAppFile(str(file))
    assert description.as_written().name.endswith(".slw")
    assert not description.is_plain()
    check(description)
    WHOLE.write(tmp_path / "x.slw")
    assert RtAppFile(str(tmp_path / "x.slw")).is_plain()
    assert rt_app_model(str(file)).enclosures[0].text == (tmp_path / "x.slw").read_text()


def test_what_is_cut_off_or_no_text_is_told(tmp_path: Path) -> None:
    file = tmp_path / "x.slw.gz"
    WHOLE.write(file)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(UsageError, match=r"x\.slw\.gz: is incomplete"):
        read_workload(file)
    file.write_bytes(gzip.compress(b"\xff\xfe"))
    with pytest.raises(UsageError, match="is not UTF-8 text"):
        read_workload(file)


def test_a_summary_has_all_words_and_times_like_those_recorded(tmp_path: Path) -> None:
    small, whole = tmp_path / "small.slw", tmp_path / "whole.slw"
    WHOLE.write(whole)
    small.write_text(one_line_each(summarised(WHOLE.document())))
    assert small.stat().st_size < whole.stat().st_size / 3
    made = read_workload(small)
    assert words_of(made) == words_of(WHOLE)
    assert made.messages == WHOLE.messages and [task.id for task in made.tasks] == [1, 2, 3]
    assert made.work() == pytest.approx(WHOLE.work(), rel=0.001)
    arrivals = [ns for letter, ns in made.tasks[0].steps() if letter == "@"]
    assert arrivals == sorted(arrivals) and arrivals[-1] == pytest.approx(20e6, rel=0.01)
    works = [ns for number in range(1, 201) for word, ns in made.item_steps(number) if not word]
    assert 6_950 <= min(works) < 7_050 and 7_550 < max(works) <= 7_660
    assert not list(IdealRun(made).stuck())
    assert read_workload(small) == made, "the same each time"


def test_a_summary_that_takes_longer_or_shorter_says_so(tmp_path: Path, cli: Cli) -> None:
    """Of few pieces, of which one is long, another one may be."""
    file, small, again = (str(tmp_path / f"{name}.slw") for name in ("x", "small", "again"))
    for long, off in ((97_000_000, True), (1_000_000, False)):
        works = [long, *[1_000_000] * 3]
        tasks = [RecordedTask(at, "a", str(ns)) for at, ns in enumerate(works, 1)]
        RecordedWorkload(tasks, {"source": "x", "seconds": 1.0}).write(Path(file))
        for words in (("summarise", file, "--output", small), ("expand", small, "--output", again)):
            _, said, _ = cli("workload", *words)
            assert (f"as recorded {long / 1e9:g} s" in said) == off
    _, said, _ = cli("workload", "show", again)
    assert ("as recorded" in said) == off


def test_a_summary_runs_as_the_workload_that_it_stands_for(tmp_path: Path) -> None:
    file = tmp_path / "small.slw"
    file.write_text(one_line_each(summarised(WHOLE.document())))
    description = RtAppFile(str(file))
    check(description)
    assert description.replay_kind() and "summary" not in description.as_written().text
    assert description.as_written().text == read_workload_text(file)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("version", 2),
        ("words", "no base64!"),
        ("words", ""),
        ("words", "AAAA"),
        ("times", []),
        ("times", [{}]),
        ("times", 3),
    ],
)
def test_a_damaged_summary_is_told(tmp_path: Path, key: str, value: object) -> None:
    document = summarised(WHOLE.document())
    document["summary"][key] = value
    file = tmp_path / "small.slw"
    file.write_text(json.dumps(document))
    with pytest.raises(UsageError, match=r"small\.slw: summary: is damaged, or of another version"):
        read_workload(file)


def test_a_file_that_only_speaks_of_a_summary_is_none(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text('{"tasks": {"a": {"run": 100}}, "global": {"x": "summary"}} ')
    assert read_workload_text(file) == file.read_text()
