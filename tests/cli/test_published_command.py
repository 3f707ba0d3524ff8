"""`schedlab validate --published` with a fake simulator: runs, scores, studies, goes on."""

import errno
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from schedlab.base.errors import Interrupted, UsageError
from schedlab.lab import kept as command
from schedlab.lab.accuracy.published import works
from schedlab.lab.result import Lab, Result
from schedlab.result.store import Store
from tests.helpers.fake_engine import FakeLab

PLAN = """
target = "sim:{machine}"
published = "{published}"
[[benchmark]]
name = "HackbenchPipeThreads"
params = {{ groups = 1, loops = 10 }}
[[benchmark]]
name = "PerfBenchSchedPipe"
params = {{ loops = 5 }}
[[variant]]
name = "base"
[[variant]]
name = "no-wa"
sched_features = ["NO_WA_IDLE"]
[blocks]
looks = [6]
warmup = 0
"""

PUBLISHED = """
title = "Without WA_IDLE"
source = "a list"
mechanism = "wakeup placement"
machine = "four CPUs"
kernel = "6.12"
plans = ["{plan}"]
open = ["The board."]
[[table]]
target = "sim:{machine}"
variant = "no-wa"
metric = "time"
rows = [["HackbenchPipeThreads", 10.0, 8.0], ["PerfBenchSchedPipe", 10.0, 12.0]]
"""


@pytest.fixture
def published(lab: FakeLab, tmp_path: Path) -> Path:
    plan, file = tmp_path / "no-wa-plan.toml", tmp_path / "no-wa.toml"
    plan.write_text(PLAN.format(machine=lab.machine, published=file))
    file.write_text(PUBLISHED.format(machine=lab.machine, plan=plan))
    return file


def call(lab: FakeLab, published: Path, *words: object) -> tuple[int, str, str]:
    results = published.parent / "results"
    return lab.call("validate", "--published", published, "--results", results, *words)


def explain(page: Path) -> None:
    rows = ("no-wa-plan", "second")
    words = "".join(f'"{row}: PerfBenchSchedPipe, time" = "It is a fake."\n' for row in rows)
    page.with_suffix(".toml").write_text(f"[explanation]\n{words}")


def test_plans_are_run_and_scored_and_the_study_is_written(lab: FakeLab, published: Path) -> None:
    page = published.parent / "predictions.md"
    status, text, errors = call(lab, published, "--output", page)
    assert status == 0, errors
    assert "plan 1 of 1: no-wa-plan" in errors
    assert "wakeup placement: 2 rows: 1 right, 1 wrong" in text
    assert "validation rows, all: 2 published, 2 simulated (0 cold), 2 judged" in text
    assert "aim: no claim of the other sign: 1 of 2 claims, not met" in text
    assert f"wrote {page}" in text
    study = page.read_text()
    assert "### no-wa-plan: PerfBenchSchedPipe, time" in study
    assert "- The board." in study
    assert "Engine version" in study


def test_what_is_whole_is_not_run_again_and_explanations_stay(
    lab: FakeLab, published: Path
) -> None:
    page = published.parent / "predictions.md"
    assert call(lab, published, "--output", page)[0] == 0
    [folder] = (published.parent / "results").iterdir()
    with_words = page.read_text().replace("Not explained yet.", "It is a fake.")
    explain(page)
    before = Store.open(folder).records()
    status, _, errors = call(lab, published, "--output", page)
    assert status == 0, errors
    assert "run 1" not in errors
    assert Store.open(folder).records() == before
    assert page.read_text() == with_words


def test_what_was_begun_is_gone_on_with(lab: FakeLab, published: Path) -> None:
    assert call(lab, published)[0] == 0
    [folder] = (published.parent / "results").iterdir()
    store = Store.open(folder, readonly=False)
    store._db.execute("delete from figure where position > 5")
    store._db.execute("delete from run where position > 5")
    store._db.commit()
    kept = len(store.records())
    store.close()
    assert 0 < kept < 24
    status, text, errors = call(lab, published)
    assert status == 0, errors
    assert "1 right, 1 wrong" in text
    assert len(Store.open(folder).records()) == 24


def test_the_study_is_written_after_every_plan(
    lab: FakeLab, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plan 1 of 2 is stopped: what plan 2 had from before stands in the page, plan 1 is owed."""
    second, page = published.parent / "second.toml", published.parent / "predictions.md"
    second.write_text((published.parent / "no-wa-plan.toml").read_text() + "seed = 7\n")
    text = published.read_text()
    published.write_text(text.replace("no-wa-plan.toml", "second.toml"))
    assert call(lab, published)[0] == 0
    published.write_text(text.replace("plans = [", f'plans = ["{second}", '))
    run_results = command.run_results

    def stopped(results: Mapping[str, Result], lab: Lab) -> None:
        raise Interrupted("stopped")

    monkeypatch.setattr(command, "run_results", stopped)
    status, _, errors = call(lab, published, "--output", page)
    assert status == 130
    assert "plan 1 of 2: second: complete" in errors
    assert f"1 plan of 2 were complete; complete cases are in {page}" in errors
    study = page.read_text()
    assert "| no-wa-plan | not simulated |" in study
    assert "### second: PerfBenchSchedPipe, time" in study
    monkeypatch.setattr(command, "run_results", run_results)
    explain(page)
    assert call(lab, published, "--output", page)[0] == 0
    assert "not simulated |" not in page.read_text()
    assert "It is a fake." in page.read_text()


def test_a_case_that_is_whole_counts_before_its_plan_is(
    lab: FakeLab, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = published.parent / "predictions.md"
    run_results, ran = command.run_results, list[str]()

    def first_only(results: Mapping[str, Result], lab: Lab) -> None:
        [result] = results.values()
        [case] = result.cases
        if ran:
            raise Interrupted("stopped")
        ran.append(case.label)
        run_results(results, lab)

    monkeypatch.setattr(command, "run_results", first_only)
    status, _, errors = call(lab, published, "--output", page)
    assert status == 130
    assert ran == ["HackbenchPipeThreads"]
    assert f"0 plans of 1 were complete; complete cases are in {page}" in errors
    study = page.read_text()
    assert "| no-wa-plan (1 of 2 cases) |" in study
    assert "| all | 2 | 1 | 0 | 1 |" in study
    assert "Published and not simulated: 1 of 2 rows." in study


def test_long_cases_are_run_if_their_change_is_named_and_count_from_then_on(
    lab: FakeLab, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, results = published.parent / "predictions.md", published.parent / "results"
    long = 'long = ["HackbenchPipeThreads"]\n'
    published.write_text(published.read_text().replace("open =", f"{long}open ="))
    monkeypatch.setattr("schedlab.lab.accuracy.published.all_references", lambda: [str(published)])
    every = ("validate", "--published", "", "--results", results, "--output", page)

    status, text, errors = lab.call(*every)
    assert status == 0, errors
    assert "HackbenchPipeThreads" not in errors
    assert "validation rows, all: 2 published, 1 simulated" in text
    assert "Published and not simulated: 1 of 2 rows." in page.read_text()

    status, text, errors = call(lab, published)
    assert status == 0, errors
    assert "HackbenchPipeThreads" in errors

    status, text, errors = lab.call(*every)
    assert status == 0, errors
    assert "validation rows, all: 2 published, 2 simulated" in text


def test_a_score_goes_on_without_its_results(lab: FakeLab, published: Path) -> None:
    page = published.parent / "predictions.md"
    assert call(lab, published, "--output", page)[0] == 0
    before, text = page.read_text(), call(lab, published, "--output", page)[1]
    shutil.rmtree(published.parent / "results")
    status, again, errors = call(lab, published, "--output", page)
    assert status == 0, errors
    assert not (published.parent / "results").exists()
    assert again == text
    assert page.read_text() == before


def test_cases_of_the_record_and_of_results_are_one_plan(lab: FakeLab, published: Path) -> None:
    page = published.parent / "predictions.md"
    record = page.with_suffix(".json")
    assert call(lab, published, "--output", page)[0] == 0
    whole = json.loads(record.read_text())
    [part] = whole["parts"]
    part["whole"] = part["whole"][1:]
    part["rows"] = part["rows"][1:]
    record.write_text(json.dumps(whole))
    shutil.rmtree(published.parent / "results")
    status, _, errors = call(lab, published, "--output", page)
    assert status == 0, errors
    assert "PerfBenchSchedPipe" not in errors
    assert "HackbenchPipeThreads" in errors
    assert page.read_text().count("| no-wa-plan | ") == 1
    [part] = json.loads(record.read_text())["parts"]
    assert part["whole"] == ["HackbenchPipeThreads", "PerfBenchSchedPipe"]
    assert [row["label"] for row in part["rows"]] == part["whole"]


def test_rows_of_another_engine_stay_until_they_are_simulated_anew(
    lab: FakeLab, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two cases the first was another engine's: the second comes first, and both are left."""
    page = published.parent / "predictions.md"
    record = page.with_suffix(".json")
    assert call(lab, published, "--output", page)[0] == 0
    whole = json.loads(record.read_text())
    [part] = whole["parts"]
    part["engine"]["Engine version"] = "an older one"
    part["whole"] = part["whole"][:1]
    part["rows"] = [row for row in part["rows"] if row["label"] in part["whole"]]
    record.write_text(json.dumps(whole))
    shutil.rmtree(published.parent / "results")
    run_results, ran = command.run_results, list[str]()

    def first_only(results: Mapping[str, Result], lab: Lab) -> None:
        [result] = results.values()
        if ran:
            raise Interrupted("stopped")
        ran.extend(case.label for case in result.cases)
        run_results(results, lab)

    monkeypatch.setattr(command, "run_results", first_only)
    assert call(lab, published, "--output", page)[0] == 130
    assert ran == ["PerfBenchSchedPipe"]
    assert page.read_text().count("| no-wa-plan (1 of 2 cases) |") == 2
    assert "| no-wa-plan (1 of 2 cases) | an older one |" in page.read_text()
    monkeypatch.setattr(command, "run_results", run_results)
    assert call(lab, published, "--output", page)[0] == 0
    assert "an older one" not in page.read_text()
    assert "| no-wa-plan | " in page.read_text()
    assert len(json.loads(record.read_text())["parts"]) == 1


def test_rows_of_another_design_stay_until_they_are_simulated_anew(
    lab: FakeLab, published: Path
) -> None:
    """More blocks or longer runs ask the same; the page says what made each row."""
    page, plan = published.parent / "predictions.md", published.parent / "no-wa-plan.toml"
    assert call(lab, published, "--output", page)[0] == 0
    shutil.rmtree(published.parent / "results")
    assert "| 6 blocks (" in page.read_text()
    assert "| HackbenchPipeThreads | time | 6 |" in page.read_text()
    few = plan.read_text()
    longer = few.replace("loops = 5 }", "loops = 5 }\nsimulated = { loops = 50 }")
    plan.write_text(longer.replace("looks = [6]", "looks = [7]"))
    rows = json.loads(page.with_suffix(".json").read_text())["parts"][0]["rows"]
    assert [row["pairs"] for row in rows] == [6, 6]
    status, _, errors = call(lab, published, "--output", page)
    assert status == 0
    assert "run 1" in errors
    assert "6 blocks" not in page.read_text()
    assert "| HackbenchPipeThreads | time | 7 |" in page.read_text()


def test_rows_of_another_plan_are_dropped_and_bad_records_refused(
    lab: FakeLab, published: Path
) -> None:
    page = published.parent / "predictions.md"
    record, plan = page.with_suffix(".json"), published.parent / "no-wa-plan.toml"
    assert call(lab, published, "--output", page)[0] == 0
    good = record.read_text()
    shutil.rmtree(published.parent / "results")
    plan.write_text(plan.read_text().replace("loops = 5", "loops = 6"))
    assert "run 1" in call(lab, published, "--output", page)[2]
    plan.write_text(plan.read_text().replace("loops = 6", "loops = 5"))
    for text, message in (
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ('{"part": []}', "parts: is missing"),
        (good.replace('"metric": "time"', '"metric": "tine"'), "nothing is published of"),
        (" " * (4 << 20) + good, "is longer than 4 MiB"),
    ):
        record.write_text(text)
        status, _, errors = call(lab, published, "--output", page)
        assert status == 2
        assert f"{record}: " in errors
        assert message in errors


def test_other_options_and_bad_files_are_refused(lab: FakeLab, published: Path) -> None:
    status, _, errors = call(lab, published, "--only", "hackbench")
    assert status == 2
    assert "--published simulates whole plans: leave out --machine" in errors
    published.write_text(published.read_text().replace("plans = ", "plan = "))
    status, _, errors = call(lab, published)
    assert status == 2
    assert "plan: unknown key. Did you mean plans?" in errors
    published.write_text("title = 1")
    status, _, errors = call(lab, published)
    assert status == 2
    assert "Traceback" not in errors
    for words, message in (
        (("--changes", "--jobs", 2), "--jobs goes with loads and with --published"),
        (("--changes", "--only", "hackbench"), "leave out --only and --target"),
    ):
        status, _, errors = lab.call("validate", *words)
        assert (status, message in errors) == (2, True), errors


COUNTS = """
[[counts]]
target = "sim:{machine}"
variant = "no-wa"
counter = "context-switches"
per = {{ loops = 20 }}
rows = [["HackbenchPipeThreads", [10], [12]]]
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["Perf', '["Prf', "table[0].rows[1]: 'PrfBenchSchedPipe' is not a benchmark of"),
        ('metric = "time"', 'metric = "tine"', "table[0].metric: 'tine' is not a metric of"),
        ('variant = "no-wa"', 'variant = "no-way"', "table[0].variant: 'no-way' is not a variant"),
        ('target = "sim:', 'target = "sim:no', "table[0].target: "),
        ("10.0, 8.0", "10.0, 1e300", "table[0].rows[0][2]: "),
        ("[10], [12]", "[10], [1e300]", "counts[0].rows[0][2][0]: "),
        ("per = { loops", "per = { loop", "counts[0].per: 'loop' is not a parameter of Hackbench"),
        ("open =", 'long = ["Hackbench"]\nopen =', "long: 'Hackbench' is not a benchmark of"),
        ('target = "sim:', 'target = "smi:', "table[0].target: no target is called 'smi:"),
        ("[10], [12]", "[true], [12]", "counts[0].rows[0][1][0]: a number is expected"),
        ("10.0, 8.0", '10.0, "1.7"', "table[0].rows[0][2]: "),
        ("10.0, 8.0", "10.0, true", "table[0].rows[0][2]: "),
        ('"context-switches"', '"sched:nonsense"', "counts[0].counter: schedlab knows no counter"),
        ('"context-switches"', '"context-switchs"', "Did you mean context-switches?"),
        ('[["Hackbench', '[["Hackbank', ".rows[0]: 'HackbankPipeThreads' is not a benchmark of"),
    ],
)
def test_rows_that_match_nothing_are_refused_with_their_place(
    lab: FakeLab, published: Path, old: str, new: str, message: str
) -> None:
    text = published.read_text() + COUNTS.format(machine=lab.machine)
    assert old in text
    published.write_text(text.replace(old, new))
    status, _, errors = call(lab, published)
    assert status == 2
    assert f"{published}: " in errors
    assert message in errors
    assert not (published.parent / "results").exists()


def second_change(lab: FakeLab, published: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Add a change with a plan of its own; both are all that is published."""
    folder = published.parent
    plan, file = folder / "other-plan.toml", folder / "other.toml"
    plan.write_text(PLAN.format(machine=lab.machine, published=file) + "seed = 7\n")
    file.write_text(PUBLISHED.format(machine=lab.machine, plan=plan).replace("WA_IDLE", "it"))
    for module in ("published", "predicting"):
        monkeypatch.setattr(
            f"schedlab.lab.accuracy.{module}.all_references", lambda: [str(published), str(file)]
        )
    return file


def parts_of(page: Path) -> list[dict[str, Any]]:
    return list(json.loads(page.with_suffix(".json").read_text())["parts"])


def test_a_named_change_leaves_the_others_in_the_page_and_record(
    lab: FakeLab, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, page = second_change(lab, published, monkeypatch), published.parent / "predictions.md"
    assert call(lab, published, "--output", page)[0] == 0
    assert "other-plan" not in page.read_text()  # a new page is of the named change
    status, text, errors = call(lab, other, "--output", page)
    assert status == 0, errors
    assert "plan 1 of 1: other-plan" in errors
    assert "validation rows, all: 2 published, 2 simulated" in text
    assert [part["plan"] for part in parts_of(page)] == ["no-wa-plan", "other-plan"]
    assert "| no-wa-plan | " in page.read_text()
    assert "| other-plan | " in page.read_text()


def test_rows_of_unknown_plans_stay_in_the_record_and_are_told(
    lab: FakeLab, published: Path
) -> None:
    page = published.parent / "predictions.md"
    assert call(lab, published, "--output", page)[0] == 0
    foreign = {**parts_of(page)[0], "plan": "a-plan-of-old"}
    page.with_suffix(".json").write_text(json.dumps({"parts": [foreign, *parts_of(page)]}))
    status, _, errors = call(lab, published, "--output", page)
    assert status == 0
    assert "2 rows of a-plan-of-old stay there and do not count" in errors
    assert parts_of(page)[-1] == foreign
    assert "a-plan-of-old" not in page.read_text()


def test_a_full_disk_leaves_the_record_as_it_was(
    lab: FakeLab, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = published.parent / "predictions.md"
    assert call(lab, published, "--output", page)[0] == 0
    before = page.with_suffix(".json").read_bytes(), page.read_bytes()

    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    status, _, errors = call(lab, published, "--output", page)
    assert status == 2
    assert f"{page.with_suffix('.json')}: cannot be written: No space left on device" in errors
    assert (page.with_suffix(".json").read_bytes(), page.read_bytes()) == before
    assert not page.with_suffix(".new").exists()


Part = dict[str, Any]


def twice(part: Part) -> None:
    part["rows"].append(part["rows"][0])


def emptied(part: Part) -> None:
    part["rows"] = []


def unknown_case(part: Part) -> None:
    part["whole"].append("nolabel")


def whole_twice(part: Part) -> None:
    part["whole"] *= 2


def set_in_row(**values: object) -> Callable[[Part], None]:
    return lambda part: part["rows"][0].update(values)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (twice, "rows: 'HackbenchPipeThreads, time' stands there twice"),
        (emptied, "the row of HackbenchPipeThreads, time is missing, though the case is whole"),
        (unknown_case, "whole: 'nolabel' is not a benchmark of the plan"),
        (whole_twice, "whole: 'HackbenchPipeThreads' stands there twice"),
        (set_in_row(note="\ud800"), "note: has a character that is not printable"),
        (set_in_row(verdict="splendid"), "rows[0].verdict: "),
        (set_in_row(verdict="a | b"), "rows[0].verdict: "),
        (set_in_row(low=0.5, high=0.1), "rows[0]: low, 0.5, is more than high, 0.1"),
        (
            set_in_row(simulated=5.0, low=-0.3, high=0.1),
            "rows[0]: simulated, 5.0, is not between low and high",
        ),
        (
            set_in_row(simulated=-0.2, low=-0.3, high=-0.1, verdict="better"),
            "rows[0]: the verdict better does not fit simulated and judged",
        ),
        (
            set_in_row(simulated=None, verdict="worse"),
            "rows[0]: the verdict worse does not fit simulated and judged",
        ),
        (set_in_row(low=None, high=0.1), "rows[0]: only one of low and high is given"),
        (set_in_row(simulated="0.1"), "rows[0].simulated: a number is expected"),
        (set_in_row(label="nolabel"), "whole: 'nolabel', which has a row, is missing"),
    ],
)
def test_damaged_records_are_refused_with_advice_and_stay(
    lab: FakeLab, published: Path, change: Callable[[Part], None], message: str
) -> None:
    page = published.parent / "predictions.md"
    record = page.with_suffix(".json")
    assert call(lab, published, "--output", page)[0] == 0
    [part] = parts_of(page)
    change(part)
    record.write_text(damaged := json.dumps({"parts": [part]}))
    status, _, errors = call(lab, published, "--output", page)
    assert (status, message in errors) == (2, True), errors
    assert f"{record}: " in errors
    assert "the same command simulates anew what is not in it" in errors
    assert record.read_text() == damaged


def test_a_case_in_two_parts_is_refused(lab: FakeLab, published: Path) -> None:
    page = published.parent / "predictions.md"
    assert call(lab, published, "--output", page)[0] == 0
    page.with_suffix(".json").write_text(json.dumps({"parts": parts_of(page) * 2}))
    status, _, errors = call(lab, published, "--output", page)
    assert status == 2
    assert "no-wa-plan: 'HackbenchPipeThreads' is in two of its parts" in errors


def test_what_was_published_is_not_taken_from_the_record(lab: FakeLab, published: Path) -> None:
    """Another published figure makes another grade and ratio, and nothing is simulated for it."""
    page = published.parent / "predictions.md"
    assert call(lab, published, "--output", page)[0] == 0
    [part] = parts_of(page)
    part["rows"][1]["published"] = 0.2
    page.with_suffix(".json").write_text(json.dumps({"parts": [part]}))
    shutil.rmtree(published.parent / "results")
    status, text, errors = call(lab, published, "--output", page)
    assert status == 0, errors
    assert "1 right, 1 wrong" in text

    published.write_text(published.read_text().replace("10.0, 12.0", "20.0, 12.0"))
    status, text, errors = call(lab, published, "--output", page)
    assert status == 0, errors
    assert "run 1" not in errors
    assert "2 right, 0 wrong" in text
    ratios = [row["ratio"] for row in parts_of(page)[0]["rows"]]
    assert ratios == [part["rows"][0]["ratio"], pytest.approx(part["rows"][1]["ratio"] / 2)]


def test_a_change_of_a_plan_may_be_undone(
    lab: FakeLab, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a changed plan has left out counts again, but for cases simulated meanwhile."""
    page, plan = published.parent / "predictions.md", published.parent / "no-wa-plan.toml"
    assert call(lab, published, "--output", page)[0] == 0
    shutil.rmtree(published.parent / "results")
    text, run_results, ran = plan.read_text(), command.run_results, list[str]()
    plan.write_text(text.replace("loops = 5", "loops = 6"))

    def first_only(results: Mapping[str, Result], lab: Lab) -> None:
        if ran:
            raise Interrupted("stopped")
        ran.extend(results)
        run_results(results, lab)

    monkeypatch.setattr(command, "run_results", first_only)
    status, _, errors = call(lab, published, "--output", page)
    assert status == 130
    assert "2 rows of no-wa-plan left out, of HackbenchPipeThreads, PerfBenchSchedPipe" in errors
    assert "Published and not simulated: 1 of 2 rows." in page.read_text()
    wholes = [["HackbenchPipeThreads"], ["PerfBenchSchedPipe"]]
    assert [part["whole"] for part in parts_of(page)] == wholes
    plan.write_text(text)
    status, _, errors = call(lab, published, "--output", page)
    assert status == 130
    assert "1 row of no-wa-plan left out, of HackbenchPipeThreads:" in errors
    assert [part["whole"] for part in parts_of(page)] == [*reversed(wholes)]
    monkeypatch.setattr(command, "run_results", run_results)
    assert call(lab, published, "--output", page)[0] == 0
    assert [part["whole"] for part in parts_of(page)] == [[*wholes[0], *wholes[1]]]


@pytest.mark.parametrize("ending", [".toml", ".json", ".new"])
def test_a_page_takes_no_other_files_place(lab: FakeLab, published: Path, ending: str) -> None:
    page = published.parent / f"predictions{ending}"
    page.write_text("mine")
    status, _, errors = call(lab, published, "--output", page)
    assert status == 2
    assert f"{page}: a page cannot be called so" in errors
    assert page.read_text() == "mine"
    assert not (published.parent / "results").exists()


def test_an_output_that_cannot_be_is_refused_at_once(lab: FakeLab, published: Path) -> None:
    file = published / "x.md"  # within a file
    status, _, errors = call(lab, published, "--output", file)
    assert (status, f"{file}: cannot be written" in errors) == (2, True), errors
    assert not (published.parent / "results").exists()
    for words in (("--changes",), ()):
        status, _, errors = lab.call("validate", *words, "--output", file)
        assert (status, f"{file}: cannot be written" in errors) == (2, True), errors


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["Hack', '["Hock', ".rows[0]: 'HockbenchPipeThreads' is not a benchmark of"),
        ('variant = "no-wa"', 'variant = "no-way"', ".variant: 'no-way' is not a variant"),
        ('metric = "time"', 'metric = "tine"', ".metric: 'tine' is not a metric of"),
    ],
)
def test_rows_measured_on_a_host_are_checked_as_well(
    lab: FakeLab, published: Path, old: str, new: str, message: str
) -> None:
    table = published.read_text()[published.read_text().index("[[table]]") :]
    on_host = table.replace(f"sim:{lab.machine}", "host")
    assert old in on_host
    text = published.read_text()
    published.write_text(text + on_host)
    assert works(str(published))
    published.write_text(text + on_host.replace(old, new))
    with pytest.raises(UsageError, match=re.escape(f"table[1]{message}")):
        works(str(published))


def test_figures_cannot_grow_with_a_word(lab: FakeLab, published: Path) -> None:
    plan = published.parent / "no-wa-plan.toml"
    plan.write_text(plan.read_text().replace("groups = 1,", 'groups = 1, cpus = "0-1",'))
    counts = COUNTS.format(machine=lab.machine).replace("loops = 20", "cpus = 2")
    published.write_text(published.read_text() + counts)
    with pytest.raises(UsageError, match="per: figures cannot grow with 'cpus', which is '0-1' of"):
        works(str(published))
