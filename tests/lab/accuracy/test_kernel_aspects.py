"""Placement decisions held against a kernel's: what differs is asked again."""

from collections.abc import Mapping

import pytest

from schedlab.benchmarks import Case
from schedlab.lab.accuracy import kernel
from schedlab.lab.accuracy.single import Bench, Outcome
from schedlab.settings.variant import Variant


class FakeGuest(Bench):
    """A guest that gives prepared answers; a call takes the next ones."""

    def __init__(self, answers: list[Mapping[str, float]]) -> None:
        self.answers = list(answers)
        self.asked: list[Case] = []

    def run(self, case: Case, variant: Variant | None = None, seed: int = 1) -> Outcome:
        self.asked.append(case)
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
    answers: list[Mapping[str, float]], differences: int, asked: int
) -> None:
    guest = FakeGuest(answers)
    aspect = kernel._placements(guest, {"near": "CPU 3", "far": "CPU 5"})
    assert len(aspect.differences) == differences
    assert guest.asked == [kernel.PLACEMENT, kernel.AGAIN][:asked]
    assert len(aspect.remarks) == asked - 1


class Counting(Bench):
    """A target whose counts follow from the seed."""

    def __init__(self, each: float) -> None:
        self.each = each

    def run(self, case: Case, variant: Variant | None = None, seed: int = 1) -> Outcome:
        return Outcome({}, switches=seed * self.each, wakeups=3)


def test_simulated_counts_are_those_of_several_seeds() -> None:
    """One seed's hackbench may switch nineteen times as often as another's."""
    [_, line] = kernel.counts(Counting(4048), Counting(100))
    assert line == (
        "hackbench groups=2 loops=50 pipe=True threads=True:"
        " switches 4048 in the guest, 550 (100 to 1000) simulated;"
        " wakeups 3 in the guest, 3 (3 to 3) simulated"
    )


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
