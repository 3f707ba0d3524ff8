"""Running the plans of published changes, and writing the study of how well they are predicted."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from schedlab.accuracy.published import (
    Predicted,
    Work,
    cpu_seconds_left,
    plans_of,
    predicted,
    references_of,
    works,
)
from schedlab.accuracy.scoring import Prediction, with_what_is_missing
from schedlab.accuracy.study import study
from schedlab.base.errors import HostError, Interrupted
from schedlab.lab.result import Lab, begin, prepare, reopen, run_results
from schedlab.lab.runner import is_whole
from schedlab.report.wording import duration, plural
from schedlab.result.store import Store


def predict_published(
    name: str, results: Path, study_file: Path | None, lab: Lab
) -> list[Prediction]:
    """Run what is owed of the plans of published changes; return every published row's score.

    The study is written after every plan, of all that is whole by then.

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
        if before := _whole_before(work, results, lab):
            done[work.plan_name] = before
    if done:
        _write(study_file, found, done)
    for place, work in enumerate(found, start=1):
        if work.plan_name in done:
            lab.watcher.say(f"plan {place} of {len(found)}: {work.plan_name}: whole")
            continue
        owed = [w for w in found if w.plan_name not in done]
        left = cpu_seconds_left(owed, lambda work: _runs(work, lab), measured)
        words = (
            "" if left is None else f"; at most {duration(left / (lab.jobs or 1))} of CPU time left"
        )
        lab.watcher.say(f"plan {place} of {len(found)}: {work.plan_name}{words}")
        try:
            store = _brought_to_its_end(work, results, lab)
        except Interrupted as error:
            written = f", and stand in {study_file}" if study_file and done else ""
            raise Interrupted(
                f"{error}; {plural(len(done), 'plan')} of {len(found)} were whole{written}; what is"
                f" recorded of the others stays in {results}.\n  The same command goes on."
            ) from error
        with closing(store):
            done[work.plan_name] = predicted(work, store)
            seconds = [record.seconds for record in store.records()]
            if seconds:
                measured[work.plan_name] = sum(seconds) / len(seconds)
        _write(study_file, found, done)
    return _rows(found, done)


def _rows(found: list[Work], done: Mapping[str, Predicted]) -> list[Prediction]:
    """Return the rows of all that is whole in the plans' order, and those that are missing."""
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


def _whole_before(work: Work, results: Path, lab: Lab) -> Predicted | None:
    """Return what a plan predicts whose runs were all made by an earlier command."""
    target, cases = prepare(work.plan, lab)
    folder = work.folder(results, target.environment(work.plan, cases))
    if not folder.exists():
        return None
    with closing(Store.open(folder)) as store:
        return predicted(work, store) if is_whole(store, cases) else None


def _brought_to_its_end(work: Work, results: Path, lab: Lab) -> Store:
    plan = work.plan
    target, cases = prepare(plan, lab)
    platform = target.environment(plan, cases)
    folder = work.folder(results, platform)
    if folder.exists():
        result = reopen(folder, lab)
    else:
        results.mkdir(parents=True, exist_ok=True)
        result = begin(plan, cases, target, folder, lab)
    try:
        run_results({work.plan_name: result}, lab)
    except BaseException:
        result.store.close()
        raise
    return result.store


def _runs(work: Work, lab: Lab) -> int:
    """Count the runs of a plan at most."""
    _, cases = prepare(work.plan, lab)
    return len(cases) * len(work.plan.variant) * work.plan.blocks.looks[-1]
