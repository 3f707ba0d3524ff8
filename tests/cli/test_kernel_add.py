"""`schedlab kernel`: which trees it takes, and what it says of those that it does not."""

import shutil
import subprocess
from pathlib import Path

import pytest

from schedlab.base.data import data_folder
from schedlab.base.series import TESTED
from schedlab.kernels.engine import find_engine
from schedlab.kernels.tree import tree_as_it_is
from tests.helpers.fake_engine import FakeLab, git_tree, write_tree
from tests.helpers.kernel_source import kernel_source


@pytest.fixture
def lab(bare_lab: FakeLab) -> FakeLab:
    return bare_lab


def test_a_ref_is_exported_once(lab: FakeLab) -> None:
    repo = git_tree(lab.folder / "linux")
    add = ("kernel", "add", "--tree", repo, "--ref", "v6.12-test")
    status, out, errors = lab.call(*add)
    assert (status, "linux-v6.12-test: Linux 6.12.7, v6.12-test (" in out) == (0, True), errors
    [tree] = (lab.cache / "kernels/trees").iterdir()
    assert (tree / "mm/internal.h").is_file()
    assert not (tree / "Documentation").exists(), "only what the engine reads"
    assert "exporting" not in lab.call(*add)[2]
    write_tree(repo, speed=9.0)
    assert "building" in lab.call("kernel", "build", "linux-v6.12-test")[2]
    assert lab.call("kernel", "remove", "linux-v6.12-test")[0] == 0
    assert not list((lab.cache / "kernels/trees").iterdir())
    assert not list((lab.cache / "kernels/builds").iterdir())
    assert not list((lab.cache / "kernels/objects").iterdir())
    errors = lab.refused(*add[:-1], "v6.12-tset")
    assert "has no ref 'v6.12-tset'. Did you mean v6.12-test?" in errors
    assert "is not a git tree" in lab.refused("kernel", "add", "--tree", lab.tree, "--ref", "x")


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("5.15.3", "is Linux 5.15.3; the simulator takes Linux 6.1 and newer."),
        ("6.0.19", "is Linux 6.0.19; the simulator takes Linux 6.1 and newer."),
        ("6.1.1", ""),
        ("6.7.2", ""),
        ("10.0.0", ""),
    ],
)
def test_only_what_is_too_old_is_refused(lab: FakeLab, version: str, words: str) -> None:
    tree = write_tree(lab.folder / "other", version=version)
    if not words:
        assert lab.call("kernel", "add", "--tree", tree)[0] == 0
        return
    errors = lab.refused("kernel", "add", "--tree", tree)
    assert words in errors


def test_what_is_no_tree(lab: FakeLab) -> None:
    assert "there is no such folder" in lab.refused("kernel", "add", "--tree", lab.folder / "no")
    assert "is not a kernel tree" in lab.refused("kernel", "add", "--tree", lab.engine)
    loop = lab.engine / "loop"
    loop.symlink_to("loop")
    assert "loop" in lab.refused("kernel", "add", "--tree", loop)
    (lab.tree / "Makefile").write_text("all:\n")
    assert "names no version" in lab.refused("kernel", "add", "--tree", lab.tree)
    assert "either --debian SERIES or --tree" in lab.refused("kernel", "add")
    assert "--ref belongs to" in lab.refused("kernel", "add", "--debian", "6.12", "--ref", "x")
    assert "--debian 5.4: the simulator takes Linux 6.1 and newer." in lab.refused(
        "kernel", "add", "--debian", "5.4"
    )
    assert "--debian new: not a series" in lab.refused("kernel", "add", "--debian", "new")


def test_half_a_tree_is_refused_before_it_is_built(lab: FakeLab) -> None:
    part = write_tree(lab.folder / "part")
    shutil.rmtree(part / "include")
    (part / "fs/seq.c").unlink()
    errors = lab.refused("kernel", "add", "--tree", part)
    assert "is only part of a kernel tree; missing: include, fs/seq.c." in errors
    git_tree(part)
    (part / "lib/sort.c").unlink()
    commit = ("git", "-C", str(part), "-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run([*commit, "commit", "-qam", "less"], check=True)
    errors = lab.refused("kernel", "add", "--tree", part, "--ref", "HEAD")
    assert "HEAD: is only part of a kernel tree; missing: lib." in errors
    assert lab.call("kernel", "add", "--tree", part, "--ref", "v6.12-test")[0] == 0


def test_a_tree_without_headers_that_its_sources_include(lab: FakeLab) -> None:
    """The build's compiler would name them only after minutes, one at a time."""
    part = git_tree(lab.folder / "part")
    source = (part / "kernel/sched/fair.c").read_text()
    for included in ("<trace/events/sched.h>", "<asm/switch_to.h>", '"sched.h"'):
        source += f"#include {included}\n"
    (part / "kernel/sched/fair.c").write_text(source)
    (part / "kernel/sched/sched.h").write_text('# include "pelt.h"\n#include "../../mm/x.h"\n')
    (part / "mm/x.h").write_text("#include <linux/only_here.h>\n")
    (part / "include/linux/only_here.h").touch()
    missing = (
        "is only part of a kernel tree; missing: include/trace/events/sched.h, kernel/sched/pelt.h."
    )
    assert f"{part}: {missing}" in lab.refused("kernel", "add", "--tree", part)
    commit = ("git", "-C", str(part), "-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run([*commit[:3], "add", "."], check=True)
    subprocess.run([*commit, "commit", "-qm", "more"], check=True)
    add = ("kernel", "add", "--tree", part)
    assert f"HEAD: {missing}" in lab.refused(*add, "--ref", "HEAD")
    assert f"HEAD: {missing}" in lab.refused(*add, "--ref", "HEAD"), "nothing is left of it"
    (part / "kernel/sched/pelt.h").touch()
    (part / "include/trace/events").mkdir(parents=True)
    (part / "include/trace/events/sched.h").touch()
    assert lab.call(*add)[0] == 0


@pytest.mark.parametrize("series", TESTED)
def test_whole_trees_are_taken(series: str) -> None:
    """Whatever the probe reads of a tree is there, or is known to be younger."""
    assert tree_as_it_is(kernel_source(series), series, find_engine()).series == series


@pytest.mark.parametrize("file", ["Makefile", "kernel/Kconfig.preempt", "include/linux/mm_types.h"])
def test_a_tree_without_what_says_which_kernel_it_is(lab: FakeLab, file: str) -> None:
    """It would pass for another kernel: with other preemption models, or other facts."""
    probe = lab.engine / "scripts/probe"
    probe.write_text(f"{probe.read_text()}has A\tinclude/linux/mm_types.h io_uring/io-wq.h 'x'\n")
    (lab.tree / "include/linux/mm_types.h").touch()
    lab.add_tree()
    (lab.tree / file).unlink()
    message = f"{lab.tree}: is only part of a kernel tree; missing: {file}."
    assert message in lab.refused("kernel", "add", "--tree", lab.tree, "--name", "other")
    assert file == "Makefile" or message in lab.refused("kernel", "build", "6.12")
    (lab.tree / "include/linux/mm_types.h").touch()
    git_tree(lab.tree)
    (lab.tree / file).unlink()
    part = ("git", "-C", str(lab.tree), "-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run([*part, "commit", "-qam", "less"], check=True)
    message = f"HEAD: is only part of a kernel tree; missing: {file}."
    assert message in lab.refused("kernel", "add", "--tree", lab.tree, "--ref", "HEAD")


@pytest.mark.parametrize(
    ("makefile", "words"),
    [
        (
            "VERSION = 6\nPATCHLEVEL = $(shell touch x)1\n",
            "`PATCHLEVEL = $(shell touch x)1`, which",
        ),
        ("VERSION = 6.1\nPATCHLEVEL = 2\nifeq (\n", "has `VERSION = 6.1`, which is not a number"),
        ("VERSION = 6\nPATCHLEVEL =\n", "names no version"),
        ("VERSION = 6 # six\nPATCHLEVEL = 12\n", ""),
    ],
)
def test_a_makefile_that_is_wrong(lab: FakeLab, makefile: str, words: str) -> None:
    (lab.tree / "Makefile").write_text(makefile)
    if words:
        assert words in lab.refused("kernel", "add", "--tree", lab.tree)
    else:
        assert "Linux 6.12.0," in lab.call("kernel", "add", "--tree", lab.tree)[1]


def test_a_series_that_is_empty(lab: FakeLab) -> None:
    assert "--debian is empty" in lab.refused("kernel", "add", "--debian", " ")


def test_a_ref_is_never_read_by_a_shell(lab: FakeLab) -> None:
    tree = git_tree(lab.folder / "repo")
    for ref in ("HEAD; touch made", "$(touch made)", "--output=made"):
        assert f"has no ref '{ref}'" in lab.refused("kernel", "add", "--tree", tree, "--ref", ref)
    inside = lab.refused("kernel", "add", "--tree", tree, "--ref", "HEAD:kernel")
    assert "'HEAD:kernel' is a tree; --ref takes a commit" in inside
    assert "--ref is empty" in lab.refused("kernel", "add", "--tree", tree, "--ref", "")
    assert not list(lab.folder.rglob("made"))


def test_a_repository_without_its_objects(lab: FakeLab) -> None:
    tree = git_tree(lab.folder / "repo")
    shown = ["git", "-C", str(tree), "rev-parse", "HEAD:kernel/sched/fair.c", "HEAD"]
    blob, commit = subprocess.run(shown, capture_output=True, text=True, check=True).stdout.split()
    for gone in (blob, commit):
        (tree / ".git/objects" / gone[:2] / gone[2:]).unlink()
        errors = lab.refused("kernel", "add", "--tree", tree, "--ref", "HEAD")
        assert "git cannot read this commit whole" in errors
        assert f"`git -C {tree} fsck` lists them" in errors


def test_a_tree_that_may_not_be_read(lab: FakeLab, monkeypatch: pytest.MonkeyPatch) -> None:
    is_file = Path.is_file

    def refuses(path: Path) -> bool:
        if path.is_relative_to(lab.tree):
            raise PermissionError(13, "Permission denied", str(path))
        return is_file(path)

    monkeypatch.setattr(Path, "is_file", refuses)
    errors = lab.refused("kernel", "add", "--tree", lab.tree)
    assert "kernel/sched/core.c: Permission denied" in errors


GONE = "kernel tree {0} is gone: {1} was moved or removed."


def test_a_tree_that_was_moved(lab: FakeLab) -> None:
    lab.add_tree()
    other = write_tree(lab.folder / "other")
    lab.call("kernel", "add", "--tree", other, "--name", "mine")
    lab.call("kernel", "build", "fast", "--base", "mine", "--patch", lab.patch_file())
    lab.call("kernel", "build", "6.12")
    other.rename(lab.folder / "moved")
    status, out, _ = lab.call("kernel", "list")
    assert status == 0
    rows = {line.split()[0]: " ".join(line.split()) for line in out.splitlines()}
    assert rows["6.12"].startswith("6.12 built Linux 6.12.7")
    assert rows["mine"] == f"mine not built Linux 6.12.7, gone: {other}"
    assert rows["fast"].startswith("fast not built")
    message = GONE.format("mine", other)
    add = ("kernel", "add", "--tree", lab.folder / "moved", "--name", "mine")
    advice = "`schedlab kernel add --tree NEWPATH --name mine` brings it back; `schedlab kernel"
    run = ("run", "--target", f"sim:{lab.machine}", "--benchmark", "HackbenchPipeThreads")
    variants = ("--variant", "base: kernel=mine", "--variant", "v: kernel=fast")
    for words in (
        *(("kernel", verb, name) for verb in ("build", "show") for name in ("mine", "fast")),
        ("kernel", "build", "faster", "--base", "mine", "--patch", lab.patch_file()),
        ("kernel", "boot-image", "fast"),
        (*run, *variants, "--output", lab.folder / "result"),
        ("machine", "show", lab.machine, "--kernel", "mine"),
    ):
        errors = lab.refused(*words)
        assert message in errors and advice in errors
        assert not (lab.folder / "result").exists()
    assert lab.call("kernel", "build", "6.12")[0] == 0
    assert lab.call(*add)[0] == 0
    assert "gone" not in lab.call("kernel", "list")[1]
    assert lab.call("kernel", "build", "fast")[0] == 0
    (lab.folder / "moved").rename(other)
    assert lab.call("kernel", "remove", "fast", "mine")[0] == 0
    assert lab.call("kernel", "list")[1].count("\n") == 1


def test_a_tree_that_is_not_whole_any_more(lab: FakeLab) -> None:
    lab.add_tree()
    (lab.tree / "io_uring/io-wq.h").unlink()
    (lab.tree / "io_uring").rmdir()
    assert "not built" in lab.call("kernel", "list")[1]
    assert "reading kernel tree 6.12: " in lab.refused("kernel", "show", "6.12")
    (lab.tree / "kernel/sched/core.c").unlink()
    assert f"gone: {lab.tree}" in lab.call("kernel", "list")[1]


def test_an_exported_tree_that_vanished_from_the_cache(lab: FakeLab) -> None:
    repo = git_tree(lab.folder / "linux")
    lab.call("kernel", "add", "--tree", repo, "--ref", "v6.12-test", "--name", "v")
    lab.call("kernel", "build", "v")
    [tree] = (lab.cache / "kernels/trees").iterdir()
    tree.rename(lab.folder / "away")
    assert f"built      Linux 6.12.7, gone: {tree}" in lab.call("kernel", "list")[1]
    errors = lab.refused("kernel", "show", "v")
    again = errors.split("`")[1]
    assert again.startswith(f"schedlab kernel add --tree {repo} --ref ")
    assert lab.call(*again.split()[1:])[0] == 0
    assert lab.call("kernel", "show", "v")[0] == 0


def test_a_tree_unpacked_for_an_older_engine_must_be_added_again(lab: FakeLab) -> None:
    repo = git_tree(lab.folder / "linux")
    add = ("kernel", "add", "--tree", repo, "--ref", "v6.12-test", "--name", "v")
    lab.call(*add)
    (lab.engine / "kernel-sources.mk").write_text("S := kernel/sched/fair.c Documentation/a.c\n")
    assert "needs more of the tree than was unpacked" in lab.refused("kernel", "build", "v")
    write_tree(repo)
    (lab.engine / "kernel-sources.mk").write_text("S := fs/seq.c include/a.c mm/a.c lib/x.c\n")
    assert lab.call("kernel", "build", "v")[0] == 0


def test_a_tree_whose_path_make_cannot_take_is_refused_when_added(lab: FakeLab) -> None:
    tree = write_tree(lab.folder / "a tree")
    said = lab.refused("kernel", "add", "--tree", tree, "--name", "blank")
    assert "make cannot work with a blank" in said and "give a link to it" in said


def test_ones_own_tree_is_compared_with_the_nearest_one_of_debians(lab: FakeLab) -> None:
    """A call that it lost among several has nothing else to be missed in."""
    shutil.copy(data_folder("engine") / "scripts/changed_calls.py", lab.engine / "scripts")
    lab.add_tree()
    said = lab.call("kernel", "build", "6.12")[2]
    assert "no tree of Debian's of this series or an older one is here to compare it with" in said
    assert "`schedlab kernel add --debian 6.12` fetches one" in said
    calls = "/* calls: fair.c|f||@one ( ) ; a ; @one ( ) ; @two ( ) ; */"
    lab.add_debians("6.18")
    assert "building" not in lab.call("kernel", "build", "6.12")[2], "none but a newer one is there"
    lab.add_debians("6.1", more="/* calls: fair.c|g||@other ( ) ; */")
    lab.add_debians("6.12", more=calls)
    same = lab.call("kernel", "build", "6.12")[2]
    assert "6.12: it has fewer places than debian-6.12 (Linux 6.12.1)" in same
    write_tree(lab.tree, more=calls)
    assert "fewer" not in lab.call("kernel", "build", "6.12")[2]
    shown = lab.call("kernel", "show", "6.12")[1]
    assert "compared with  debian-6.12 (Linux 6.12.1)\n  facts        the same\n" in shown
    lost = "/* calls: fair.c|f||@one ( ) ; a ; @two ( ) ; */ int there;\natomic_t looks;\n"
    write_tree(lab.tree, more=f'{lost}#if 0\n#include "part.c"\n#endif')
    (lab.tree / "kernel/sched/part.c").write_text("int part;\n")
    fair = lab.tree / "kernel/sched/fair.c"
    fair.write_text(fair.read_text().replace("int here;", "int there_is;"))
    (lab.tree / "kernel/sched/extra.c").write_text("int extra;\n")
    (lab.tree / "kernel/fork.c").write_text("int forked;\n")
    said = lab.call("kernel", "build", "6.12")[2]
    assert "6.12: it has fewer places than debian-6.12 (Linux 6.12.1)" in said
    assert "in which the engine meets one in f(): a call that" in said
    assert "beside debian-6.12 (Linux 6.12.1) the engine finds it without A_FACT" in said
    assert "6.12, compared with debian-6.12: looks is a new word whose line" in said
    assert "kernel/sched/extra.c is a new source that nothing includes" in said
    is_not = "6.12: 1 file that is not as in debian-6.12 (Linux 6.12.1) is not compiled, so what"
    assert f"{is_not} changed there has no effect: kernel/fork.c\n" in said
    shown = lab.call("kernel", "show", "6.12")[1]
    assert "  met less often one in f()\n" in shown
    assert "  not compiled kernel/fork.c\n" in shown
    assert "  facts        without A_FACT (kernel/sched/fair.c)" in shown
    fair.write_text(fair.read_text().replace("int there_is;", "int here;"))
    patched = ("kernel", "build", "fast", "--base", "6.12", "--patch", lab.patch_file())
    note = "6.12 was not compared with debian-6.12"
    assert note in lab.call(*patched)[2]
    lab.call("kernel", "build", "6.12")
    lab.patch_file(new=0.7)
    assert note not in lab.call(*patched)[2]


def test_a_ref_of_ones_own_tree_is_compared_too(lab: FakeLab) -> None:
    shutil.copy(data_folder("engine") / "scripts/changed_calls.py", lab.engine / "scripts")
    repo = git_tree(lab.folder / "linux", more="/* calls: fair.c|f||a ; */")
    lab.add_debians(more="/* calls: fair.c|f||@one ( ) ; a ; */")
    lab.call("kernel", "add", "--tree", repo, "--ref", "v6.12-test", "--name", "v")
    said = lab.call("kernel", "build", "v")[2]
    assert "v: it has fewer places than debian-6.12 (Linux 6.12.1)" in said
    assert "  met less often one in f()\n" in lab.call("kernel", "show", "v")[1]
    assert lab.call("kernel", "build", "debian-6.12")[0] == 0
    assert "compared with" not in lab.call("kernel", "show", "debian-6.12")[1]


def test_an_option_of_ones_own_tree_that_is_off_is_named(lab: FakeLab) -> None:
    for file in ("options.toml", "include/autoconf.h.in", "scripts/generate"):
        (lab.engine / file).parent.mkdir(exist_ok=True)
        (lab.engine / file).write_text("# SMP\n")
    lab.add_tree()
    said = "6.12: CONFIG_SCHED_STICKY: the simulator has no such option"
    assert said not in lab.call("kernel", "build", "6.12")[2]
    asks = "#if defined(CONFIG_SMP) && \\\n	defined(CONFIG_SCHED_STICKY)\n#endif"
    write_tree(lab.tree, more=asks)
    assert said in lab.call("kernel", "build", "6.12")[2]
    assert f"limits         {said}" in lab.call("kernel", "show", "6.12")[1]
