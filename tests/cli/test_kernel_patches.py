"""`schedlab kernel build --patch`: which patches it takes, and what it tells about them."""

import pytest

from tests.helpers.fake_engine import FakeLab, speed_patch, write_tree


@pytest.fixture
def lab(bare_lab: FakeLab) -> FakeLab:
    return bare_lab


def test_what_nothing_in_a_tree_matches_is_told(lab: FakeLab) -> None:
    lab.add_tree()
    assert "matches" not in lab.call("kernel", "build", "6.12")[2]
    assert "unmatched      none" in lab.call("kernel", "show", "6.12")[1]
    write_tree(lab.tree, more="/* unmatched: old_name new_name */")
    note = "6.12: nothing in this tree matches old_name or new_name"
    assert note in lab.call("kernel", "build", "6.12")[2]
    assert "unmatched      old_name new_name" in lab.call("kernel", "show", "6.12")[1]


def test_what_patches_have_the_engine_meet_less_often_and_the_compiler_warn_of_is_told(
    lab: FakeLab,
) -> None:
    lab.add_tree()
    words = ("kernel", "build", "fast", "--base", "6.12", "--patch", lab.patch_file())
    assert "its patches" not in lab.call(*words)[2]
    shown = lab.call("kernel", "show", "fast")[1]
    assert "met less often none\nmet elsewhere  none\nparameters     the same\n" in shown
    assert "met in changed none\nwarnings       none" in shown
    assert "limits" not in shown
    patch = lab.patch_file()
    changed = ("fewer|one_call|f()", "fewer|->a_field|g(), h()", "moved|two|f(), now g()")
    changed += ("parameters|three|(int x), now (int y)", "touched|f()|one_call, two")
    noted = "".join(f"+/* changed: {line} */\n" for line in changed)
    noted = f" int there;\n{noted}+/* warns: unused thing */\n+atomic_t looks;\n"
    text = patch.read_text().replace(" int there;\n", noted).replace("+1,7", "+1,14")
    patch.write_text(text)
    errors = lab.call(*words)[2]
    assert "fast: its patches leave fewer places" in errors
    assert "engine meets one_call in f() and ->a_field in g(), h(): a call that" in errors
    assert "add as many: two from f(), now g(). If a call only moved, nothing is lost." in errors
    assert "by their order: three(int x), now (int y). If two only changed places" in errors
    warning = "kernel/sched/fair.c:3: unused thing"
    assert f"fast: the compiler warns, and not without the patches: {warning}" in errors
    shown = lab.call("kernel", "show", "fast")[1]
    assert "met less often one_call in f(); ->a_field in g(), h()\n" in shown
    assert "met elsewhere  two from f(), now g()\n" in shown
    assert "parameters     three(int x), now (int y)\n" in shown
    assert "met in changed f(): one_call, two\n" in shown
    assert "limits         faster.patch: looks is a new word whose line" in shown
    assert f"warnings       {warning}" in shown


def test_the_same_patch_under_another_name_is_told_by_that(lab: FakeLab) -> None:
    lab.add_tree()
    first = lab.patch_file()
    second = first.with_name("again.patch")
    second.write_text(first.read_text())
    for name, patch in (("one", first), ("two", second)):
        status, out, errors = lab.call("kernel", "build", name, "--base", "6.12", "--patch", patch)
        assert (status, f"with {patch.name}" in out) == (0, True), errors


def test_a_patch_of_ours_by_the_feature_it_adds(
    lab: FakeLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.add_tree()
    ours = lab.folder / "patches"
    monkeypatch.setattr("schedlab.kernels.shipped.data_folder", lambda name: ours)
    (ours / "6.12").mkdir(parents=True)
    (ours / "6.12/fast.patch").write_text(
        speed_patch(1.0, 0.5)
        + "--- a/kernel/sched/features.h\n+++ b/kernel/sched/features.h\n@@ -1,2 +1,4 @@\n"
        " SCHED_FEAT(WA_IDLE, true)\n SCHED_FEAT(WA_WEIGHT, true)\n"
        "+SCHED_FEAT(FAST, true)\n+SCHED_FEAT(FASTER, false)\n"
    )
    build = ("kernel", "build", "fast", "--base", "6.12", "--patch")
    out = lab.call(*build, "FAST", "--patch", "FASTER")[1]
    assert "with fast.patch, build" in out, "one patch, although two of its features are named"
    assert "FAST FASTER" in lab.call("kernel", "show", "fast")[1]
    errors = lab.refused(*build, "FASTR")
    assert "FASTR: there is no such patch file, and no patch of schedlab's for 6.12" in errors
    assert "Did you mean FASTER or FAST?\n  Features of its patches: FAST, FASTER." in errors
    assert "FAST: there is no such patch file.\n" in lab.refused(*build, "./FAST")
    (ours / "6.1").mkdir()
    (ours / "6.1/old.patch").write_text("+SCHED_FEAT(OLD, true)\n+SCHED_FEAT(OLDER, true)\n")
    assert "for 6.12 adds such a feature. There is one for 6.1.\n" in lab.refused(*build, "OLD")
    (ours / "merged.toml").write_text(
        '[OLD]\nsince = "6.9"\ncommit = "c0ffee"\n[OLDER]\nsince = "6.13"\ncommit = "bad"\n'
    )
    errors = lab.refused(*build, "OLD")
    assert "OLD: Linux 6.12 needs no patch for it: since 6.9 the kernel always does so" in errors
    assert "There is one for 6.1." in lab.refused(*build, "OLDER")
    monkeypatch.chdir(lab.folder)
    lab.patch_file(1.0, 0.25).rename("plain")
    assert "with plain, build" in lab.call(*build, "plain")[1], "a file needs no suffix"


def test_a_patch_that_leads_out_of_the_tree(lab: FakeLab) -> None:
    lab.add_tree()
    (lab.folder / "victim").write_text("a\n")
    patch = lab.folder / "evil.patch"
    name = "kernel/../../victim"
    patch.write_text(f"Why.\n--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-a\n+b\n")
    before = set(lab.folder.rglob("*"))
    errors = lab.refused("kernel", "build", "pa", "--base", "6.12", "--patch", patch)
    assert f"schedlab: {patch}: line 2: the name 'a/{name}' has '..' in it." in errors
    assert set(lab.folder.rglob("*")) == before
    # A recipe kept by an earlier schedlab, with such a patch.
    lab.call("kernel", "build", "fast", "--base", "6.12", "--patch", lab.patch_file())
    [kept] = (lab.cache / "kernels/patches").iterdir()
    kept.write_text(patch.read_text())
    (lab.engine / "schedsim.py").open("a").write("# changed\n")
    assert "has '..' in it" in lab.refused("kernel", "build", "fast")
    recipe = lab.cache / "kernels/recipes/fast.json"
    digest = "../../../../victim"
    recipe.write_text(recipe.read_text().replace(kept.name, digest))
    assert f"a patch's digest: the name '{digest}'" in lab.refused("kernel", "build", "fast")


def test_a_patch_is_given_once(lab: FakeLab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.add_tree()
    patch = lab.patch_file()
    monkeypatch.chdir(lab.folder)
    words = ("kernel", "build", "fast", "--base", "6.12", "--patch", patch, "--patch")
    for again in (patch, patch.name):
        assert f"{again}: this patch is given twice; it applies once." in lab.refused(*words, again)


def test_a_copy_of_a_patch_is_told(lab: FakeLab) -> None:
    """Not as a change that the tree has."""
    lab.add_tree()
    patch = lab.patch_file()
    copy = lab.folder / "copy.patch"
    copy.write_text(patch.read_text().replace("Why.", "Because."))
    words = ("kernel", "build", "fast", "--base", "6.12", "--patch", patch, "--patch", copy)
    message = "copy.patch: changes the same as faster.patch, which is given too; it applies once."
    assert message in lab.refused(*words)
    text = copy.read_text().partition("-- \n")[0]
    copy.write_text(f"{text}--- /dev/null\n+++ b/kernel/sched/new.h\n@@ -0,0 +1,1 @@\n+\n")
    message = "kernel/sched/fair.c: is applied already in 6.12 (6.12.7) with faster.patch."
    assert message in lab.refused(*words)


@pytest.mark.parametrize("more", ["", "not C"])
def test_a_patch_that_changes_what_the_engine_reads_is_told(lab: FakeLab, more: str) -> None:
    """Whether it builds or not: a patch may only have moved a line that the probe looks for."""
    lab.add_tree()
    patch = lab.patch_file()
    moved = patch.read_text().replace("-1,7 +1,7", "-1,7 +1,8")
    moved = moved.replace(" int here;\n", f"-int here;\n+int /* {more} */\n+here;\n")
    patch.write_text(moved)
    status, _, errors = lab.call("kernel", "build", "other", "--base", "6.12", "--patch", patch)
    assert status == (2 if more else 0)
    assert ("does not compile" in errors) == bool(more)
    assert "other: its patches change the facts that the engine reads from the tree: without" in (
        errors
    )
    assert "without A_FACT (kernel/sched/fair.c)." in errors
    status, _, errors = lab.call(
        *("kernel", "build", "as-it-was", "--base", "6.12", "--patch", lab.patch_file())
    )
    assert (status, "facts" in errors) == (0, False)


def test_what_a_patch_adds_in_vain_is_told(lab: FakeLab) -> None:
    """A source of its own is compiled where something includes it, an initcall called of some."""
    (lab.engine / "scripts/sched.ld").write_text("KEEP(*/kernel/sched/*.o(.initcall7.init))\n")
    (lab.engine / "kernel-sources.mk").open("a").write("TIME_SOURCES := kernel/time/hrtimer.c\n")
    (lab.tree / "kernel/time").mkdir()
    (lab.tree / "kernel/time/hrtimer.c").write_text("\n")
    lab.add_tree()
    patch = lab.folder / "adds.patch"
    text = lab.patch_file().read_text().partition("-- \n")[0].replace("-1,7 +1,7", "-1,7 +1,8")
    text = text.replace("-int speed", '+#include "in.c"\n-int speed')
    for name in ("in", "out"):
        text += f"--- /dev/null\n+++ b/kernel/sched/{name}.c\n@@ -0,0 +1,1 @@\n+late_initcall(f);\n"
    timer = "kernel/time/hrtimer.c"
    text += f"--- a/{timer}\n+++ b/{timer}\n@@ -1,1 +1,2 @@\n \n+core_initcall(sort_init);\n"
    patch.write_text(text)
    build = ("kernel", "build", "other", "--base", "6.12", "--patch", patch)
    status, _, errors = lab.call(*build)
    assert status == 0, errors
    assert "adds.patch: kernel/sched/out.c is a new source that nothing includes" in errors
    assert "kernel/sched/in.c is a new" not in errors
    assert f"adds.patch: {timer}: the simulator does not call its core_initcall()." in errors
    assert "late_initcall" not in errors


def test_a_source_that_is_not_compiled_is_named(lab: FakeLab) -> None:
    """One that lies among those that are, and is included by none of them."""
    for name in ("fork", "part"):
        (lab.tree / f"kernel/{name}.c").write_text("int x;\n")
    with (lab.tree / "kernel/sched/fair.c").open("a") as fair:
        fair.write('#include "../part.c"\n')
    lab.add_tree()
    patch = lab.patch_file()
    text = patch.read_text().partition("-- \n")[0]
    for name in ("fork", "part"):
        text += f"--- a/kernel/{name}.c\n+++ b/kernel/{name}.c\n@@ -1 +1 @@\n-int x;\n+int y;\n"
    patch.write_text(text)
    status, _, errors = lab.call("kernel", "build", "other", "--base", "6.12", "--patch", patch)
    assert (status, "not simulated, and left out: kernel/fork.c\n" in errors) == (0, True), errors


def test_a_patch_that_touches_nothing_simulated(lab: FakeLab) -> None:
    lab.add_tree()
    patch = lab.patch_file()
    patch.write_text("--- a/Documentation/x\n+++ b/Documentation/x\n@@ -1 +1 @@\n-Words.\n+More.\n")
    errors = lab.refused("kernel", "build", "docs", "--base", "6.12", "--patch", patch)
    assert "not simulated, and left out: Documentation/x" in errors
    assert "touches nothing that the simulator compiles" in errors
