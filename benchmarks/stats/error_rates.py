"""How often schedlab's verdicts are wrong: print the tables of docs/internals/statistics.md.

`PYTHONPATH=. python benchmarks/stats/error_rates.py` makes all of them, in about 20 minutes;
`--reports 500 coverage blocks` makes two of them roughly.
"""

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
import simulated_lab as lab
from scipy import stats

from schedlab.plan.design import Design

DESIGN = Design()
MARGIN = math.log1p(DESIGN.margin)
Row = list[str]
SEED = 20240601


def percent(estimate: tuple[float, float]) -> str:
    """Write a rate with its Monte-Carlo standard error."""
    return f"{100 * estimate[0]:.1f} ± {100 * estimate[1]:.1f}"


def name(noise: lab.Noise) -> str:
    return noise.__name__.replace("_", " ")


def the_old_way(noise: lab.Noise, reports: int, runs: int = 10) -> tuple[float, float]:
    """Run all of A, then all of B; Welch on the plain values; a star at every p below 0.05."""
    rng = np.random.default_rng(SEED)
    values = np.exp(noise(rng, lab.mixed_cv(rng, reports), 80)[..., : 2 * runs])
    p = stats.ttest_ind(values[..., :runs], values[..., runs:], axis=-1, equal_var=False).pvalue
    return lab.rate(np.any(np.asarray(p) < 0.05, axis=1))


def false_alarms(noise: lab.Noise, reports: int) -> Row:
    """Nothing differs; count the reports in which anything is called better or worse."""
    row = [name(noise)]
    for order in ("balanced sixes", "random"):
        rng = np.random.default_rng(SEED)
        out = lab.simulate(rng, noise, reports, DESIGN, order=order)
        row.append(percent(lab.rate(np.any(out.differences, axis=1))))
    return [*row, percent(the_old_way(noise, reports))]


def budget(noise: lab.Noise, reports: int) -> Row:
    """Nothing differs, and a time budget ends the reports; count false alarms, and equivalences.

    The metric is the very time that uses the budget up, which is the worst case.
    """
    rng = np.random.default_rng(SEED)
    out = lab.simulate(rng, noise, reports, DESIGN, order="balanced sixes", budgeted=True)
    rng = np.random.default_rng(SEED)
    effects = MARGIN * rng.choice([-1.0, 1.0], (reports, lab.BENCHMARKS))
    cv = lab.mixed_cv(rng, reports, 0.003, 0.03)
    at = lab.simulate(
        rng, noise, reports, DESIGN, effects, cv, order="balanced sixes", budgeted=True
    )
    return [
        name(noise),
        percent(lab.rate(np.any(out.differences, axis=1))),
        percent(lab.rate(np.any(at.equivalences, axis=1))),
        f"{out.blocks.max(axis=1).mean():.1f}",
    ]


def false_equivalence(noise: lab.Noise, reports: int) -> Row:
    """The truth is exactly on the margin; count who is called equivalent."""
    row = [name(noise)]
    for how_many in (lab.BENCHMARKS, 1):
        rng = np.random.default_rng(SEED)
        effects = MARGIN * rng.choice([-1.0, 1.0], (reports, lab.BENCHMARKS))
        effects[:, how_many:] = 0
        cv = lab.mixed_cv(rng, reports, 0.003, 0.03)
        out = lab.simulate(rng, noise, reports, DESIGN, effects, cv, order="balanced sixes")
        wrong = np.any(out.equivalences[:, :how_many], axis=1)
        row.append(percent(lab.rate(wrong)))
    return [*row, percent(lab.rate(out.equivalences[:, 1:].mean(axis=1)))]


def coverage(noise: lab.Noise, reports: int) -> Row:
    """Effects of all sizes; count the intervals of claims that hold the truth."""
    rng = np.random.default_rng(SEED)
    effects = lab.mixed_effects(rng, (reports, lab.BENCHMARKS))
    cv = lab.mixed_cv(rng, reports)
    out = lab.simulate(rng, noise, reports, DESIGN, effects, cv, order="balanced sixes")
    claimed = out.differences | out.equivalences

    def share(wrong: np.ndarray, of: np.ndarray) -> tuple[float, float]:
        """Average over reports the share of claims that are wrong (no claim: none is)."""
        return lab.rate((wrong & of).sum(axis=1) / np.maximum(1, of.sum(axis=1)))

    def covered(adjusted: bool) -> str:
        missed, error = share(out.missed(adjusted=adjusted), claimed)
        return percent((1 - missed, error))

    return [
        name(noise),
        covered(True),
        covered(False),
        percent(share(~out.right, out.differences)),
        percent(share(np.abs(effects) >= MARGIN * (1 - 1e-9), out.equivalences)),
    ]


def blocks(reports: int) -> list[Row]:
    """Compare what the same number of blocks finds, adaptively and fixed."""

    def tried(looks: tuple[int, ...]) -> tuple[str, float, float, float]:
        rng = np.random.default_rng(SEED)
        effects = lab.mixed_effects(rng, (reports, lab.BENCHMARKS))
        cv = lab.mixed_cv(rng, reports, 0.01, 0.15)
        design = replace(DESIGN, looks=looks)
        out = lab.simulate(rng, lab.iid, reports, design, effects, cv, order="balanced sixes")
        matter = np.abs(effects) > MARGIN
        found = float(out.right[matter].mean())
        settled = float((out.right | out.equivalences).mean())
        title = "adaptive " + ", ".join(map(str, looks)) if len(looks) > 1 else f"fixed {looks[0]}"
        return title, float(out.blocks.mean()), found, settled

    rows = [tried(looks) for looks in (DESIGN.looks, *((n,) for n in (6, 12, 18, 20, 22, 24, 40)))]
    return [[t, f"{b:.1f}", f"{100 * f:.1f}", f"{100 * s:.1f}"] for t, b, f, s in rows]


def few_pairs(pairs: int, reports: int) -> Row:
    """Why fewer than 5 pairs are not judged; count false alarms if they were."""
    row = [str(pairs)]
    with mock.patch("schedlab.judging.stats.JUDGED_FROM", 2):
        for noise in (lab.iid, lab.skewed, lab.bimodal, lab.two_modes, lab.rare_outliers):
            rng = np.random.default_rng(SEED)
            design = replace(DESIGN, looks=(pairs,))
            out = lab.simulate(rng, noise, reports, design, order="balanced sixes")
            row.append(percent(lab.rate(np.any(out.differences, axis=1))))
    return row


def unpaired(sizes: tuple[int, int], reports: int) -> Row:
    """Imported tables, nothing differs; count those with anything better or worse."""
    # The permutation test, asked for unequal sizes, is slow.
    reports = reports if sizes[0] == sizes[1] else reports // 8
    row = [f"{sizes[0]} and {sizes[1]}"]
    for noise in (lab.iid, lab.skewed, lab.bimodal, lab.two_modes, lab.heavy_tailed):
        rng = np.random.default_rng(SEED)
        cv = lab.mixed_cv(rng, reports)
        base, other = noise(rng, cv, sizes[0]), noise(rng, cv, sizes[1])
        truth = np.zeros((reports, lab.BENCHMARKS))
        out = lab.judge_unpaired(base, other, truth, DESIGN)
        row.append(percent(lab.rate(np.any(out.differences, axis=1))))
    return row


def limits(reports: int) -> list[Row]:
    """What no test on few runs can do: the two variants' noise differs in shape."""
    rng = np.random.default_rng(SEED)
    n, none = DESIGN.looks[-1], np.zeros((reports, lab.BENCHMARKS))
    cv, small = lab.mixed_cv(rng, reports), lab.mixed_cv(rng, reports, 0.003, 0.003)
    tight = lab.iid(rng, 0.1 * cv, n)
    cases = {
        "B has 3 times the noise of A": (lab.iid(rng, cv, n), lab.iid(rng, 3 * cv, n)),
        "A normal, B exponential": (lab.iid(rng, cv, n), lab.skewed(rng, cv, n) - cv),
        "A tight, B exponential": (tight, lab.skewed(rng, cv, n) - cv),
        "A tight, B bimodal": (tight, lab.bimodal(rng, cv, n) - 0.9 * cv),
    }
    rows = []
    for case, (base, other) in cases.items():
        out = lab.run_reports(base, other, none, DESIGN)
        rows.append([f"{case}, equal means: a benchmark called better or worse"])
        rows[-1].append(percent(lab.rate(out.differences.mean(axis=1))))
    # A mean effect just beyond the margin, made by few slow runs.
    slow = np.log(1.2) * (rng.random((reports, lab.BENCHMARKS, n)) < 0.11)
    out = lab.run_reports(lab.iid(rng, small, n), lab.iid(rng, small, n) + slow, none, DESIGN)
    rows.append(["one run in nine of B is 20 % slower (2.02 % on average): called equivalent"])
    rows[-1].append(percent(lab.rate(out.equivalences.mean(axis=1))))
    return rows


def table(title: str, head: Row, rows: list[Row]) -> None:
    print(f"**{title}**\n")
    for row in [head, ["---"] + ["---:"] * (len(head) - 1), *rows]:
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reports", type=int, default=4000, help="simulated reports per figure")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    tables = "false-alarms budget equivalence coverage blocks few-pairs unpaired limits"
    names = tables.split()
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(names))
    args = parser.parse_args()
    if unknown := set(args.tables) - set(names):
        parser.error(f"no table {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    wanted = args.tables or names
    started = time.monotonic()
    n = args.reports
    print(f"{n} simulated reports of {lab.BENCHMARKS} benchmarks a figure; all figures in %,")
    print("± is the Monte-Carlo standard error.\n")

    with ProcessPoolExecutor(args.jobs) as pool:

        def each(row: Callable[..., Row], what: Iterable[Any]) -> list[Row]:
            return list(pool.map(partial(row, reports=n), what))

        if "false-alarms" in wanted:
            table(
                "A report in which nothing differs: any false `better` or `worse`",
                ["noise", "balanced order", "plain random order", "the old way, 10 + 10"],
                each(false_alarms, lab.ORDINARY),
            )
            table(
                "The same under noise made to break it",
                ["noise", "balanced order", "plain random order", "the old way, 10 + 10"],
                each(false_alarms, lab.HOSTILE),
            )
        if "budget" in wanted:
            table(
                "Ended by a time budget: any false claim",
                [
                    "noise",
                    "nothing differs: `better` or `worse`",
                    "all 11 at the margin: `equivalent`",
                    "blocks",
                ],
                each(budget, (*lab.ORDINARY, *lab.HOSTILE)),
            )
        if "equivalence" in wanted:
            table(
                "True effect exactly at the margin: false `equivalent`",
                [
                    "noise",
                    "all 11 at the margin: any",
                    "1 at the margin",
                    "the 10 equal ones found",
                ],
                each(false_equivalence, lab.ORDINARY),
            )
        if "coverage" in wanted:
            table(
                "Reports with effects from 0 to 15 %",
                [
                    "noise",
                    "claims whose adjusted interval holds the truth",
                    "whose unadjusted 95 % interval does",
                    "wrong among `better`, `worse`",
                    "wrong among `equivalent`",
                ],
                each(coverage, lab.ORDINARY),
            )
        if "blocks" in wanted:
            table(
                "Blocks, on the reports of the last table with noise of 1 to 15 %",
                ["design", "blocks per benchmark", "effects of 3 % and more found", "settled"],
                blocks(n),
            )
        if "few-pairs" in wanted:
            table(
                "One look at few pairs, nothing differs: any false `better` or `worse`",
                ["pairs", "iid", "skewed", "bimodal", "two modes", "rare outliers"],
                each(few_pairs, [3, 4, 5, 6]),
            )
        if "unpaired" in wanted:
            table(
                "Imported tables in which nothing differs: any false `better` or `worse`",
                ["values", "iid", "skewed", "bimodal", "two modes", "heavy tailed"],
                each(unpaired, [(5, 5), (10, 10), (5, 10), (10, 30)]),
            )
        if "limits" in wanted:
            table("Where the method is wrong more often", ["case", "per benchmark"], limits(n))
    print(f"({time.monotonic() - started:.0f} s)", file=sys.stderr)


if __name__ == "__main__":
    main()
