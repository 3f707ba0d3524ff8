"""The data that reports carry: nothing of a result ends it, and a hostile one is one message."""

import base64
import json
import lzma
import re
import shutil
import zlib
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schedlab.base.errors import UsageError
from schedlab.importers.bounds import MOST_BYTES, MOST_ELEMENTS
from schedlab.importers.files import import_file
from schedlab.judging.analysis import analyse
from schedlab.report import Report, all_shapes
from schedlab.result import carried
from schedlab.result.carried import carried_by_html, carried_by_markdown
from schedlab.result.store import Store
from tests.helpers.report_store import HACKBENCH, make_store, plan_of

HTML = re.compile(r'(<script type="application/json" id="schedlab-result">)(.*?)(</script>)', re.S)
MARKDOWN = re.compile(r"(<!-- schedlab-result: JSON, xz, base64\n)(.*?)(-->)", re.S)
HOSTILE = "--> </script><!--<script> ]]> <!-- schedlab-result: JSON, xz, base64\nAAAA\n-->"
DEEP = "[" * 200_000 + "]" * 200_000


def pages(folder: Path) -> dict[str, str]:
    """Return a report in each of the shapes that carry data."""
    with closing(make_store(folder / "whole", [HACKBENCH], nr_blocks=2)) as store:
        report = Report(store, analyse(store))
        return {shape: all_shapes()[shape].render(report) for shape in ("html", "markdown", "json")}


def data_of(shape: str, text: str) -> Any:
    found = {
        "html": lambda text: carried_by_html(text, MOST_BYTES),
        "markdown": lambda text: carried_by_markdown(text, MOST_BYTES),
        "json": lambda text: text,
    }[shape](text)
    assert found
    return json.loads(found)


def packed(data: bytes) -> str:
    return base64.encodebytes(lzma.compress(data)).decode()


def with_data(shape: str, page: str, data: str) -> str:
    """Return a page with other data in it."""
    match shape:
        case "html":
            return HTML.sub(lambda found: found[1] + data + found[3], page)
        case "markdown":
            return MARKDOWN.sub(lambda found: found[1] + packed(data.encode()) + found[3], page)
        case _:
            return data


def test_a_large_page_carries_its_data_compressed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = pages(tmp_path / "plain")["html"]
    monkeypatch.setattr(carried, "MOST_PLAIN", 1000)
    small = pages(tmp_path / "packed")["html"]
    assert len(small) < len(plain)
    assert "application/json" not in small
    one, other = data_of("html", plain), data_of("html", small)
    assert one["runs"] == other["runs"]
    import_text(tmp_path, "html", small)
    cut = small[: small.rfind("-->") - 100] + "-->"
    assert "the result it carries is damaged" in refused(tmp_path / "plain", "html", cut)


def import_text(folder: Path, shape: str, text: str) -> None:
    path = folder / f"report.{shape}"
    path.write_text(text)
    import_file(path, folder / "out", "schedlab import").close()


def refused(folder: Path, shape: str, text: str) -> str:
    """Return the message with which a page is refused, which leaves nothing behind."""
    with pytest.raises(UsageError, match=rf"report\.{shape}") as found:
        import_text(folder, shape, text)
    assert not (folder / "out").exists()
    assert len(str(found.value)) < 1000
    return str(found.value)


def test_all_carry_the_same(tmp_path: Path) -> None:
    html, markdown, whole = (data_of(shape, text) for shape, text in pages(tmp_path).items())
    assert html == markdown
    assert html == {key: whole[key] for key in html}
    assert {"results", "counters"} <= whole.keys() - html.keys()


def test_no_name_ends_the_data(tmp_path: Path) -> None:
    bench = replace(HACKBENCH, label="--><x>", command=HOSTILE, summary=HOSTILE)
    plan = plan_of(title=HOSTILE.replace("\n", " "))
    with closing(make_store(tmp_path / "r", [bench], plan, nr_blocks=2)) as store:
        report = Report(store, analyse(store))
        for shape in ("html", "markdown"):
            path = tmp_path / f"page.{shape}"
            path.write_text(all_shapes()[shape].render(report))
            with closing(import_file(path, tmp_path / shape, "schedlab import")) as back:
                assert back.cases == store.cases
                assert back.plan == store.plan
                assert back.records() == [replace(run, raw="") for run in store.records()]


@pytest.mark.parametrize("shape", ["html", "markdown", "json"])
def test_hostile_data_is_one_message(tmp_path: Path, shape: str) -> None:
    page = pages(tmp_path)[shape]
    data = data_of(shape, page)

    def said(text: str) -> str:
        return refused(tmp_path, shape, with_data(shape, page, text))

    def changed(change: Callable[[Any], object]) -> str:
        fresh = json.loads(json.dumps(data))
        change(fresh)
        return said(json.dumps(fresh))

    assert "is not JSON" in said('{"schema": ')
    assert "is not JSON" in said(f'{{"schema": {DEEP}}}')
    assert f"more than {MOST_ELEMENTS:,}" in said('{"a": [' + "{}," * MOST_ELEMENTS + "{}]}")
    assert "a number of more than 100 digits" in said('{"schema": ' + "9" * 5000 + "}")
    assert "its 'schema' is not" in said('{"schema": "schedlab-report/2"}')
    assert "plan: is missing" in said('{"schema": "schedlab-report/1"}')
    for value in ("NaN", "Infinity", "-Infinity"):
        assert f"{value} is not a number" in said(f'{{"schema": {value}}}')
    huge = json.dumps(data).replace('"time": ', '"time": 1e999, "_": ', 1)
    assert "runs[0].metrics.time" in said(huge)
    assert "runs[0].metrics" in changed(lambda d: d["runs"][0]["metrics"].update(time="fast"))
    assert "runs[1].block" in changed(lambda d: d["runs"][1].update(block=[]))
    assert "is there twice" in changed(lambda d: d["runs"].append(d["runs"][0]))
    assert "environment" in changed(lambda d: d.update(environment=[1]))
    assert "ended" in changed(lambda d: d.update(ended="soon"))
    assert "seconds" in changed(lambda d: d["runs"][0].update(seconds=[1]))
    assert "is not text" in changed(lambda d: d["notices"].append("\ud800"))
    assert "machine.cost" in changed(lambda d: d["machine"].update(core={"mhz": 2000}, cost=-5))
    assert "machine.cycles" in changed(lambda d: d["machine"].update(core={"mhz": 2}, cycles="x"))
    bare = {"name": "imported", "cpus": "0", "ledger": {"memory.latency": {"range": [1, 2]}}}
    assert "machine" in changed(lambda d: d.update(machine={**bare, "memory": None}))
    medium = json.loads("[" * 900 + "]" * 900)
    assert "lists within lists" in changed(lambda d: d.update(environment=medium))


def test_many_wrong_runs_are_one_message(tmp_path: Path) -> None:
    """All that is wrong is collected before it is shown: it must not be millions of things."""
    page = pages(tmp_path)["markdown"]
    data = data_of("markdown", page)
    many = json.dumps({**data, "runs": [{}] * 150_000})
    assert "runs[0].position" in refused(tmp_path, "markdown", with_data("markdown", page, many))
    entries = json.dumps({**data, "notices": ["a"] * 10_001})
    assert "more than 10,000 entries" in refused(
        tmp_path, "markdown", with_data("markdown", page, entries)
    )


def test_what_is_damaged_on_its_way(tmp_path: Path) -> None:
    page = pages(tmp_path)["markdown"]
    letters = MARKDOWN.findall(page)[0][1]

    def said(letters: str) -> str:
        text = MARKDOWN.sub(lambda found: found[1] + letters + found[3], page)
        return refused(tmp_path, "markdown", text)

    bomb = packed(b" " * (MOST_BYTES + 1))
    assert len(bomb) < 200_000
    assert f"longer than {MOST_BYTES:,} bytes" in said(bomb)
    assert "is damaged" in said(letters.replace(letters[40], "!"))
    assert "is damaged" in said(letters[: len(letters) // 8 * 4])
    assert "is damaged" in said("")
    assert "is damaged" in said(packed(b"\xff\xfe"))
    assert "characters of it are missing or changed" in said(letters[:-3])
    import_text(tmp_path, "markdown", page.replace("\n", "\r\n"))
    quoted = "".join(f"> {line}" for line in page.splitlines(True))
    (tmp_path / "quoted").mkdir()
    import_text(tmp_path / "quoted", "markdown", quoted)


# for line in page.splitlines(True)))


@pytest.mark.parametrize("shape", ["html", "markdown", "json"])
def test_what_a_later_version_added_is_named_and_left_out(tmp_path: Path, shape: str) -> None:
    page = pages(tmp_path)[shape]
    data = data_of(shape, page)
    data["plan"]["blocks"]["mood"] = "good"
    data["plan"]["benchmark"][0]["colour"] = "red"
    data["machine"]["topology"]["moon"] = 1
    of_today = with_data(shape, page, json.dumps(data))
    assert "unknown key" in refused(tmp_path, shape, of_today)
    data["version"] = "9.1.0"
    wrong = {**data, "environment": []}
    assert "environment" in refused(tmp_path, shape, with_data(shape, page, json.dumps(wrong)))
    import_text(tmp_path, shape, with_data(shape, page, json.dumps(data)))
    with closing(Store.open(tmp_path / "out")) as store:
        said = [line for line in store.notices if "schedlab 9.1.0 wrote it" in line]
        assert [line.partition(":")[0] for line in said] == [
            "plan.benchmark[0].colour",
            "plan.blocks.mood",
            "machine.topology.moon",
        ]
        assert store.records()


def test_reports_without_data_say_what_to_do(tmp_path: Path) -> None:
    texts = pages(tmp_path)
    expected = {
        "html": (HTML, "carries no result of schedlab, or not all"),
        "markdown": (MARKDOWN, "does not carry a whole result"),
    }
    for shape, (mark, words) in expected.items():
        said = refused(tmp_path, shape, mark.sub("", texts[shape]))
        assert words in said
        assert "schedlab report DIR --format html" in said


@pytest.mark.parametrize("shape", ["html", "markdown"])
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_json_in_a_report_is_refused_or_read(
    tmp_path: Path, shape: str, data: st.DataObject
) -> None:
    folder = tmp_path / "made"
    if not folder.exists():
        folder.mkdir()
        for name, text in pages(folder).items():
            (folder / name).write_text(text)
    page = (folder / shape).read_text()
    document = data_of(shape, page)
    leaves = (
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(max_size=5)
        | st.just("\ud800")
    )
    values = st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner)
    )
    inside, key = document, data.draw(st.sampled_from(sorted(document)))
    for _ in range(data.draw(st.integers(0, 3))):
        below = inside[key]
        if not isinstance(below, dict | list) or not below:
            break
        keys = sorted(below) if isinstance(below, dict) else range(len(below))
        inside, key = below, data.draw(st.sampled_from(keys))
    inside[key] = data.draw(values)
    out = folder / "out"
    path = folder / f"changed.{shape}"
    path.write_text(with_data(shape, page, json.dumps(document)))
    try:
        import_file(path, out, "schedlab import").close()
    except UsageError as error:
        assert str(path) in str(error)
        assert not out.exists()
        return
    shutil.rmtree(out)


def test_data_of_an_earlier_version_is_read() -> None:
    letters = base64.encodebytes(zlib.compress(b'{"schema": 1}')).decode()
    text = f"# A report\n<!-- schedlab-result: JSON, zlib, base64\n{letters}-->\n"
    assert carried_by_markdown(text, MOST_BYTES) == '{"schema": 1}'
    with pytest.raises(ValueError, match="characters of it are missing"):
        carried_by_markdown(text.replace(letters, letters[8:]), MOST_BYTES)
