"""What a patch or a tree has in vain, read by the engine's own lists."""

from pathlib import Path

import pytest

from schedlab.kernels.engine import find_engine
from schedlab.kernels.patches import read_patch
from schedlab.kernels.unseen import lost_options, unseen


def _said(folder: Path, *added: str) -> list[str]:
    """Return what is said of a patch that adds lines to fair.c."""
    lines = "".join(f"+{line}\n" for line in added)
    file = folder / "x.patch"
    file.write_text(
        "--- a/kernel/sched/fair.c\n+++ b/kernel/sched/fair.c\n"
        f"@@ -1,2 +1,{2 + len(added)} @@\n int here;\n{lines} int there;\n"
    )
    return list(unseen(read_patch(file), find_engine()))


@pytest.mark.parametrize("word", ["static unsigned long hot_count;", "int hot_count __x;"])
def test_a_new_word_that_cpus_share_is_named(tmp_path: Path, word: str) -> None:
    [said] = _said(tmp_path, word, "WRITE_ONCE(hot_count, READ_ONCE(hot_count) + 1);")
    assert said.startswith("x.patch: hot_count is a new word whose line costs nothing")


def test_a_new_field_is_named_and_a_known_one_is_not(tmp_path: Path) -> None:
    [said] = _said(tmp_path, "\tunsigned int looks;", "WRITE_ONCE(sd->shared->looks, 1);")
    assert "looks is a new word" in said
    assert _said(tmp_path, "x = READ_ONCE(rq->nr_running);", "int once;") == []


@pytest.mark.parametrize(
    "line",
    ["static atomic_t looks = ATOMIC_INIT(0);", "\tatomic_t looks;", "static int *looks[4];"],
)
def test_a_word_that_needs_no_use_to_be_shared_is_named_by_its_name(
    tmp_path: Path, line: str
) -> None:
    [said] = _said(tmp_path, line)
    assert said.startswith("x.patch: looks is a new word whose line costs nothing")


@pytest.mark.parametrize("line", ["static const int looks = 4;", "static int looks(int cpu);"])
def test_what_nobody_writes_is_no_new_word(tmp_path: Path, line: str) -> None:
    assert _said(tmp_path, line) == []


def test_a_word_that_bits_are_set_in_is_named(tmp_path: Path) -> None:
    [said] = _said(tmp_path, "\tunsigned long looks;", "set_bit(cpu, &sd->shared->looks);")
    assert "looks is a new word" in said


def test_a_new_field_of_what_all_cpus_share_is_named(tmp_path: Path) -> None:
    file = tmp_path / "x.patch"
    file.write_text(
        "--- a/kernel/sched/sched.h\n+++ b/kernel/sched/sched.h\n"
        "@@ -1,2 +1,3 @@ struct root_domain {\n \tint here;\n+\tint looks;\n \tint there;\n"
        "@@ -9,2 +10,4 @@ struct root_domain {\n };\n struct rq {\n+\tint mine;\n+\tint also;\n"
    )
    [said] = unseen(read_patch(file), find_engine())
    assert "x.patch: looks is a new word" in said, "and those of a runqueue are not"


def test_a_condition_goes_on_in_the_next_line(tmp_path: Path) -> None:
    [said] = _said(tmp_path, "#if defined(CONFIG_SMP) && \\", "\tdefined(CONFIG_SCHED_STICKY)")
    assert "CONFIG_SCHED_STICKY: the simulator has no such option" in said
    assert _said(tmp_path, "#if defined(CONFIG_SMP) && \\", "\tdefined(CONFIG_PREEMPT_NONE)") == []


def test_a_trees_own_options(tmp_path: Path) -> None:
    sched = tmp_path / "kernel/sched"
    sched.mkdir(parents=True)
    (sched / "fair.c").write_text("#ifdef CONFIG_SMP\n#endif\n")
    assert lost_options("tip", tmp_path, find_engine()) == ""
    (sched / "x.h").write_text("if (IS_ENABLED(CONFIG_SCHED_TIPNEW))\n")
    said = lost_options("tip", tmp_path, find_engine())
    assert said.startswith("tip: CONFIG_SCHED_TIPNEW: the simulator has no such option")
