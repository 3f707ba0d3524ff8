"""Placement decisions held against a kernel's: what differs is asked again."""

from collections.abc import Mapping
from typing import cast

import pytest

from schedlab.accuracy import kernel
from schedlab.accuracy.worlds import Options, Outcome
from schedlab.system import RemoteSystem


class FakeFar:
    """A guest that gives prepared answers; a call takes the next ones."""

    answers: list[Mapping[str, float]]
    asked: list[Options]

    def __init__(self, system: RemoteSystem) -> None:
        pass

    def run(self, workload: str, options: Options) -> Outcome:
        self.asked.append(options)
        return Outcome(self.answers.pop(0))


@pytest.mark.parametrize(
    ("answers", "differences", "asked"),
    [
        ([{"near": 3, "far": 5}], 0, 1),
        ([{"near": 3, "far": 1}, {"near": 3, "far": 5}], 0, 2),
        ([{"near": 3, "far": 1}, {"near": 3, "far": 1}], 1, 2),
        # What agreed at first counts: it is no excuse for what did not.
        ([{"near": 3, "far": 1}, {"near": 2, "far": 5}], 0, 2),
        ([{"near": 3}, {"near": 3}], 1, 2),
    ],
)
def test_what_differs_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
    answers: list[Mapping[str, float]],
    differences: int,
    asked: int,
) -> None:
    FakeFar.answers, FakeFar.asked = list(answers), []
    monkeypatch.setattr(kernel, "Far", FakeFar)
    simulated = {"near": "CPU 3", "far": "CPU 5"}
    aspect = kernel._placements(cast(RemoteSystem, None), simulated)
    assert len(aspect.differences) == differences
    assert FakeFar.asked == [{}, {"rounds": 15}][:asked]
    assert len(aspect.remarks) == asked - 1
