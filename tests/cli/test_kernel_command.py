"""`schedlab kernel` with a fake engine: adding, building, caching, sharing, removing, refusing."""

import json
import shutil
import signal
from pathlib import Path

import pytest

from schedlab.base.data import data_folder
from tests.helpers.fake_engine import FakeLab, write_tree
from tests.helpers.patience import PATIENCE_SECONDS, wait_until


@pytest.fixture
def lab(bare_lab: FakeLab) -> FakeLab:
    return bare_lab


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


def test_preemption_is_what_the_tree_offers(lab: FakeLab) -> None:
    lab.add_tree()
    config = lab.tree / "kernel/Kconfig.preempt"
    build = ("kernel", "build", "other", "--base", "6.12", "--preempt")
    message = "6.12 (Linux 6.12.7) has no preemption model 'lazy'; it has voluntary, full, none."
    assert message in lab.refused(*build, "lazy")
    config.write_text("config PREEMPT_VOLUNTARY\nconfig PREEMPT\nconfig PREEMPT_LAZY\n")
    assert "PREEMPT=voluntary" in lab.call("kernel", "build", "6.12")[1]
    assert "PREEMPT=lazy" in lab.call(*build, "lazy")[1]
    config.write_text(
        config.read_text().replace("\n", "\n\tdepends on !ARCH_HAS_PREEMPT_LAZY\n", 1)
    )
    assert "PREEMPT=lazy" in lab.call("kernel", "build", "6.12")[1], "where voluntary is gone"
    assert "has no preemption model 'voluntary'" in lab.refused(*build, "voluntary")


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
    errors = lab.refused(*run, "--variant", "base", "--variant", "back: kernel=back")
    assert "variant base names no kernel, and 6.12 has no preemption model 'voluntary'" in errors
    assert "without the patches of back.\n" in errors
    fragment = lab.folder / "my.config"
    fragment.write_text("CONFIG_PREEMPT_VOLUNTARY=y\n")
    for file in ("options.toml", "include/autoconf.h.in"):
        (lab.engine / file).parent.mkdir(exist_ok=True)
        shutil.copy(data_folder("engine") / file, lab.engine / file)
    status, out, errors = lab.call(*words, "--config", fragment)
    assert (status, "PREEMPT=voluntary" in out) == (0, True), errors


def test_names(lab: FakeLab) -> None:
    assert "no kernel tree is called '6.12'. There is none" in lab.refused(
        "kernel", "build", "x", "--base", "6.12"
    )
    lab.add_tree()
    assert "Did you mean 6.12?" in lab.refused("kernel", "build", "6.21")
    assert "'../x' is not a name" in lab.refused("kernel", "build", "../x")
    errors = lab.refused("kernel", "build", "6.12", "--patch", lab.patch_file())
    assert "6.12 is a kernel tree" in errors
    other = write_tree(lab.folder / "other")
    errors = lab.refused("kernel", "add", "--tree", other, "--name", "6.12")
    assert "6.12 is already" in errors


def test_what_to_do_about_an_unknown_kernel(lab: FakeLab) -> None:
    show = ("machine", "show", lab.machine, "--kernel")
    nothing = lab.refused(*show, "mine")
    assert "`schedlab kernel add --debian 6.12` fetches Debian's," in nothing
    lab.add_tree()
    lab.call("kernel", "build", "fast", "--base", "6.12", "--patch", lab.patch_file())
    series = lab.refused(*show, "6.1")
    assert "no kernel is called '6.1'. There are: 6.12, fast." in series, "and no 'Did you mean'"
    assert "\n  `schedlab kernel add --debian 6.1` fetches Debian's 6.1.\n" in series
    assert "add --debian 6.1`" in lab.refused("kernel", "build", "x", "--base", "6.1")
    unsupported = lab.refused(*show, "5.4")
    assert "The simulator takes Linux 6.1 and newer." in unsupported
    for words in (show, ("kernel", "build"), ("kernel", "show"), ("kernel", "remove")):
        mistyped = lab.refused(*words, "fsat")
        assert "no kernel is called 'fsat'. Did you mean fast?" in mistyped
        assert "\n  `schedlab kernel list` shows what they are.\n" in mistyped
    unlike = lab.refused("kernel", "build", "menu")
    assert "`schedlab kernel build NAME --base TREE --patch PATCH` builds another." in unlike
    assert "--base 6.12." in lab.refused("kernel", "build", "x", "--base", "fast")
    assert "'../x' is not a name; use letters" in lab.refused(*show, "../x")
    calibrate = ("machine", "--here", "--calibrate", "--kernel", "../x")
    assert "'../x' is not a name; use letters" in lab.refused(*calibrate)


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
    errors = lab.refused("kernel", "remove", "6.12")
    assert "6.12 is in use: fast is built on it" in errors
    assert lab.call("kernel", "remove", "fast")[1] == "fast is removed.\n"
    assert lab.call("kernel", "remove", "6.12")[0] == 0
    assert (lab.tree / "Makefile").is_file(), "the user's own tree stays"
    assert "No kernel yet" in lab.call("kernel", "list")[1]
    assert "no kernel is called 'fast'" in lab.refused("kernel", "remove", "fast")


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
    errors = lab.refused("kernel", "build", "6.12")
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
    errors = lab.refused(*words)
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
    assert "\n  fast stays what it was: with faster.patch.\n" in lab.refused(*words, bad)
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
    assert "nosuch" in lab.refused("kernel", "remove", "one", "nosuch")
    assert "one" in lab.call("kernel", "list")[1]
    assert lab.call("kernel", "remove", "one")[0] == 0
    assert "made in" in lab.call("kernel", "show", "two")[1]
    assert lab.call("kernel", "remove", "two")[0] == 0
    assert not list((lab.cache / "kernels/builds").glob("*/schedsim"))


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
