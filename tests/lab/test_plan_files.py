"""A plan that is edited between `run` and `--resume`: said, and never taken for the runs' own."""

from contextlib import closing
from pathlib import Path

import pytest

from schedlab.base.data import machine_file
from schedlab.result.store import Store
from tests.helpers.command_line import Cli
from tests.helpers.emulated import emulated_host
from tests.helpers.fake_engine import FakeLab

PLAN = """
aa = true
target = "{target}"
[blocks]
looks = [2]
[[benchmark]]
name = "SysBenchCpu"
"""


@pytest.fixture
def target(tmp_path: Path) -> str:
    return f"emulated:{emulated_host(tmp_path / 'host')}"


@pytest.fixture
def plan(target: str, tmp_path: Path) -> Path:
    file = tmp_path / "mine.toml"
    file.write_text(PLAN.replace("{target}", target))
    return file


def edited(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def runs(folder: Path) -> int:
    with closing(Store.open(folder)) as store:
        return len(store.records())


def test_a_changed_plan_of_the_users_is_said_and_not_taken(
    cli: Cli, plan: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert cli("run", plan, "--output", out)[0] == 0
    before = runs(out)
    status, _, err = cli("run", "--resume", out)
    assert (status, "has changed" in err) == (0, False)
    edited(plan, "looks = [2]", "looks = [4] # more")
    status, _, err = cli("run", "--resume", out)
    assert status == 0
    assert f"{plan} has changed since this began: blocks.looks was [2], is [4]." in err
    assert f"--resume goes by the plan as it was, which is in {out / 'plan.toml'}" in err
    assert runs(out) == before
    assert "has changed" in cli("run", "--resume", out, "--dry-run")[2]


def test_a_value_of_another_type_is_another_value(cli: Cli, plan: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    edited(plan, "looks = [2]", "looks = [2]\nwarmup = 0")
    assert cli("run", plan, "--output", out)[0] == 0
    edited(plan, "warmup = 0", "warmup = false")
    assert "blocks.warmup was 0, is False." in cli("run", "--resume", out)[2]
    edited(plan, "looks = [2]", "looks = [2.0]")
    assert "blocks.looks was [2], is [2.0]" in cli("run", "--resume", out)[2]


def test_a_changed_plan_of_the_result_is_refused(cli: Cli, plan: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert cli("run", plan, "--output", out)[0] == 0
    kept = out / "plan.toml"
    before = kept.read_text()
    kept.write_text(f"# only a word\n{before}")
    assert cli("run", "--resume", out)[0] == 0
    edited(kept, 'name = "SysBenchCpu"', 'name = "HackbenchPipeThreads"')
    status, _, err = cli("run", "--resume", out)
    assert status == 2
    assert f"{kept}: has changed since this began: benchmark[0].name was 'SysBenchCpu'," in err
    assert "is 'HackbenchPipeThreads'" in err
    kept.write_text("[[")
    assert "not TOML" in cli("run", "--resume", out)[2]
    kept.unlink()
    assert cli("run", "--resume", out)[0] == 0
    assert kept.read_text() == before


def test_a_changed_file_beside_the_plan_is_refused(lab: FakeLab, tmp_path: Path) -> None:
    out, machine = tmp_path / "out", tmp_path / "mine.toml"
    machine.write_text(machine_file("smp4").read_text())
    benchmark = ("--benchmark", "HackbenchPipeThreads:groups=1", "--aa", "--blocks", 2)
    command = ("--target", f"sim:{machine}", *benchmark)
    status, _, err = lab.call("run", *command, "--output", out)
    assert status == 0, err
    (out / "inputs" / machine.name).write_text("[topology]")
    status, _, err = lab.call("run", "--resume", out)
    assert status == 2
    assert f"has changed since this began: inputs/{machine.name} is another file." in err


def test_a_changed_plan_of_a_sweep_is_refused(cli: Cli, target: str, tmp_path: Path) -> None:
    plan, out = tmp_path / "sweep.toml", tmp_path / "out"
    axes = f'[sweep]\ntarget = ["{target}"]\nseed = [1, 2]'
    plan.write_text(PLAN.replace('target = "{target}"', axes))
    assert cli("run", plan, "--output", out)[0] == 0
    edited(plan, "seed = [1, 2]", "seed = [1, 2, 3]")
    status, _, err = cli("run", "--resume", out)
    assert status == 0
    assert err.count("has changed") == 1
    assert "sweep.seed was [1, 2], is [1, 2, 3]" in err
    kept = out / "sweep.toml"
    kept.write_text(kept.read_text().replace("2", "4"))
    status, _, err = cli("run", "--resume", out)
    assert status == 2
    assert f"{kept}: has changed since this began:" in err


def test_a_folder_in_place_of_the_plan_is_refused(cli: Cli, plan: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert cli("run", plan, "--output", out)[0] == 0
    (out / "plan.toml").unlink()
    (out / "plan.toml").mkdir()
    status, _, err = cli("run", "--resume", out)
    assert status == 2
    assert f"{out / 'plan.toml'}: cannot be read" in err and "internal error" not in err


def test_a_result_of_an_earlier_version_is_gone_on_with(
    cli: Cli, plan: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert cli("run", plan, "--output", out)[0] == 0
    with closing(Store.open(out, readonly=False)) as store, store._db:
        store._db.execute("DELETE FROM about WHERE key = 'plan_files'")
    edited(out / "plan.toml", "SysBenchCpu", "HackbenchPipeThreads")
    assert cli("run", "--resume", out)[0] == 0
