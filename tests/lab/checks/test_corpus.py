"""Checks run for real: bugs are caught, kernels without them pass, what fails becomes smaller."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

from schedlab.cli import schedlab
from tests.helpers import builds

CAUGHT = ("isolated-sibling", "two-balancers")
"""The rest of the corpus is `schedlab check --bugs`: each bug is a build of its own."""

CROWDED = """
title = "Three tasks share one CPU"
machines = ["smt8"]
{more}
[scenario]
duration = "400ms"
[[scenario.tasks]]
name = "crowd"
count = 6
affinity = "0"
program = [{{ run = "50ms" }}]
[[scenario.tasks]]
name = "beside"
program = [{{ run = "1ms" }}, {{ sleep = "1ms" }}]
[[expect]]
that = "{that}"
{rest}
"""


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):  # type: ignore[no-untyped-def]
    builds.build("6.12")
    monkeypatch.setenv("SCHEDLAB_CACHE", str(builds.CACHE))
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Result:
        return CliRunner().invoke(schedlab, ["check", *words])

    return run


def crowded(tmp_path: Path, that: str, rest: str, more: str = "") -> str:
    path = tmp_path / "crowded.toml"
    path.write_text(CROWDED.format(that=that, rest=rest, more=more))
    return str(path)


def test_bugs_are_caught_and_written_as_junit(checked, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    done = checked(
        *CAUGHT, "--kernel", "6.12", "--bugs", "--junit", "check.xml", "--output", "kept"
    )
    assert done.exit_code == 0, done.output
    assert "2 caught, 2 passed" in done.output
    suites = ET.parse(tmp_path / "check.xml").getroot()
    assert {suite.get("name"): suite.get("tests") for suite in suites} == dict.fromkeys(CAUGHT, "2")
    verdicts = (tmp_path / "kept/verdicts.jsonl").read_text()
    again = checked(*CAUGHT, "--kernel", "6.12", "--bugs", "--output", "kept")
    assert "2 caught, 2 passed" in again.output
    assert (tmp_path / "kept/verdicts.jsonl").read_text() == verdicts, "nothing ran again"


def test_what_people_rely_on_holds(checked) -> None:  # type: ignore[no-untyped-def]
    done = checked("features", "--kernel", "6.12")
    assert done.exit_code == 0, done.output
    assert set(re.findall(r": (\w+) \(\d", done.output)) == {"passed"}


def test_what_fails_becomes_smaller(checked, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    check = crowded(tmp_path, "no-stall", 'tasks = "crowd*"\nlongest = "4ms"')
    done = checked(check, "--output", "kept")
    assert done.exit_code == 1, done.output
    assert "no-stall: crowd" in done.output
    place = tmp_path / "kept/crowded"
    scenario = json.loads((place / "scenario.json").read_text())
    assert [task["name"] for task in scenario["tasks"]] == ["crowd"]
    assert 1 < scenario["tasks"][0]["count"] <= 3
    assert len(json.loads((place / "machine.json").read_text())["topology"]["llc"]) == 1
    assert "sched_switch" in (place / "trace.txt").read_text()
    smaller = checked(str(place / "check.toml"))
    assert smaller.exit_code == 1, smaller.output


@pytest.mark.parametrize("options", [(), ("--no-reduce",)])
def test_what_failed_runs_again_with_its_files(
    checked,  # type: ignore[no-untyped-def]
    tmp_path: Path,
    options: tuple[str, ...],
) -> None:
    """Of a machine of one's own, and a file of rt-app; the folder needs nothing from outside."""
    own = (builds.ROOT / "machines/smp4.toml").read_text().replace("smp4", "mybox", 1)
    (tmp_path / "given").mkdir()
    (tmp_path / "given/mine.toml").write_text(own)
    (tmp_path / "given/load.json").write_text('{"tasks": {"a": {"loop": 3, "run": 100}}}')
    (tmp_path / "given/busy.toml").write_text(
        'title = "Phases"\nmachines = ["mine.toml"]\n'
        '[scenario]\nduration = "50ms"\n'
        '[[scenario.workloads]]\nkind = "rt-app"\nfile = "load.json"\n'
        '[[expect]]\nthat = "figure"\nname = "rt-app.phases"\nat_most = 1\n'
    )
    done = checked("given/busy.toml", "--output", "kept", *options)
    assert (done.exit_code, "rt-app.phases is 3" in done.output) == (1, True), done.output
    (tmp_path / "given").rename(tmp_path / "gone")
    (tmp_path / "kept/busy").rename(tmp_path / "elsewhere")
    again = checked("elsewhere/check.toml")
    assert (again.exit_code, "rt-app.phases is 3" in again.output) == (1, True), again.output


def test_a_figure_by_the_name_that_the_benchmark_gives_it(checked, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    text = (
        'title = "Time"\nmachines = ["smp4"]\n[benchmark]\nname = "HackbenchPipeThreads"\n'
        "params = { groups = 1, loops = 10 }\n"
        '[[expect]]\nthat = "figure"\nname = "%s"\nat_most = 9\n'
    )
    (tmp_path / "time.toml").write_text(text % "time")
    assert checked("time.toml").exit_code == 0
    (tmp_path / "time.toml").write_text(text % "tme")
    done = checked("time.toml")
    assert "Did you mean time?" in done.output, done.output


@pytest.mark.parametrize(
    ("that", "rest", "more", "said"),
    [
        ("no-stall", 'longest = "1s"\ntasks = "corwd*"', "", "no task that ran is called 'corwd*'"),
        ("figure", 'name = "no-such"\nat_most = 1', "", "no metric or counter 'no-such'"),
        (
            "no-stall",
            'longest = "1s"',
            'settings = "NO_SUCH_FEATURE"',
            "no feature 'SUCH_FEATURE' in",
        ),
        ("no-stall", 'longest = "1s"', 'settings = "kernel=6.12"', "named in `kernels`"),
        ("latency", 'at_most = "1s"\nsince = "9s"', "", "since: the run is over after 400 ms"),
        ("decision", 'event = "no_such"\nat_most = 1', "", 'no tracepoint "no_such"'),
        (
            "decision",
            'event = "schedlab:next_freq"\nwhere = { polisy = 4 }\nat_most = 1',
            "",
            "schedlab:next_freq has no field 'polisy'. Did you mean policy? It has: policy,",
        ),
        ("decision", 'event = "pelt_cfs_tp"\nat_most = 1', "", "is counted, but no trace shows it"),
        ("no-stall", 'longest = "1s"', 'config = ["CPUSTES=y"]', "Did you mean CPUSETS"),
    ],
)
def test_what_cannot_be_is_refused(  # type: ignore[no-untyped-def]
    checked, tmp_path: Path, that: str, rest: str, more: str, said: str
) -> None:
    done = checked(crowded(tmp_path, that, rest, more))
    assert said in done.output + str(done.exception)
    assert done.exit_code != 0


def test_no_time_is_said_so(checked, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    done = checked(*CAUGHT, "--kernel", "6.12", "--budget", "1s", "--seeds", "40", "--jobs", "1")
    assert "not run" in done.output
