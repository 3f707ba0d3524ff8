"""What simulators count is added up and read: lines, functions, and what the linker dropped."""

import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from schedlab.cli import schedlab
from schedlab.kernels import KernelError
from schedlab.kernels.build import Builder
from schedlab.kernels.engine import find_engine
from schedlab.kernels.progress import Watch
from schedlab.kernels.shelf import Recipe, Shelf
from schedlab.kernels.tree import tree_as_it_is
from schedlab.lab.checks.coverage import _SCHEDULER, File, Function, read_coverage
from schedlab.lab.checks.coverage_page import PAGE, coverage_html, coverage_page, shares
from tests.helpers.browser import Page
from tests.helpers.kernel_source import kernel_source

FAIR = """\
#include <stdlib.h>

void unused(void)
{
\texit(9);
}

__attribute__((noinline)) int even(int n)
{
\treturn n / 2;
}

__attribute__((noinline)) int odd(int n)
{
\treturn 3 * n + 1;
}

int main(int argc, char **argv)
{
\tint n = atoi(argv[1]);

\treturn (n % 2 ? odd(n) : even(n)) < 0;
}
"""


@pytest.fixture
def objects(tmp_path: Path) -> Path:
    """Return what a build that counts lines left: one object of the scheduler, and a program."""
    made = tmp_path / "objects"
    place = made / "k/kernel/sched"
    place.mkdir(parents=True)
    (tmp_path / "kernel/sched").mkdir(parents=True)
    source = tmp_path / "kernel/sched/fair.c"
    source.write_text(FAIR)
    gcc = ("gcc", "-O1", "--coverage", "-ffunction-sections")
    subprocess.run([*gcc, "-c", source, "-o", place / "fair.o"], check=True)
    link = [*gcc, "-Wl,--gc-sections", place / "fair.o", "-o", made / "schedsim"]
    subprocess.run(link, check=True)
    (made / ".of").write_text("6.12")
    return made


def run(objects: Path, number: int, counts: Path) -> None:
    env = {**os.environ, "GCOV_PREFIX": str(counts)}
    subprocess.run([objects / "schedsim", str(number)], env=env, check=True)


def test_runs_add_up(objects: Path, tmp_path: Path) -> None:
    counts = tmp_path / "counts"
    run(objects, 4, counts)
    [one] = read_coverage(counts)
    assert (one.kernel, [file.name for file in one.files]) == ("6.12", ["fair.c"])
    assert [each.name for each in one.files[0].silent] == ["odd"]
    assert [each.name for each in one.files[0].dropped] == ["unused"]
    assert shares(one) == "71.4% of fair.c"
    page = coverage_page([one])
    assert "| fair.c | 9 | 7 | 5 | 71.4% | 3 | 2 |" in page
    assert "Did not run: odd (2 lines)." in page
    pages = coverage_html([one])
    assert set(pages) == {PAGE, "6.12-fair.c.html"}
    ids = {name: set(Page(text).values("id")) for name, text in pages.items()}
    for name, text in pages.items():
        for link in Page(text).values("href"):
            file, _, place = link.partition("#")
            assert not place or place in ids[file or name], f"{name}: {link}"
    assert 'href="6.12-fair.c.html#L13">odd</a>' in pages[PAGE]
    assert '<span id="L10" class="ran">' in pages["6.12-fair.c.html"]
    assert '<span id="L15" class="missed">' in pages["6.12-fair.c.html"]
    assert "        int n = atoi(argv[1]);" in pages["6.12-fair.c.html"]
    (objects.parent / "kernel/sched/fair.c").unlink()
    assert set(coverage_html([one])) == {PAGE}, "without the source"
    run(objects, 5, counts)
    [both] = read_coverage(counts)
    assert (both.files[0].silent, shares(both)) == ([], "100.0% of fair.c")


def test_what_is_inlined_and_ran_could_run() -> None:
    inlined = Function("wake", 1, 3, ran=False, linked=False)
    gone = Function("unused", 5, 6, ran=False, linked=False)
    lines = {1: True, 2: True, 5: False, 6: False}
    file = File("swait.c", lines, {each.name: each for each in (inlined, gone)})
    assert (file.can_run, file.ran, file.dropped, file.silent) == ({1, 2}, 2, [gone], [])


def test_what_cannot_be_read_is_told(objects: Path, tmp_path: Path) -> None:
    counts = tmp_path / "counts"
    counts.mkdir()
    with pytest.raises(KernelError, match="no simulator has counted lines here"):
        read_coverage(counts)
    run(objects, 4, counts)
    (objects / ".of").unlink()
    with pytest.raises(KernelError, match="is gone"):
        read_coverage(counts)
    for words in (("--bugs",), ("--output", "kept")):
        done = CliRunner().invoke(schedlab, ["check", "smt-spread", "--coverage", "x", *words])
        assert "--coverage counts" in str(done.exception)


def test_builds_that_count_are_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf, engine = Shelf(tmp_path), find_engine()
    base = tree_as_it_is(kernel_source("6.12"), "6.12", engine)
    shelf.put_base(base)
    recipe = Recipe(name="6.12", base="6.12", preempt=base.preempts[0])
    plain = Builder(shelf, engine, Watch())
    counting = Builder(shelf, engine, Watch(), coverage=True)
    assert plain.key(recipe) != counting.key(recipe)
    monkeypatch.setenv("CC", "clang")
    monkeypatch.setattr(Builder, "compiler", lambda _: "Debian clang version 14.0.6")
    with pytest.raises(KernelError, match="counted by gcc's gcov"):
        Builder(shelf, engine, Watch(), coverage=True).build(recipe)


def test_the_engines_own_files_are_not_the_kernels() -> None:
    paths = ("/e/engine/hooked/kernel/sched/fair.c", "/t/kernel/sched/fair.c", "kernel/sched/rt.c")
    found = [_SCHEDULER.match(path) for path in paths]
    assert [match and match[1] for match in found] == [None, "fair.c", "rt.c"]
