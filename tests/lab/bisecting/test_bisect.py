"""Bisecting a generated git history with a fake engine, from the command line."""

import errno
import json
import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from schedlab.base.errors import UsageError
from schedlab.lab.bisecting.bisection import BAD, GOOD
from schedlab.lab.bisecting.questions import Answered, CheckQuestion, Explained, PlanQuestion
from schedlab.lab.bisecting.record import Asked
from schedlab.lab.checks.check import Named
from schedlab.lab.result import Lab
from tests.helpers.fake_engine import FakeLab, git_tree, write_machine

RUN = ("--benchmark", "HackbenchPipeThreads:groups=1,loops=10", "--looks", 10)
TIME = ("--metric", "time")


@pytest.fixture
def lab(bare_lab: FakeLab) -> FakeLab:
    return bare_lab


class History:
    """A git tree of the fake kernel, a commit at a time."""

    def __init__(self, folder: Path) -> None:
        self.tree = git_tree(folder)
        self.fair = self.tree / "kernel/sched/fair.c"
        self.ids: list[str] = []

    def git(self, *words: str) -> str:
        name = ("-c", "user.name=t", "-c", "user.email=t@example.org")
        done = subprocess.run(
            ["git", "-C", str(self.tree), *name, *words], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(self, subject: str) -> None:
        self.git("add", ".")
        self.git("commit", "-q", "-m", subject)
        self.ids.append(self.git("rev-parse", "HEAD"))

    def change(self, old: str, new: str, subject: str) -> None:
        self.fair.write_text(self.fair.read_text().replace(old, new))
        self.commit(subject)

    def note(self, number: int) -> None:
        """Commit what the simulator compiles, and what changes nothing."""
        self.fair.write_text(self.fair.read_text() + f"/* note {number} */\n")
        self.commit(f"sched: note {number}")

    def words(self, number: int) -> None:
        """Commit what the simulator does not compile."""
        (self.tree / "Documentation/scheduler.rst").write_text(f"Words {number}.\n")
        self.commit(f"docs: words {number}")


@pytest.fixture
def history(tmp_path: Path) -> History:
    """Sixteen commits: six are words, three do not build, the twelfth is slower."""
    made = History(tmp_path / "repo")
    for number in range(1, 7):
        made.words(number) if number % 2 else made.note(number)
    made.change("int there;", "int there; not C", "sched: broken")
    made.note(7)
    made.words(8)
    made.change("int there; not C", "int there;", "sched: mended")
    made.words(10)
    made.change("speed = 1.0", "speed = 1.3", "sched: slower")
    for number in range(12, 16):
        made.note(number) if number % 2 else made.words(number)
    return made


def bisect(lab: FakeLab, history: History, *words: object) -> tuple[int, str, str]:
    given = ("--tree", history.tree, "--target", f"sim:{lab.machine}", *RUN)
    return lab.call("bisect", "v6.12-test..HEAD", *given, *words)


def test_the_culprit_is_found_and_explained(lab: FakeLab, history: History) -> None:
    out = lab.folder / "out"
    status, text, errors = bisect(lab, history, *TIME, "--jobs", 2, "--output", out)
    assert status == 0, errors
    assert text.startswith(f"{history.ids[11]} is the first bad commit: sched: slower\n")
    assert "culprit: HackbenchPipeThreads:groups=1,loops=10 time -" in text
    assert "16 commits, 7 of them touch nothing that the simulator compiles; " in text
    record = json.loads((out / "bisect.json").read_text())
    assert record["steps"] <= 4
    assert record["builds"] <= 8
    again, same, _ = lab.call("bisect", "--resume", out)
    assert (again, same) == (0, text), "nothing was run again"
    for commit in record["commits"]:
        if commit["step"] == record["steps"]:
            commit.update(answer=None, step=0, why="")
    (out / "bisect.json").write_text(json.dumps({**record, "steps": record["steps"] - 1}))
    again, same, _ = lab.call("bisect", "--resume", out)
    assert (again, same.splitlines()[0]) == (0, text.splitlines()[0]), "the last step is judged"
    history.git("bisect", "replay", str(out / "bisect.log"))
    assert f"git bisect bad {history.ids[11]}" in history.git("bisect", "log")
    assert history.git("rev-parse", "bisect/bad") == history.ids[11]


def test_several_machines_each_have_an_answer(lab: FakeLab, history: History) -> None:
    other = write_machine(lab.folder / "other.toml", name="other")
    deaf = write_machine(lab.folder / "deaf.toml", name="deaf", cost={"line_core": "7ns"})
    targets = [word for each in (other, deaf) for word in ("--target", f"sim:{each}")]
    out = lab.folder / "out"
    status, text, errors = bisect(lab, history, *TIME, *targets, "--output", out)
    assert status == 0, errors
    found = f"{history.ids[11]} is the first bad commit: sched: slower"
    heads = text.splitlines()[:3]
    assert [head.endswith(found) for head in heads] == [True, True, False], heads
    assert "is not bad beside" in heads[2]
    records = [json.loads(each.read_text()) for each in sorted(out.glob("*/bisect.json"))]
    steps = sorted(record["steps"] for record in records)
    assert steps[:2] == [0, 1], "where it was found before is tried first"
    again, same, _ = lab.call("bisect", "--resume", out)
    assert (again, same) == (0, text)


def test_machines_of_one_name_and_other_sweeps_are_refused(lab: FakeLab, history: History) -> None:
    names = ("--machine", "a/smp4.toml", "--machine", "smp4")
    commits = ("v6.12-test..HEAD", "--tree", history.tree)
    status, _, errors = lab.call("bisect", *commits, "--scenario", "smt-spread", *names)
    assert (status, "two machines are called smp4" in errors) == (2, True), errors


def test_a_range_that_cannot_be_narrowed_is_an_answer(lab: FakeLab, tmp_path: Path) -> None:
    history = History(tmp_path / "repo")
    history.note(1)
    history.change("int there;", "int there; not C", "sched: broken")
    history.change("speed = 1.0", "speed = 1.3", "sched: slower")
    history.change("int there; not C", "int there;", "sched: mended")
    status, text, errors = bisect(lab, history, *TIME, "--output", lab.folder / "out")
    assert status == 0, errors
    assert text.startswith("the first bad commit is one of 3; those between give no answer:\n")
    assert "does not build: sched: slower" in text


def test_contents_that_were_there_before_are_not_run_again(lab: FakeLab, tmp_path: Path) -> None:
    """A change, what takes it back, and the change again: the culprit is what the bad end is."""
    history = History(tmp_path / "repo")
    history.change("speed = 1.0", "speed = 1.3", "sched: slower")
    history.change("speed = 1.3", "speed = 1.0", "sched: revert it")
    history.change("speed = 1.0", "speed = 1.3", "sched: slower again")
    history.change("int here;", "int  here;", "sched: blanks")
    history.change("int  here;", "int here;", "sched: fewer blanks")
    out = lab.folder / "out"
    status, text, errors = bisect(lab, history, *TIME, "--jobs", 4, "--output", out)
    assert status == 0, errors
    found = json.loads((out / "bisect.json").read_text())["commits"]
    assert [each["answer"] for each in found[:3]] == ["bad", "good", "bad"], text
    assert text.startswith(f"{history.ids[0]} is the first bad commit: sched: slower\n")
    assert "is the same as the good end" in text
    assert "is the same as the bad end" in text
    assert f"{history.ids[1][:12]} after it is good again" in text


def test_an_engine_that_changes_is_no_answer(
    lab: FakeLab, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, changed = lab.folder / "out", lab.engine / "schedsim.py"
    text = changed.read_text()

    def change_it(self: PlanQuestion, *words: Any) -> Any:
        changed.write_text(f"{text}# changed\n")
        return ask(self, *words)

    ask = PlanQuestion.ask
    monkeypatch.setattr(PlanQuestion, "ask", change_it)
    status, _, errors = bisect(lab, history, *TIME, "--jobs", 2, "--output", out)
    assert (status, "the simulator's own sources changed" in errors) == (2, True), errors
    assert f"`schedlab bisect --resume {out}` goes on." in errors
    record = json.loads((out / "bisect.json").read_text())
    assert not any(each["answer"] for each in record["commits"])
    monkeypatch.setattr(PlanQuestion, "ask", ask)
    status, answer, errors = lab.call("bisect", "--resume", out)
    assert (status, answer.startswith(history.ids[11])) == (0, True), errors


def test_commits_beside_a_merge_that_brought_good_in(lab: FakeLab, tmp_path: Path) -> None:
    """They lack GOOD, so they are no part of the range."""
    history = History(tmp_path / "repo")
    history.git("checkout", "-q", "-b", "side")
    history.change("speed = 1.0", "speed = 0.7", "sched: GOOD")
    history.git("checkout", "-q", "-")
    history.note(1)
    history.git("merge", "-q", "--no-edit", "side")
    history.change("speed = 0.7", "speed = 1.3", "sched: slower")
    history.note(2)
    given = ("--tree", history.tree, "--target", f"sim:{lab.machine}", *RUN, *TIME)
    words = ("bisect", "side..HEAD", *given, "--jobs", 4, "--output", lab.folder / "out")
    status, text, errors = lab.call(*words)
    assert status == 0, errors
    assert text.startswith(f"{history.ids[2]} is the first bad commit: sched: slower\n")
    assert "sched: note 1 " not in text


def test_the_first_other_decision(lab: FakeLab, history: History) -> None:
    status, text, errors = bisect(
        lab, history, "--decision", "--looks", 2, "--output", lab.folder / "out"
    )
    assert status == 0, errors
    assert text.startswith(f"{history.ids[11]} is the first bad commit")


def test_ends_that_do_not_differ_are_refused(lab: FakeLab, tmp_path: Path) -> None:
    history = History(tmp_path / "repo")
    history.note(1)
    status, _, errors = bisect(lab, history, *TIME, "--output", lab.folder / "out")
    assert (status, "is not bad beside" in errors) == (2, True), errors
    history.change("speed = 1.0", "speed = 0.5", "sched: faster")
    status, _, errors = bisect(lab, history, *TIME, "--output", lab.folder / "other")
    assert (status, "time +" in errors, "better" in errors) == (2, True, True), errors


def test_ends_that_cannot_be_told_apart_ask_for_more_looks(
    lab: FakeLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = History(tmp_path / "repo")
    history.note(1)

    def asked(*_: Any) -> tuple[dict[str, Answered], int]:
        return {BAD: Answered("can't tell", "time -9.00 % [-40, +30], can't tell, 6 blocks")}, 12

    monkeypatch.setattr(PlanQuestion, "ask", asked)
    status, _, errors = bisect(lab, history, *TIME, "--output", lab.folder / "out")
    assert (status, "it cannot be told whether the bad end" in errors) == (2, True), errors
    assert "more looks, such as --looks 6,12,24,40" in errors


class FailsOnOne:
    """Stands in for a check that the good end fails on one machine, and only the bad on another."""

    confirms = True

    def __init__(self, asked: Asked, _: Lab) -> None:
        self.machine = asked.machine

    def ask(self, kernels: Mapping[str, str], _: Path) -> tuple[dict[str, Answered], int]:
        names = list(kernels)[1:]
        bad = {GOOD: self.machine == "hikey960", BAD: True}
        return {name: Answered("bad" if bad[name] else "good", "why") for name in names}, 2

    def explain(self, kernels: Mapping[str, str], _: Path) -> Explained:
        return Explained(f"{len(kernels)} kernels", 2, self.confirms)


def test_a_good_end_that_is_bad_on_one_machine(
    lab: FakeLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said of that machine; the other has its answer."""
    monkeypatch.setattr("schedlab.lab.bisecting.bisection.question_of", FailsOnOne)
    history = History(tmp_path / "repo")
    history.change("speed = 1.0", "speed = 1.3", "sched: slower")
    words = ("bisect", "v6.12-test..HEAD", "--tree", history.tree, "--scenario", "smt-spread")
    machines = ("--machine", "hikey960", "--machine", "smp4")
    status, text, errors = lab.call(*words, *machines, "--output", lab.folder / "out")
    assert status == 0, errors
    first, second = text.splitlines()[:2]
    assert first.startswith("hikey960: the good end, ")
    assert "is bad: it fails check smt-spread" in first
    assert second == f"smp4: {history.ids[0]} is the first bad commit: sched: slower"
    status, _, errors = lab.call(*words, "--machine", "hikey960", "--output", lab.folder / "one")
    assert (status, "Begin at an earlier commit." in errors) == (2, True), errors


def test_the_last_run_has_to_confirm_the_answer(
    lab: FakeLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedlab.lab.bisecting.bisection.question_of", FailsOnOne)
    monkeypatch.setattr(FailsOnOne, "confirms", False)
    history = History(tmp_path / "repo")
    history.change("speed = 1.0", "speed = 1.3", "sched: slower")
    words = ("v6.12-test..HEAD", "--tree", history.tree, "--scenario", "smt-spread")
    _, text, _ = lab.call("bisect", *words, "--output", lab.folder / "out")
    assert text.startswith(f"no answer: {history.ids[0][:12]} came out"), text


def test_a_check_that_changed_is_not_asked_any_more(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'title = "x"\nmachines = ["own.toml"]\n[scenario]\nduration = "1ms"\n'
        '[[scenario.workloads]]\nkind = "rt-app"\nfile = "load.json"\n'
    )
    for name in ("own.toml", "load.json"):
        (tmp_path / name).write_text("first")
    asked = Asked(scenario=str(file), content=Named(file).content())
    CheckQuestion(asked, Lab())
    for name in ("own.toml", "load.json"):
        (tmp_path / name).write_text("changed")
        with pytest.raises(UsageError, match="has changed since the bisection began"):
            CheckQuestion(asked, Lab())
        (tmp_path / name).write_text("first")
    file.write_text(f"{file.read_text()}seeds = 2\n")
    with pytest.raises(UsageError, match="has changed since the bisection began"):
        CheckQuestion(asked, Lab())


@pytest.mark.parametrize("what", ["fills the disk", "kills the compiler"])
def test_what_the_host_refuses_is_no_answer(lab: FakeLab, tmp_path: Path, what: str) -> None:
    """The commit may be the culprit: it is tried again when there is room."""
    history = History(tmp_path / "repo")
    history.note(1)
    history.change("speed = 1.0", "speed = 1.3", "sched: slower")
    history.change("/* More of it. */", f"/* More of it, {what}. */", "sched: words")
    history.change(f"/* More of it, {what}. */", "/* More of it. */", "sched: fewer words")
    out = lab.folder / "out"
    status, _, errors = bisect(lab, history, *TIME, "--jobs", 4, "--output", out)
    assert (status, f"`schedlab bisect --resume {out}` goes on." in errors) == (2, True), errors
    commits = json.loads((out / "bisect.json").read_text())["commits"]
    assert not any(each["answer"] for each in commits)
    makefile = lab.engine / "Makefile"
    makefile.write_text(makefile.read_text().replace(what, "nothing"))
    status, text, errors = lab.call("bisect", "--resume", out)
    assert (status, text.startswith(history.ids[1])) == (0, True), errors


def full(*_: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def stopped(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.parametrize(
    ("where", "happens", "status", "said"),
    [
        ("_keep", full, 2, "{}: cannot be written: No space left"),
        # Between two runs, too, such as while a commit is built.
        ("_build", stopped, 130, "`schedlab bisect --resume {}` goes on."),
    ],
)
def test_what_was_cut_off_goes_on(
    lab: FakeLab,
    history: History,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    happens: Callable[..., None],
    status: int,
    said: str,
) -> None:
    out = lab.folder / "out"
    with monkeypatch.context() as patched:
        patched.setattr(f"schedlab.lab.bisecting.bisection._Bisection.{where}", happens)
        ended, _, errors = bisect(lab, history, *TIME, "--jobs", 2, "--output", out)
    assert (ended, said.format(out) in errors) == (status, True), errors
    ended, text, errors = lab.call("bisect", "--resume", out)
    assert (ended, text.startswith(history.ids[11])) == (0, True), errors


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "name the commits and their tree"),
        (("a..b", *TIME), "the current folder is not in a git tree of a kernel"),
        (("a..b", "--tree", "repo"), "--metric, --decision or --scenario"),
        (
            ("a..b", "--tree", "repo", "--metric", "x", "--decision"),
            "--metric, --decision and --scenario exclude each other",
        ),
        (("a..b", "--tree", "repo", *TIME), "repo: has no commit 'a'"),
        (("a..b", "--tree", "repo", "--scenario", "smt-spread", *RUN), "already says what is run"),
        (("v6.12-test..HEAD", "--tree", "repo", *TIME, *RUN), "host is not sim:MACHINE"),
        (("--resume", "repo", *TIME), "--resume takes everything from DIR"),
        (("--resume", "repo"), "is not the folder of a bisection"),
    ],
)
def test_mistakes_are_refused(
    lab: FakeLab, words: tuple[object, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lab.folder)
    git_tree(lab.folder / "repo")
    status, _, errors = lab.call("bisect", *words)
    assert (status, message in errors) == (2, True), errors
    assert not (lab.folder / "results").exists()


@pytest.mark.parametrize(
    ("commits", "metric", "message"),
    [
        ("HEAD..HEAD", "time", "none of its 0 commits touches"),
        ("HEAD~1..HEAD", "time", "none of its 1 commits touches"),
        ("HEAD..v6.12-test", "time", "is not an ancestor"),
        ("nosuch..HEAD", "time", "has no commit 'nosuch'"),
        ("v6.12-test..HEAD", "tme", "Did you mean time?"),
    ],
)
def test_ranges_that_cannot_be_searched_leave_nothing(
    lab: FakeLab, history: History, commits: str, metric: str, message: str
) -> None:
    history.words(17)
    out = lab.folder / "out"
    words = ("--tree", history.tree, "--target", f"sim:{lab.machine}", *RUN, "--metric", metric)
    status, _, errors = lab.call("bisect", commits, *words, "--output", out)
    assert (status, message in errors) == (2, True), errors
    assert not out.exists()
