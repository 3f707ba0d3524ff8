"""The score of predictions: simulated verdicts against published changes, row by row.

Rows marked calibration are shown and never counted. A prediction is a claim only if the verdict is
better or worse; the rest says nothing, and costs nothing but coverage.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from scipy.stats import spearmanr

from schedlab.analysis import Outcome
from schedlab.machine import Machine
from schedlab.marks import Mark
from schedlab.matched import NOTABLE, matched
from schedlab.reference import Mechanism, Reference

NOTHING = 0.02
"""A published change within this is none: it is the margin within which ours counts as none."""
LARGE = 0.10
"""A published change from this on should be claimed."""
TOLD = 0.01
"""A simulated effect below this has no sign that counts."""

Grade = Literal["right", "wrong", "invented", "missed", "can't tell", "nothing, rightly"]
"""What became of a row: claimed with the published sign, or the other; claimed where nothing was
published; called equivalent where an effect was published; not decided; equivalent, rightly."""


@dataclass(frozen=True)
class Prediction:
    """A published row beside what was simulated."""

    reference: str
    mechanism: Mechanism | None
    plan: str
    label: str
    metric: str
    mark: Mark
    published: float
    """The change, positive is better."""
    noise: float | None
    """The relative standard deviation of the published change, if it was published."""
    simulated: float | None
    """The effect, positive is better; None where nothing was measured."""
    low: float | None
    high: float | None
    verdict: str
    note: str = ""

    @property
    def key(self) -> str:
        """Return the row's name in a study."""
        return f"{self.plan}: {self.label}, {self.metric}"

    @property
    def counts(self) -> bool:
        """Tell whether the row is part of a score."""
        return self.mark == "validation" and self.simulated is not None

    @property
    def nothing_published(self) -> bool:
        """Tell whether the document shows no change: it is small, or within its own noise."""
        size = abs(self.published)
        return size < NOTHING or (self.noise is not None and size < 2 * self.noise)

    @property
    def same_sign(self) -> bool:
        """Tell whether the simulated effect goes the published way."""
        return self.simulated is not None and self.simulated * self.published > 0

    @property
    def grade(self) -> Grade:
        """Return what became of the row."""
        if self.verdict in ("better", "worse"):
            if self.nothing_published:
                return "invented"
            return "right" if self.same_sign else "wrong"
        if self.verdict == "equivalent":
            if self.nothing_published:
                return "nothing, rightly"
            return "missed" if abs(self.published) >= NOTABLE else "can't tell"
        return "can't tell"


@dataclass(frozen=True)
class Aim:
    """A line of what predictions should reach, and whether they do."""

    words: str
    reached: str
    met: bool | None
    """None: there is no row to tell by."""


@dataclass(frozen=True)
class Score:
    """The counts of some predictions."""

    rows: tuple[Prediction, ...]

    def count(self, grade: Grade) -> int:
        """Count the rows of a grade."""
        return sum(row.grade == grade for row in self.rows)

    @property
    def large(self) -> list[Prediction]:
        """Return the rows with a large published effect."""
        return [r for r in self.rows if abs(r.published) >= LARGE and not r.nothing_published]

    @property
    def signs(self) -> list[Prediction]:
        """Return the rows whose sign counts."""
        return [
            row
            for row in self.rows
            if abs(row.published) >= NOTABLE
            and not row.nothing_published
            and abs(row.simulated or 0.0) >= TOLD
        ]

    @property
    def rank(self) -> float | None:
        """Return Spearman's correlation of published and simulated changes; None of few rows."""
        pairs = [(row.published, row.simulated or 0.0) for row in self.rows]
        if any(len(set(side)) < 3 for side in zip(*pairs, strict=True)) or not pairs:
            return None
        theirs, ours = zip(*pairs, strict=True)
        return float(spearmanr(theirs, ours).statistic)

    def aims(self) -> tuple[Aim, ...]:
        """Return the aims and what was reached."""
        wrong = self.count("wrong")
        claimed = sum(row.grade == "right" for row in self.large)
        right = sum(row.same_sign for row in self.signs)
        return (
            Aim("no claim of the other sign", f"{wrong} of {len(self.claims)} claims",
                wrong == 0 if self.rows else None),
            Aim(f"more than half of the effects of {LARGE:.0%} and more claimed",
                f"{claimed} of {len(self.large)}",
                claimed * 2 > len(self.large) if self.large else None),
            Aim(f"two thirds of the signs right, of effects of {NOTABLE:.0%} and more where the"
                f" simulated one is {TOLD:.0%} or more",
                f"{right} of {len(self.signs)}",
                right * 3 >= len(self.signs) * 2 if self.signs else None),
        )  # fmt: skip

    @property
    def claims(self) -> list[Prediction]:
        """Return the rows of which something was claimed."""
        return [row for row in self.rows if row.verdict in ("better", "worse")]


def score(rows: Iterable[Prediction]) -> Score:
    """Score the rows that count."""
    return Score(tuple(row for row in rows if row.counts))


def by_mechanism(rows: Sequence[Prediction]) -> Iterator[tuple[str, Score]]:
    """Score the rows of each mechanism, in the order of their first rows."""
    for mechanism in dict.fromkeys(row.mechanism for row in rows):
        yield (
            mechanism or "not told",
            score(row for row in rows if row.mechanism == mechanism),
        )


def predictions(
    name: str,
    reference: Reference,
    plan: str,
    target: str,
    outcomes: Iterable[Outcome],
    machine: Machine | None = None,
) -> Iterator[Prediction]:
    """Set the rows of a document beside the outcomes of a plan that ran the same."""
    for row in matched(name, reference, target, outcomes, machine):
        verdict = row.outcome.verdict
        interval = verdict.interval_adjusted_better
        yield Prediction(
            reference=name,
            mechanism=reference.mechanism,
            plan=plan,
            label=row.label,
            metric=row.table.metric,
            mark=row.mark,
            published=row.change,
            noise=row.table.noise.get(row.label),
            simulated=verdict.effect_better,
            low=interval.low if interval else None,
            high=interval.high if interval else None,
            verdict=verdict.word,
            note=verdict.note,
        )
