"""The HTML page: well-formed, self-contained, safe, and shown by a real browser."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from schedlab.judging.analysis import analyse
from schedlab.report import Report, all_shapes, html
from schedlab.report.picture_data import said_of_waits
from schedlab.result.pictures import Waits
from schedlab.result.store import Store
from schedlab.settings.variant import Variant
from tests.helpers.browser import Page, run_browser
from tests.helpers.report_store import (
    COMMON,
    DEFAULT,
    HACKBENCH,
    NB_OFF,
    SCHED_PIPE,
    SYSBENCH_THREADS,
    make_store,
    plan_of,
)

HOSTILE = "</script><script>alert(1)</script><img src=http://x/ onerror=alert(1)>\"'&{{7*7}}\x1b[2J"


def hostile_store(folder: Path) -> Path:
    bench = replace(
        HACKBENCH,
        label=HOSTILE,
        command=HOSTILE,
        summary=HOSTILE,
        metric=replace(HACKBENCH.metric, name=HOSTILE, unit=HOSTILE, label=HOSTILE),
        counters={HOSTILE: 10.0, "$x_$": 3.0},
        failing={("NB-OFF", 1): HOSTILE},
        caveats=(HOSTILE,),
    )
    make_store(
        folder,
        [bench],
        plan_of(title=HOSTILE, target=f"host:{HOSTILE}"),
        nr_blocks=6,
        notices=[HOSTILE],
        environment={HOSTILE: HOSTILE},
        invocation=HOSTILE,
    ).close()
    return folder


def idle_store(folder: Path) -> Path:
    idle = {f"cpuidle:{s}:{kind}": 1e4 for s in ("C1", "C6") for kind in ("usage", "seconds")}
    failing = {("NB-OFF", 3): "a time limit cut it short"}
    slow = replace(SYSBENCH_THREADS, counters=idle, failing=failing)
    make_store(folder, [*COMMON[:2], slow], nr_blocks=8, disturbed={5: 0.3}).close()
    return folder


def page_of(folder: Path) -> str:
    store = Store.open(folder)
    return all_shapes()["html"].render(Report(store, analyse(store)))


def test_the_page_is_well_formed_and_every_id_is_its_own(tmp_path: Path) -> None:
    page = Page(page_of(idle_store(tmp_path / "r")))
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    targets = [value for value in page.values("href") if value.startswith("#")]
    assert {target[1:] for target in targets} <= set(ids)
    for labels in page.values("aria-labelledby"):
        assert set(labels.split()) <= set(ids)


def test_the_page_needs_nothing_from_outside(tmp_path: Path) -> None:
    text = page_of(idle_store(tmp_path / "r"))
    page = Page(text)
    before, script, data = text.partition('<script type="application/json" id="schedlab-result">')
    assert script
    assert "<" not in data.partition("</script>")[0], "text that no browser runs"
    assert not re.search(r"https?:|//[a-z]|@import|<script|javascript:", before)
    assert page.values("src") == []
    assert all(value.startswith("#") for value in page.values("href"))
    assert set(re.findall(r"url\(([^)])", text)) <= {"#"}
    assert any("default-src 'none'" in value for value in page.values("content"))


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    text = page_of(hostile_store(tmp_path / "r"))
    page = Page(text)
    assert not {"img", "iframe"} & {tag for tag, _ in page.tags}
    assert [attrs["type"] for tag, attrs in page.tags if tag == "script"] == ["application/json"]
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    assert "\x1b" not in text
    assert any("alert(1)" in data and "{{7*7}}" in data for data in page.texts)


def test_figures_say_in_words_what_they_show(tmp_path: Path) -> None:
    page = Page(page_of(idle_store(tmp_path / "r")))
    figures = [attrs for tag, attrs in page.tags if tag == "svg"]
    assert len(figures) == 2 + 3 + 1
    assert all(attrs["role"] == "img" and attrs["aria-labelledby"] for attrs in figures)
    said = "".join(page.texts)
    assert "SysBenchCpu: -7." in said
    assert "worse" in said


def test_every_run_is_a_point_that_names_itself(tmp_path: Path) -> None:
    text = page_of(idle_store(tmp_path / "r"))
    assert len(re.findall(r"<title>run \d+, ", text)) == 3 * 2 * 9
    assert re.search(r"<title>run \d+, NB-OFF, block 3: failed: a time limit cut it short<", text)


def test_many_variants_have_signs_and_colours_of_their_own(tmp_path: Path) -> None:
    variants = [DEFAULT, NB_OFF, *(Variant(name=f"v{n}", env={"N": f"{n}"}) for n in range(6))]
    make_store(tmp_path / "r", [HACKBENCH], plan_of(variants), nr_blocks=2).close()
    text = page_of(tmp_path / "r")
    keys = re.findall(r'<li><span class="key (v\d)"><span aria-hidden="true">(.)</span>', text)
    assert len(keys) == len(set(keys)) == 8


def test_sixty_results_still_make_one_forest(tmp_path: Path) -> None:
    benches = [replace(HACKBENCH, label=f"hackbench-{n}-groups", counters={}) for n in range(60)]
    make_store(tmp_path / "r", benches, nr_blocks=2).close()
    assert Page(page_of(tmp_path / "r"))


def test_a_browser_builds_the_page(tmp_path: Path, browser: list[str]) -> None:
    page = tmp_path / "report.html"
    page.write_text(page_of(hostile_store(tmp_path / "r")))
    shown = run_browser(browser, "--enable-logging=stderr", "--dump-dom", page.as_uri())
    assert "alert(1)" in shown.stdout
    assert shown.stdout.count("<script") == 1
    assert shown.stdout.count("<svg") == 4
    assert "Content Security Policy" not in shown.stderr
    assert "CONSOLE" not in shown.stderr


@pytest.mark.parametrize("width", [1280, 400])
def test_a_browser_shows_the_page(tmp_path: Path, browser: list[str], width: int) -> None:
    page, picture = tmp_path / "report.html", tmp_path / "page.png"
    page.write_text(page_of(idle_store(tmp_path / "r")))
    run_browser(browser, f"--window-size={width},2000", f"--screenshot={picture}", page.as_uri())
    assert picture.stat().st_size > 30_000


def test_a_page_of_many_runs_leaves_out_what_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counters of each run and of what did not change; their names stay."""
    store = make_store(tmp_path / "many", [HACKBENCH, SCHED_PIPE], nr_blocks=6)
    report = Report(store, analyse(store))
    whole = all_shapes()["html"].render(report)
    monkeypatch.setattr(html, "_MOST_RUNS", 10)
    brief = all_shapes()["html"].render(report)
    raw = ", events</th>"
    assert raw in whole
    assert raw not in brief
    assert len(brief) < len(whole)
    assert "No change shown, in this page of many runs" in brief
    assert "No change shown" not in whole
    for case in report.cases:
        assert all(name in brief for name in case.lively_counters)


def test_a_page_of_many_results_begins_with_a_picture_of_all(tmp_path: Path) -> None:
    """Each is a cell that leads to its benchmark; the table and the forest plot fold."""
    sweep = [
        replace(HACKBENCH, label=f"hackbench-{n}-groups", benchmark="Hackbench", counters={})
        for n in range(1, 13)
    ]
    few = make_store(tmp_path / "few", sweep[:3], nr_blocks=6)
    assert 'class="grid"' not in all_shapes()["html"].render(Report(few, analyse(few)))
    make_store(tmp_path / "many", [*sweep, SCHED_PIPE], nr_blocks=6).close()
    text = page_of(tmp_path / "many")
    shown = Page(text)
    drawn = text.index('class="grid"')
    assert "Most of all hackbench-" in text[:drawn]
    assert drawn < text.index("<table") < text.index("<svg")
    cells = text[drawn : text.index("<table")]
    assert cells.count('<a href="#case') == 13
    assert cells.count("▲") == 12 + 1, "12 that are better, and the legend"
    folds = [at for at, (tag, _) in enumerate(shown.tags) if tag == "details"]
    tables = [at for at, (tag, _) in enumerate(shown.tags) if tag in ("table", "svg")]
    assert folds[0] < tables[0], "the first table stands in a fold"


def test_the_longest_wait_is_the_longest_and_not_its_bucket() -> None:
    waits = Waits(count=3, buckets=((512, 2), (7_340_032, 1)), max_ns=7_715_089)
    assert "the longest 7.72 ms." in said_of_waits({"no-wa": waits})
    assert "the longest 7.34 ms." in said_of_waits({"old": waits.model_copy(update={"max_ns": 0})})
