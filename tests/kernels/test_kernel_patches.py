"""Kernel patches: reading, leaving out, and refusals that name file, hunk and place."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from schedlab.base.data import data_folder
from schedlab.base.errors import SchedlabError
from schedlab.kernels import KernelError
from schedlab.kernels.engine import Engine, find_engine
from schedlab.kernels.patches import Patch, check_applies, parse_patch, read_patch
from schedlab.kernels.unseen import unseen
from tests.helpers.fake_engine import speed_patch, write_engine, write_tree


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


def test_an_option_that_no_build_has_is_named() -> None:
    """What a patch brings, where the code asks for it, and the engine does not know."""
    lines = [
        *("-#ifdef CONFIG_OLD_ONE", "+#ifdef CONFIG_SCHED_LONG_SLICE", "+/* as CONFIG_WORDS */"),
        *("+#if defined(CONFIG_SMP) && CONFIG_HZ > 250 && defined(CONFIG_OLD_ONE)", "+#elif X"),
        *("+\tif (IS_ENABLED(CONFIG_PREEMPT_LAZY) || IS_ENABLED(CONFIG_FAST_WAY))", "+#endif"),
    ]
    text = "--- a/kernel/sched/fair.c\n+++ b/kernel/sched/fair.c\n@@ -1 +1,6 @@\n"
    patch = Patch("p.patch", tuple(parse_patch(text + "\n".join(lines) + "\n", "p.patch")))
    assert [line.partition(": the")[0] for line in unseen(patch, find_engine())] == [
        "p.patch: CONFIG_FAST_WAY and CONFIG_SCHED_LONG_SLICE"
    ]


def test_what_the_simulator_cannot_answer_is_named() -> None:
    """Where a patch asks it more often than its tree, and not in a comment."""
    lines = [
        *(" \tatomic_t *old;", "-\tif (atomic_read(&nohz.nr_cpus))", "+\tatomic_t looks;"),
        *("+\tif (atomic_read(&nohz.nr_cpus) && spin_needbreak(lock))", "+\t/* not xchg() */"),
        *("+\twhile (!try_cmpxchg(&rq->x, &old, 1)) /* nor read_lock() */", "+\t * cmpxchg(a)"),
        *("+static atomic64_t *where;", "+int look(atomic_long_t *v);"),
    ]
    text = "--- a/kernel/sched/fair.c\n+++ b/kernel/sched/fair.c\n@@ -1,2 +1,8 @@\n"
    patch = Patch("p.patch", tuple(parse_patch(text + "\n".join(lines) + "\n", "p.patch")))
    told = list(unseen(patch, find_engine()))
    assert [re.split(r" (?:is|never|costs) ", line)[0] for line in told] == [
        "p.patch: spin_needbreak()",
        "p.patch: try_cmpxchg()",
        "p.patch: looks and where each",
    ]
    assert told[0].endswith("wait for a spinlock (docs/internals/engine.md, Limits).")


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


def test_a_rename_is_refused_with_what_to_do(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree")
    text = "diff --git a/lib/sort.c b/lib/sorted.c\nsimilarity index 100%\n"
    text += "rename from lib/sort.c\nrename to lib/sorted.c\n"
    patch = Patch("p.patch", tuple(parse_patch(text, "p.patch")))
    with pytest.raises(KernelError) as error:
        check_applies(tree, [patch], "6.12")
    assert "line 1: lib/sorted.c: is lib/sort.c under another name; renames" in str(error.value)
    assert "git format-patch --no-renames" in str(error.value)


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


def section(name: str) -> str:
    return f"--- {name}\n+++ {name}\n@@ -1 +1 @@\n-a\n+b\n"


GIT = "diff --git a/kernel/x.c b/kernel/x.c\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (section("a/../victim"), "p: line 1: the name 'a/../victim' has '..' in it"),
        (section("../a/victim"), "p: line 1: .* has '..' in it"),
        (section("/etc/passwd"), "p: line 1: .* is absolute"),
        (section("a//etc/passwd"), "p: line 1: .* is not plain"),
        (section("a/kernel/../../victim/X"), "p: line 1: .* has '..' in it"),
        (f"Why.\n{section('a/ok')}{section('b/../x')}", "p: line 7: .* has '..' in it"),
        ("--- a/ok\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n", "p: line 2: .* has '..' in it"),
        ("--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+b\n", "p: line 2: .* has '..' in it"),
        ("diff --git a/x b/../../y\nnew file mode 100644\n", "p: line 1: .* has '..' in it"),
        (f"{GIT}rename from kernel/x.c\nrename to ../y\n", "p: line 3: .* has '..' in it"),
        (f"{GIT}rename from /etc/x\nrename to y\n", "p: line 2: .* is absolute"),
        (f"{GIT}copy from kernel/../../x\ncopy to y\n", "p: line 2: .* has '..' in it"),
        (f"{GIT}new file mode 120000\n", "p: line 2: mode 120000 makes a link"),
        (f"{GIT}index 0000000..1111111 120000\n", "p: line 2: mode 120000 makes a link"),
        (f"{GIT}old mode 100644\nnew mode 104755\n", "p: line 3: mode 104755"),
        (section('"a/\\056\\056/x"'), "p: line 1: .*a name in quotes is not read"),
        (section("a/x\x1b[2Jy"), "p: line 1: .* has a control character"),
        (section("fair.c"), "p: line 1: fair.c: has no folder before it"),
        ("diff --git a/one b/two three b/four\n@@ -1 +1 @@\n-a\n+b\n", "names no file"),
    ],
)
def test_names_that_lead_out_of_the_tree_are_refused(text: str, words: str) -> None:
    with pytest.raises(SchedlabError, match=words):
        parse_patch(text, "p")


def test_what_gnu_patch_would_take_for_more_orders_is_left_out() -> None:
    header = "index 1111111..2222222 100644\nIndex: ../../victim\n*** ../x\n1,2d\nPrereq: 1\n"
    [change] = parse_patch(f"{GIT}{header}{section('a/kernel/x.c')}", "p")
    text = "\n".join(change.text)
    assert "index 1111111..2222222 100644" in text
    for order in ("Index:", "***", "1,2d", "Prereq"):
        assert order not in text


def test_all_names_of_a_change_are_known() -> None:
    text = f"{GIT}similarity index 90%\nrename from kernel/x.c\nrename to kernel/y.c\n"
    [change] = parse_patch(text, "p")
    assert (change.path, change.others) == ("kernel/y.c", {"kernel/x.c"})
    [change] = parse_patch("diff --git a/a b c b/a b c\nnew file mode 100644\n", "p")
    assert (change.path, change.creates) == ("a b c", True)
    [change] = parse_patch(f"{GIT}deleted file mode 100644\r\n", "p")
    assert change.path == "kernel/x.c"


PIECE = st.sampled_from(
    [
        *("diff --git ", "--- ", "+++ ", "a/", "b/", "x", "../", "..", "/", "kernel/", "\n", " "),
        *("@@ -1 +1 @@\n-a\n+b\n", "@@ -0,0 +1 @@\n+b\n", "/dev/null", "rename from ", "\t"),
        *("new file mode 120000\n", "new file mode 100644\n", "copy to ", "Index: ", "rename to "),
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECE, max_size=24).map("".join))
@example("diff --git ../\ncopy to diff --git ")
def test_no_patch_names_a_file_outside(text: str) -> None:
    """Neither by what we read of it, nor by what GNU patch is given of it."""
    try:
        changes = parse_patch(text, "p")
    except SchedlabError:
        return
    for change in changes:
        for name in (change.path, *change.others):
            assert name and not name.startswith("/") and ".." not in name.split("/")
        for line in change.text:
            if line.startswith(("--- ", "+++ ", "diff ")):
                assert ".." not in re.split(r"[/ \t]", line)
            elif line.startswith(("rename ", "copy ")):  # one name, blanks and all
                assert ".." not in line.split("/")
                assert line.split(" ", 2)[2].partition("/")[0] != ".."


def test_nothing_outside_is_made_of_a_patch(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree")
    (tmp_path / "victim").write_text("a\n")
    before = set(tmp_path.rglob("*"))
    with pytest.raises(SchedlabError, match=r"e\.patch: line 1: .*has '\.\.' in it"):
        text = section("a/kernel/../../victim")
        check_applies(tree, [Patch("e.patch", tuple(parse_patch(text, "e.patch")))], "6.12")
    assert set(tmp_path.rglob("*")) == before


def test_a_change_through_a_link_of_the_tree(tmp_path: Path) -> None:
    """In the farm of links it is built in, such a change would be made where the link leads."""
    tree = write_tree(tmp_path / "tree")
    (tree / "kernel/link").symlink_to("../lib")
    (tree / "lib/x").write_text("a\n")
    patch = Patch("l.patch", tuple(parse_patch(section("a/kernel/link/x"), "l.patch")))
    with pytest.raises(SchedlabError, match=r"l\.patch: .* goes through the link"):
        check_applies(tree, [patch], "6.12")


def farm_of(place: Path, tree: Path, text: str) -> Path:
    """Return the farm of links that the script makes of a tree and a patch, called from `here`."""
    for folder in (tree / "drivers/cpuidle", tree / "drivers/thermal", place / "here"):
        folder.mkdir(parents=True, exist_ok=True)
    (place / "p").write_text(text)
    script = data_folder("engine") / "scripts/apply-patches"
    argv = [str(script), str(tree), str(place / "farm"), str(place / "out"), "", str(place / "p")]
    subprocess.run(argv, cwd=place / "here", check=True)
    return place / "farm"


def test_names_of_a_patch_are_no_patterns(tmp_path: Path) -> None:
    """The script that makes the farm of links goes over the names in a shell."""
    tree = write_tree(tmp_path / "tree")
    (tree / "kernel/o*e").write_text("a\n")
    (tmp_path / "here/kernel").mkdir(parents=True)
    (tmp_path / "here/kernel/one").touch()
    farm = farm_of(tmp_path, tree, section("a/kernel/o*e"))
    assert (farm / "kernel/o*e").read_text() == "b\n"
    assert (tree / "kernel/o*e").read_text() == "a\n"


def test_a_patch_removes_what_is_outside_the_farm(tmp_path: Path) -> None:
    """The farm has links to some folders; a difference of two releases removes files of others."""
    tree = write_tree(tmp_path / "tree")
    (tree / "mm").mkdir(exist_ok=True)
    (tree / "mm/swap.c").write_text("a\n")
    farm = farm_of(tmp_path, tree, "--- a/mm/swap.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n")
    assert not (farm / "mm/swap.c").exists()
    assert (tree / "mm/swap.c").read_text() == "a\n"


def test_a_header_that_a_patch_removes_is_not_found_in_the_tree(tmp_path: Path) -> None:
    """The compiler and the probe look there behind the farm."""
    tree = write_tree(tmp_path / "tree")
    text = "--- a/include/linux/sched.h\n+++ /dev/null\n@@ -1 +0,0 @@\n-\n"
    farm = farm_of(tmp_path, tree, text)
    removed = (farm / "include/linux/sched.h").read_text()
    assert removed == '#error "include/linux/sched.h is removed by a patch"\n'


MODE = "diff --git a/{0} b/{0}\nold mode 100644\nnew mode 100755\n"
NEW = "diff --git a/{0} b/{0}\nnew file mode 100644\n--- /dev/null\n+++ b/{0}\n@@ -0,0 +1 @@\n+x\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (NEW, "p: line 4: kernel/sched/fair.c: is created by the patch, but base has it"),
        (MODE, "p: line 4: kernel/sched/fair.c: only its mode is changed"),
        (NEW.replace("{0}", "{0}/x.c"), r"line 4: .*: kernel/sched/fair.c is a file in base"),
    ],
)
def test_what_no_file_allows_is_refused_with_its_line(
    tmp_path: Path, text: str, words: str
) -> None:
    patch = patch_file(tmp_path, f"From: x\n\n---\n{text.format('kernel/sched/fair.c')}", "p")
    with pytest.raises(KernelError, match=words):
        check_applies(write_tree(tmp_path / "tree"), [read_patch(patch)], "base")


def test_a_file_may_go_and_come_again(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree")
    name = "kernel/sched/fair.c"
    lines = (tree / name).read_text().splitlines(keepends=True)
    gone = f"--- a/{name}\n+++ /dev/null\n@@ -1,{len(lines)} +0,0 @@\n"
    gone += "".join(f"-{line}" for line in lines)
    patches = [
        read_patch(patch_file(tmp_path, gone, "1.patch")),
        read_patch(patch_file(tmp_path, NEW.format(name), "2.patch")),
    ]
    assert check_applies(tree, patches, "base") == []


@pytest.mark.parametrize("hunk", ["@@ -{0},1 +1 @@", "@@ -1,{0} +1 @@", "@@ -1 +1,{0} @@"])
def test_numbers_of_thousands_of_digits(hunk: str) -> None:
    text = f"--- a/x.c\n+++ b/x.c\n{hunk.format('9' * 5000)}\n-a\n+b\n"
    with pytest.raises(KernelError, match=r"^p: line 3: no file has that many lines"):
        parse_patch(text, "p")


def test_only_files_with_an_end_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (Path("/dev/zero"), tmp_path / "fifo", tmp_path):
        with pytest.raises(KernelError, match="is not a regular file"):
            read_patch(path)
    monkeypatch.setattr("schedlab.kernels.patches._MOST_BYTES", 1 << 20)
    with pytest.raises(KernelError, match="longer than 1 MiB"):
        read_patch(patch_file(tmp_path, "x" * (1 << 20) + "y"))
