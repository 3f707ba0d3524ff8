"""Results of earlier versions, as they lie in folders of users."""

import json
import shutil
from pathlib import Path

import pytest

from schedlab.result.earlier import in_todays_words
from schedlab.settings.variant import Variant
from tests.helpers.command_line import Cli

OLD = Path(__file__).parents[1] / "data/stored/0.1.0"
"""Made by schedlab 0.1.0 on two CPUs; names of the machine are replaced."""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return Path(shutil.copytree(OLD, tmp_path / "old"))


def test_a_result_of_0_1_0_is_reported(cli: Cli, old: Path) -> None:
    status, out, _ = cli("report", old, "--format", "summary")
    assert status == 0
    assert "time (lower is better) went from 0.0190\n  to 0.0177 s: 6.5 % better" in out
    assert "Made with schedlab 0.1.0" in out


def test_it_is_read_as_data(cli: Cli, old: Path) -> None:
    status, out, _ = cli("report", old, "--format", "json")
    assert status == 0
    document = json.loads(out)
    assert document["version"] == "0.1.0"
    assert len(document["runs"]) == 6


def test_settings_that_have_another_name_today() -> None:
    variants: list[dict[str, object]] = [
        {"name": "a", "cpuset": {"cpus": "2-3", "partition": "root"}, "uclamp": None},
        {"name": "b", "cpuset": None, "uclamp": {"group": "g", "min": "0.00", "max": "max"}},
        {"name": "c", "cpuset": {"cpus": "0", "partition": None}},
    ]
    today = in_todays_words({"plan": {"variant": variants}})["plan"]["variant"]
    assert [variant["cgroup"] for variant in today] == [
        {"path": "cpuset", "cpuset.cpus": "2-3", "cpuset.cpus.partition": "root"},
        {"path": "g", "cpu.uclamp.min": "0.00", "cpu.uclamp.max": "max"},
        {"path": "cpuset", "cpuset.cpus": "0"},
    ]
    assert all(Variant.model_validate(variant).name == variant["name"] for variant in today)
    assert in_todays_words({"plan": "?"}) == {"plan": "?"}
