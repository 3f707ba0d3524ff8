"""`schedlab validate --published`: the quick plans of published changes, run and scored."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from schedlab.accuracy.published import Work, cpu_seconds_left, predicted, references_of, works
from schedlab.accuracy.scoring import Prediction, by_mechanism, score
from schedlab.accuracy.study import study
from schedlab.cli.echo import echo
from schedlab.cli.result import How, begin, prepare, reopen, run_results
from schedlab.errors import HostError, Interrupted
from schedlab.report.wording import duration, plural
from schedlab.runner import is_whole
from schedlab.store import Store

RESULTS = Path("results") / "published"
STUDY = Path("docs") / "studies" / "predictions.md"
_NAMED = ("Engine version", "Compiler", "Kernels")


def validate_published(name: str, results: Path, jobs: int | None, output: Path | None) -> None:
    """Run what is owed, print the score and write the study.

    Args:
        name: a file of published/; empty: all.
        results: the folder of the results, one for each plan.
        jobs: simulated runs at a time.
        output: where the study goes; None: it is written for all changes only, to its place.
    """
    found = works(name)
    how = How(jobs=jobs)
    rows: list[Prediction] = []
    engine: dict[str, None] = {}
    measured: dict[str, float] = {}
    for place, work in enumerate(found, start=1):
        echo(_progress(found, place, work, measured, how), err=True)
        try:
            store = _brought_to_its_end(work, results, how)
        except Interrupted as error:
            raise Interrupted(
                f"{error}; {plural(place - 1, 'plan')} of {len(found)} were whole, what is recorded"
                f" of the others stays in {results}.\n  The same command goes on."
            ) from error
        with closing(store):
            rows += predicted(work, store)
            seconds = [record.seconds for record in store.records()]
            if seconds:
                measured[work.plan_name] = sum(seconds) / len(seconds)
            engine |= dict.fromkeys(_engine(store.environment))
    print_score(rows)
    place_of_study = output or (None if name else STUDY)
    if place_of_study is None:
        return
    try:
        place_of_study.parent.mkdir(parents=True, exist_ok=True)
        before = place_of_study.read_text(encoding="utf-8") if place_of_study.exists() else ""
        page = study(rows, dict(references_of(found)), engine, before)
        place_of_study.write_text(page, encoding="utf-8")
    except OSError as error:
        raise HostError(f"{place_of_study}: cannot be written: {error.strerror}") from error
    echo(f"wrote {place_of_study}")


def print_score(rows: list[Prediction]) -> None:
    """Print the counts by mechanism and the aims."""
    for mechanism, each in [*by_mechanism(rows), ("all", score(rows))]:
        rank = "" if each.rank is None else f", rank correlation {each.rank:+.2f}"
        counts = ", ".join(
            f"{each.count(grade)} {grade}"
            for grade in ("right", "wrong", "invented", "missed", "can't tell", "nothing, rightly")
        )
        echo(f"{mechanism}: {plural(len(each.rows), 'row')}: {counts}{rank}")
    words = {True: "met", False: "not met", None: "no row tells"}
    for aim in score(rows).aims():
        echo(f"aim: {aim.words}: {aim.reached}, {words[aim.met]}")


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
        if not is_whole(result.store, result.cases):
            run_results({work.plan_name: result}, how)
    except BaseException:
        result.store.close()
        raise
    return result.store


def _progress(
    found: list[Work], place: int, work: Work, measured: Mapping[str, float], how: How
) -> str:
    left = cpu_seconds_left(found[place - 1 :], _runs, measured)
    words = "" if left is None else f"; at most {duration(left / (how.jobs or 1))} of CPU time left"
    return f"plan {place} of {len(found)}: {work.plan_name}{words}"


def _runs(work: Work) -> int:
    """Count the runs of a plan at most."""
    _, cases = prepare(work.plan)
    return len(cases) * len(work.plan.variant) * work.plan.blocks.looks[-1]


def _engine(environment: Mapping[str, str]) -> list[str]:
    return [f"{row}: {environment[row]}" for row in _NAMED if row in environment]
