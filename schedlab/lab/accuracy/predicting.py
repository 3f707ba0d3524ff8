"""Running the plans of published changes, and writing the study of how well they are predicted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from schedlab.base.errors import Interrupted, UsageError, writing
from schedlab.base.files import need_place
from schedlab.base.system.durable import write_durably
from schedlab.base.validation import read_toml
from schedlab.base.words import plural
from schedlab.benchmarks import Case
from schedlab.judging.reference import all_references, find_reference
from schedlab.lab.accuracy.published import (
    Predicted,
    Work,
    cpu_seconds_left,
    engine_of,
    plans_of,
    predicted,
    references_of,
    together,
    works,
)
from schedlab.lab.accuracy.record import Kept, Record
from schedlab.lab.accuracy.scoring import Prediction, with_what_is_missing
from schedlab.lab.accuracy.study import EXPLANATIONS, study
from schedlab.lab.kept import case_by_case, kept_before
from schedlab.lab.result import Lab, prepare
from schedlab.machine.model import find_machine
from schedlab.plan.targets import split
from schedlab.report.wording import duration


def predict_published(
    name: str, results: Path, study_file: Path | None, lab: Lab
) -> list[Prediction]:
    """Run what is owed of the plans of published changes; return every published row's score.

    A plan is run case by case. The study and its record are written after every case, of all that
    is whole by then. Cases that nothing is known of come before those of another engine. Those that
    a file calls long are run if it is named. If the record has rows of changes that are not named,
    the study is of all changes: theirs are as recorded.

    Args:
        name: a file of published/; empty: all.
        results: the folder of the results, one for each plan.
        study_file: where the study goes, if anywhere; its record stands beside it.
        lab: how plans are run.

    Raises:
        UsageError: a file does not fit, or the study cannot go there.
        Interrupted: SIGINT or SIGTERM; the same call goes on.
    """
    if study_file:
        _check_place(study_file)
    record = Record.of(study_file) if study_file else None
    states = [_State.of(work, results, lab, is_named=bool(name)) for work in works(name)]
    shown = [*states, *_others(states, record)]
    order = {name: place for place, name in enumerate(all_references())}
    shown.sort(key=lambda state: order.get(state.work.reference, -1))
    board = _Board(shown, study_file, record, lab.watcher.say)
    if any(state.parts for state in board.states):
        board.write()
    try:
        for turn in ("new", "again"):
            for place, state in enumerate(states, start=1):
                if turn == "new" and state.is_whole:
                    lab.watcher.say(f"plan {place} of {len(states)}: {state.name}: complete")
                if labels := state.unknown if turn == "new" else state.owed:
                    words = _words_of_time_left(states, lab.jobs or 1)
                    lab.watcher.say(f"plan {place} of {len(states)}: {state.name}{words}")
                    for _ in state.run(labels, results, lab):
                        board.write()
    except Interrupted as error:
        whole = sum(state.is_whole for state in states)
        written = any(state.parts for state in states) and study_file
        where = f"; complete cases are in {study_file}" if written else ""
        raise Interrupted(
            f"{error}; {plural(whole, 'plan')} of {len(states)} were complete{where}; what is"
            f" recorded of the others stays in {results}.\n  The same command goes on."
        ) from error
    return _rows(states)


def _check_place(study_file: Path) -> None:
    """Refuse a page that would take the place of another file, or that cannot be written."""
    if study_file.suffix in (".toml", ".json", ".new"):
        raise UsageError(
            f"{study_file}: a page cannot be called so: beside it stand its explanations (.toml),"
            " its record (.json) and what is being written (.new).\n  Name it .md."
        )
    with writing(study_file):
        study_file.parent.mkdir(parents=True, exist_ok=True)
    need_place(study_file)


def _others(named: Sequence["_State"], record: Record | None) -> list["_State"]:
    """Return all other changes if the record has rows of one, as a study is then of all."""
    plans = {state.name for state in named}
    others = [work for work in works("") if work.plan_name not in plans] if record else []
    is_of_all = record and any(work.plan_name in record.plans for work in others)
    return [_State.recorded(work) for work in others] if is_of_all else []


def _rows(states: Sequence["_State"]) -> list[Prediction]:
    """Return the rows of all whole cases in the plans' order, and those that are missing."""
    found = [state.work for state in states]
    rows = [row for state in states for part in state.parts for row in part.rows]
    return with_what_is_missing(rows, dict(references_of(found)), plans_of(found))


def _words_of_time_left(states: Sequence["_State"], jobs: int) -> str:
    measured = {s.name: s.seconds for s in states if s.seconds is not None}
    owed = {s.name: len(s.owed) * s.runs_of_case for s in states if s.owed}
    owing = [state.work for state in states if state.owed]
    left = cpu_seconds_left(owing, lambda work: owed[work.plan_name], measured)
    return "" if left is None else f"; at most {duration(left / jobs)} of CPU time left"


@dataclass
class _State:
    """A plan, and what is simulated of it by now."""

    work: Work
    cases: Sequence[Case]
    left_out: frozenset[str]
    """Cases that are not run: they take too long, or their change is not named."""
    engine: Mapping[str, str]
    """What simulates it now."""
    runs_of_case: int
    """At most."""
    done: Predicted | None = None
    """By the engine of now, as the results have it."""
    kept: Kept = field(default_factory=Kept)
    """What only the record has."""
    seconds: float | None = None
    """CPU seconds of a run, once known."""

    @classmethod
    def of(cls, work: Work, results: Path, lab: Lab, *, is_named: bool) -> "_State":
        target, cases = prepare(work.plan, lab)
        environment = target.environment(work.plan, cases)
        state = cls(
            work,
            cases,
            frozenset(() if is_named else find_reference(work.reference).long),
            engine_of(work.plan, environment),
            len(work.plan.variant) * work.plan.blocks.looks[-1],
        )
        if before := kept_before(results, work.plan_name, work.plan, lab):
            store, _ = before
            with closing(store):
                state.done = predicted(work, store, cases)
        return state

    @classmethod
    def recorded(cls, work: Work) -> "_State":
        """Return a plan of which nothing is run."""
        cases = work.plan.cases(find_machine(split(work.plan.target)[1]))
        return cls(work, cases, frozenset(case.label for case in cases), {}, 0)

    @property
    def name(self) -> str:
        return self.work.plan_name

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(case.label for case in self.cases)

    @property
    def parts(self) -> Sequence[Predicted]:
        """Return what is simulated, by engine: that of now first."""
        done = (self.done,) if self.done and self.done.whole else ()
        kept = self.kept.without([label for part in done for label in part.whole])
        return together((*done, *kept.parts), self.labels)

    @property
    def owed(self) -> list[str]:
        """Return the cases that the engine of now has not simulated."""
        have = self.left_out | self.kept.by(self.engine) | set(self.done.whole if self.done else ())
        return [label for label in self.labels if label not in have]

    @property
    def unknown(self) -> list[str]:
        """Return the cases that no engine has simulated."""
        have = {label for part in self.parts for label in part.whole}
        return [label for label in self.owed if label not in have]

    @property
    def is_whole(self) -> bool:
        return not self.owed

    def run(self, labels: Sequence[str], results: Path, lab: Lab) -> Iterator[None]:
        """Run cases, and stop after each."""
        for result in case_by_case(results, self.name, self.work.plan, lab, labels):
            self.done = predicted(self.work, result.store, result.cases)
            seconds = [record.seconds for record in result.store.records()]
            if seconds:
                self.seconds = sum(seconds) / len(seconds)
            yield


@dataclass
class _Board:
    """The plans of a study, and where what is known of them is written."""

    states: Sequence[_State]
    study_file: Path | None
    record: Record | None
    say: Callable[[str], None]

    def __post_init__(self) -> None:
        if self.record is None:
            return
        kept, self.record = self.record.kept(self.found, self.say)
        for state in self.states:
            state.kept = kept.get(state.name, Kept())

    @property
    def found(self) -> dict[str, tuple[Work, Sequence[Case]]]:
        return {state.name: (state.work, state.cases) for state in self.states}

    def write(self) -> None:
        """Write the study and its record, if they go anywhere."""
        if self.study_file is None or self.record is None:
            return
        page = self.study_file
        simulated = {state.name: state.parts for state in self.states}
        self.record.write(self.found, simulated)
        written = page.with_suffix(".toml")
        explained = read_toml(written).get(EXPLANATIONS, {}) if written.exists() else {}
        references = dict(references_of([state.work for state in self.states]))
        text = study(_rows(self.states), references, simulated, explained)
        with writing(page):
            write_durably(page, text.encode())
