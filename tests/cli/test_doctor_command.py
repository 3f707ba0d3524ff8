"""`schedlab doctor` as a whole: text, JSON, exit status, and that it never fails or writes."""

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schedlab.base.errors import KnobError, SchedlabError
from schedlab.base.system import LocalSystem
from schedlab.base.system.system import System
from schedlab.cli import doctor as command
from schedlab.doctor import CHECKS, Finding, examine, load, possible, tools
from schedlab.machine.here import describe
from tests.helpers import sysfs_tree

RECORDED = Path(__file__).parents[1] / "data" / "sysfs" / "vm-epyc-2"
GOOD = Finding("perf", "ok", "perf 6.1")
NOTED = Finding("thp", "note", "huge pages: always", "it depends", "echo madvise > file")
BAD = Finding("hackbench", "missing", "hackbench is not installed", "needed", "apt-get install x")


@pytest.fixture
def findings(monkeypatch: pytest.MonkeyPatch) -> list[Finding]:
    """Let the doctor find these, and three variants."""
    found = [GOOD, NOTED]
    monkeypatch.setattr("schedlab.doctor.sections", lambda system: {"a section": found})
    monkeypatch.setattr(
        "schedlab.settings.switchable.switchable",
        lambda system: [("NB: sysctl x=1", "switched on")],
    )
    return found


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command.doctor, arguments)


def test_all_is_well(findings: list[Finding]) -> None:
    result = run()
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "a section",
        "  ok        perf 6.1",
        "  note      huge pages: always",
        "            it depends",
        "            -> echo madvise > file",
        "",
        "switchable here",
        "  --variant 'NB: sysctl x=1'",
        "            switched on",
        "",
        "A real experiment is possible here (1 note).",
    ]


def test_something_required_is_missing(findings: list[Finding]) -> None:
    findings.append(BAD)
    result = run()
    assert result.exit_code == 2
    assert result.output.splitlines()[-1] == "Something required is missing (1 missing, 1 note)."


def test_json(findings: list[Finding]) -> None:
    findings.append(BAD)
    result = run("--json")
    report = json.loads(result.output)
    assert result.exit_code == 2
    assert report["possible"] is False
    assert report["findings"][1] == {
        "section": "a section",
        "check": "thp",
        "level": "note",
        "found": "huge pages: always",
        "why": "it depends",
        "remedy": "echo madvise > file",
    }
    assert report["switchable"] == [{"variant": "NB: sysctl x=1", "explanation": "switched on"}]


def test_restore(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr("schedlab.settings.journal.restore_left_behind", lambda system: lines)
    assert run("--restore").output == "No lab left anything changed.\n"
    lines.append("kernel.numa_balancing: put back to 1")
    assert run("--restore").output == "kernel.numa_balancing: put back to 1\n"
    assert json.loads(run("--restore", "--json").output) == {"restored": lines}


def test_a_failed_restore_is_for_main_to_print(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(system: LocalSystem) -> list[str]:
        raise KnobError("cannot")

    monkeypatch.setattr("schedlab.settings.journal.restore_left_behind", fail)
    assert isinstance(run("--restore").exception, KnobError)


@pytest.fixture(scope="module")
def versions() -> Iterator[None]:
    """Ask each of this host's programs for its version once: no machine's files change them."""
    known: dict[tuple[str, ...], tuple[str, str]] = {}
    ask = tools._version

    def told(system: System, words: tuple[str, ...]) -> tuple[str, str]:
        if words not in known:
            known[words] = ask(system, words)
        return known[words]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tools, "_version", told)
        yield


@pytest.mark.parametrize("name", ["recorded", "empty", *sysfs_tree.MACHINES])
@pytest.mark.usefixtures("versions")
def test_every_machine_can_be_examined(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "WINDOW_SECONDS", 0)
    root = RECORDED if name == "recorded" else tmp_path
    if name in sysfs_tree.MACHINES:
        sysfs_tree.MACHINES[name](root)
    before = sorted(str(path) for path in root.rglob("*"))
    found = examine(LocalSystem(root))
    assert {finding.level for finding in found} <= {"ok", "note", "warning", "missing"}
    for finding in found:
        if finding.level in ("warning", "missing"):
            assert finding.why, finding
    assert before == sorted(str(path) for path in root.rglob("*")), "the doctor only reads"


@pytest.mark.usefixtures("versions")
@given(damage=st.lists(st.tuples(st.integers(0, 200), st.text(max_size=20)), max_size=8))
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_damaged_files_are_never_a_traceback(
    damage: list[tuple[int, str]],
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(load, "WINDOW_SECONDS", 0)
    root = tmp_path_factory.mktemp("damaged")
    shutil.copytree(RECORDED, root, dirs_exist_ok=True)
    files = sorted(path for path in root.rglob("*") if path.is_file())
    for index, text in damage:
        files[index % len(files)].write_text(text, encoding="utf-8")
    assert examine(LocalSystem(root))
    with contextlib.suppress(SchedlabError):
        describe(LocalSystem(root))


def test_the_recorded_virtual_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "WINDOW_SECONDS", 0)
    found = {finding.check: finding for finding in examine(LocalSystem(RECORDED))}
    assert found["release"].found == "Linux 6.18.44"
    assert found["hypervisor"].level == "warning"
    assert found["autogroup"].level == "note"
    assert found["clocksource"].found == "clock source tsc"
    assert found["governor"].found == "no cpufreq"


def test_this_very_host_as_whoever_we_are() -> None:
    result = run("--json")
    assert result.exit_code in (0, 2), result.output
    report = json.loads(result.output)
    assert {finding["section"] for finding in report["findings"]} == set(CHECKS)
    assert report["possible"] == (result.exit_code == 0)
    user = next(finding for finding in report["findings"] if finding["check"] == "user")
    assert user["found"].startswith("root" if os.geteuid() == 0 else "an ordinary user")


def test_possible() -> None:
    assert possible([GOOD, NOTED])
    assert not possible([GOOD, BAD])
