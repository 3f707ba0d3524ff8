"""Trees of one's own at the command: what git, links and times make of them."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.helpers.fake_engine import FakeLab, git_tree, write_tree


def refused(lab: FakeLab, *words: object) -> str:
    status, text, errors = lab.call(*words)
    assert status == 2, (text, errors)
    assert "Traceback" not in errors
    return errors


def speed_of(lab: FakeLab) -> str:
    """Build the lab's own tree, and return the figure that the simulator has of it."""
    out = lab.call("kernel", "build", "6.12")[1]
    key = out.rpartition("build ")[2].split()[0]
    program = (lab.cache / "kernels/builds" / key / "schedsim").read_text()
    return next(line for line in program.splitlines() if "speed = " in line).split()[-1]


def in_git(repo: Path, *words: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run(["git", "-C", str(repo), *identity, *words], check=True, capture_output=True)


def test_a_file_that_is_replaced_by_an_older_one_is_compiled(lab: FakeLab) -> None:
    """make goes by times, so it kept the objects of the newer file under the older one's name."""
    lab.add_tree()
    fair = lab.tree / "kernel/sched/fair.c"
    text = fair.read_text()
    assert speed_of(lab) == "1.0"
    for speed in ("9.0", "1.0"):
        other = lab.folder / "fair.c"
        other.write_text(text.replace("speed = 1.0;", f"speed = {speed};"))
        os.utime(other, (1_577_836_800, 1_577_836_800))
        other.rename(fair)
        assert speed_of(lab) == speed
    fair.write_text(text.replace("speed = 1.0;", "speed = 7.0;"))
    assert speed_of(lab) == "7.0"


def test_edits_behind_a_linked_folder_are_built(lab: FakeLab) -> None:
    lab.add_tree()
    place, mine = lab.tree / "kernel/sched", lab.folder / "mine"
    place.rename(mine)
    place.symlink_to(mine)
    (mine / "loop").symlink_to(mine)
    assert speed_of(lab) == "1.0"
    fair = mine / "fair.c"
    fair.write_text(fair.read_text().replace("speed = 1.0;", "speed = 3.0;"))
    assert speed_of(lab) == "3.0"


def test_what_git_has_in_the_environment_is_not_followed(
    lab: FakeLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = git_tree(lab.folder / "other", version="6.13.1")
    repo = git_tree(lab.folder / "linux")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_TRACE", "1")
    status, out, errors = lab.call("kernel", "add", "--tree", repo, "--ref", "HEAD", "--name", "x")
    assert (status, "x: Linux 6.12.7, HEAD (" in out) == (0, True), errors


def test_a_ref_with_a_link_that_leads_out_is_refused(lab: FakeLab) -> None:
    repo = git_tree(lab.folder / "linux")
    (repo / "lib/near.h").symlink_to("sort.c")
    in_git(repo, "add", ".")
    in_git(repo, "commit", "-qm", "a link within")
    assert lab.call("kernel", "add", "--tree", repo, "--ref", "HEAD", "--name", "near")[0] == 0
    (repo / "lib/far.h").symlink_to("/etc/hostname")
    in_git(repo, "add", ".")
    in_git(repo, "commit", "-qm", "a link outside")
    errors = refused(lab, "kernel", "add", "--tree", repo, "--ref", "HEAD", "--name", "far")
    assert "HEAD: lib/far.h is a link to /etc/hostname, which is outside of the tree." in errors


def test_refs_that_git_finds_in_other_ways(lab: FakeLab) -> None:
    repo = git_tree(lab.folder / "linux")
    add = ("kernel", "add", "--tree", repo, "--name", "x", "--ref")
    assert lab.call(*add, ":/x")[0] == 0, "the commit whose message has this"
    in_git(repo, "branch", "both")
    in_git(repo, "tag", "both")
    errors = refused(lab, *add, "both")
    assert "'both' is a branch and a tag; give refs/heads/both or refs/tags/both." in errors
    assert lab.call(*add, "refs/heads/both")[0] == 0


def test_a_pipe_in_place_of_a_file_is_not_waited_for(lab: FakeLab) -> None:
    tree = write_tree(lab.folder / "piped")
    (tree / "Makefile").unlink()
    os.mkfifo(tree / "Makefile")
    assert "missing: Makefile" in refused(lab, "kernel", "add", "--tree", tree)


def test_a_tree_without_a_name_needs_one(lab: FakeLab) -> None:
    assert "--tree /: this folder has no name" in refused(lab, "kernel", "add", "--tree", "/")


def test_what_a_patch_has_for_the_kernels_own_build_is_told(lab: FakeLab) -> None:
    lab.add_tree()
    for file in ("options.toml", "include/autoconf.h.in", "scripts/generate"):
        (lab.engine / file).parent.mkdir(exist_ok=True)
        (lab.engine / file).write_text("# SMP\n")
    patch = lab.folder / "kconf.patch"
    build = ("kernel", "build", "fast", "--base", "6.12", "--patch", patch)
    (lab.tree / "kernel/Kconfig.hz").write_text("config HZ\n")
    patch.write_text(
        "--- a/kernel/Kconfig.hz\n+++ b/kernel/Kconfig.hz\n@@ -1 +1,2 @@\n config HZ\n+\tint\n"
    )
    assert "touches nothing that the simulator compiles" in refused(lab, *build)
    patch.write_text(
        "--- a/kernel/Kconfig.preempt\n+++ b/kernel/Kconfig.preempt\n@@ -1,2 +1,3 @@\n"
        " config PREEMPT_VOLUNTARY\n config PREEMPT\n+config MY_OPT\n"
    )
    note = "kconf.patch: CONFIG_MY_OPT: the simulator has no such option"
    assert note in lab.call(*build)[2]


NEW_SOURCE = """\
--- /dev/null
+++ b/kernel/sched/extra.c
@@ -0,0 +1 @@
+int extra = 1;
--- a/kernel/sched/fair.c
+++ b/kernel/sched/fair.c
@@ -1,3 +1,4 @@
 /* Completely pretended scheduler */
+#include "extra.c"
\x20
 int here;
"""
EDITED = """\
--- a/kernel/sched/extra.c
+++ b/kernel/sched/extra.c
@@ -1 +1 @@
-int extra = 1;
+int extra = 2;
"""


@pytest.mark.parametrize("files", [1, 2])
def test_a_source_that_an_earlier_patch_creates_is_theirs_later_too(
    lab: FakeLab, files: int
) -> None:
    """Its edit was left out as of a file that is not compiled, so the older text was built."""
    lab.add_tree()
    first, second = lab.folder / "1.patch", lab.folder / "2.patch"
    first.write_text(NEW_SOURCE if files == 2 else NEW_SOURCE + EDITED)
    second.write_text(EDITED)
    given = ("--patch", first, *(("--patch", second) if files == 2 else ()))
    status, _, errors = lab.call("kernel", "build", "fast", "--base", "6.12", *given)
    assert (status, "left out" in errors) == (0, False), errors
    [source] = (lab.cache / "kernels/objects").glob("*/src/kernel/sched/extra.c")
    assert source.read_text() == "int extra = 2;\n"


def test_a_compiled_source_is_not_renamed(lab: FakeLab) -> None:
    lab.add_tree()
    patch = lab.folder / "renames.patch"
    patch.write_text(
        "diff --git a/kernel/sched/fair.c b/kernel/sched/fairer.c\nsimilarity index 100%\n"
        "rename from kernel/sched/fair.c\nrename to kernel/sched/fairer.c\n"
    )
    errors = refused(lab, "kernel", "build", "fast", "--base", "6.12", "--patch", patch)
    assert "git format-patch --no-renames" in errors
