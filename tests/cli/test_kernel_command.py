"""`schedlab kernel` with a fake engine: adding, building, caching, sharing, removing, refusing."""

import json
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from schedlab.base.data import data_folder
from schedlab.base.series import TESTED
from schedlab.kernels.engine import find_engine
from schedlab.kernels.tree import tree_as_it_is
from tests.helpers.fake_engine import FakeLab, git_tree, speed_patch, write_tree
from tests.helpers.kernel_source import kernel_source
from tests.helpers.patience import PATIENCE_SECONDS, wait_until


@pytest.fixture
def lab(bare_lab: FakeLab) -> FakeLab:
    return bare_lab


def refused(lab: FakeLab, *words: object) -> str:
    status, out, errors = lab.call(*words)
    assert status == 2, (out, errors)
    return errors


def test_a_tree_is_built_once_and_again_when_it_changes(lab: FakeLab) -> None:
    lab.add_tree()
    assert "not built" in lab.call("kernel", "list")[1]
    status, out, errors = lab.call("kernel", "build", "6.12")
    assert (status, "6.12: Linux 6.12.7, HZ=250, PREEMPT=voluntary, no patches" in out) == (0, True)
    assert "building 6.12 (HZ=250, PREEMPT=voluntary): done" in errors
    assert "building" not in lab.call("kernel", "build", "6.12")[2], "it is built already"
    fair = lab.tree / "kernel/sched/fair.c"
    fair.write_text(fair.read_text().replace("1.0", "0.7"))
    assert "not built" in lab.call("kernel", "list")[1], "the user's tree has changed"
    assert "building" in lab.call("kernel", "build", "6.12")[2]
    (lab.engine / "schedsim.py").open("a").write("# changed\n")
    assert "building" in lab.call("kernel", "build", "6.12")[2], "the engine has changed"
    shown = lab.call("kernel", "show", "6.12")[1]
    assert "features       WA_IDLE WA_WEIGHT" in shown
    assert "facts          A_FACT" in shown


def test_a_patched_build_and_its_patch(lab: FakeLab) -> None:
    lab.add_tree()
    patch = lab.patch_file()
    words = ("kernel", "build", "fast", "--base", "6.12", "--patch", patch, "--hz", 1000)
    status, out, errors = lab.call(*words)
    assert status == 0, errors
    assert "fast: Linux 6.12.7, HZ=1000, PREEMPT=voluntary, with faster.patch" in out
    assert "building fast (HZ=1000" in errors
    assert "building 6.12" not in errors, "a first build shares nothing yet"
    patch.unlink()
    (lab.engine / "schedsim.py").open("a").write("# changed\n")
    status, out, errors = lab.call("kernel", "build", "fast")
    assert status == 0, "the patch's text was kept"
    assert "building 6.12 (HZ=1000" in errors, "from now on each patch changes little"
    lab.patch_file(1.0, 0.25)
    out, errors = lab.call(*words)[1:]
    assert "building fast" in errors, "another patch under the same name"
    assert "building 6.12" not in errors, "it is built"
    program = next(
        line.split()[1]
        for line in lab.call("kernel", "show", "fast")[1].splitlines()
        if line.startswith("program")
    )
    assert "else 0.25" in Path(program).read_text()
    assert len(list((lab.cache / "kernels/objects").iterdir())) == 2, "the tree's and the last"


def test_another_configuration_takes_what_reads_no_kernel(lab: FakeLab) -> None:
    lab.add_tree()

    def built(name: str, hz: int) -> tuple[Path, str]:
        """Return its objects, and those it could take: of one that is whole."""
        assert lab.call("kernel", "build", name, "--base", "6.12", "--hz", hz)[0] == 0
        marks = (lab.cache / "kernels/objects").glob("*/.of")
        [objects] = (mark.parent for mark in marks if mark.read_text() == name)
        lines = (objects / "make.log").read_text().splitlines()
        return objects, next(line for line in lines if line.startswith("objects of: "))

    first, taken = built("slow", 100)
    assert taken == "objects of: "
    assert built("quick", 1000)[1] == f"objects of: {first}"
    (lab.engine / "schedsim.py").open("a").write("# changed\n")
    assert built("other", 300)[1] == "objects of: ", "those of another engine"


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


def test_preemption_is_what_the_tree_offers(lab: FakeLab) -> None:
    lab.add_tree()
    config = lab.tree / "kernel/Kconfig.preempt"
    build = ("kernel", "build", "other", "--base", "6.12", "--preempt")
    message = "6.12 (Linux 6.12.7) has no preemption model 'lazy'; it has voluntary, full, none."
    assert message in refused(lab, *build, "lazy")
    config.write_text("config PREEMPT_VOLUNTARY\nconfig PREEMPT\nconfig PREEMPT_LAZY\n")
    assert "PREEMPT=voluntary" in lab.call("kernel", "build", "6.12")[1]
    assert "PREEMPT=lazy" in lab.call(*build, "lazy")[1]
    config.write_text(
        config.read_text().replace("\n", "\n\tdepends on !ARCH_HAS_PREEMPT_LAZY\n", 1)
    )
    assert "PREEMPT=lazy" in lab.call("kernel", "build", "6.12")[1], "where voluntary is gone"
    assert "has no preemption model 'voluntary'" in refused(lab, *build, "voluntary")


def test_preemption_is_what_the_patched_tree_offers(lab: FakeLab) -> None:
    """What is usual stays usual: a patch that brings a model back does not choose it."""
    config = "kernel/Kconfig.preempt"
    lines = "config PREEMPT_VOLUNTARY\n\tdepends on !ARCH_HAS_PREEMPT_LAZY\nconfig PREEMPT_LAZY\n"
    (lab.tree / config).write_text(lines)
    lab.add_tree()
    patch = lab.patch_file()
    patch.write_text(
        f"--- a/{config}\n+++ b/{config}\n@@ -1,3 +1,2 @@\n config PREEMPT_VOLUNTARY\n"
        "-\tdepends on !ARCH_HAS_PREEMPT_LAZY\n config PREEMPT_LAZY\n" + patch.read_text()
    )
    words = ("kernel", "build", "back", "--base", "6.12", "--patch", patch)
    for _ in range(2):
        status, out, errors = lab.call(*words, "--preempt", "voluntary")
        assert (status, "PREEMPT=voluntary" in out) == (0, True), errors
        assert "PREEMPT=lazy" in lab.call(*words)[1]
    lab.call(*words, "--preempt", "voluntary")
    run = ("run", "--target", f"sim:{lab.machine}", "--benchmark", "HackbenchPipeThreads")
    errors = refused(lab, *run, "--variant", "base", "--variant", "back: kernel=back")
    assert "variant base names no kernel, and 6.12 has no preemption model 'voluntary'" in errors
    assert "without the patches of back.\n" in errors
    fragment = lab.folder / "my.config"
    fragment.write_text("CONFIG_PREEMPT_VOLUNTARY=y\n")
    for file in ("options.toml", "include/autoconf.h.in"):
        (lab.engine / file).parent.mkdir(exist_ok=True)
        shutil.copy(data_folder("engine") / file, lab.engine / file)
    status, out, errors = lab.call(*words, "--config", fragment)
    assert (status, "PREEMPT=voluntary" in out) == (0, True), errors


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
    errors = refused(lab, *build, "FASTR")
    assert "FASTR: there is no such patch file, and no patch of schedlab's for 6.12" in errors
    assert "Did you mean FASTER or FAST?\n  Features of its patches: FAST, FASTER." in errors
    assert "FAST: there is no such patch file.\n" in refused(lab, *build, "./FAST")
    (ours / "6.1").mkdir()
    (ours / "6.1/old.patch").write_text("+SCHED_FEAT(OLD, true)\n+SCHED_FEAT(OLDER, true)\n")
    assert "for 6.12 adds such a feature. There is one for 6.1.\n" in refused(lab, *build, "OLD")
    (ours / "merged.toml").write_text(
        '[OLD]\nsince = "6.9"\ncommit = "c0ffee"\n[OLDER]\nsince = "6.13"\ncommit = "bad"\n'
    )
    errors = refused(lab, *build, "OLD")
    assert "OLD: Linux 6.12 needs no patch for it: since 6.9 the kernel always does so" in errors
    assert "There is one for 6.1." in refused(lab, *build, "OLDER")
    monkeypatch.chdir(lab.folder)
    lab.patch_file(1.0, 0.25).rename("plain")
    assert "with plain, build" in lab.call(*build, "plain")[1], "a file needs no suffix"


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
    errors = refused(lab, *add[:-1], "v6.12-tset")
    assert "has no ref 'v6.12-tset'. Did you mean v6.12-test?" in errors
    assert "is not a git tree" in refused(lab, "kernel", "add", "--tree", lab.tree, "--ref", "x")


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
    errors = refused(lab, "kernel", "add", "--tree", tree)
    assert words in errors


def test_what_is_no_tree(lab: FakeLab) -> None:
    assert "there is no such folder" in refused(lab, "kernel", "add", "--tree", lab.folder / "no")
    assert "is not a kernel tree" in refused(lab, "kernel", "add", "--tree", lab.engine)
    loop = lab.engine / "loop"
    loop.symlink_to("loop")
    assert "loop" in refused(lab, "kernel", "add", "--tree", loop)
    (lab.tree / "Makefile").write_text("all:\n")
    assert "names no version" in refused(lab, "kernel", "add", "--tree", lab.tree)
    assert "either --debian SERIES or --tree" in refused(lab, "kernel", "add")
    assert "--ref belongs to" in refused(lab, "kernel", "add", "--debian", "6.12", "--ref", "x")
    assert "--debian 5.4: the simulator takes Linux 6.1 and newer." in refused(
        lab, "kernel", "add", "--debian", "5.4"
    )
    assert "--debian new: not a series" in refused(lab, "kernel", "add", "--debian", "new")


def test_half_a_tree_is_refused_before_it_is_built(lab: FakeLab) -> None:
    part = write_tree(lab.folder / "part")
    shutil.rmtree(part / "include")
    (part / "fs/seq.c").unlink()
    errors = refused(lab, "kernel", "add", "--tree", part)
    assert "is only part of a kernel tree; missing: include, fs/seq.c." in errors
    git_tree(part)
    (part / "lib/sort.c").unlink()
    commit = ("git", "-C", str(part), "-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run([*commit, "commit", "-qam", "less"], check=True)
    errors = refused(lab, "kernel", "add", "--tree", part, "--ref", "HEAD")
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
    assert f"{part}: {missing}" in refused(lab, "kernel", "add", "--tree", part)
    commit = ("git", "-C", str(part), "-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run([*commit[:3], "add", "."], check=True)
    subprocess.run([*commit, "commit", "-qm", "more"], check=True)
    add = ("kernel", "add", "--tree", part)
    assert f"HEAD: {missing}" in refused(lab, *add, "--ref", "HEAD")
    assert f"HEAD: {missing}" in refused(lab, *add, "--ref", "HEAD"), "nothing is left of it"
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
    assert message in refused(lab, "kernel", "add", "--tree", lab.tree, "--name", "other")
    assert file == "Makefile" or message in refused(lab, "kernel", "build", "6.12")
    (lab.tree / "include/linux/mm_types.h").touch()
    git_tree(lab.tree)
    (lab.tree / file).unlink()
    part = ("git", "-C", str(lab.tree), "-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run([*part, "commit", "-qam", "less"], check=True)
    message = f"HEAD: is only part of a kernel tree; missing: {file}."
    assert message in refused(lab, "kernel", "add", "--tree", lab.tree, "--ref", "HEAD")


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
        assert words in refused(lab, "kernel", "add", "--tree", lab.tree)
    else:
        assert "Linux 6.12.0," in lab.call("kernel", "add", "--tree", lab.tree)[1]


def test_a_series_that_is_empty(lab: FakeLab) -> None:
    assert "--debian is empty" in refused(lab, "kernel", "add", "--debian", " ")


def test_a_ref_is_never_read_by_a_shell(lab: FakeLab) -> None:
    tree = git_tree(lab.folder / "repo")
    for ref in ("HEAD; touch made", "$(touch made)", "--output=made"):
        assert f"has no ref '{ref}'" in refused(lab, "kernel", "add", "--tree", tree, "--ref", ref)
    inside = refused(lab, "kernel", "add", "--tree", tree, "--ref", "HEAD:kernel")
    assert "'HEAD:kernel' is a tree; --ref takes a commit" in inside
    assert "--ref is empty" in refused(lab, "kernel", "add", "--tree", tree, "--ref", "")
    assert not list(lab.folder.rglob("made"))


def test_a_repository_without_its_objects(lab: FakeLab) -> None:
    tree = git_tree(lab.folder / "repo")
    shown = ["git", "-C", str(tree), "rev-parse", "HEAD:kernel/sched/fair.c", "HEAD"]
    blob, commit = subprocess.run(shown, capture_output=True, text=True, check=True).stdout.split()
    for gone in (blob, commit):
        (tree / ".git/objects" / gone[:2] / gone[2:]).unlink()
        errors = refused(lab, "kernel", "add", "--tree", tree, "--ref", "HEAD")
        assert "git cannot read this commit whole" in errors
        assert f"`git -C {tree} fsck` lists them" in errors


def test_a_tree_that_may_not_be_read(lab: FakeLab, monkeypatch: pytest.MonkeyPatch) -> None:
    is_file = Path.is_file

    def refuses(path: Path) -> bool:
        if path.is_relative_to(lab.tree):
            raise PermissionError(13, "Permission denied", str(path))
        return is_file(path)

    monkeypatch.setattr(Path, "is_file", refuses)
    errors = refused(lab, "kernel", "add", "--tree", lab.tree)
    assert "kernel/sched/core.c: Permission denied" in errors


def test_names(lab: FakeLab) -> None:
    assert "no kernel tree is called '6.12'. There is none" in refused(
        lab, "kernel", "build", "x", "--base", "6.12"
    )
    lab.add_tree()
    assert "Did you mean 6.12?" in refused(lab, "kernel", "build", "6.21")
    assert "'../x' is not a name" in refused(lab, "kernel", "build", "../x")
    errors = refused(lab, "kernel", "build", "6.12", "--patch", lab.patch_file())
    assert "6.12 is a kernel tree" in errors
    other = write_tree(lab.folder / "other")
    errors = refused(lab, "kernel", "add", "--tree", other, "--name", "6.12")
    assert "6.12 is already" in errors


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
        errors = refused(lab, *words)
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
    assert "reading kernel tree 6.12: " in refused(lab, "kernel", "show", "6.12")
    (lab.tree / "kernel/sched/core.c").unlink()
    assert f"gone: {lab.tree}" in lab.call("kernel", "list")[1]


def test_an_exported_tree_that_vanished_from_the_cache(lab: FakeLab) -> None:
    repo = git_tree(lab.folder / "linux")
    lab.call("kernel", "add", "--tree", repo, "--ref", "v6.12-test", "--name", "v")
    lab.call("kernel", "build", "v")
    [tree] = (lab.cache / "kernels/trees").iterdir()
    tree.rename(lab.folder / "away")
    assert f"built      Linux 6.12.7, gone: {tree}" in lab.call("kernel", "list")[1]
    errors = refused(lab, "kernel", "show", "v")
    again = errors.split("`")[1]
    assert again.startswith(f"schedlab kernel add --tree {repo} --ref ")
    assert lab.call(*again.split()[1:])[0] == 0
    assert lab.call("kernel", "show", "v")[0] == 0


def test_what_to_do_about_an_unknown_kernel(lab: FakeLab) -> None:
    show = ("machine", "show", lab.machine, "--kernel")
    nothing = refused(lab, *show, "mine")
    assert "`schedlab kernel add --debian 6.12` fetches Debian's," in nothing
    lab.add_tree()
    lab.call("kernel", "build", "fast", "--base", "6.12", "--patch", lab.patch_file())
    series = refused(lab, *show, "6.1")
    assert "no kernel is called '6.1'. There are: 6.12, fast." in series, "and no 'Did you mean'"
    assert "\n  `schedlab kernel add --debian 6.1` fetches Debian's 6.1.\n" in series
    assert "add --debian 6.1`" in refused(lab, "kernel", "build", "x", "--base", "6.1")
    unsupported = refused(lab, *show, "5.4")
    assert "The simulator takes Linux 6.1 and newer." in unsupported
    for words in (show, ("kernel", "build"), ("kernel", "show"), ("kernel", "remove")):
        mistyped = refused(lab, *words, "fsat")
        assert "no kernel is called 'fsat'. Did you mean fast?" in mistyped
        assert "\n  `schedlab kernel list` shows what they are.\n" in mistyped
    unlike = refused(lab, "kernel", "build", "menu")
    assert "`schedlab kernel build NAME --base TREE --patch PATCH` builds another." in unlike
    assert "--base 6.12." in refused(lab, "kernel", "build", "x", "--base", "fast")
    assert "'../x' is not a name; use letters" in refused(lab, *show, "../x")
    calibrate = ("machine", "--here", "--calibrate", "--kernel", "../x")
    assert "'../x' is not a name; use letters" in refused(lab, *calibrate)


def test_a_patch_that_leads_out_of_the_tree(lab: FakeLab) -> None:
    lab.add_tree()
    (lab.folder / "victim").write_text("a\n")
    patch = lab.folder / "evil.patch"
    name = "kernel/../../victim"
    patch.write_text(f"Why.\n--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-a\n+b\n")
    before = set(lab.folder.rglob("*"))
    errors = refused(lab, "kernel", "build", "pa", "--base", "6.12", "--patch", patch)
    assert f"schedlab: {patch}: line 2: the name 'a/{name}' has '..' in it." in errors
    assert set(lab.folder.rglob("*")) == before
    # A recipe kept by an earlier schedlab, with such a patch.
    lab.call("kernel", "build", "fast", "--base", "6.12", "--patch", lab.patch_file())
    [kept] = (lab.cache / "kernels/patches").iterdir()
    kept.write_text(patch.read_text())
    (lab.engine / "schedsim.py").open("a").write("# changed\n")
    assert "has '..' in it" in refused(lab, "kernel", "build", "fast")
    recipe = lab.cache / "kernels/recipes/fast.json"
    digest = "../../../../victim"
    recipe.write_text(recipe.read_text().replace(kept.name, digest))
    assert f"a patch's digest: the name '{digest}'" in refused(lab, "kernel", "build", "fast")


def test_a_name_that_is_removed_takes_its_own_builds_along(lab: FakeLab) -> None:
    """Also one that another version of schedlab made, whose description has more in it."""
    lab.add_tree()
    patch = lab.patch_file()
    for name, hz in (("fast", "100"), ("slow", "1000")):
        words = ("kernel", "build", name, "--base", "6.12", "--patch", patch, "--hz", hz)
        assert lab.call(*words)[0] == 0
    found = {}
    for file in lab.cache.glob("kernels/builds/*/build.json"):
        made = json.loads(file.read_text())
        file.write_text(json.dumps({**made, "of_a_later_version": 1}))
        found[made["kernel"]] = file
    lab.call("kernel", "remove", "slow")
    assert (found["fast"].exists(), found["slow"].exists()) == (True, False)


def test_a_base_in_use_is_not_removed(lab: FakeLab) -> None:
    lab.add_tree()
    lab.call("kernel", "build", "fast", "--base", "6.12", "--patch", lab.patch_file())
    errors = refused(lab, "kernel", "remove", "6.12")
    assert "6.12 is in use: fast is built on it" in errors
    assert lab.call("kernel", "remove", "fast")[1] == "fast is removed.\n"
    assert lab.call("kernel", "remove", "6.12")[0] == 0
    assert (lab.tree / "Makefile").is_file(), "the user's own tree stays"
    assert "No kernel yet" in lab.call("kernel", "list")[1]
    assert "no kernel is called 'fast'" in refused(lab, "kernel", "remove", "fast")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("not C", "does not compile: "),
        ("asserts", "6.12 (HZ=250, PREEMPT=voluntary): too many of them\n"),
        ("calls away", "calls functions the engine does not have: far_away."),
        ("fills the disk", "no space is left below"),
    ],
)
def test_what_does_not_build(lab: FakeLab, more: str, words: str) -> None:
    write_tree(lab.tree, more=f"/* {more} */")
    lab.add_tree()
    errors = refused(lab, "kernel", "build", "6.12")
    assert words in errors
    write_tree(lab.tree)
    assert lab.call("kernel", "build", "6.12")[0] == 0, "nothing of the failure stays"


def test_a_kernel_that_does_not_build_leaves_no_name(lab: FakeLab) -> None:
    lab.add_tree()
    patch = lab.patch_file()
    good = patch.read_text()
    bad = good.replace("+int speed = 0.5;", "+int speed = 0.5; /* not C */")
    patch.write_text(bad)
    words = ("kernel", "build", "fast", "--base", "6.12", "--patch", patch)
    errors = refused(lab, *words)
    assert "does not compile" in errors
    log = Path(errors.rpartition("All of make's words: ")[2].strip())
    assert log == lab.cache / "kernels/logs/fast.log"
    assert "expected ';'" in log.read_text()
    assert not list((lab.cache / "kernels/objects").iterdir())
    assert "fast" not in lab.call("kernel", "list")[1]
    patch.write_text(good)
    assert lab.call(*words)[0] == 0
    assert not log.exists()


def test_a_rebuild_that_fails_leaves_a_name_what_it_was(lab: FakeLab) -> None:
    lab.add_tree()
    good = lab.patch_file()
    bad = lab.folder / "bad.patch"
    bad.write_text(good.read_text().replace("speed = 0.5;", "speed = 0.5; /* not C */"))
    words = ("kernel", "build", "fast", "--base", "6.12", "--patch")
    assert lab.call(*words, good)[0] == 0
    shown = lab.call("kernel", "show", "fast")[1]
    kept = len(list((lab.cache / "kernels/objects").iterdir()))
    assert "\n  fast stays what it was: with faster.patch.\n" in refused(lab, *words, bad)
    assert lab.call("kernel", "show", "fast")[1] == shown
    of_the_tree = 1  # it is made when a name is built again
    assert len(list((lab.cache / "kernels/objects").iterdir())) == kept + of_the_tree
    assert lab.call("kernel", "remove", "fast", "6.12")[0] == 0
    assert not list((lab.cache / "kernels/objects").iterdir())


def test_a_rebuild_that_is_cut_off_leaves_a_name_what_it_was(lab: FakeLab) -> None:
    lab.add_tree()
    good = lab.patch_file()
    slow = lab.folder / "slow.patch"
    slow.write_text(good.read_text().replace("speed = 0.5;", "speed = 0.5; /* slow compile */"))
    words = ("kernel", "build", "fast", "--base", "6.12", "--patch")
    assert lab.call(*words, good)[0] == 0
    shown = lab.call("kernel", "show", "fast")[1]
    process = lab.start(*words, slow, "--hz", "1000")
    _wait_for(lab, "objects/*/.under-way")
    assert lab.call("kernel", "show", "fast")[1] == shown, "who is killed leaves that"
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert errors.endswith("stopped by SIGTERM\n  fast stays what it was: with faster.patch.\n")
    assert lab.call("kernel", "show", "fast")[1] == shown
    good.write_text(good.read_text().replace("speed = 0.5;", "speed = 0.4;"))
    assert lab.call(*words, good, "--hz", "1000")[0] == 0
    assert "HZ=1000" in lab.call("kernel", "show", "fast")[1]


def test_a_patch_is_given_once(lab: FakeLab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.add_tree()
    patch = lab.patch_file()
    monkeypatch.chdir(lab.folder)
    words = ("kernel", "build", "fast", "--base", "6.12", "--patch", patch, "--patch")
    for again in (patch, patch.name):
        assert f"{again}: this patch is given twice; it applies once." in refused(
            lab, *words, again
        )


def test_a_copy_of_a_patch_is_told(lab: FakeLab) -> None:
    """Not as a change that the tree has."""
    lab.add_tree()
    patch = lab.patch_file()
    copy = lab.folder / "copy.patch"
    copy.write_text(patch.read_text().replace("Why.", "Because."))
    words = ("kernel", "build", "fast", "--base", "6.12", "--patch", patch, "--patch", copy)
    message = "copy.patch: changes the same as faster.patch, which is given too; it applies once."
    assert message in refused(lab, *words)
    text = copy.read_text().partition("-- \n")[0]
    copy.write_text(f"{text}--- /dev/null\n+++ b/kernel/sched/new.h\n@@ -0,0 +1,1 @@\n+\n")
    message = "kernel/sched/fair.c: is applied already in 6.12 (6.12.7) with faster.patch."
    assert message in refused(lab, *words)


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
    errors = refused(lab, "kernel", "build", "docs", "--base", "6.12", "--patch", patch)
    assert "not simulated, and left out: Documentation/x" in errors
    assert "touches nothing that the simulator compiles" in errors


def test_a_tree_unpacked_for_an_older_engine_must_be_added_again(lab: FakeLab) -> None:
    repo = git_tree(lab.folder / "linux")
    add = ("kernel", "add", "--tree", repo, "--ref", "v6.12-test", "--name", "v")
    lab.call(*add)
    (lab.engine / "kernel-sources.mk").write_text("S := kernel/sched/fair.c Documentation/a.c\n")
    assert "needs more of the tree than was unpacked" in refused(lab, "kernel", "build", "v")
    write_tree(repo)
    (lab.engine / "kernel-sources.mk").write_text("S := fs/seq.c include/a.c mm/a.c lib/x.c\n")
    assert lab.call("kernel", "build", "v")[0] == 0


def test_an_interrupted_build_can_be_done_again(lab: FakeLab) -> None:
    write_tree(lab.tree, more="/* slow compile */")
    lab.add_tree()
    process = lab.start("kernel", "build", "6.12")
    mark = _wait_for(lab, "objects/*/.under-way")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 130, errors
    assert not mark.exists()
    write_tree(lab.tree)
    assert lab.call("kernel", "build", "6.12")[0] == 0


def test_a_killed_build_leaves_no_half_object(lab: FakeLab) -> None:
    lab.add_tree()
    lab.call("kernel", "build", "6.12")
    [objects] = (lab.cache / "kernels/objects").iterdir()
    (objects / ".under-way").touch()
    (objects / "half.o").touch()
    (lab.engine / "schedsim.py").open("a").write("# changed\n")
    assert lab.call("kernel", "build", "6.12")[0] == 0
    assert not (objects / "half.o").exists()


def test_objects_of_a_tree_that_was_edited_meanwhile_are_dropped(lab: FakeLab) -> None:
    """make takes an object finished after the edit for a newer one."""
    _compile_until_told(lab)
    process = lab.start("kernel", "build", "6.12")
    mark = _wait_for(lab, "objects/*/.under-way")
    write_tree(lab.tree, more="/* another */")
    (mark.parent / "go-on").touch()
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 2 and "changed while 6.12 was built; build again" in errors
    assert "done in" not in errors
    assert not mark.parent.exists()
    assert lab.call("kernel", "build", "6.12")[0] == 0


def test_a_removed_name_leaves_what_another_name_has(lab: FakeLab) -> None:
    lab.add_tree()
    for name in ("one", "two"):
        assert lab.call("kernel", "build", name, "--base", "6.12", "--hz", "100")[0] == 0
    assert "nosuch" in refused(lab, "kernel", "remove", "one", "nosuch")
    assert "one" in lab.call("kernel", "list")[1]
    assert lab.call("kernel", "remove", "one")[0] == 0
    assert "made in" in lab.call("kernel", "show", "two")[1]
    assert lab.call("kernel", "remove", "two")[0] == 0
    assert not list((lab.cache / "kernels/builds").glob("*/schedsim"))


def test_a_tree_whose_path_make_cannot_take_is_refused_when_added(lab: FakeLab) -> None:
    tree = write_tree(lab.folder / "a tree")
    said = refused(lab, "kernel", "add", "--tree", tree, "--name", "blank")
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


def test_two_builds_at_once_wait_for_each_other(lab: FakeLab) -> None:
    _compile_until_told(lab)
    first = lab.start("kernel", "build", "6.12")
    mark = _wait_for(lab, "objects/*/.under-way")
    second = lab.start("kernel", "build", "6.12")
    assert second.stderr
    assert f"process {first.pid} is building 6.12" in second.stderr.readline()
    (mark.parent / "go-on").touch()
    outputs = [process.communicate(timeout=PATIENCE_SECONDS) for process in (first, second)]
    assert [first.returncode, second.returncode] == [0, 0], outputs


def _compile_until_told(lab: FakeLab) -> None:
    """Add a tree that compiles until `go-on` lies beside its objects."""
    write_tree(lab.tree, more="/* slow compile */")
    makefile = lab.engine / "Makefile"
    until = "while [ ! -e $(O)/go-on ]; do sleep .02; done"
    makefile.write_text(makefile.read_text().replace("sleep 30", until))
    lab.add_tree()


def _wait_for(lab: FakeLab, pattern: str) -> Path:
    return wait_until(lambda: next((lab.cache / "kernels").glob(pattern), None), pattern)
