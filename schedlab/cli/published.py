"""`schedlab validate --published`: printing how well published changes are predicted."""

from pathlib import Path

from schedlab.base.words import plural
from schedlab.cli.echo import echo
from schedlab.cli.how import How
from schedlab.lab.accuracy.predicting import predict_published
from schedlab.lab.accuracy.scoring import GRADES, Prediction, by_mechanism, extents, score

RESULTS = Path("results") / "published"
STUDY = Path("docs") / "studies" / "predictions.md"


def validate_published(name: str, results: Path, jobs: int | None, output: Path | None) -> None:
    """Run what is owed, print the score and write the study.

    Args:
        name: a file of published/; empty: all.
        results: the folder of the results, one for each plan.
        jobs: simulated runs at a time.
        output: where the study goes; None: it is written for all changes only, to its place.
    """
    study_file = output or (None if name else STUDY)
    print_score(predict_published(name, results, study_file, How(jobs=jobs).lab()))
    if study_file:
        echo(f"wrote {study_file}")


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
