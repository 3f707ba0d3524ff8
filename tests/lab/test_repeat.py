"""A result is repeated elsewhere: from its own folder, without the files it was made of."""

import shutil
import tomllib
from pathlib import Path

import pytest

from schedlab.result.store import Store
from tests.helpers.fake_engine import FakeLab, speed_patch, write_tree

BENCHMARK = ("--benchmark", "HackbenchPipeThreads:groups=1,loops=10")
COMMIT = "From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001\n"


def figures(out: Path) -> list[tuple[object, ...]]:
    """Return what runs came to, in their order; the fake simulator has no hashes of traces."""
    records = Store.open(out).records()
    assert records
    return [(each.key, each.seed, each.metrics, each.trace, each.error) for each in records]


def desk(lab: FakeLab) -> Path:
    """Lay out a folder with all the files a plan can name; return it."""
    folder = lab.folder / "desk"
    folder.mkdir()
    (folder / "faster.patch").write_text(COMMIT + speed_patch(1.0, 0.5))
    shutil.move(lab.machine, folder / "four.toml")
    (folder / "mine.toml").write_text(
        'name = "mine"\n[[benchmark]]\nname = "HackbenchPipeThreads"\n'
        "params = { groups = 1, loops = 10 }\n"
    )
    (folder / "plan.toml").write_text(
        'target = "sim:four.toml"\nsuite = "mine.toml"\n'
        '[[kernel]]\nname = "fast"\nbase = "6.12"\npatches = ["faster.patch"]\n'
        '[[variant]]\nname = "base"\n[[variant]]\nname = "fast"\nkernel = "fast"\n'
        "[blocks]\nlooks = [2]\n"
    )
    return folder


def moved(lab: FakeLab, desk: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run the plan at the desk, and clear the desk; return the result, in another place."""
    lab.add_tree()
    monkeypatch.chdir(desk)
    status, _, errors = lab.call("run", "plan.toml", "--output", "out")
    assert status == 0, errors
    elsewhere = lab.folder / "elsewhere"
    elsewhere.mkdir()
    shutil.move(desk / "out", elsewhere / "result")
    monkeypatch.chdir(elsewhere)
    shutil.rmtree(desk)
    assert lab.call("kernel", "remove", "fast")[0] == 0
    return elsewhere / "result"


def test_it_needs_nothing_but_its_folder(lab: FakeLab, monkeypatch: pytest.MonkeyPatch) -> None:
    result = moved(lab, desk(lab), monkeypatch)
    plan = tomllib.loads((result / "plan.toml").read_text())
    assert plan["target"] == "sim:inputs/four.toml"
    assert "suite" not in plan
    assert plan["kernel"][0]["patches"] == ["inputs/faster.patch"]
    patch = (result / "inputs/faster.patch").read_text()
    assert patch.startswith(COMMIT)
    assert "Subject: [PATCH] faster" in patch
    status, _, errors = lab.call("run", "result/plan.toml", "--output", "again")
    assert (status, "this differs from the result" in errors) == (0, False), errors
    assert figures(Path("again")) == figures(result)
    monkeypatch.chdir(lab.folder)
    shutil.rmtree(result)
    status, _, errors = lab.call("run", "elsewhere/again/plan.toml", "--output", "third")
    assert status == 0, errors
    assert figures(Path("third")) == figures(Path("elsewhere/again"))


def test_every_report_says_what_the_patches_are(
    lab: FakeLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = moved(lab, desk(lab), monkeypatch)
    for shape in ("terminal", "html", "markdown", "json", "lkml"):
        page = lab.folder / shape
        status, _, errors = lab.call("report", result, "--format", shape, "--output", page)
        assert status == 0, errors
        words = " ".join(page.read_text().split())
        in_a_mail = shape == "lkml"
        assert ("o Patches - fast: faster" if in_a_mail else "Patches of fast") in words
        assert "faster (0123456789ab), kernel/sched/fair.c +1 -1" in words


def test_a_kernel_of_the_shelf_is_described(lab: FakeLab, tmp_path: Path) -> None:
    lab.add_tree()
    patch = lab.patch_file()
    words = ("kernel", "build", "quick", "--base", "6.12", "--patch", patch)
    status, _, errors = lab.call(*words)
    assert status == 0, errors
    patch.unlink()
    out = tmp_path / "out"
    options = ("--variant", "base", "--variant", "quick: kernel=quick", "--blocks", 1)
    status, _, errors = lab.call(
        *("run", "--target", f"sim:{lab.machine}", *BENCHMARK, *options, "--output", out)
    )
    assert status == 0, errors
    assert lab.call("kernel", "remove", "quick")[0] == 0
    status, _, errors = lab.call("run", out / "plan.toml", "--output", tmp_path / "again")
    assert status == 0, errors
    assert figures(tmp_path / "again") == figures(out)


def test_what_differs_is_said_before_it_runs(lab: FakeLab, monkeypatch: pytest.MonkeyPatch) -> None:
    result = moved(lab, desk(lab), monkeypatch)
    (lab.engine / "schedsim.py").write_text((lab.engine / "schedsim.py").read_text() + "\n")
    for words in (("--dry-run",), ("--output", "again")):
        status, out, errors = lab.call("run", result / "plan.toml", *words)
        assert status == 0, errors
        note = "this differs from the result that the plan comes from: Engine version was "
        assert note in out + errors
        assert "Compiler was" not in out + errors
    assert any("Engine version was" in line for line in Store.open(Path("again")).notices)
    for name in ("fast", "6.12"):
        assert lab.call("kernel", "remove", name)[0] == 0
    status, _, errors = lab.call("run", result / "plan.toml", "--output", "none")
    assert (status, Path("none").exists()) == (2, False)
    assert "no kernel tree is called '6.12'" in errors
    assert "The result that this plan comes from was made with " in errors
    assert "Linux 6.12.7" in errors


def test_another_tree_of_that_name_is_noticed(
    lab: FakeLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = moved(lab, desk(lab), monkeypatch)
    assert lab.call("kernel", "remove", "6.12")[0] == 0
    lab.tree = write_tree(lab.folder / "newer", version="6.12.9")
    lab.add_tree()
    _, out, errors = lab.call("run", result / "plan.toml", "--dry-run")
    assert "Kernels was 6.12: Linux 6.12.7" in out + errors


@pytest.mark.parametrize("inside", ["../../secret.toml", "/etc/passwd", "inputs/../../secret.toml"])
def test_a_plan_from_elsewhere_leads_to_no_other_folder(
    lab: FakeLab, inside: str, tmp_path: Path
) -> None:
    (tmp_path / "secret.toml").write_text("secret = 1\n")
    folder = tmp_path / "result"
    (folder / "inputs").mkdir(parents=True)
    (folder / "plan.toml").write_text(
        f'target = "sim:inputs/{inside}"\n[[benchmark]]\nname = "HackbenchPipeThreads"\n'
        '[[variant]]\nname = "a"\n[[variant]]\nname = "b"\n'
    )
    status, _, errors = lab.call("run", folder / "plan.toml", "--dry-run")
    assert status == 2
    assert "secret = " not in errors
    assert "plan.toml: the name" in errors


@pytest.mark.parametrize("link", ["inputs/four.toml", "inputs"])
def test_links_of_a_result_from_elsewhere_are_not_followed(
    lab: FakeLab, monkeypatch: pytest.MonkeyPatch, link: str
) -> None:
    result = moved(lab, desk(lab), monkeypatch)
    (result / link).rename(lab.folder / "aside")
    (result / link).symlink_to(lab.folder / "aside")
    status, _, errors = lab.call("run", result / "plan.toml", "--dry-run")
    assert (status, "link" in errors) == (2, True), errors


@pytest.mark.parametrize("name", ["results.sqlite", "raw", "plan.toml", ".lock"])
def test_a_result_whose_own_files_are_links_is_refused(
    lab: FakeLab, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    result = moved(lab, desk(lab), monkeypatch)
    shutil.move(result / name, lab.folder / "aside")
    (result / name).symlink_to(lab.folder / "aside")
    for words in (("report", result), ("run", "--resume", result)):
        status, _, errors = lab.call(*words)
        assert (status, f"{name} is a link" in errors) == (2, True), errors


def test_a_report_is_not_written_through_a_link(
    lab: FakeLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = moved(lab, desk(lab), monkeypatch)
    mine = lab.folder / "mine"
    mine.write_text("mine")
    (result / "report.html").symlink_to(mine)
    status, _, errors = lab.call("report", result, "--format", "html")
    assert (status, "report.html: is a link" in errors) == (2, True)
    assert mine.read_text() == "mine"


def test_a_file_that_is_not_there_or_too_long_is_named(
    lab: FakeLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = moved(lab, desk(lab), monkeypatch)
    with (result / "inputs/faster.patch").open("ab") as file:
        file.truncate(65 << 20)
    status, _, errors = lab.call("run", result / "plan.toml", "--dry-run")
    assert (status, "inputs/faster.patch is longer than 64 MiB" in errors) == (2, True)
    (result / "inputs/faster.patch").unlink()
    status, _, errors = lab.call("run", result / "plan.toml", "--dry-run")
    assert (status, "inputs/faster.patch is missing; copy the whole folder" in errors) == (
        2,
        True,
    )


def test_an_empty_cache_and_another_checkout(lab: FakeLab, monkeypatch: pytest.MonkeyPatch) -> None:
    result = moved(lab, desk(lab), monkeypatch)
    shutil.rmtree(lab.cache)
    checkout = shutil.copytree(lab.engine, lab.folder / "checkout" / "engine")
    monkeypatch.setenv("SCHEDLAB_ENGINE", str(checkout))
    lab.add_tree()
    status, _, errors = lab.call("run", result / "plan.toml", "--output", "again")
    assert (status, "this differs from the result" in errors) == (0, False), errors
    assert "building fast" in errors
    assert figures(Path("again")) == figures(result)
