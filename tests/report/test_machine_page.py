"""A machine as an HTML page: well-formed, self-contained, and shown by a real browser."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from schedlab.base.data import machine_file
from schedlab.cli.machine import machine as command
from schedlab.machine import sources
from schedlab.machine.domains import read
from schedlab.machine.model import Machine, find_machine, known_machines
from schedlab.report.machine_page import machine_page
from tests.helpers.browser import Page, run_browser

DOMAINS = """\
cpu0/domain0/name=MC flags=SD_BALANCE_NEWIDLE SD_SHARE_LLC  span=0-3 groups={0},{1},{2},{3}
cpu0/domain1/name=PKG flags=SD_ASYM_CPUCAPACITY  span=0-7 groups={0-3},{4-7}
cpu4/domain0/name=MC flags=SD_SHARE_LLC  span=4-7 groups={4},{5},{6},{7}
"""
HOSTILE = "</title></svg><script>alert(1)</script>\x1b[2J"


def page_of(name: str, printed: str = "") -> str:
    figures = sources.read(machine_file(name).read_text())
    return machine_page(find_machine(name), figures, read(printed), "6.12" if printed else "")


@pytest.mark.parametrize("name", known_machines())
def test_every_machine_is_drawn_to_the_last_cpu(name: str) -> None:
    text = page_of(name)
    page = Page(text)
    assert not re.search(r"https?:|//[a-z]|@import|<script|javascript:", text)
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert {value[1:] for value in page.values("href")} <= set(ids)
    cells = [attrs for tag, attrs in page.tags if tag == "rect" and attrs["class"] == "cpu"]
    assert len(cells) == find_machine(name).nr_cpus


def test_boxes_do_not_overlap() -> None:
    """The cells of CPUs lie beside one another: their places, added up along the nesting."""
    for name in ("power10-768", "epyc-7713-2p-nps4", "juno-r0"):
        svg = re.search(r"<svg.*?</svg>", page_of(name), re.DOTALL)
        assert svg
        places, at = [], [(0.0, 0.0)]
        for x, y, closing, cell in re.findall(
            r'<g transform="translate\(([\d.]+) ([\d.]+)\)">|(</g>)|(<rect class="cpu")', svg[0]
        ):
            if x:
                at.append((at[-1][0] + float(x), at[-1][1] + float(y)))
            elif closing:
                at.pop()
            elif cell:
                places.append(at[-1])
        assert len(set(places)) == len(places) == find_machine(name).nr_cpus
        width, height = (
            float(word) for word in re.findall(r'viewBox="-1 -1 (\S+) ([^"]+)"', svg[0])[0]
        )
        assert all(0 <= x < width and 0 <= y < height for x, y in places)


def test_smaller_cpus_are_paler() -> None:
    text = page_of("hikey960")
    assert text.count('fill-opacity="0.27"') == text.count('fill-opacity="0.60"') == 4
    assert "CPU 0, capacity 462" in text


def test_domains_are_drawn_and_listed() -> None:
    page = Page(page_of("hikey960", DOMAINS))
    said = "".join(page.texts)
    assert "PKG spans CPUs 0-7 in 2 groups" in said
    assert "cpu4/domain0/span:4-7" in said
    assert "BALANCE_NEWIDLE SHARE_LLC" in said
    assert [tag for tag, _ in page.tags].count("svg") == 2


def test_hostile_names_stay_text() -> None:
    machine = Machine.model_validate(
        {"name": "x", "title": HOSTILE, "notes": HOSTILE, "cpus": "0-1"}
    )
    text = machine_page(machine, {"topology.cpus": HOSTILE})
    page = Page(text)
    assert "\x1b" not in text
    assert "script" not in {tag for tag, _ in page.tags}
    assert any("alert(1)" in text for text in page.texts)


def test_the_command_writes_it(tmp_path: Path) -> None:
    out = tmp_path / "numa16.html"
    done = CliRunner().invoke(command, ["show", "numa16", "--html", str(out)])
    assert (done.exit_code, done.output) == (0, f"Wrote {out}.\n")
    assert Page(out.read_text()).values("id")
    text = CliRunner().invoke(command, ["show", "numa16"]).output
    assert "Figures and their sources" in text
    here = tmp_path / "here.html"
    assert CliRunner().invoke(command, ["show", "--here", "--html", str(here)]).exit_code == 0
    assert Page(here.read_text())


@pytest.mark.parametrize(("name", "width"), [("epyc-7713-2p-nps4", 1280), ("hikey960", 400)])
def test_a_browser_shows_it(tmp_path: Path, browser: list[str], name: str, width: int) -> None:
    page, picture = tmp_path / "machine.html", tmp_path / "machine.png"
    page.write_text(page_of(name, DOMAINS if name == "hikey960" else ""))
    shown = run_browser(browser, "--enable-logging=stderr", "--dump-dom", page.as_uri())
    assert shown.stdout.count('class="cpu" width') == find_machine(name).nr_cpus
    assert "Content Security Policy" not in shown.stderr
    assert "CONSOLE" not in shown.stderr
    run_browser(browser, f"--window-size={width},1600", f"--screenshot={picture}", page.as_uri())
    assert picture.stat().st_size > 30_000
