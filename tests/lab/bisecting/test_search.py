"""The search of a bisection, against commits whose answers are known, counting what is tried."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from schedlab.judging.stats import finished, judge
from schedlab.judging.verdict import Comparison
from schedlab.lab.bisecting.search import Answer, expected_steps, narrowed, search
from schedlab.plan.design import Design

LAST = 34
"""64 commits, of which 30 do not touch the scheduler."""


class StandIn:
    """Commits that answer for themselves."""

    def __init__(self, culprits: Sequence[int], broken: Sequence[int] = ()) -> None:
        self.culprits, self.broken = culprits, broken
        self.tried: list[int] = []

    def __call__(self, chosen: Sequence[int]) -> Mapping[int, Answer]:
        self.tried += chosen
        return {at: self.answer(at) for at in chosen}

    def answer(self, at: int) -> Answer:
        if at in self.broken:
            return "does not build"
        return "bad" if any(culprit <= at for culprit in self.culprits) else "good"


@pytest.mark.parametrize(("width", "steps", "most"), [(1, 6, 6), (2, 4, 8), (4, 3, 12)])
def test_every_culprit_is_found_in_few_steps(width: int, steps: int, most: int) -> None:
    for culprit in range(1, LAST + 1):
        commits, answers = StandIn([culprit]), dict[int, Answer]()
        assert search(LAST, answers, width, commits) <= steps
        assert narrowed(LAST, answers) == (culprit - 1, culprit)
        assert len(commits.tried) == len(set(commits.tried)) <= most


@pytest.mark.parametrize(("last", "width", "steps"), [(1, 2, 1), (34, 1, 6), (34, 2, 4)])
def test_steps_are_expected(last: int, width: int, steps: int) -> None:
    assert expected_steps(last, width) == steps


def test_what_does_not_build_is_passed_over() -> None:
    broken = [5, 12, 17, 18, 30]
    for culprit in set(range(1, LAST + 1)) - set(broken):
        commits, answers = StandIn([culprit], broken), dict[int, Answer]()
        search(LAST, answers, 2, commits)
        good, bad = narrowed(LAST, answers)
        assert bad == culprit
        between = set(range(good + 1, bad))
        assert between <= set(broken), "what is left open did not build"
        assert len(commits.tried) <= 8 + len(broken)


def test_of_two_culprits_the_first_is_found() -> None:
    answers = dict[int, Answer]()
    search(LAST, answers, 2, StandIn([9, 25]))
    assert narrowed(LAST, answers) == (8, 9)


def test_a_change_that_was_taken_back_between_is_still_one_of_the_changes() -> None:
    def trial(chosen: Sequence[int]) -> Mapping[int, Answer]:
        return {at: "bad" if 5 <= at < 10 or at >= 20 else "good" for at in chosen}

    answers = dict[int, Answer]()
    search(LAST, answers, 2, trial)
    assert narrowed(LAST, answers)[1] in (5, 20)


def test_what_is_known_is_not_tried_again() -> None:
    first = StandIn([21])
    answers: dict[int, Answer] = {}
    search(LAST, answers, 2, first)
    half = dict(list(answers.items())[:2])
    again = StandIn([21])
    search(LAST, half, 2, again)
    assert half == answers
    assert again.tried == first.tried[2:]


def test_a_noisy_metric_errs_rarely() -> None:
    """Runs scatter by 3 %, the culprit costs 10 %: more blocks are run while a verdict is open."""
    rng, design = (
        np.random.default_rng(7),
        Design(margin=0.05, alpha=0.05 / expected_steps(LAST, 2)),
    )
    wrong = undecided = 0
    for _ in range(HISTORIES):
        culprit = int(rng.integers(1, LAST + 1))

        def trial(chosen: Sequence[int], culprit: int = culprit) -> Mapping[int, Answer]:
            runs = {at: _figures(rng, 1.1 if at >= culprit else 1.0) for at in (0, *chosen)}
            return _judged(runs, design)

        answers = dict[int, Answer]()
        search(LAST, answers, 2, trial)
        good, bad = narrowed(LAST, answers)
        wrong += not good < culprit <= bad
        undecided += bad - good > 1
    print(f"{wrong} wrong, {undecided} undecided of {HISTORIES}")
    assert wrong <= 0.05 * HISTORIES
    assert undecided <= 0.2 * HISTORIES


HISTORIES = 30


def _figures(rng: np.random.Generator, factor: float) -> list[float]:
    return list(factor * rng.lognormal(0, 0.03, Design().looks[-1]))


def _judged(runs: Mapping[int, list[float]], design: Design) -> dict[int, Answer]:
    """Judge commits as the runner does: look by look, until each has a verdict."""
    chosen = [at for at in runs if at]
    answers: dict[int, Answer] = {}
    for look in design.looks:
        comparisons = [
            Comparison(
                key=("case", "time", str(at)),
                base=dict(enumerate(runs[0][:look])),
                other=dict(enumerate(runs[at][:look])),
                better="lower",
                paired=True,
                blocks_done=look,
            )
            for at in chosen
        ]
        verdicts = judge(comparisons, design)
        for at, verdict in zip(chosen, verdicts, strict=True):
            word = verdict.word
            known: Answer = "bad" if word == "worse" else "good"
            answers[at] = known if word in ("worse", "equivalent", "better") else "can't tell"
        if all(finished(verdict, design) for verdict in verdicts):
            break
    return answers
