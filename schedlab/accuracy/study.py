"""The study of predictions: a Markdown page whose tables are generated and whose words are kept.

Each wrong claim has a section of its own. What somebody wrote below its heading stays when the page
is written again, as long as the claim is wrong.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill

from schedlab.accuracy.markdown import percent, table_row
from schedlab.accuracy.scoring import Prediction, Score, by_mechanism, score
from schedlab.reference import Reference

UNEXPLAINED = "Not explained yet."
_SECTION = re.compile(r"^### ([^\n]+)\n(.*?)(?=^#{2,3} |\Z)", re.M | re.S)


def explanations(page: str) -> dict[str, str]:
    """Return what a page says of each wrong claim, by the row's key."""
    found = {key.strip(): words.strip() for key, words in _SECTION.findall(page)}
    return {key: _without_figures(words) for key, words in found.items()}


def study(
    rows: Sequence[Prediction],
    references: Mapping[str, Reference],
    engine: Iterable[str],
    before: str = "",
) -> str:
    """Write the page.

    Args:
        rows: all predictions, calibration rows too.
        references: the changes they are of, by name.
        engine: what simulated them, a line each.
        before: the page as it is now, whose explanations are kept.
    """
    whole = score(rows)
    kept = explanations(before)
    parts = [
        "# Predictions against published changes",
        _wrapped(
            "`schedlab validate --published` writes this page: it simulates the quick plan of every"
            " file in published/ and sets each row beside the published one. Tables are generated;"
            " the explanations of wrong claims are kept when it is written again. docs/accuracy.md"
            " says how a row is graded."
        ),
        "\n".join(f"- {line}" for line in engine),
        "## Score",
        _scores(rows),
        _aims(whole),
        "## What was changed",
        _changes(references),
        *(_of_change(name, reference, rows) for name, reference in references.items()),
        "## Wrong claims, one by one",
        _wrong(whole, kept),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _scores(rows: Sequence[Prediction]) -> str:
    head = (
        "mechanism", "rows", "claims right", "wrong", "invented", "missed", "can't tell",
        "nothing, rightly", "rank correlation",
    )  # fmt: skip
    lines = [table_row(head), table_row(["---", *["---:"] * (len(head) - 1)])]
    scores = [*by_mechanism(rows), ("**all**", score(rows))]
    for name, each in scores:
        rank = "" if each.rank is None else f"{each.rank:+.2f}"
        counts = [
            each.count(grade)
            for grade in (
                *("right", "wrong", "invented", "missed"),
                *("can't tell", "nothing, rightly"),
            )
        ]
        lines.append(table_row([name, str(len(each.rows)), *map(str, counts), rank]))
    calibration = sum(row.mark == "calibration" for row in rows)
    words = f"{calibration} rows set a figure of their machine (calibration) and are not counted."
    return "\n".join(lines) + f"\n\n{words}"


def _aims(whole: Score) -> str:
    words = {True: "met", False: "not met", None: "no row tells"}
    return "\n".join(f"- {aim.words}: {aim.reached}, **{words[aim.met]}**" for aim in whole.aims())


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


def _of_change(name: str, reference: Reference, rows: Sequence[Prediction]) -> str:
    own = [row for row in rows if row.reference == name]
    lines = [f"## {reference.title}", ""]
    lines += [_wrapped(f"- {line}") for line in reference.open]
    head = ("row", "metric", "published %", "simulated %", "interval %", "verdict", "grade")
    table = [table_row(head), table_row(["---", "---", *["---:"] * 3, "---", "---"])]
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
                    percent(row.published),
                    "" if row.simulated is None else percent(row.simulated),
                    interval,
                    row.verdict,
                    grade,
                )
            )
        )
    if not own:
        table = ["Not simulated yet."]
    return "\n".join(lines) + "\n\n" + "\n".join(table)


def _wrong(whole: Score, kept: Mapping[str, str]) -> str:
    wrong = [row for row in whole.rows if row.grade in ("wrong", "invented", "missed")]
    if not wrong:
        return "There are none."
    return "\n\n".join(
        f"### {row.key}\n\n{_figures(row)}\n\n{kept.get(row.key) or UNEXPLAINED}" for row in wrong
    )


def _figures(row: Prediction) -> str:
    simulated = "nothing" if row.simulated is None else f"{percent(row.simulated)} %"
    words = {
        "wrong": "claimed with the other sign",
        "invented": "claimed where nothing was published",
        "missed": "called equivalent where an effect was published",
    }
    return f"*Published {percent(row.published)} %, simulated {simulated}: {words[row.grade]}.*"


def _without_figures(words: str) -> str:
    """Leave out the generated line, and the words that stand for none."""
    lines = words.splitlines()
    if lines and lines[0].startswith("*Published "):
        lines = lines[1:]
    text = "\n".join(lines).strip()
    return "" if text == UNEXPLAINED else text


def _wrapped(text: str) -> str:
    return fill(
        text,
        width=100,
        subsequent_indent="  " if text.startswith("- ") else "",
        break_long_words=False,
        break_on_hyphens=False,
    )
