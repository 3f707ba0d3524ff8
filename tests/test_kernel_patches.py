"""Kernel patches: reading, leaving out, and refusals that name file, hunk and place."""

from pathlib import Path

import pytest

from schedlab.kernels import KernelError
from schedlab.kernels.engine import Engine
from schedlab.kernels.patches import check_applies, parse_patch, read_patch
from tests.fake_engine import speed_patch, write_engine, write_tree


def patch_file(folder: Path, text: str, name: str = "faster.patch") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_patch_is_cut_by_files_and_its_description_does_not_matter(tmp_path: Path) -> None:
    patch = read_patch(patch_file(tmp_path, speed_patch(1.0, 0.9)))
    [change] = patch.changes
    assert change.path == "kernel/sched/fair.c"
    assert [hunk.start for hunk in change.hunks] == [1]
    assert change.hunks[0].before[3] == "int speed = 1.0;"
    reworded = speed_patch(1.0, 0.9).replace("Why.", "Because.")
    assert read_patch(patch_file(tmp_path, reworded)).text == patch.text


def test_plain_diffs_new_files_and_renames() -> None:
    text = (
        "--- old/kernel/a.c\t2020-01-01\n+++ new/kernel/a.c\t2020-01-02\n"
        "@@ -1 +1,2 @@\n-a\n+b\n+--- not a header\n"
        "diff --git a/kernel/new.c b/kernel/new.c\nnew file mode 100644\n"
        "--- /dev/null\n+++ b/kernel/new.c\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"
        "diff --git a/kernel/x.c b/kernel/y.c\nsimilarity index 100%\n"
        "rename from kernel/x.c\nrename to kernel/y.c\n"
    )
    changes = parse_patch(text, "p")
    assert [change.path for change in changes] == ["kernel/a.c", "kernel/new.c", "kernel/y.c"]
    assert [change.creates for change in changes] == [False, True, False]
    assert changes[0].text[-1] == "+--- not a header"
    assert changes[1].text[-1] == "\\ No newline at end of file"


def test_what_the_engine_cannot_read_is_left_out(tmp_path: Path) -> None:
    engine = Engine(write_engine(tmp_path / "engine"))
    also = (
        "diff --git a/Documentation/scheduler.rst b/Documentation/scheduler.rst\n"
        "--- a/Documentation/scheduler.rst\n+++ b/Documentation/scheduler.rst\n"
        "@@ -1 +1 @@\n-Words.\n+Other words.\n"
    )
    patch, left_out = read_patch(patch_file(tmp_path, speed_patch(1.0, 0.9, also=also))).within(
        engine
    )
    assert left_out == ["Documentation/scheduler.rst"]
    assert "Other words" not in patch.text
    assert check_applies(write_tree(tmp_path / "tree"), [patch], "base") == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Only words.\n", "holds no unified diff"),
        ("--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n", "line 5: the hunk that begins in line 3"),
        ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\nzzz\n", "line 5: the hunk that begins in line 3"),
    ],
)
def test_no_patch(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(KernelError, match=words):
        read_patch(patch_file(tmp_path, text))


def test_a_missing_patch_names_the_nearest(tmp_path: Path) -> None:
    patch_file(tmp_path, speed_patch(1.0, 0.9))
    with pytest.raises(KernelError, match=r"Did you mean faster\.patch"):
        read_patch(tmp_path / "fatser.patch")


def test_a_patch_that_does_not_apply_names_file_hunk_and_nearest_place(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree", speed=3.0)
    fair = tree / "kernel/sched/fair.c"
    fair.write_text("/* one more line */\n" + fair.read_text())
    patch = read_patch(patch_file(tmp_path, speed_patch(1.0, 0.9)))
    with pytest.raises(KernelError) as refused:
        check_applies(tree, [patch], "6.12 (6.12.7)")
    assert str(refused.value) == (
        "faster.patch: kernel/sched/fair.c: hunk 1 (line 1) does not apply to 6.12 (6.12.7)."
        "\n  Nearest place: line 5; there the patch expects"
        "\n    int speed = 1.0;"
        "\n  and the tree has"
        "\n    int speed = 3.0;"
    )


def test_a_patch_that_is_applied_already_says_so(tmp_path: Path) -> None:
    patch = read_patch(patch_file(tmp_path, speed_patch(1.0, 0.9)))
    with pytest.raises(KernelError, match=r"is applied already in 6\.12"):
        check_applies(write_tree(tmp_path / "tree", speed=0.9), [patch], "6.12")


def test_a_file_the_tree_does_not_have(tmp_path: Path) -> None:
    text = speed_patch(1.0, 0.9).replace("fair.c", "ext.c")
    with pytest.raises(KernelError, match=r"kernel/sched/ext\.c: there is no such file in 6\.1"):
        check_applies(write_tree(tmp_path / "t"), [read_patch(patch_file(tmp_path, text))], "6.1")


def test_patches_apply_in_order_and_fuzz_is_told(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree")
    first = read_patch(patch_file(tmp_path, speed_patch(1.0, 0.9), "1.patch"))
    second = read_patch(patch_file(tmp_path, speed_patch(0.9, 0.8), "2.patch"))
    assert check_applies(tree, [first, second], "base") == []
    with pytest.raises(KernelError, match=r"2\.patch"):
        check_applies(tree, [second, first], "base")
    fair = tree / "kernel/sched/fair.c"
    fair.write_text(fair.read_text().replace("pretended", "imagined"))
    [notice] = check_applies(tree, [first], "base")
    assert "hunk 1 applied at line 1 although its context differs" in notice
