"""Running the plans of published changes, and writing the study of how well they are predicted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from schedlab.base.errors import Interrupted, writing
from schedlab.base.validation import read_toml
from schedlab.base.words import plural
from schedlab.judging.reference import find_reference
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
from schedlab.lab.accuracy.record import Kept, read_record, record_of, write_record
from schedlab.lab.accuracy.scoring import Prediction, with_what_is_missing
from schedlab.lab.accuracy.study import EXPLANATIONS, study
from schedlab.lab.kept import case_by_case, kept_before
from schedlab.lab.result import Lab, prepare
from schedlab.report.wording import duration


def predict_published(
    name: str, results: Path, study_file: Path | None, lab: Lab
) -> list[Prediction]:
    """Run what is owed of the plans of published changes; return every published row's score.

    A plan is run case by case. The study and its record are written after every case, of all that
    is whole by then. Cases that nothing is known of come before those of another engine. Those that
    a file calls long are run if it is named.

    Args:
        name: a file of published/; empty: all.
        results: the folder of the results, one for each plan.
        study_file: where the study goes, if anywhere; its record stands beside it.
        lab: how plans are run.

    Raises:
        Interrupted: SIGINT or SIGTERM; the same call goes on.
    """
    states = [_State.of(work, results, lab, is_named=bool(name)) for work in works(name)]
    board = _Board(states, study_file, lab.watcher.say)
    if any(state.parts for state in states):
        board.write()
    try:
        for turn in ("new", "again"):
            for place, state in enumerate(states, start=1):
                if turn == "new" and state.is_whole:
                    lab.watcher.say(f"plan {place} of {len(states)}: {state.name}: complete")
                if labels := state.unknown if turn == "new" else state.owed:
                    words = board.words_of_time_left(lab.jobs or 1)
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
    return board.rows


@dataclass
class _State:
    """A plan, and what is simulated of it by now."""

    work: Work
    labels: tuple[str, ...]
    left_out: frozenset[str]
    """Cases that take too long."""
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
            tuple(case.label for case in cases),
            frozenset(() if is_named else find_reference(work.reference).long),
            engine_of(work.plan, environment),
            len(work.plan.variant) * work.plan.blocks.looks[-1],
        )
        if before := kept_before(results, work.plan_name, work.plan, lab):
            store, _ = before
            with closing(store):
                state.done = predicted(work, store, cases)
        return state

    @property
    def name(self) -> str:
        return self.work.plan_name

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
    """All plans, and where what is known of them is written."""

    states: Sequence[_State]
    study_file: Path | None
    say: Callable[[str], None]

    def __post_init__(self) -> None:
        if self.study_file is None:
            return
        cases = {state.name: len(state.labels) for state in self.states}
        kept = read_record(record_of(self.study_file), self.found, cases, self.say)
        for state in self.states:
            state.kept = kept.get(state.name, Kept())

    @property
    def found(self) -> list[Work]:
        return [state.work for state in self.states]

    @property
    def rows(self) -> list[Prediction]:
        """Return the rows of all whole cases in the plans' order, and those that are missing."""
        rows = [row for state in self.states for part in state.parts for row in part.rows]
        return with_what_is_missing(rows, dict(references_of(self.found)), plans_of(self.found))

    def words_of_time_left(self, jobs: int) -> str:
        measured = {s.name: s.seconds for s in self.states if s.seconds is not None}
        owed = {s.name: len(s.owed) * s.runs_of_case for s in self.states if s.owed}
        works = [work for work in self.found if work.plan_name in owed]
        left = cpu_seconds_left(works, lambda work: owed[work.plan_name], measured)
        return "" if left is None else f"; at most {duration(left / jobs)} of CPU time left"

    def write(self) -> None:
        """Write the study and its record, if they go anywhere."""
        if (page := self.study_file) is None:
            return
        simulated = {state.name: state.parts for state in self.states}
        written = page.with_suffix(".toml")
        explained = read_toml(written).get(EXPLANATIONS, {}) if written.exists() else {}
        text = study(self.rows, dict(references_of(self.found)), simulated, explained)
        with writing(page):
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text, encoding="utf-8")
            write_record(record_of(page), self.found, simulated)
