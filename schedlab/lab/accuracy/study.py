"""The study of predictions: a Markdown page of generated tables, and a section each wrong claim.

Why a claim is wrong is written by hand, in a file beside the page.
"""

from collections.abc import Mapping, Sequence
from textwrap import fill

from schedlab.judging.matched import Counted
from schedlab.judging.reference import Reference
from schedlab.lab.accuracy.markdown import percent, table_row
from schedlab.lab.accuracy.published import ENGINE, Predicted
from schedlab.lab.accuracy.scoring import GRADES, Prediction, Score, by_mechanism, extents, score

UNEXPLAINED = "Not explained yet."
EXPLANATIONS = "explanation"
"""The table of the file beside a study: why claims are wrong, by the rows' keys."""
FACTOR = 2
"""A baseline that is off by more than this is of another state than the published one."""
FEW = 10
"""Counts below this are a few events, whose ratio says nothing."""


def study(
    rows: Sequence[Prediction],
    references: Mapping[str, Reference],
    simulated: Mapping[str, Sequence[Predicted]],
    explained: Mapping[str, str],
) -> str:
    """Write the page.

    Args:
        rows: all predictions, those of calibration rows and of rows not simulated yet too.
        references: the changes they are of, by name.
        simulated: what came out of each plan's whole cases, by name; a part for each engine.
        explained: why claims are wrong, by the rows' keys.
    """
    whole = score(rows)
    counts = {
        name: [count for part in parts for count in part.counts]
        for name, parts in simulated.items()
    }
    parts = [
        "# Predictions against published changes",
        _wrapped(
            "`schedlab validate --published` writes this page: it simulates the quick plan of every"
            " file in published/ and sets each row beside the published one; the page is written"
            " anew after every case, of what is whole by then. The explanations of wrong claims are"
            " written by hand, in predictions.toml. predictions.json has the same rows for the next"
            " call: a case that this engine simulated is not simulated again, and one of another"
            " engine, or of another design, keeps its row until it is."
            " docs/studies/accuracy.md says how a row is graded."
        ),
        "## What simulated it",
        _provenance(simulated),
        _wrapped(
            "*Design*: after how many blocks a plan looks, with a name for that and the sizes of"
            " its loads. A row says by how many *pairs* of runs it was judged, and how many"
            " simulated seconds a run measured; both are empty where a row is from before they"
            " were recorded."
        ),
        "## Score",
        _scores(rows),
        _by_engine(simulated),
        _extents(rows),
        _aims(whole),
        "## What was changed",
        _changes(references),
        *(_of_change(name, reference, rows, counts) for name, reference in references.items()),
        "## Wrong claims, one by one",
        _wrong(rows, explained),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _provenance(simulated: Mapping[str, Sequence[Predicted]]) -> str:
    lines = [table_row(("plan", *ENGINE)), table_row(["---"] * (1 + len(ENGINE)))]
    for name, parts in simulated.items():
        if not parts:
            lines.append(table_row([name, "not simulated", *[""] * (len(ENGINE) - 1)]))
        for part in parts:
            some, most = len(part.whole), part.cases
            size = f" ({some} of {most} cases)" if some < most else ""
            lines.append(table_row([name + size, *(part.engine.get(row, "") for row in ENGINE)]))
    return "\n".join(lines)


def _scores(rows: Sequence[Prediction]) -> str:
    head = ("mechanism", "rows", *GRADES, "cases right", "intervals that hold", "rank correlation")
    lines = [table_row(head), table_row(["---", *["---:"] * (len(head) - 1)])]
    scores = [*by_mechanism(rows), ("**all**", score(rows))]
    if (cold := score(rows, cold=True)).rows:
        scores.append(("*cold runs*", cold))
    for name, each in scores:
        rank = "" if each.rank is None else f"{each.rank:+.2f}"
        counts = [str(each.count(grade)) for grade in GRADES]
        shares = [f"{some} of {most}" for some, most in (each.right_cases, each.held)]
        lines.append(table_row([name, str(len(each.rows)), *counts, *shares, rank]))
    calibration = [row for row in rows if row.mark == "calibration" and row.simulated is not None]
    claims = Score(tuple(row for row in calibration if not row.cold))
    words = [
        "*right*, *wrong* and *invented* are claims. *Cases right* counts the metrics of one"
        " benchmark case as one claim, as they come from the same runs. *Intervals that hold* are"
        " simulated intervals with the published change in them.",
        f"{len(calibration)} simulated rows set a figure of their machine (calibration) and are not"
        f" counted; of what they claim, {claims.count('right')} would be right,"
        f" {claims.count('wrong')} wrong and {claims.count('invented')} invented.",
    ]
    if cold.rows:
        words.append(
            "Cold runs are measured from their start on an idle machine, so that the slow state of"
            " the scheduler is not the load's; they count in no other line and in no aim."
        )
    return "\n".join(lines) + "\n\n" + _wrapped(" ".join(words))


def _by_engine(simulated: Mapping[str, Sequence[Predicted]]) -> str:
    """Return what each engine's rows make of the score, the one with most rows first."""
    of_engine: dict[str, list[Prediction]] = {}
    for part in (part for parts in simulated.values() for part in parts):
        of_engine.setdefault(part.engine.get(ENGINE[0], ""), []).extend(part.rows)
    scores = [(name, score(rows)) for name, rows in of_engine.items()]
    scores.sort(key=lambda each: -len(each[1].rows))
    head = (ENGINE[0], "rows", *GRADES)
    lines = [table_row(head), table_row(["---", *["---:"] * (len(head) - 1)])]
    for name, each in scores:
        if each.rows:
            counts = [str(each.count(grade)) for grade in GRADES]
            lines.append(table_row([name, str(len(each.rows)), *counts]))
    return "\n".join(lines) if len(lines) > 3 else ""


def _extents(rows: Sequence[Prediction]) -> str:
    counted = ("published", "simulated", "of these cold", "judged", "intervals that hold")
    head = ("validation rows", *counted)
    lines = [table_row(head), table_row(["---", *["---:"] * (len(head) - 1)])]
    for each in extents(rows):
        counts = (each.published, each.simulated, each.cold, each.judged)
        holds = "{} of {}".format(*each.held)
        lines.append(table_row([each.size, *map(str, counts), holds]))
    return "\n".join(lines)


def _aims(whole: Score) -> str:
    lines = [f"- {aim.words}: {aim.reached}, **{aim.outcome}**" for aim in whole.aims()]
    right, claimed = whole.right_cases
    held, intervals = whole.held
    lines.append(f"- claims right by case: {right} of {claimed}")
    lines.append(f"- simulated intervals that hold the published effect: {held} of {intervals}")
    return "\n".join(lines)


def _changes(references: Mapping[str, Reference]) -> str:
    lines = [table_row(("change", "mechanism", "published on", "source")), table_row(["---"] * 4)]
    for reference in references.values():
        lines.append(
            table_row(
                (
                    reference.title,
                    reference.mechanism or "",
                    f"{reference.machine}; {reference.kernel}".strip("; "),
                    reference.source,
                )
            )
        )
    return "\n".join(lines)


def _of_change(
    name: str,
    reference: Reference,
    rows: Sequence[Prediction],
    counts: Mapping[str, Sequence[Counted]],
) -> str:
    of_change = [row for row in rows if row.reference == name]
    own = [row for row in of_change if row.simulated is not None]
    lines = [f"## {reference.title}", ""]
    lines += [_wrapped(f"- {line}") for line in reference.open]
    if not own:
        return "\n".join(lines) + "\n\nNot simulated yet."
    head = ("row", "metric", "pairs", "measured s", "baseline", "published %", "simulated %")
    table = [
        table_row((*head, "interval %", "verdict", "grade")),
        table_row(["---", "---", *["---:"] * 6, "---", "---"]),
    ]
    for row in own:
        interval = (
            ""
            if row.low is None or row.high is None
            else f"{percent(row.low)} to {percent(row.high)}"
        )
        grade = row.grade if row.counts else row.mark
        table.append(
            table_row(
                (
                    row.label,
                    row.metric,
                    "" if row.pairs is None else str(row.pairs),
                    "" if row.measured_s is None else f"{row.measured_s:.2g}",
                    "" if row.ratio is None else f"{row.ratio:.2g}",
                    percent(row.published),
                    "" if row.simulated is None else percent(row.simulated),
                    interval,
                    row.verdict,
                    f"{grade} (cold)" if row.cold else grade,
                )
            )
        )
    plans = dict.fromkeys(row.plan for row in own)
    shown = [(plan, row) for plan in plans for row in counts.get(plan, ())]
    parts = ["\n".join(lines), "\n".join(table), _remarks(own, shown), _counts(shown)]
    known = [row.holds for row in own if row.holds is not None and row.counts]
    if known:
        parts.append(
            f"Simulated intervals that hold the published effect: {sum(known)} of {len(known)}."
        )
    if missing := len(of_change) - len(own):
        parts.append(f"Published and not simulated: {missing} of {len(of_change)} rows.")
    return "\n\n".join(part for part in parts if part)


def _remarks(rows: Sequence[Prediction], counts: Sequence[tuple[str, Counted]]) -> str:
    """Return why rows are not judged, and whose baseline was in another state."""
    lines = [f"{row.label}, {row.metric}: {row.note}" for row in rows if not row.judged]
    lines += [
        f"{row.label}, {row.metric}: the baseline is {_times(row.ratio)}"
        for row in rows
        if row.ratio is not None and _far(row.ratio)
    ]
    claimed = dict.fromkeys(row.case for row in rows if row.verdict in ("better", "worse"))
    for plan, label in claimed:
        for name, each in counts:
            if (name, each.label) == (plan, label) and each.is_baseline and _another_state(each):
                lines.append(f"{label}: {_state(each)}")
    return "\n".join(_wrapped(f"- {line}") for line in lines)


def _far(ratio: float) -> bool:
    return not 1 / FACTOR <= ratio <= FACTOR


def _times(ratio: float) -> str:
    return f"{ratio:.2g} times the published: another state"


def _another_state(count: Counted) -> bool:
    return _far(max(count.here, FEW) / max(count.published, FEW))


def _state(count: Counted) -> str:
    what = "switches" if count.counter == "context-switches" else count.counter
    if not count.published:
        return f"the baseline's {what} are {count.here:,.0f}, the published none: another state"
    return f"the baseline's {what} are {_times(count.here / count.published)}"


def _counts(counts: Sequence[tuple[str, Counted]]) -> str:
    """Return the table of published counts, for the size that was simulated; without zeros."""
    head = ("row", "counter", "variant", "published", "simulated", "ratio")
    lines = [table_row(head), table_row(["---"] * 3 + ["---:"] * 3)]
    for _, each in counts:
        if each.published or each.here:
            ratio = f"{each.here / each.published:.2g}" if each.published else ""
            figures = (f"{each.published:,.0f}", f"{each.here:,.0f}", ratio)
            lines.append(table_row((each.label, each.counter, each.variant, *figures)))
    return "\n".join(lines) if len(lines) > 2 else ""


def _wrong(rows: Sequence[Prediction], explained: Mapping[str, str]) -> str:
    """Explain what is wrong, also what is not counted, or not simulated now."""
    sections = [
        f"### {row.key}\n\n{_figures(row)}\n\n{explained.get(row.key, UNEXPLAINED).strip()}"
        for row in rows
        if (row.counts and row.grade in ("wrong", "invented", "missed"))
        or (row.mark == "calibration" and row.grade in ("wrong", "invented"))
    ]
    sections += [
        f"### {row.key}\n\n*Not simulated now.*\n\n{explained[row.key].strip()}"
        for row in rows
        if row.simulated is None and row.key in explained
    ]
    return "\n\n".join(sections) or "There are none."


def _figures(row: Prediction) -> str:
    simulated = "nothing" if row.simulated is None else f"{percent(row.simulated)} %"
    words = {
        "wrong": "claimed with the other sign",
        "invented": "claimed where nothing was published",
        "missed": "called equivalent, or without effect, where an effect was published",
    }
    uncounted = "" if row.counts else "; it set a figure, and is not counted"
    return (
        f"*Published {percent(row.published)} %, simulated {simulated}:"
        f" {words[row.grade]}{uncounted}.*"
    )


def _wrapped(text: str) -> str:
    return fill(
        text,
        width=100,
        subsequent_indent="  " if text.startswith("- ") else "",
        break_long_words=False,
        break_on_hyphens=False,
    )
