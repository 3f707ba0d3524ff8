"""The copy of a kernel tree that patches go on and come off again, and what it never touches."""

import json
import os
import stat
from pathlib import Path

import pytest

from schedlab.base.errors import SchedlabError
from schedlab.kernels import KernelError
from schedlab.kernels.progress import Watch
from schedlab.kernels.shelf import Base, Shelf
from schedlab.kernels.whole_tree import WholeTree, whole_content
from tests.helpers.fake_engine import git_tree, speed_patch, write_tree

NEW = "--- /dev/null\n+++ b/kernel/new.c\n@@ -0,0 +1 @@\n+x\n"
RENAME = (
    "diff --git a/kernel/sched/core.c b/kernel/sched/heart.c\nsimilarity index 100%\n"
    "rename from kernel/sched/core.c\nrename to kernel/sched/heart.c\n"
)
DELETE = (
    "diff --git a/lib/gone.c b/lib/gone.c\ndeleted file mode 100644\n"
    "--- a/lib/gone.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
)


class Place:
    """A tree of the user's and the copy of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tree = write_tree(folder / "tree")
        self.base = Base(
            name="mine", series="6.12", release="6.12.7", origin="here", tree=self.tree
        )
        self.shelf = Shelf(folder / "cache")

    def prepare(self, *texts: str) -> WholeTree:
        """Bring the copy to the tree with these patches on it."""
        files = []
        for number, text in enumerate(texts):
            files.append(self.folder / f"{number}.patch")
            files[-1].write_text(text)
        whole = WholeTree(self.base, self.shelf, Watch())
        whole.prepare(files)
        return whole


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def contents(folder: Path) -> dict[str, tuple[int, str]]:
    """Return all files below a folder, with their modes and contents or targets."""
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            os.readlink(path) if path.is_symlink() else path.read_text(),  # noqa: PTH115
        )
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


def test_patches_come_off_again(place: Place) -> None:
    (place.tree / "lib/gone.c").write_text("x\n")
    (place.tree / "kernel/sched/fair.c").chmod(0o600)
    before = contents(place.tree)
    whole = place.prepare(speed_patch(1.0, 0.5), NEW, RENAME, DELETE)
    after = contents(whole.source)
    assert "speed = 0.5" in after["kernel/sched/fair.c"][1]
    assert {"kernel/new.c", "kernel/sched/heart.c"} <= after.keys()
    assert not {"lib/gone.c", "kernel/sched/core.c"} & after.keys()
    [kept] = (place.shelf.folder / "boot").glob("*/originals/kernel/sched/fair.c")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert contents(place.prepare().source) == before == contents(place.tree)


def test_what_make_made_of_a_patch_does_not_pass_for_the_tree(place: Place) -> None:
    whole = place.prepare(speed_patch(1.0, 0.5))
    fair = whole.source / "kernel/sched/fair.c"
    for _ in range(2):
        made = fair.stat().st_mtime_ns
        place.prepare()
        assert "speed = 1.0" in fair.read_text()
    assert fair.stat().st_mtime_ns == made, "nothing has changed since"
    assert made > (place.tree / "kernel/sched/fair.c").stat().st_mtime_ns
    old = place.tree / "kernel/sched/fair.c"
    old.write_text(old.read_text().replace("1.0", "7.0"))
    os.utime(old, (1, 1))
    place.prepare()
    assert "speed = 7.0" in fair.read_text() and fair.stat().st_mtime_ns > made


@pytest.mark.parametrize(
    "touched",
    [
        {"../../../../victim/link": None},
        {"../../../../victim/file": None},
        {"{victim}/file": None},
        {"kernel/sched/core.c": None},
        {"kernel/sched/core.c": "0" * 64},
        {"outside/file": None},
        ["../../../../victim/file"],
        "no JSON",
    ],
)
def test_the_list_of_touched_files_is_not_trusted(place: Place, touched: object) -> None:
    victim = place.folder / "victim"
    victim.mkdir()
    (victim / "file").write_text("private")
    (victim / "file").chmod(0o600)
    (victim / "link").symlink_to("file")
    (place.tree / "outside").symlink_to(victim)
    before, tree = contents(victim), contents(place.tree)
    whole = place.prepare()
    assert (whole.source / "outside").is_symlink()
    [folder] = (place.shelf.folder / "boot").iterdir()
    text = touched if isinstance(touched, str) else json.dumps(touched)
    (folder / "touched.json").write_text(text.replace("{victim}", str(victim)))
    place.prepare()
    assert contents(victim) == before
    assert contents(whole.source) == tree
    assert not list(place.shelf.folder.rglob("victim"))


def test_an_original_is_not_put_back_through_a_link(place: Place) -> None:
    victim = place.folder / "victim/sched"
    victim.mkdir(parents=True)
    (victim / "fair.c").write_text("private")
    whole = place.prepare(speed_patch(1.0, 0.5))
    (whole.source / "kernel").rename(place.folder / "away")
    (whole.source / "kernel").symlink_to(victim.parent)
    place.prepare()
    assert (victim / "fair.c").read_text() == "private"
    assert contents(whole.source) == contents(place.tree)


def test_a_link_that_becomes_a_folder_is_not_followed(place: Place) -> None:
    """And a folder that becomes a link does not stop the copy."""
    git_tree(place.tree)
    victim = place.folder / "victim"
    victim.mkdir()
    (victim / "x").write_text("private")
    (place.tree / "a").symlink_to(victim)
    (place.tree / "b").mkdir()
    (place.tree / "b/x").write_text("plain")
    whole = place.prepare()
    (place.tree / "a").unlink()
    (place.tree / "a").mkdir()
    (place.tree / "a/x").write_text("plain")
    (place.tree / "b/x").unlink()
    (place.tree / "b").rmdir()
    (place.tree / "b").symlink_to(victim)
    place.prepare()
    assert (victim / "x").read_text() == "private"
    assert (whole.source / "a/x").read_text() == "plain"
    assert (whole.source / "b").is_symlink()


@pytest.mark.parametrize("link", ["kernel/sched/fair.c", "kernel/sched"])
def test_patches_do_not_go_on_links(place: Place, link: str) -> None:
    (place.tree / link).rename(place.folder / "elsewhere")
    (place.tree / link).symlink_to(place.folder / "elsewhere")
    before = contents(place.folder / "elsewhere") or (place.folder / "elsewhere").read_text()
    with pytest.raises(SchedlabError, match=r"goes through the link|is a link in here"):
        place.prepare(speed_patch(1.0, 0.5))
    after = contents(place.folder / "elsewhere") or (place.folder / "elsewhere").read_text()
    assert after == before


def test_a_patch_that_fails_leaves_a_copy_that_can_be_used(place: Place) -> None:
    with pytest.raises(KernelError, match="does not apply"):
        place.prepare(NEW, speed_patch(9.0, 0.5))
    assert contents(place.prepare().source) == contents(place.tree)


def test_objects_do_not_outlive_the_copy_they_were_made_of(place: Place) -> None:
    whole = place.prepare(speed_patch(1.0, 0.5))
    whole.objects.mkdir()
    (whole.objects / "fair.o").touch()
    whole.source.rename(place.folder / "away")
    place.prepare()
    assert not whole.objects.exists()


def test_a_tree_that_is_gone_is_not_followed(place: Place) -> None:
    whole = place.prepare()
    before = contents(whole.source)
    place.tree.rename(place.folder / "moved")
    for doing in (place.prepare, lambda: whole_content(place.base)):
        with pytest.raises(KernelError, match="kernel tree mine is gone"):
            doing()
    assert contents(whole.source) == before


@pytest.mark.parametrize("identity", ["..", "../..", "/etc", "a/../../x"])
def test_a_stored_identity_stays_in_the_cache(place: Place, identity: str) -> None:
    base = place.base.model_copy(update={"identity": identity})
    with pytest.raises(SchedlabError, match="the name "):
        WholeTree(base, place.shelf, Watch())
    with pytest.raises(SchedlabError, match="a tree's identity: the name "):
        place.shelf.tree_folder(identity)
