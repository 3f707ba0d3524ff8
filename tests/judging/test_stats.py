"""The verdicts: each rule by example, the method's error rates by simulation (fast version).

The full measurement is benchmarks/stats/error_rates.py; thresholds here are what a sound method
passes with room for Monte-Carlo error and a broken one fails.
"""

import importlib
import math
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from schedlab.base.errors import SchedlabError, UsageError
from schedlab.judging.stats import finished, judge, judge_families
from schedlab.judging.verdict import Comparison, Interval, Verdict
from schedlab.plan.design import Design

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "stats"))
lab = importlib.import_module("simulated_lab")

MARGIN = math.log1p(0.02)


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # What earlier tests left behind may be collected here.
        warnings.simplefilter("ignore", ResourceWarning)
        yield


def noisy(n, sd, seed, mean=0.0):
    return np.exp(np.random.default_rng(seed).normal(mean, sd, n)).tolist()


def one(base, other, design=None, **more) -> Verdict:
    more.setdefault("better", "higher")
    (verdict,) = judge([Comparison("it", base, other, **more)], design or Design())
    return verdict


# What scipy says


def test_paired_figures_are_scipys_t_test_on_log_ratios():
    a, b = noisy(12, 0.03, 1), noisy(12, 0.03, 2, mean=0.05)
    d = np.log(b) - np.log(a)
    want = stats.ttest_1samp(d, 0)
    v = one(a, b, Design(looks=(12,)))
    assert v.p == pytest.approx(want.pvalue)
    assert v.p_adjusted == pytest.approx(want.pvalue)
    assert v.interval == pytest.approx(np.expm1(want.confidence_interval(0.95)))
    tost = max(
        stats.ttest_1samp(d, -MARGIN, alternative="greater").pvalue,
        stats.ttest_1samp(d, MARGIN, alternative="less").pvalue,
    )
    assert v.p_equivalent == pytest.approx(tost)
    assert v.noise == pytest.approx(d.std(ddof=1))
    assert v.base_mean == pytest.approx(stats.gmean(a))
    assert v.effect == pytest.approx(stats.gmean(b) / stats.gmean(a) - 1)
    assert v.base_sd == pytest.approx(np.std(a, ddof=1))


@pytest.mark.parametrize("sizes", [(9, 9), (8, 15)])
def test_unpaired_figures_are_welchs_on_logs(sizes):
    a, b = noisy(sizes[0], 0.03, 1), noisy(sizes[1], 0.01, 2, mean=0.012)
    welch = stats.ttest_ind(np.log(b), np.log(a), equal_var=False)
    v = one(a, b, paired=False)
    assert v.n == sizes
    assert v.interval == pytest.approx(np.expm1(welch.confidence_interval(0.95)))
    # Unequal sizes: the permutation test has its say too.
    assert v.p == pytest.approx(welch.pvalue) if sizes == (9, 9) else v.p >= welch.pvalue
    assert v.p_adjusted == v.p, "a table is looked at once"
    assert finished(v, Design())


def test_one_constant_sample_is_fine_for_welch():
    v = one([5.0] * 8, noisy(8, 0.02, 3, mean=2), paired=False)
    assert v.word == "better"
    assert not v.zero_variance


def test_families_of_metrics_are_corrected_by_benjamini_hochberg_or_holm():
    pairs = [(noisy(12, 0.05, i), noisy(12, 0.05, 50 + i, mean=0.02 * i)) for i in range(5)]
    comparisons = [Comparison(i, a, b, "higher") for i, (a, b) in enumerate(pairs)]
    design = Design(looks=(12,), margin=0.001)
    p = np.array([v.p for v in judge(comparisons, design)])
    bh = [v.p_adjusted for v in judge(comparisons, design)]
    assert bh == pytest.approx(stats.false_discovery_control(p))
    holm = [v.p_adjusted for v in judge(comparisons, replace(design, strict=True))]
    order = np.sort(p)
    want = {q: max(min(1, order[i] * (5 - i)) for i in range(j + 1)) for j, q in enumerate(order)}
    assert holm == pytest.approx([want[q] for q in p])
    assert max(holm) > max(bh)


def test_the_adjusted_level_counts_claims_metrics_and_looks():
    comparisons = [
        Comparison(0, noisy(40, 0.01, 1), noisy(40, 0.01, 2, mean=0.1), "higher"),
        Comparison(1, noisy(40, 0.01, 3), noisy(40, 0.01, 4), "higher"),
        Comparison(2, noisy(40, 0.30, 5), noisy(40, 0.30, 6), "higher"),
        Comparison(3, {}, {}, "higher", blocks_done=0),
    ]
    verdicts = judge(comparisons, Design())
    assert [v.word for v in verdicts] == ["better", "equivalent", "can't tell", "can't tell"]
    assert verdicts[0].level_adjusted == pytest.approx(1 - 0.05 * 2 / (4 * 4))
    strict = judge(comparisons, Design(strict=True))
    assert strict[0].level_adjusted == pytest.approx(1 - 0.05 / (4 * 4))
    for v in verdicts[:3]:
        assert v.interval_adjusted[0] < v.interval[0] < v.interval[1] < v.interval_adjusted[1]


def test_metrics_without_data_yet_count_in_the_correction():
    strong = Comparison("strong", noisy(12, 0.05, 1), noisy(12, 0.05, 2, mean=0.06), "higher")
    waiting = [Comparison(i, {}, {}, "higher", blocks_done=0) for i in range(10)]
    alone = judge([strong], Design())[0]
    among = judge([strong, *waiting], Design())[0]
    assert among.p_adjusted == pytest.approx(11 * alone.p_adjusted)
    assert judge([strong, *waiting], Design())[1].p is None


# Words, signs, looks


@pytest.mark.parametrize(
    ("better", "shift", "word"),
    [
        ("higher", 0.1, "better"),
        ("higher", -0.1, "worse"),
        ("lower", 0.1, "worse"),
        ("lower", -0.1, "better"),
        (None, 0.1, "up"),
        (None, -0.1, "down"),
        ("lower", 0.0, "equivalent"),
        (None, 0.0, "equivalent"),
    ],
)
def test_words_and_signs(better, shift, word):
    v = one(noisy(12, 0.01, 1), noisy(12, 0.01, 2, mean=shift), better=better)
    assert v.word == word
    assert v.settled
    assert finished(v, Design())
    assert (v.effect > 0) == (shift > 0) or not shift
    sign = -1 if better == "lower" else 1
    assert v.effect_better == sign * v.effect
    low, high = v.interval_better
    assert low < v.effect_better < high
    assert (low, high) == (v.interval if sign > 0 else (-v.interval.high, -v.interval.low))
    assert v.interval_adjusted_better.low < low


def test_a_real_difference_within_the_margin_is_equivalent():
    v = one(noisy(40, 0.002, 1), noisy(40, 0.002, 2, mean=0.005))
    assert v.p_adjusted < 0.001
    assert v.word == "equivalent"


def test_nothing_is_judged_between_looks_but_everything_is_estimated():
    a, b = noisy(40, 0.02, 1), noisy(40, 0.02, 2, mean=0.2)
    early = one(a[:5], b[:5])
    assert (early.word, early.p_adjusted) == ("can't tell", None)
    assert early.screening
    assert early.note == "screening: fewer than 6 pairs; not judged before 6 blocks"
    assert early.p < 0.01
    assert early.interval is not None
    assert one(a[:6], b[:6]).word == "better"
    at_look, after = one(a[:6], b[:6]), one(a[:9], b[:9])
    assert after.p_adjusted == at_look.p_adjusted
    assert after.effect != at_look.effect
    assert after.n == (9, 9)


def test_looks_are_paid_for_and_the_best_one_counts():
    a, b = noisy(24, 0.05, 7), noisy(24, 0.05, 8, mean=0.03)
    d = np.log(b) - np.log(a)
    ps = [stats.ttest_1samp(d[:n], 0).pvalue for n in (6, 12, 24)]
    v = one(a, b)
    assert v.p_adjusted == pytest.approx(min(1, 4 * min(ps)))
    assert v.p == pytest.approx(ps[-1])


def test_a_look_counts_blocks_from_zero_and_a_failed_run_takes_its_pair_along():
    a, b = dict(enumerate(noisy(9, 0.02, 1))), dict(enumerate(noisy(9, 0.02, 2, mean=0.03)))
    del a[4], b[7]
    a[-1] = b[-1] = 1e6  # warm-up
    v = one(a, b, blocks_done=9)
    used = [0, 1, 2, 3, 5, 6, 8]
    assert v.n == (7, 7)
    assert v.effect == pytest.approx(np.exp(np.mean([math.log(b[i] / a[i]) for i in used])) - 1)
    at_six = stats.ttest_1samp([math.log(b[i] / a[i]) for i in (0, 1, 2, 3, 5)], 0).pvalue
    assert v.p_adjusted == pytest.approx(min(1, 4 * at_six))
    assert one(a, b, blocks_done=6).n == (5, 5)
    assert one(a, b).blocks_done == 9


def test_a_difference_that_turned_round_is_no_verdict():
    jitter = noisy(40, 0.001, 1)
    b = [x * (1.3 if i < 6 else 0.8) for i, x in enumerate(noisy(40, 0.001, 2))]
    v = one(jitter, b)
    assert v.p_adjusted < 0.05
    assert v.word == "can't tell"
    assert "changed its sign" in v.note


def test_a_claim_of_an_earlier_look_has_an_interval_that_ends_at_zero():
    base = [1.0] * 24
    b = [1.3 * x for x in noisy(6, 0.01, 2)] + [1.02 * x for x in noisy(18, 0.6, 4)]
    v = one(base, b)
    assert v.word == "better"
    assert v.interval.low < 0, "all data together would not show it"
    assert v.interval_adjusted.low == 0.0 < v.effect < v.interval_adjusted.high
    assert "decided by the first 6 blocks: they exclude zero" in v.note
    mirrored = one(base, [1 / x for x in b])
    assert (mirrored.word, mirrored.interval_adjusted.high) == ("worse", 0.0)


def test_an_equivalence_the_estimate_has_left_is_no_equivalence():
    b = [x * (1.0 if i < 6 else 1.2) for i, x in enumerate(noisy(40, 0.001, 2))]
    v = one(noisy(40, 0.001, 1), b)
    assert v.p_equivalent_adjusted < 0.05
    assert v.word == "better"


def test_too_little_data():
    nothing = one([], [])
    assert (nothing.word, nothing.n, nothing.effect) == ("can't tell", (0, 0), None)
    pair = one([2.0], [3.0])
    assert pair.effect == pytest.approx(0.5)
    assert pair.other_mean == pytest.approx(3)
    assert (pair.interval, pair.p, pair.noise) == (None, None, None)
    assert pair.note.startswith("no interval from 1 pair: 5 are the least for a verdict")
    for n in (2, 3, 4):
        for paired, what in ((True, "pairs"), (False, "values")):
            few = one(noisy(n, 0.3, 1), noisy(n, 0.3, 2, mean=2), paired=paired)
            assert (few.interval, few.interval_adjusted, few.level_adjusted) == (None, None, None)
            assert few.note.startswith(f"no interval from {n} {what}: 5 are the least")
            assert few.blocks_needed is None or few.blocks_needed >= 5
    short = one(noisy(2, 1e-6, 1), noisy(2, 1e-6, 2, mean=1), Design(looks=(2, 3, 4)))
    assert short.blocks_needed == 5, "four pairs never settle anything"
    assert judge([], Design()) == []
    four = one(noisy(4, 1e-6, 1), noisy(4, 1e-6, 2, mean=1), Design(looks=(4,)))
    assert four.word == "can't tell", "too few whatever the plan says"
    assert "no interval from 4 pairs" in four.note
    assert one([2.0], [3.0], Design(looks=(1,))).word == "can't tell", "a look without a verdict"
    five = one(noisy(5, 1e-6, 1), noisy(5, 1e-6, 2, mean=1), Design(looks=(5,)))
    assert (five.word, five.screening) == ("better", True)


# What is never certified


def test_capped_metrics_are_never_equivalent():
    a, b = noisy(40, 0.001, 1), noisy(40, 0.001, 2)
    assert one(a, b).word == "equivalent"
    v = one(a, b, flagged=True)
    assert v.word == "can't tell"
    assert "capped" in v.note
    assert one(a, [1.1 * x for x in b], flagged=True).word == "better"


@pytest.mark.parametrize("paired", [True, False])
def test_identical_values_are_not_called_equivalent(paired):
    v = one([3.0] * 40, [3.0] * 40, paired=paired)
    assert v.word == "can't tell"
    assert v.zero_variance
    assert "zero variance" in v.note
    assert (v.effect, v.interval, v.p_equivalent, v.p) == (0, None, None, 1)
    assert v.blocks_needed is None
    assert finished(v, Design())


def test_pairs_that_agree_exactly_while_the_seed_varies_them():
    a = noisy(12, 0.2, 1)
    v = one(a, a)
    assert v.zero_variance
    assert v.note == "zero variance: no difference in each of 12 pairs"
    assert v.futile


def test_a_constant_shift_counts_by_its_sign_only():
    a = noisy(40, 0.2, 1)
    shifted = [1.03 * x for x in a]
    at_six = one(a[:6], shifted[:6])
    assert at_six.zero_variance
    assert at_six.word == "can't tell"
    assert at_six.p == pytest.approx(stats.binomtest(6, 6).pvalue)
    assert at_six.effect == pytest.approx(0.03)
    assert at_six.interval is None
    assert at_six.blocks_needed == 12
    at_twelve = one(a[:12], shifted[:12])
    assert at_twelve.word == "better"
    assert at_twelve.p_adjusted == pytest.approx(4 * stats.binomtest(12, 12).pvalue)


def test_two_constant_samples_count_by_permutation():
    v = one([3.0] * 6, [4.0] * 6, paired=False)
    assert v.p == pytest.approx(2 / math.comb(12, 6))
    assert v.zero_variance


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_a_metric_must_be_positive_and_finite(bad):
    with pytest.raises(SchedlabError, match=r"SysBenchCpu eps: variant, block 2: .*cannot"):
        judge([Comparison(("SysBenchCpu", "eps"), [1.0] * 3, [1, 1, bad], "higher")], Design())


def test_counts_may_be_zero_but_not_negative():
    a, b = [0, 1, 0, 2, 1, 0, 0, 1, 0, 1, 2, 0], [9, 7, 8, 7, 9, 6, 0, 9, 8, 7, 9, 8]
    v = one(a, b, better=None, counts=True)
    assert v.word == "up"
    want = np.mean(np.log(np.add(b, 0.5)) - np.log(np.add(a, 0.5)))
    assert v.effect == pytest.approx(math.expm1(want))
    with pytest.raises(SchedlabError, match="a count is 0 or more"):
        one([1, 2], [1, -1], better=None, counts=True)


def test_a_counter_switched_off_is_a_manipulation_check():
    other = Comparison("other", noisy(12, 1, 1), noisy(12, 1, 2, mean=2), None, counts=True)
    off = Comparison("off", [9.0] * 12, [0.0] * 12, None, counts=True)
    v, w = judge([off, other], Design())
    assert v.manipulation_check
    assert v.note == "manipulation check: zero in every run of the variant"
    assert (v.word, v.p_adjusted, v.effect < -0.9) == ("can't tell", None, True)
    assert finished(v, Design())
    assert w == judge([other], Design())[0], "it is outside the family"
    rare = replace(off, base=[0.0] * 11 + [1.0])
    assert not judge([rare], Design())[0].manipulation_check, "one event is chance, not a switch"
    few = replace(off, base=[9.0] * 4, other=[0.0] * 4)
    assert not judge([few], Design())[0].manipulation_check, "fewer than a verdict needs"


def test_a_counter_that_never_happened_is_outside_the_family():
    other = Comparison("other", noisy(12, 1, 1), noisy(12, 1, 2, mean=2), None, counts=True)
    never = Comparison("never", [0.0] * 12, [0.0] * 12, None, counts=True)
    v, w = judge([never, other], Design())
    assert (v.word, v.note) == ("can't tell", "never happened")
    assert (v.base_mean, v.other_mean) == (0, 0)
    assert w == judge([other], Design())[0]


@pytest.mark.parametrize(
    "wrong",
    [{"looks": ()}, {"looks": (0, 6)}, {"looks": (12, 6)}, {"margin": 0}, {"alpha": 1.5}],
)
def test_impossible_designs_are_refused(wrong):
    with pytest.raises(UsageError):
        Design(**wrong)


# Stopping


def spread(n, mean, sd):
    """Log ratios with exactly this mean and standard deviation."""
    z = stats.norm.ppf((np.arange(n) + 0.5) / n)
    z = np.random.default_rng(0).permutation(z / z.std(ddof=1))
    return np.exp(mean + sd * z).tolist()


@pytest.mark.parametrize(("mean", "sd"), [(0.03, 0.045), (0.004, 0.02), (0.05, 0.02), (0.01, 0.12)])
def test_blocks_needed_are_the_blocks_that_settle_it(mean, sd):
    design = Design(looks=(24,))
    v = one([1.0] * 12, spread(12, mean, sd), design)
    needed = v.blocks_needed
    assert v.word == "can't tell"
    n = max(24, needed)
    if n > 24:  # beyond the plan: exactly the number
        short = one([1.0] * (n - 1), spread(n - 1, mean, sd), Design(looks=(n - 1,)))
        assert not short.settled
    assert one([1.0] * n, spread(n, mean, sd), Design(looks=(n,))).settled


def test_blocks_needed_is_a_look_to_come():
    assert one([1.0] * 6, spread(6, 0.03, 0.04)).blocks_needed in (24, 40)
    assert one([1.0] * 8, spread(8, 0.03, 0.001)).blocks_needed is None  # settled
    assert one([1.0] * 3, spread(3, 0.03, 0.001)).blocks_needed == 6
    assert one([1.0] * 40, spread(40, 0.012, 0.2)).blocks_needed > 1000
    table = one(noisy(5, 0.1, 1), noisy(5, 0.1, 2, mean=0.1), paired=False)
    assert table.blocks_needed > 5


def test_futility_starts_at_the_second_look():
    hopeless = spread(6, 0.01, 0.5)
    assert not one([1.0] * 6, hopeless).futile
    v = one([1.0] * 12, spread(12, 0.01, 0.5))
    assert v.futile
    assert finished(v, Design())
    hopeful = one([1.0] * 12, spread(12, 0.03, 0.035))
    assert not hopeful.futile
    assert not finished(hopeful, Design())
    assert finished(one([1.0] * 40, spread(40, 0.03, 0.08)), Design())


# Properties


positive = st.floats(1e-3, 1e3)
samples = st.lists(st.tuples(positive, positive), min_size=0, max_size=45)
quick = settings(max_examples=50, deadline=None)


def close(x, y):
    return (x is None and y is None) or x == pytest.approx(y, rel=1e-6, abs=1e-9)


def clear_cut(*verdicts):
    """No figure is so near a limit that rounding decides."""
    ps = [p for v in verdicts for p in (v.p_adjusted, v.p_equivalent_adjusted) if p is not None]
    return all(abs(p - 0.05) > 1e-6 for p in ps)


@quick
@given(samples, st.booleans())
def test_swapping_the_variants_mirrors_everything(pairs, paired):
    a, b = [p[0] for p in pairs], [p[1] for p in pairs]
    v, w = one(a, b, paired=paired), one(b, a, paired=paired)
    opposite = {"better": "worse", "worse": "better"}
    if clear_cut(v, w):
        assert w.word == opposite.get(v.word, v.word)
        assert w.blocks_needed == v.blocks_needed
    for x, y in ((v.p, w.p), (v.p_adjusted, w.p_adjusted), (v.p_equivalent, w.p_equivalent)):
        assert close(x, y)
    if v.effect is not None:
        assert 1 + w.effect == pytest.approx(1 / (1 + v.effect))
    if v.interval and max(v.interval.high, w.interval.high) < 1e6:
        assert 1 + w.interval.low == pytest.approx(1 / (1 + v.interval.high))


@quick
@given(samples, st.sampled_from([1e-6, 0.3, 60, 1e9]))
def test_the_unit_does_not_matter(pairs, unit):
    a, b = [p[0] for p in pairs], [p[1] for p in pairs]
    v, w = one(a, b), one([unit * x for x in a], [unit * x for x in b])
    if clear_cut(v, w):
        assert v.word == w.word
    assert close(v.p_adjusted, w.p_adjusted)
    assert close(v.effect, w.effect)


@quick
@given(st.lists(samples, max_size=5), st.randoms(use_true_random=False))
def test_no_order_matters_but_that_of_blocks(family, random):
    comparisons = [
        Comparison(
            i,
            {n: p[0] for n, p in enumerate(pairs)},
            {n: p[1] for n, p in enumerate(pairs)},
            "lower",
        )
        for i, pairs in enumerate(family)
    ]
    shuffled = random.sample(comparisons, len(comparisons))
    shuffled = [replace(c, base=dict(reversed(list(c.base.items())))) for c in shuffled]
    want = {v.key: v for v in judge(comparisons, Design())}
    assert {v.key: v for v in judge(shuffled, Design())} == want


@quick
@given(samples)
def test_more_blocks_only_add_evidence_and_more_looks_only_cost(pairs):
    a, b = [p[0] for p in pairs], [p[1] for p in pairs]
    before = 1.0
    for n in sorted({0, 5, 6, 7, 12, 23, 24, 40, len(pairs)} & set(range(len(pairs) + 1))):
        p = one(a[:n], b[:n]).p_adjusted
        if p is not None:
            assert p <= before
            before = p
    few, many = one(a, b, Design(looks=(6, 12))), one(a, b, Design(looks=(6, 12, 90)))
    if few.p_adjusted is not None:
        assert many.p_adjusted >= few.p_adjusted


wild = st.floats(5e-324, 1.7e308)


@quick
@given(
    st.lists(st.tuples(wild | st.sampled_from([1.0, 2.0]), wild | st.just(1.0)), max_size=14),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_nothing_crashes_or_warns(pairs, paired, flagged, counts):
    a, b = [p[0] for p in pairs], [p[1] for p in pairs]
    v = one(a, b[: -1 if len(b) > 9 else None], paired=paired, flagged=flagged, counts=counts)
    for interval in (v.interval, v.interval_adjusted):
        assert interval is None or interval.low <= v.effect <= interval.high
    for p in (v.p, v.p_adjusted, v.p_equivalent, v.p_equivalent_adjusted):
        assert p is None or 0 <= p <= 1
    assert not (v.settled and v.futile)
    assert not (flagged and v.word == "equivalent")
    assert finished(v, Design()) or v.blocks_done < 40


def test_families_at_once_are_the_families_one_by_one():
    rng = np.random.default_rng(4)
    families = [
        [
            Comparison((f, i), noisy(n, 0.05, 9 * f + i), noisy(n, 0.05, 90 + 9 * f + i), "lower")
            for i, n in enumerate(rng.integers(0, 45, f))
        ]
        for f in range(5)
    ]
    assert judge_families(families, Design()) == [judge(f, Design()) for f in families]


def test_intervals_mirror():
    assert Interval(-0.1, 0.3).mirrored() == Interval(-0.3, 0.1)


# Error rates, by simulation


def some(rate, limit, reports):
    """Whether an observed rate allows the true one to be at most `limit` (3 standard errors)."""
    return rate <= limit + 3 * math.sqrt(limit * (1 - limit) / reports)


@pytest.fixture(scope="module")
def null_reports():
    return {
        noise.__name__: lab.simulate(
            np.random.default_rng(11), noise, 80, Design(), order="balanced sixes"
        )
        for noise in lab.ORDINARY
    }


def test_false_alarms_in_reports_where_nothing_differs(null_reports):
    alarms = {name: out.differences.any(axis=1) for name, out in null_reports.items()}
    for name, alarm in alarms.items():
        assert some(alarm.mean(), 0.05, 80), name
    # Together they are well below the limit, so that no room for chance is needed.
    assert np.mean(list(alarms.values())) <= 0.045


def test_false_alarms_on_iid_noise_are_near_the_level():
    out = lab.simulate(np.random.default_rng(12), lab.iid, 300, Design())
    rate = out.differences.any(axis=1).mean()
    assert some(rate, 0.05, 300)
    assert rate > 0.01, "a test that never claims anything is no test"


@pytest.mark.parametrize("noise", lab.HOSTILE, ids=lambda noise: noise.__name__)
def test_false_alarms_under_noise_made_to_break_the_pairing(noise):
    out = lab.simulate(np.random.default_rng(13), noise, 60, Design(), order="balanced sixes")
    assert some(out.differences.any(axis=1).mean(), 0.05, 60)


@pytest.mark.parametrize("noise", [lab.iid, lab.skewed, lab.two_modes, lab.drifting])
def test_false_alarms_in_reports_that_a_time_budget_ended(noise):
    rng = np.random.default_rng(19)
    out = lab.simulate(rng, noise, 100, Design(), order="balanced sixes", budgeted=True)
    ends = out.blocks.max(axis=1)
    assert ends.min() >= 4
    assert len(set(ends.tolist()) - set(Design().looks)) > 10, "they end between the looks as well"
    assert some(out.differences.any(axis=1).mean(), 0.05, 100)


def test_false_equivalence_exactly_at_the_margin():
    wrong = []
    for noise in (lab.iid, lab.two_modes, lab.drifting):
        rng = np.random.default_rng(14)
        effects = MARGIN * rng.choice([-1.0, 1.0], (150, lab.BENCHMARKS))
        cv = lab.mixed_cv(rng, 150, 0.003, 0.03)
        out = lab.simulate(rng, noise, 150, Design(), effects, cv, order="balanced sixes")
        wrong.append(out.equivalences.any(axis=1))
        assert some(wrong[-1].mean(), 0.05, 150), noise.__name__
    assert np.mean(wrong) <= 0.05


def test_equivalence_is_found_where_it_is():
    rng = np.random.default_rng(15)
    cv = lab.mixed_cv(rng, 60, 0.003, 0.03)
    out = lab.simulate(rng, lab.iid, 60, Design(), cv=cv)
    assert out.equivalences.mean() > 0.8


@pytest.mark.parametrize("noise", [lab.iid, lab.two_modes], ids=lambda noise: noise.__name__)
def test_claims_and_their_intervals(noise):
    rng = np.random.default_rng(16)
    effects = lab.mixed_effects(rng, (300, lab.BENCHMARKS))
    out = lab.simulate(rng, noise, 300, Design(), effects, order="balanced sixes")
    claimed = out.differences | out.equivalences

    def share(wrong, of):
        return ((wrong & of).sum(axis=1) / np.maximum(1, of.sum(axis=1))).mean()

    assert share(out.missed(adjusted=True), claimed) <= 0.05
    assert share(out.missed(adjusted=False), claimed) > 0.05, "or there is nothing to adjust"
    assert share(~out.right, out.differences) <= 0.05
    bounds = [
        (v.interval_adjusted, v.effect, "they exclude zero" in v.note)
        for report in out.verdicts
        for v in report
        if v.word in ("better", "worse") and v.interval_adjusted
    ]
    assert all(low * high >= 0 and low <= effect <= high for (low, high), effect, _ in bounds)
    assert any(ended for _, _, ended in bounds), "or no earlier look has decided any"
    assert share(np.abs(effects) >= MARGIN, out.equivalences) <= 0.05


def test_pairing_sees_through_drift():
    rng = np.random.default_rng(17)
    effects = np.full((60, lab.BENCHMARKS), math.log(1.05))
    cv = lab.mixed_cv(rng, 60, 0.1, 0.1)
    out = lab.simulate(rng, lab.autocorrelated, 60, Design(), effects, cv)
    assert out.right.mean() > 0.7


def test_the_adaptive_design_beats_a_fixed_number_of_blocks():
    def found(looks):
        rng = np.random.default_rng(18)
        effects = lab.mixed_effects(rng, (150, lab.BENCHMARKS))
        cv = lab.mixed_cv(rng, 150, 0.01, 0.15)
        out = lab.simulate(rng, lab.iid, 250, Design(looks=looks), effects, cv)
        return out.right[np.abs(effects) > MARGIN].mean(), out.blocks.mean()

    power, blocks = found(Design().looks)
    assert blocks < 19
    fixed, _ = found((20,))
    assert power > fixed


def test_imported_tables_of_equal_size():
    rng = np.random.default_rng(19)
    for noise in (lab.iid, lab.skewed, lab.bimodal):
        cv = lab.mixed_cv(rng, 500)
        truth = np.zeros((500, lab.BENCHMARKS))
        out = lab.judge_unpaired(noise(rng, cv, 5), noise(rng, cv, 5), truth, Design())
        assert some(out.differences.any(axis=1).mean(), 0.05, 500), noise.__name__


def test_imported_tables_of_unequal_size():
    rng = np.random.default_rng(20)
    cv, truth = lab.mixed_cv(rng, 25), np.zeros((25, lab.BENCHMARKS))
    out = lab.judge_unpaired(lab.bimodal(rng, cv, 5), lab.bimodal(rng, cv, 20), truth, Design())
    assert out.differences.any(axis=1).mean() < 0.2  # Welch alone: 0.4


@pytest.mark.parametrize(
    ("looks", "change", "share"), [((6,), 2.6, 0.8), ((6,), 1.45, 0.26), ((6, 12), 1.45, 0.8)]
)
def test_a_change_of_so_many_deviations_is_claimed_so_often(looks, change, share):
    """As benchmarks/stats/power.py has it: thirteen metrics, one of which changes."""
    rng, sd, plans = np.random.default_rng(5), 0.02, 200
    changes = [change * sd] + [0.0] * 12
    families = []
    for _ in range(plans):
        ratios = np.exp(rng.normal(changes, sd, (looks[-1], 13)))
        families.append(
            [Comparison(m, [1.0] * looks[-1], ratios[:, m].tolist(), "higher") for m in range(13)]
        )
    words = [[v.word for v in family] for family in judge_families(families, Design(looks=looks))]
    assert sum(w[0] == "better" for w in words) / plans == pytest.approx(share, abs=0.08)
    false = sum(any(word in ("better", "worse") for word in w[1:]) for w in words)
    assert false / plans < 0.1, "with a true claim, one false in twenty claims is allowed"
