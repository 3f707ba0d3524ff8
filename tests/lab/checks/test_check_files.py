"""Files of checks: what is wrong with one is said with its key, its place and the nearest name."""

from pathlib import Path

import pytest

from schedlab.base.errors import UsageError
from schedlab.lab.checks.check import Named
from schedlab.lab.checks.files import check_files, known_checks

ROOT = Path(__file__).parents[3]
GOOD = """
title = "Two tasks"
machines = ["smp4"]
[scenario]
duration = "100ms"
[[scenario.tasks]]
name = "a"
program = [{ run = "1ms" }]
[[expect]]
that = "no-stall"
longest = "10ms"
"""


def refused(tmp_path: Path, text: str) -> str:
    path = tmp_path / "check.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        Named(path)
    return str(error.value)


def test_a_good_one(tmp_path: Path) -> None:
    path = tmp_path / "check.toml"
    path.write_text(GOOD)
    [expected] = Named(path).check.expect
    assert expected.model_dump()["longest"] == 10_000_000


MACHINES = 'machines = ["smp4"]'
STALL = 'that = "no-stall"\nlongest = "10ms"'
BUG = '[bug]\nfix = "abc"\nmended = "6.1"\nwhat = "x"'


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("no-stall", "no-stal", "expect[0]: that: 'no-stal' is not an expectation. Did you mean"),
        ("longest", "longets", "expect[0]: longest: is missing"),
        ("longest", "maximum = 1\nlongest", "expect[0]: maximum: unknown key. Known: "),
        ('"10ms"', '"10 minutes"', "'10 minutes' is not a time; write it as 500us, 10ms or 1.5s"),
        ('"10ms"', "10", "10 is not a time"),
        (MACHINES, f"{MACHINES}\nsedes = 2", "sedes: unknown key. Did you mean seeds?"),
        (MACHINES, "machines = []", "machines: a list of 1 or more entries is expected"),
        ("[[scenario.tasks]]", "[[scenario.taks]]", "has neither tasks nor workloads"),
        (MACHINES, f"{MACHINES}\nseeds = 0", "seeds: at least 1 is expected"),
        (MACHINES, f'{MACHINES}\nsince = "six"', "'six' is not a kernel series"),
        (MACHINES, f"{MACHINES}\n{BUG}", "'abc' is not a commit"),
        (STALL, 'that = "migrations"', "expect[0]: has neither at_most nor at_least"),
        (STALL, 'that = "figure"\nname = "x"', "expect[0]: has neither at_most nor at_least"),
        (STALL, 'that = "bandwidth"\nat_most = 1\nat_least = 2', "at_least is above at_most"),
        (STALL, 'that = "decision"\nevent = "sched:x"', "has neither at_most nor at_least"),
    ],
)
def test_bad_ones(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in GOOD
    message = refused(tmp_path, GOOD.replace(old, new))
    assert said in message
    assert message.startswith(str(tmp_path / "check.toml"))


def test_a_benchmark_stands_for_a_scenario(tmp_path: Path) -> None:
    assert "either a benchmark or a scenario" in refused(
        tmp_path, 'title = "x"\nmachines = ["smp4"]\n'
    )


def test_names_and_folders(tmp_path: Path) -> None:
    name = next(iter(known_checks()))
    assert [path.stem for path in check_files([name, name])] == [name]
    with pytest.raises(UsageError, match=f"Did you mean {name}"):
        check_files([f"{name}x"])
    with pytest.raises(UsageError, match="has no checks"):
        check_files([str(tmp_path)])


def test_every_check_of_ours_is_read() -> None:
    for named in map(Named, check_files([])):
        assert named.check.expect or named.check.bug, f"{named.path} expects nothing"
        if named.check.bug:
            assert named.patched_series(), f"{named.path}: no patch brings its bug back"
            assert set(named.patched_series()) <= set(named.check.kernels)


def test_every_patch_has_a_check() -> None:
    names = set(known_checks())
    patches = {path.stem for path in Path("scenarios/patches").rglob("*.patch")}
    assert patches <= names


def test_a_machine_beside_checks_is_not_one(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(GOOD)
    (tmp_path / "machines").mkdir()
    (tmp_path / "machines/mine.toml").write_text((ROOT / "machines/smp4.toml").read_text())
    (tmp_path / "damaged.toml").write_text("no = = toml")
    found = [path.name for path in check_files([str(tmp_path)])]
    assert found == ["damaged.toml", "one.toml"]
