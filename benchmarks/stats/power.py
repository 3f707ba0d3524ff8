"""The smallest change that a number of blocks can claim, in standard deviations of a pair.

    python benchmarks/stats/power.py

For a plan of 1, 5 and 13 metrics of which one changes: the change that is claimed in half and in
four fifths of the plans, and how many blocks those take, by when the plan looks.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import stats

PLANS = 20_000
ALPHA = 0.05
LOOKS = ((6,), (12,), (24,), (6, 12), (6, 12, 24), (6, 12, 24, 40))
METRICS = (1, 5, 13)


def claimed(
    noise: NDArray[np.float64], change: float, looks: tuple[int, ...], metrics: int
) -> tuple[float, float]:
    """Return the share of plans that claim a change, and the blocks they take on average."""
    pairs = noise[:, : looks[-1]] + change
    found, blocks = np.zeros(len(pairs), bool), np.zeros(len(pairs))
    for look in looks:
        blocks[~found] = look
        p = stats.ttest_1samp(pairs[:, :look], 0, axis=1).pvalue
        found |= p * len(looks) * metrics <= ALPHA
    return float(found.mean()), float(blocks.mean())


def smallest(
    noise: NDArray[np.float64], share: float, looks: tuple[int, ...], metrics: int
) -> float:
    """Return the change that this share of plans claim."""
    low, high = 0.0, 6.0
    for _ in range(12):
        middle = (low + high) / 2
        enough = claimed(noise, middle, looks, metrics)[0] >= share
        low, high = (low, middle) if enough else (middle, high)
    return high


def main() -> None:
    """Print the table."""
    noise = np.random.default_rng(1).standard_normal((PLANS, LOOKS[-1][-1]))
    print("| looks | metrics | claimed in half | in four fifths | blocks | blocks x change^2 |")
    print("|---|---:|---:|---:|---:|---:|")
    for looks in LOOKS:
        for metrics in METRICS:
            half, most = (smallest(noise, share, looks, metrics) for share in (0.5, 0.8))
            blocks = claimed(noise, most, looks, metrics)[1]
            words = ", ".join(map(str, looks))
            print(
                f"| {words} | {metrics} | {half:.2f} | {most:.2f} | {blocks:.1f} "
                f"| {blocks * most**2:.0f} |"
            )


if __name__ == "__main__":
    main()
