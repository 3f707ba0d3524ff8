"""Placement decisions held against a kernel's: what differs is asked again."""

from collections.abc import Mapping
from typing import cast

import pytest

from schedlab.base.system import RemoteSystem
from schedlab.lab.accuracy import kernel
from schedlab.lab.accuracy.worlds import Options, Outcome


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


def test_groups_that_another_message_cuts_in_two() -> None:
    log = """\
[    1.1] CPU0 attaching sched-domain(s):
[    1.2]  domain-0: span=0-3 level=MC
[    1.3]   groups: 0:{ span=0-1 cap=2048 }
[    1.4] clocksource: tsc: mask 0xffff
[    1.5] , 2:{ span=2-3 cap=2048 }
[    1.6]   domain-1: span=0-7 level=NUMA
[    1.7]    groups: 0:{ span=0-3 cap=4096 }, 4:{ span=4-7 cap=4096 }
"""
    assert kernel._spans(log) == {
        "cpu0/domain0": "span=0-3 groups={0-1},{2-3}",
        "cpu0/domain1": "span=0-7 groups={0-3},{4-7}",
    }
