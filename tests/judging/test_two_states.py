"""Runs that fall into two groups are told, and runs of one distribution hardly ever."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from schedlab.judging.two_states import two_states

QUIET = [44.1, 39.2, 48.0, 37.5, 42.2, 50.3]
BOUNCING = [20.0, 18.3, 23.9, 21.7, 19.4, 22.2]


def test_two_groups_are_told_with_their_sizes_and_middles() -> None:
    found = two_states([*QUIET, *BOUNCING])
    assert found is not None
    assert found.runs == (6, 6)
    said = "runs of SIS_PROP fall into two groups, 6 at about 20.8 and 6 at about 43.3"
    assert found.note("SIS_PROP") == f"{said}: what is between is neither"


def test_large_figures_are_written_out() -> None:
    found = two_states([1_234_567, 1_250_000, 1_240_000, 80_000, 81_000, 80_500])
    assert found is not None
    assert "3 at about 80,500 and 3 at about 1,240,000" in found.note("x")


@pytest.mark.parametrize(
    "values",
    [
        [],
        [*QUIET[:3], *BOUNCING[:2]],  # too few
        [*QUIET, 400.0, 401.0],  # outliers
        [100.0, 100.1, 100.2, 104.0, 104.1, 104.2],  # near
        [0.0, 0.0, 0.0, 5.0, 5.1, 5.2],  # no ratio
        QUIET + BOUNCING + [29.0, 33.0],  # a bridge
    ],
)
def test_others_are_one(values: list[float]) -> None:
    assert two_states(values) is None


@pytest.mark.parametrize(("runs", "most"), [(6, 0.03), (8, 0.02), (12, 0.02), (24, 0.005)])
@pytest.mark.parametrize("kind", ["standard_normal", "standard_t"])
def test_one_distribution_is_seldom_taken_for_two(runs: int, most: float, kind: str) -> None:
    rng = np.random.default_rng(19)
    draw: Callable[..., NDArray[Any]] = getattr(rng, kind)
    degrees = (3,) if kind == "standard_t" else ()
    samples = np.exp(0.3 * draw(*degrees, size=(4000, runs)))
    told = sum(two_states(sample) is not None for sample in samples.tolist())
    assert told / 4000 < most
