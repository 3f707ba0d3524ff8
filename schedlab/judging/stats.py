"""Verdicts from runs: better, worse, equivalent, or can't tell.

Everything is done on logarithms, so an effect is a ratio and a mean is a geometric mean. Runs that
were interleaved in blocks are compared pair by pair (one-sample t test on log(B/A)); imported
tables, which have no blocks, by Welch's t test. Equivalence is two one-sided t tests (TOST)
against the margin. The data may be looked at several times and a report has several metrics; both
are paid for: each p is multiplied by the number of planned looks, then Benjamini-Hochberg (or
Holm) runs over the metrics of the report. docs/internals/statistics.md says why,
and how often the method errs, measured.

Nothing here reads or writes anything: data in, verdicts out.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import scipy

from schedlab.judging.evidence import Sample, interval, ratio, test
from schedlab.judging.outlook import Claims, blocks_needed, futile
from schedlab.judging.verdict import (
    JUDGED_FROM,
    SCREENING_BELOW,
    Comparison,
    Interval,
    Verdict,
    Word,
)
from schedlab.plan.design import Design

_DIFFERENCES = ("better", "worse", "up", "down")


def judge(comparisons: Sequence[Comparison], design: Design) -> list[Verdict]:
    """Return a verdict for each metric (or each counter) of one report, in the given order.

    Raises:
        SchedlabError: a value that cannot be: not finite, not positive, or a negative count.
    """
    return judge_families([comparisons], design)[0]


def judge_families(families: Sequence[Sequence[Comparison]], design: Design) -> list[list[Verdict]]:
    """Judge several reports at once, each corrected for itself; much faster than one by one.

    Raises:
        SchedlabError: a value that cannot be: not finite, not positive, or a negative count.
    """
    samples = [Sample(c, design) for family in families for c in family]
    test(samples, design)
    rest = iter(samples)
    return [_judge_family(list(itertools.islice(rest, len(f))), design) for f in families]


def finished(verdict: Verdict, design: Design) -> bool:
    """Return whether more blocks of this plan are not worth running for this metric."""
    return (
        verdict.settled
        or verdict.futile
        or verdict.manipulation_check
        or not verdict.extendable
        or verdict.blocks_done >= design.taken[-1]
    )


def _judge_family(samples: Sequence[Sample], design: Design) -> list[Verdict]:
    """Return the verdicts of one report, whose samples have been tested."""
    family = [s for s in samples if s.in_family]
    p_difference = dict(zip(family, adjusted(map(_difference, family), design), strict=True))
    p_equivalent = dict(zip(family, adjusted(map(_equivalence, family), design), strict=True))
    words = {s: _word(s, p_difference[s], p_equivalent[s], design) for s in family}
    claims = Claims(
        len(family),
        equivalent=sum(word == "equivalent" for word in words.values()),
        different=sum(word not in ("equivalent", "can't tell") for word in words.values()),
    )
    return [
        _verdict(
            s, words.get(s, "can't tell"), p_difference.get(s), p_equivalent.get(s), claims, design
        )
        for s in samples
    ]


def _difference(s: Sample) -> float:
    """Return p for a difference, corrected for looks: times their number, the smallest so far."""
    return min((min(1.0, s.planned * e.p) for e in s.at_looks), default=1.0)


def _equivalence(s: Sample) -> float:
    """Return the same for equivalence, of which a capped metric has no evidence."""
    if s.c.flagged:
        return 1.0
    return min((min(1.0, s.planned * e.p_equivalent) for e in s.at_looks), default=1.0)


def adjusted(ps: Iterable[float], design: Design) -> list[float]:
    """Correct p values for their number."""
    p = np.fromiter(ps, dtype=float)
    if not p.size:
        return []
    if not design.strict:
        return list(map(float, scipy.stats.false_discovery_control(p)))
    order = np.argsort(p)
    holm = np.empty_like(p)
    holm[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)), 1)
    return list(map(float, holm))


def _word(s: Sample, p_difference: float, p_equivalent: float, design: Design) -> Word:
    """Return what the looks have found, unless the data since contradict it."""
    now = s.now
    if now is None:
        return "can't tell"
    # Equivalence goes first: a difference within the margin may be real, and does not matter.
    within = abs(now.estimate) < math.log1p(design.margin)
    if p_equivalent <= design.alpha and within and now.noise > 0:
        return "equivalent"
    if p_difference <= design.alpha and not _turned_round(s):
        if s.c.better is None:
            return "up" if now.estimate > 0 else "down"
        return "better" if (now.estimate > 0) == (s.c.better == "higher") else "worse"
    return "can't tell"


def _turned_round(s: Sample) -> bool:
    """Return whether the present estimate contradicts the look with the strongest difference."""
    strongest = min(s.at_looks, key=lambda e: e.p, default=None)
    return bool(strongest and s.now and strongest.estimate * s.now.estimate <= 0)


def _verdict(
    s: Sample,
    word: Word,
    p_difference: float | None,
    p_equivalent: float | None,
    claims: Claims,
    design: Design,
) -> Verdict:
    """Put everything there is to say about one comparison into its verdict."""
    c, now = s.c, s.now
    screening = min(s.n) < SCREENING_BELOW
    settled = word != "can't tell"
    bare = Verdict(
        key=c.key,
        better=c.better,
        word=word,
        n=s.n,
        blocks_done=s.blocks_done,
        screening=screening,
        manipulation_check=s.manipulation_check,
        withheld=bool(c.withheld),
        notes=_notes(s, word, p_difference, design),
        settled=settled,
        unit=c.unit,
        extendable=c.paired,
    )
    if min(s.n) == 0:
        return bare
    mean_a, mean_b = float(s.log_a.mean()), float(s.log_b.mean())
    shift = 0.5 if c.counts else 0.0
    with np.errstate(over="ignore"):
        base_mean, other_mean = (max(0.0, float(np.exp(x)) - shift) for x in (mean_a, mean_b))
    described = replace(
        bare,
        effect=ratio(now.estimate if now else mean_b - mean_a),
        base_mean=base_mean,
        other_mean=other_mean,
    )
    if now is None:
        return described
    if c.withheld:
        return replace(described, futile=bool(s.at_looks))
    with np.errstate(over="ignore", invalid="ignore"):
        base_sd, other_sd = float(s.a.std(ddof=1)), float(s.b.std(ddof=1))
    m, claimed = max(1, claims.m), max(1, claims.equivalent + claims.different)
    # Holm promises that no claim is false, so its intervals hold all at once (Bonferroni).
    level = 1 - design.alpha * (1 if design.strict else claimed) / (s.planned * m)
    if min(s.n) >= JUDGED_FROM:
        present = interval(now, level)
        kept = _without_other_sign(present, now.estimate) if word in _DIFFERENCES else present
        described = replace(
            described,
            interval=interval(now, 1 - design.alpha),
            interval_adjusted=kept,
            level_adjusted=level,
            notes=described.notes if kept == present else (*described.notes, _decided(s)),
        )
    return replace(
        described,
        p=now.p,
        p_adjusted=p_difference if s.at_looks else None,
        p_equivalent=now.p_equivalent if now.noise > 0 else None,
        p_equivalent_adjusted=p_equivalent if s.at_looks and now.noise > 0 else None,
        base_sd=base_sd,
        other_sd=other_sd,
        noise=now.noise,
        zero_variance=now.noise == 0,
        blocks_needed=None if settled or not s.in_family else blocks_needed(s, now, claims, design),
        futile=not settled and s.in_family and futile(s, design),
    )


def _notes(s: Sample, word: Word, p_difference: float | None, design: Design) -> tuple[str, ...]:
    """Return what keeps a comparison from being an ordinary one."""
    c = s.c
    if c.withheld:
        return (c.withheld,)
    notes = list(filter(None, [_of_the_values(s)]))
    if c.flagged:
        notes.append("capped: cannot be certified equivalent")
    if min(s.n) < SCREENING_BELOW:
        what = ("pairs of boots" if c.unit == "boot" else "pairs") if c.paired else "values"
        notes.append(f"screening: fewer than {SCREENING_BELOW} {what}")
    if min(s.n) >= JUDGED_FROM and not s.looks:
        notes.append(f"not judged before {design.taken[0]} {c.unit}s")
    elif min(s.n) >= JUDGED_FROM and not s.at_looks:
        notes.append(f"not judged: fewer than {JUDGED_FROM} at the last look")
    found = p_difference is not None and p_difference <= design.alpha
    if word == "can't tell" and found and _turned_round(s):
        notes.append("the difference found at an earlier look has changed its sign")
    return tuple(notes)


def _of_the_values(s: Sample) -> str:
    """Return what is unusual about the values themselves; empty if nothing is."""
    if s.manipulation_check:
        return f"zero in every run of the {'variant' if s.a.any() else 'baseline'}"
    if s.never_happened:
        return ""
    if 0 < min(s.n) < JUDGED_FROM:
        return f"no interval from {_counted(s)}: {JUDGED_FROM} are the least for a verdict"
    if s.now is None:
        return "no pair" if s.c.paired else "no value"
    if s.now.noise > 0:
        return ""
    if not s.c.paired:
        return "zero variance: both samples are constant"
    what = "no difference" if s.now.estimate == 0 else "the same difference"
    return f"zero variance: {what} in each of {s.n[0]} pairs"


def _without_other_sign(bounds: Interval | None, estimate: float) -> Interval | None:
    """Return what is left of a claimed difference's interval on its own side of zero.

    The look with the strongest evidence has excluded the other side, at the same level. The looks
    share that level among them, so what all of them leave is right as often as promised.
    """
    if bounds is None:
        return None
    if estimate > 0:
        return Interval(max(bounds.low, 0.0), bounds.high)
    return Interval(bounds.low, min(bounds.high, 0.0))


def _decided(s: Sample) -> str:
    """Return which look decided, where all data together would not."""
    looks = [n for n in s.looks if min(n) >= JUDGED_FROM]
    strongest = min(looks, key=lambda n: s.evidence[n].p)
    return f"decided by the first {min(strongest)} {s.c.unit}s: they exclude zero"


def _counted(s: Sample) -> str:
    """Return what there is of a comparison: `3 pairs`, `1 pair of boots`, `2 values`."""
    n = min(s.n)
    if not s.c.paired:
        return "1 value" if n == 1 else f"{n} values"
    return f"{'1 pair' if n == 1 else f'{n} pairs'}{' of boots' if s.c.unit == 'boot' else ''}"
