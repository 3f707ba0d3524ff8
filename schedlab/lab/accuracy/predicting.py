"""Running the plans of published changes, and writing the study of how well they are predicted."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from schedlab.base.errors import HostError, Interrupted
from schedlab.base.words import plural
from schedlab.lab.accuracy.published import (
    Predicted,
    Work,
    cpu_seconds_left,
    plans_of,
    predicted,
    references_of,
    works,
)
from schedlab.lab.accuracy.scoring import Prediction, with_what_is_missing
from schedlab.lab.accuracy.study import study
from schedlab.lab.kept import case_by_case, kept_before
from schedlab.lab.result import Lab, prepare
from schedlab.report.wording import duration


def predict_published(
    name: str, results: Path, study_file: Path | None, lab: Lab
) -> list[Prediction]:
    """Run what is owed of the plans of published changes; return every published row's score.

    A plan is run case by case. The study is written after every case, of all that is whole by then.

    Args:
        name: a file of published/; empty: all.
        results: the folder of the results, one for each plan.
        study_file: where the study goes, if anywhere.
        lab: how plans are run.

    Raises:
        Interrupted: SIGINT or SIGTERM; the same call goes on.
    """
    found = works(name)
    done: dict[str, Predicted] = {}
    measured: dict[str, float] = {}
    for work in found:
        if before := kept_before(results, work.plan_name, work.plan, lab):
            store, cases = before
            with closing(store):
                done[work.plan_name] = predicted(work, store, cases)
    if done:
        _write(study_file, found, done)
    for place, work in enumerate(found, start=1):
        if _is_whole(done.get(work.plan_name)):
            lab.watcher.say(f"plan {place} of {len(found)}: {work.plan_name}: whole")
            continue
        owed = [w for w in found if not _is_whole(done.get(w.plan_name))]
        left = cpu_seconds_left(owed, lambda work: _runs(work, lab), measured)
        words = (
            "" if left is None else f"; at most {duration(left / (lab.jobs or 1))} of CPU time left"
        )
        lab.watcher.say(f"plan {place} of {len(found)}: {work.plan_name}{words}")
        try:
            for result in case_by_case(results, work.plan_name, work.plan, lab):
                done[work.plan_name] = predicted(work, result.store, result.cases)
                seconds = [record.seconds for record in result.store.records()]
                if seconds:
                    measured[work.plan_name] = sum(seconds) / len(seconds)
                _write(study_file, found, done)
        except Interrupted as error:
            whole = sum(map(_is_whole, done.values()))
            written = f"; what is whole stands in {study_file}" if study_file and done else ""
            raise Interrupted(
                f"{error}; {plural(whole, 'plan')} of {len(found)} were whole{written}; what is"
                f" recorded of the others stays in {results}.\n  The same command goes on."
            ) from error
    return _rows(found, done)


def _is_whole(prediction: Predicted | None) -> bool:
    return prediction is not None and not prediction.owed


def _rows(found: list[Work], done: Mapping[str, Predicted]) -> list[Prediction]:
    """Return the rows of all whole cases in the plans' order, and those that are missing."""
    rows = [row for work in found if work.plan_name in done for row in done[work.plan_name].rows]
    return with_what_is_missing(rows, dict(references_of(found)), plans_of(found))


def _write(study_file: Path | None, found: list[Work], done: Mapping[str, Predicted]) -> None:
    """Write the study of what is whole, if it goes anywhere."""
    if study_file is None:
        return
    simulated = {work.plan_name: done.get(work.plan_name) for work in found}
    try:
        study_file.parent.mkdir(parents=True, exist_ok=True)
        before = study_file.read_text(encoding="utf-8") if study_file.exists() else ""
        page = study(_rows(found, done), dict(references_of(found)), simulated, before)
        study_file.write_text(page, encoding="utf-8")
    except OSError as error:
        raise HostError(f"{study_file}: cannot be written: {error.strerror}") from error


def _runs(work: Work, lab: Lab) -> int:
    """Count the runs of a plan at most."""
    _, cases = prepare(work.plan, lab)
    return len(cases) * len(work.plan.variant) * work.plan.blocks.looks[-1]
