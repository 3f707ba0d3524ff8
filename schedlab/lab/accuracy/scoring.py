"""The score of predictions: simulated verdicts against published changes, row by row.

Rows marked calibration are shown and never counted; rows of cold runs are counted apart. A
prediction is a claim only if the verdict is better or worse; the rest says nothing, and costs
nothing but coverage.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import scipy

from schedlab.judging.analysis import Outcome
from schedlab.judging.marks import Mark, mark_of
from schedlab.judging.matched import NOTABLE, matched
from schedlab.judging.reference import Mechanism, Reference, Table, mean
from schedlab.machine.model import Machine

NOTHING = 0.02
"""A published change within this is none: it is the margin within which ours counts as none."""
LARGE = 0.10
"""A published change from this on should be claimed."""
NOTICED = 0.01
"""A simulated effect below this has no sign that counts."""
NOT_SIMULATED = "not simulated"
"""In place of a verdict, of a row that nothing was measured for."""

Grade = Literal[
    "right", "wrong", "invented", "missed", "can't tell", "not judged", "nothing, rightly"
]
"""What became of a row: claimed with the published sign, or the other; claimed where nothing was
published; equivalent or without effect where an effect was published; not decided; its runs were
too short to be judged; equivalent or without effect, rightly."""
GRADES: tuple[Grade, ...] = get_args(Grade)


@dataclass(frozen=True)
class Prediction:
    """A published row beside what was simulated."""

    reference: str
    mechanism: Mechanism | None
    plan: str
    """The plan that runs the same; the target's name where none of the document's plans does."""
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
    ratio: float | None = None
    """Our baseline over the published one; None where only the change was published."""
    note: str = ""
    judged: bool = True
    """Not so where the runs were too short: their figures are shown, and say nothing."""
    pairs: int | None = None
    """Of runs; None where it was not recorded."""
    measured_s: float | None = None
    """Simulated seconds a run measured, on average; None where it was not recorded."""
    cold: bool = False
    """Measured from the start on an idle machine: the kernel's slow state is not settled."""

    @property
    def key(self) -> str:
        """Return the row's name in a study."""
        return f"{self.plan}: {self.label}, {self.metric}"

    @property
    def case(self) -> tuple[str, str]:
        """Return what was run: all metrics of a case come from the same runs."""
        return self.plan, self.label

    @property
    def counts(self) -> bool:
        """Return whether the row is part of a score: published, not looked at, and simulated."""
        return self.mark == "validation" and self.simulated is not None

    @property
    def holds(self) -> bool | None:
        """Return whether the simulated interval holds the published change; None without one."""
        if self.low is None or self.high is None or not self.judged:
            return None
        return self.low <= self.published <= self.high

    @property
    def nothing_published(self) -> bool:
        """Return whether the document shows no change: it is small, or within its own noise."""
        size = abs(self.published)
        return size < NOTHING or (self.noise is not None and size < 2 * self.noise)

    @property
    def same_sign(self) -> bool:
        """Return whether the simulated effect goes the published way."""
        return self.simulated is not None and self.simulated * self.published > 0

    @property
    def grade(self) -> Grade:
        """Return what became of the row."""
        if not self.judged:
            return "not judged"
        if self.verdict in ("better", "worse"):
            if self.nothing_published:
                return "invented"
            return "right" if self.same_sign else "wrong"
        if self.verdict in ("equivalent", "no effect"):
            if self.nothing_published:
                return "nothing, rightly"
            # Runs that are the same leave no margin in which an effect could hide.
            missed = self.verdict == "no effect" or abs(self.published) >= NOTABLE
            return "missed" if missed else "can't tell"
        return "can't tell"


@dataclass(frozen=True)
class Aim:
    """A line of what predictions should reach, and whether they do."""

    words: str
    reached: str
    met: bool | None
    """None: there is no row to decide it."""
    simulated: int
    """The rows that could have decided so far."""
    published: int
    """All rows; those whose plans run cold decide nothing."""

    @property
    def outcome(self) -> str:
        """Return whether the aim is met; of all rows only where all are simulated."""
        word = {True: "met", False: "not met", None: "no row decides"}[self.met]
        if self.met is None or self.simulated == self.published:
            return word
        return f"{word} on the rows simulated so far: {self.simulated} of {self.published}"


@dataclass(frozen=True)
class Extent:
    """How many validation rows of some size there are, and how far they were simulated."""

    size: str
    published: int
    simulated: int
    cold: int
    """Of the simulated ones."""
    judged: int
    """Simulated, not cold, and long enough."""
    held: tuple[int, int]
    """Of these with an interval, those whose interval has the published change, and all."""


@dataclass(frozen=True)
class Score:
    """The counts of some predictions."""

    rows: tuple[Prediction, ...]
    published: tuple[Prediction, ...] = ()
    """All validation rows, simulated or not, of settled runs and of cold ones."""

    def count(self, grade: Grade) -> int:
        """Count the rows of a grade."""
        return sum(row.grade == grade for row in self.rows)

    @property
    def large(self) -> list[Prediction]:
        """Return the rows with a large published effect."""
        return _of_size(self.rows, LARGE)

    @property
    def judged(self) -> list[Prediction]:
        """Return the rows whose runs were long enough."""
        return [row for row in self.rows if row.judged]

    @property
    def signs(self) -> list[Prediction]:
        """Return the rows whose sign counts."""
        notable = _of_size(self.judged, NOTABLE)
        return [row for row in notable if abs(row.simulated or 0.0) >= NOTICED]

    @property
    def rank(self) -> float | None:
        """Return Spearman's correlation of published and simulated changes; None of few rows."""
        pairs = [(row.published, row.simulated or 0.0) for row in self.judged]
        if any(len(set(side)) < 3 for side in zip(*pairs, strict=True)) or not pairs:
            return None
        theirs, ours = zip(*pairs, strict=True)
        return float(scipy.stats.spearmanr(theirs, ours).statistic)

    @property
    def held(self) -> tuple[int, int]:
        """Return how many simulated intervals hold the published change, and how many there are."""
        known = [row.holds for row in self.rows if row.holds is not None]
        return sum(known), len(known)

    @property
    def right_cases(self) -> tuple[int, int]:
        """Return of how many cases all claims are right, and of how many something is claimed.

        The metrics of a case come from the same runs, so their claims are one claim.
        """
        claims: dict[tuple[str, str], bool] = {}
        for row in self.claims:
            claims[row.case] = claims.get(row.case, True) and row.grade == "right"
        return sum(claims.values()), len(claims)

    def aims(self) -> tuple[Aim, ...]:
        """Return the aims and what was reached."""
        wrong = self.count("wrong")
        large, signs = self.large, self.signs
        claimed = sum(row.grade == "right" for row in large)
        right = sum(row.same_sign for row in signs)
        notable = len(_of_size(self.rows, NOTABLE))
        return (
            Aim("no claim of the other sign", f"{wrong} of {len(self.claims)} claims",
                wrong == 0 if self.rows else None, len(self.rows), len(self.published)),
            Aim(f"more than half of the effects of {LARGE:.0%} and more claimed",
                f"{claimed} of {len(large)}", claimed * 2 > len(large) if large else None,
                len(large), len(_of_size(self.published, LARGE))),
            Aim(f"two thirds of the signs right, of effects of {NOTABLE:.0%} and more where the"
                f" simulated one is {NOTICED:.0%} or more",
                f"{right} of {len(signs)}", right * 3 >= len(signs) * 2 if signs else None,
                notable, len(_of_size(self.published, NOTABLE))),
        )  # fmt: skip

    @property
    def claims(self) -> list[Prediction]:
        """Return the rows of which something was claimed."""
        return [row for row in self.rows if row.verdict in ("better", "worse")]


def _of_size(rows: Iterable[Prediction], size: float) -> list[Prediction]:
    return [r for r in rows if abs(r.published) >= size and not r.nothing_published]


def score(rows: Iterable[Prediction], *, cold: bool = False) -> Score:
    """Score the rows that count, of settled runs or of cold ones."""
    validation = tuple(row for row in rows if row.mark == "validation")
    return Score(tuple(row for row in validation if row.counts and row.cold == cold), validation)


def extents(rows: Sequence[Prediction]) -> Iterator[Extent]:
    """Return how far the validation rows were simulated: all, and those of notable effects."""
    validation = [row for row in rows if row.mark == "validation"]
    notable = (
        (f"effects of {size:.0%} and more", _of_size(validation, size)) for size in (NOTABLE, LARGE)
    )
    for words, some in (("all", validation), *notable):
        done = [row for row in some if row.counts]
        settled = Score(tuple(row for row in done if not row.cold))
        yield Extent(
            words,
            published=len(some),
            simulated=len(done),
            cold=len(done) - len(settled.rows),
            judged=len(settled.judged),
            held=settled.held,
        )


def by_mechanism(rows: Sequence[Prediction]) -> Iterator[tuple[str, Score]]:
    """Score the rows of each mechanism, in the order of their first rows."""
    for mechanism in dict.fromkeys(row.mechanism for row in rows):
        yield (
            mechanism or "not known",
            score(row for row in rows if row.mechanism == mechanism),
        )


def predictions(
    name: str,
    reference: Reference,
    plan: str,
    target: str,
    outcomes: Iterable[Outcome],
    machine: Machine | None = None,
    cold: bool = False,
) -> Iterator[Prediction]:
    """Set the rows of a document beside the outcomes of a plan that ran the same."""
    for row in matched(name, reference, target, outcomes, machine):
        verdict = row.outcome.verdict
        interval = verdict.interval_adjusted_better
        yield replace(
            published_row(name, reference, row.table, row.label, plan, row.change, cold),
            mark=row.mark,
            simulated=verdict.effect_better,
            low=interval.low if interval else None,
            high=interval.high if interval else None,
            verdict=verdict.word,
            ratio=row.ratio,
            note=verdict.note,
            judged=not verdict.withheld,
            pairs=verdict.n[0],
        )


def with_what_is_missing(
    rows: Sequence[Prediction],
    references: Mapping[str, Reference],
    plans: Mapping[tuple[str, str], tuple[str, bool]],
) -> list[Prediction]:
    """Return the rows with those that were published and are not simulated behind them.

    Of those only the size of the change counts: which way is better is the plan's metric's to say.

    Args:
        rows: what was simulated.
        references: the documents, by name.
        plans: by document and target, the plan that runs the same and whether its runs are cold.
    """
    found = {(row.reference, row.key) for row in rows}
    missing = []
    for name, reference in references.items():
        for table in reference.table:
            plan, cold = plans.get((name, table.target), (table.target, False))
            for label, base, other in table.rows:
                change = mean(other) / mean(base) - 1
                row = published_row(name, reference, table, label, plan, change, cold)
                if (name, row.key) not in found:
                    missing.append(row)
    return [*rows, *missing]


def published_row(
    name: str, reference: Reference, table: Table, label: str, plan: str, change: float, cold: bool
) -> Prediction:
    """Return a published row of which nothing is simulated."""
    return Prediction(
        reference=name,
        mechanism=reference.mechanism,
        plan=plan,
        label=label,
        metric=table.metric,
        mark=mark_of(name, label, table.metric),
        published=change,
        noise=table.noise.get(label),
        simulated=None,
        low=None,
        high=None,
        verdict=NOT_SIMULATED,
        cold=cold,
    )
