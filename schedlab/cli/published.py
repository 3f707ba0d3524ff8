"""`schedlab validate --published`: the quick plans of published changes, run and scored."""

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
from schedlab.accuracy.scoring import (
    GRADES,
    Prediction,
    by_mechanism,
    extents,
    score,
    with_what_is_missing,
)
from schedlab.accuracy.study import study
from schedlab.base.errors import HostError, Interrupted
from schedlab.cli.echo import echo
from schedlab.cli.result import How, begin, prepare, reopen, run_results
from schedlab.lab.runner import is_whole
from schedlab.report.wording import duration, plural
from schedlab.result.store import Store

RESULTS = Path("results") / "published"
STUDY = Path("docs") / "studies" / "predictions.md"


def validate_published(name: str, results: Path, jobs: int | None, output: Path | None) -> None:
    """Run what is owed, print the score and write the study.

    The study is written after every plan, of all that is whole by then.

    Args:
        name: a file of published/; empty: all.
        results: the folder of the results, one for each plan.
        jobs: simulated runs at a time.
        output: where the study goes; None: it is written for all changes only, to its place.
    """
    found = works(name)
    how = How(jobs=jobs)
    place_of_study = output or (None if name else STUDY)
    done: dict[str, Predicted] = {}
    measured: dict[str, float] = {}
    for work in found:
        if before := _whole_before(work, results):
            done[work.plan_name] = before
    if done:
        _write(place_of_study, found, done)
    for place, work in enumerate(found, start=1):
        if work.plan_name in done:
            echo(f"plan {place} of {len(found)}: {work.plan_name}: whole", err=True)
            continue
        left = cpu_seconds_left([w for w in found if w.plan_name not in done], _runs, measured)
        words = (
            "" if left is None else f"; at most {duration(left / (how.jobs or 1))} of CPU time left"
        )
        echo(f"plan {place} of {len(found)}: {work.plan_name}{words}", err=True)
        try:
            store = _brought_to_its_end(work, results, how)
        except Interrupted as error:
            written = f", and stand in {place_of_study}" if place_of_study and done else ""
            raise Interrupted(
                f"{error}; {plural(len(done), 'plan')} of {len(found)} were whole{written}; what is"
                f" recorded of the others stays in {results}.\n  The same command goes on."
            ) from error
        with closing(store):
            done[work.plan_name] = predicted(work, store)
            seconds = [record.seconds for record in store.records()]
            if seconds:
                measured[work.plan_name] = sum(seconds) / len(seconds)
        _write(place_of_study, found, done)
    rows = _rows(found, done)
    print_score(rows)
    if place_of_study:
        echo(f"wrote {place_of_study}")


def print_score(rows: list[Prediction]) -> None:
    """Print the counts by mechanism, how far the published rows were simulated, and the aims."""
    scores = [*by_mechanism(rows), ("all", score(rows))]
    if (cold := score(rows, cold=True)).rows:
        scores.append(("cold runs, counted in no other line", cold))
    for mechanism, each in scores:
        rank = "" if each.rank is None else f", rank correlation {each.rank:+.2f}"
        counts = ", ".join(f"{each.count(grade)} {grade}" for grade in GRADES)
        right, claimed = each.right_cases
        held, intervals = each.held
        echo(
            f"{mechanism}: {plural(len(each.rows), 'row')}: {counts};"
            f" claims right by case: {right} of {claimed};"
            f" intervals that hold the published effect: {held} of {intervals}{rank}"
        )
    for extent in extents(rows):
        echo(
            f"validation rows, {extent.size}: {extent.published} published,"
            f" {extent.simulated} simulated ({extent.cold} cold), {extent.judged} judged"
        )
    for aim in score(rows).aims():
        echo(f"aim: {aim.words}: {aim.reached}, {aim.outcome}")


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


def _whole_before(work: Work, results: Path) -> Predicted | None:
    """Return what a plan predicts whose runs were all made by an earlier command."""
    target, cases = prepare(work.plan)
    folder = work.folder(results, target.environment(work.plan, cases))
    if not folder.exists():
        return None
    with closing(Store.open(folder)) as store:
        return predicted(work, store) if is_whole(store, cases) else None


def _brought_to_its_end(work: Work, results: Path, how: How) -> Store:
    plan = work.plan
    target, cases = prepare(plan)
    platform = target.environment(plan, cases)
    folder = work.folder(results, platform)
    if folder.exists():
        result = reopen(folder)
    else:
        results.mkdir(parents=True, exist_ok=True)
        result = begin(plan, cases, target, folder)
    try:
        run_results({work.plan_name: result}, how)
    except BaseException:
        result.store.close()
        raise
    return result.store


def _runs(work: Work) -> int:
    """Count the runs of a plan at most."""
    _, cases = prepare(work.plan)
    return len(cases) * len(work.plan.variant) * work.plan.blocks.looks[-1]
