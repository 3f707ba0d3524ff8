"""Which way of judging a tail percentile errs least and finds most: print a table of statistics.md.

`python benchmarks/stats/tails.py` makes it, in about 3 minutes of CPU time; `--reports 50 heavy`
makes a part of it, roughly.

Every block is a run of A and one of B with their own requests. Three ways judge the p99:

- block-wise: the t test on log(p99 of B's run / p99 of A's), as schedlab judges any metric;
- bootstrap: the p99 of all runs of A pooled in a histogram against that of B, whole blocks drawn
  again with replacement for its spread;
- swaps: the same ratio, against those with A and B swapped in blocks by chance.
"""

import argparse
from collections.abc import Callable

import numpy as np
from scipy import stats

PERCENT = 99
REQUESTS = 2000
"""Of a run."""
DRAWS = 1000
SEED = 20240601
PLAIN, CORRECTED = 0.05, 0.05 / 44
"""One test; the same where 4 looks and 11 metrics count."""
_WIDTH = 0.02
"""Of a bin, on the logarithms."""
Numbers = np.ndarray
Noise = Callable[[np.random.Generator, tuple[int, ...]], Numbers]


def _runs(rng: np.random.Generator, shape: tuple[int, ...], cv: float) -> Numbers:
    """Return what whole runs differ by."""
    return np.exp(rng.normal(0, cv, (*shape[:-1], 1)))


def light(rng: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
    """Latencies around a mean, each by itself."""
    return np.exp(rng.normal(0, 0.3, shape)) * _runs(rng, shape, 0.03)


def heavy(rng: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
    """Two in a hundred requests are of a Pareto tail whose variance is infinite."""
    body = np.exp(rng.normal(0, 0.3, shape))
    late = rng.random(shape) < 0.02
    return np.where(late, body * (1 + 3 * rng.pareto(1.5, shape)), body) * _runs(rng, shape, 0.03)


def bursts(rng: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
    """Requests are late together: stalls of a hundred, a few in a run, each of its own length."""
    body = np.exp(rng.normal(0, 0.3, shape))
    stalls = (*shape[:-1], shape[-1] // 100)
    hit = rng.random(stalls) < 0.03
    factor = np.where(hit, 1 + 3 * rng.pareto(1.5, stalls), 1.0)
    return body * np.repeat(factor, 100, axis=-1) * _runs(rng, shape, 0.03)


def bad_runs(rng: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
    """Heavy, and one run in ten has ten times as many late requests."""
    bad = rng.random((*shape[:-1], 1)) < 0.1
    body = np.exp(rng.normal(0, 0.3, shape))
    late = rng.random(shape) < np.where(bad, 0.1, 0.01)
    return np.where(late, body * (1 + 3 * rng.pareto(1.5, shape)), body) * _runs(rng, shape, 0.03)


NOISES: tuple[Noise, ...] = (light, heavy, bursts, bad_runs)


def histograms(latencies: Numbers) -> Numbers:
    """Return each run's counts, by bins of 2 % from the p90 of all to a hundred medians.

    No percentile that is drawn lies outside.
    """
    place = np.floor(np.log(np.clip(latencies, np.quantile(latencies, 0.9), 100)) / _WIDTH)
    place = place.astype(int)
    flat = place.reshape(-1, place.shape[-1])
    low, bins = flat.min(), int(np.ptp(flat)) + 1
    counts = np.stack([np.bincount(places - low, minlength=bins) for places in flat])
    return counts.reshape(*place.shape[:-1], bins).astype(np.float32)


def log_percentile(counts: Numbers) -> Numbers:
    """Return the logarithm of the percentile of histograms, from that of their lowest bin."""
    below = np.cumsum(counts, axis=-1)
    wanted = below[..., -1:] * PERCENT / 100
    place = np.argmax(below >= wanted, axis=-1, keepdims=True)
    over = np.take_along_axis(below, place, -1) - wanted
    within = over / np.take_along_axis(counts, place, -1)
    return _WIDTH * (place - within)[..., 0]


def block_wise(a: Numbers, b: Numbers, _: np.random.Generator) -> float:
    """Return the p of the t test on the blocks' ratios."""
    ratios = log_percentile(b) - log_percentile(a)
    if np.ptp(ratios) == 0:
        return 1.0
    return float(stats.ttest_1samp(ratios, 0).pvalue)


def bootstrap(a: Numbers, b: Numbers, rng: np.random.Generator) -> float:
    """Return the share of drawn ratios on the other side of 0, twice."""
    blocks = len(a)
    weights = rng.multinomial(blocks, np.full(blocks, 1 / blocks), DRAWS).astype(np.float32)
    ratios = log_percentile(weights @ b) - log_percentile(weights @ a)
    return float(min(1, 2 * min(np.mean(ratios <= 0), np.mean(ratios >= 0))))


def swaps(a: Numbers, b: Numbers, rng: np.random.Generator) -> float:
    """Return the share of swapped ratios that are as far from 0, the one at hand among them."""
    kept = rng.integers(0, 2, (DRAWS - 1, len(a))).astype(np.float32)
    kept[0] = 1
    first, second = kept @ a + (1 - kept) @ b, kept @ b + (1 - kept) @ a
    ratios = np.abs(log_percentile(second) - log_percentile(first))
    return float(np.mean(ratios >= ratios[0] - 1e-9))


WAYS = (block_wise, bootstrap, swaps)


def found(noise: Noise, blocks: int, effect: float, reports: int) -> Numbers:
    """Return how often each way finds a difference, by one test and corrected."""
    rng = np.random.default_rng([SEED, blocks, NOISES.index(noise)])
    hits = np.zeros((len(WAYS), 2))
    for _ in range(reports):
        a, b = noise(rng, (2, blocks, REQUESTS)) * np.array([1.0, effect])[:, None, None]
        counts = histograms(np.stack([a, b]))
        p = np.array([way(counts[0], counts[1], rng) for way in WAYS])
        hits += np.stack([p < PLAIN, p < CORRECTED], axis=1)
    return 100 * hits / reports


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser()
    options.add_argument("--reports", type=int, default=200)
    names = [noise.__name__ for noise in NOISES]
    options.add_argument("noise", nargs="*", metavar="NOISE", default=names)
    asked = options.parse_args()
    print("| noise | blocks | p99 | block-wise | bootstrap | swaps |")
    print("| --- | ---: | --- | ---: | ---: | ---: |")
    for noise in (each for each in NOISES if each.__name__ in asked.noise):
        for blocks in (6, 12, 24):
            for effect in (1.0, 1.1):
                hits = found(noise, blocks, effect, asked.reports)
                cells = (f"{plain:.1f} / {corrected:.1f}" for plain, corrected in hits)
                words = "the same" if effect == 1 else f"+{effect - 1:.0%}"
                print(
                    f"| {noise.__name__} | {blocks} | {words} | {' | '.join(cells)} |", flush=True
                )


if __name__ == "__main__":
    main()
