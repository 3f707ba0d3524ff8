"""Going on with a result: only with one that was run, and without the files it was run from."""

import json
from pathlib import Path

import pytest

from schedlab.machine.model import find_machine
from schedlab.plan.plan import Plan, all_suites
from schedlab.result.store import Store
from tests.helpers.command_line import Cli
from tests.helpers.emulated import emulated_host
from tests.helpers.report_store import HACKBENCH, SCHED_PIPE, make_store

SUITE = """
name = "mine"
[[benchmark]]
name = "SysBenchCpu"
"""
ONE_MORE = '[[benchmark]]\nname = "HackbenchPipeThreads"\n'


@pytest.mark.parametrize("later", [SUITE + ONE_MORE, "is not TOML", None])
def test_the_suite_file_is_not_needed(cli: Cli, tmp_path: Path, later: str | None) -> None:
    suite, out = tmp_path / "s.toml", tmp_path / "out"
    suite.write_text(SUITE)
    common = ("--target", f"emulated:{emulated_host(tmp_path / 'host')}", "--suite", suite)
    assert cli("run", *common, "--aa", "--blocks", 2, "--output", out)[0] == 0
    if later is None:
        suite.unlink()
    else:
        suite.write_text(later)
    status, _, err = cli("run", "--resume", out)
    assert status == 0, err
    assert [case.label for case in Store.open(out).cases] == ["SysBenchCpu"]


@pytest.mark.parametrize("suite", all_suites())
def test_a_case_sized_once_stays_as_it_is(suite: str) -> None:
    """What the store holds of a case gives the same case again."""
    plan = Plan.model_validate(
        {"suite": suite, "target": "sim:x", "variant": [{"name": "a"}, {"name": "b"}]}
    )
    machine = find_machine("epyc-7713-2p-nps1")
    for case in plan.cases(machine):
        stored = json.loads(json.dumps(dict(case.params)))
        again = case.benchmark.case(machine, stored, case.label, "test")
        assert (again.params, again.label) == (case.params, case.label)


def test_what_was_not_run_is_not_gone_on_with(cli: Cli, tmp_path: Path) -> None:
    store = make_store(tmp_path / "there", [HACKBENCH, SCHED_PIPE], nr_blocks=3)
    store.close()
    status, text, _ = cli("report", tmp_path / "there", "--format", "json")
    (tmp_path / "report.json").write_text(text)
    assert cli("import", tmp_path / "report.json", "--output", tmp_path / "back")[0] == 0
    status, _, err = cli("run", "--resume", tmp_path / "back")
    assert status == 2
    assert f"{tmp_path / 'back'}: was imported" in err
