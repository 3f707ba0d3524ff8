"""The search itself: which commits are tried next, and what the answers leave open.

Commits are numbers: 0 is the good end, `last` the bad one. Nothing here builds or runs.
"""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Literal, TypeAlias

Answer: TypeAlias = Literal["good", "bad", "can't tell", "does not build"]
Trial: TypeAlias = Callable[[Sequence[int]], Mapping[int, Answer]]
"""Builds and runs some commits, and answers for each."""


def narrowed(last: int, answers: Mapping[int, Answer]) -> tuple[int, int]:
    """Return the first bad commit known, and before it the last good one.

    With two changes for the worse in a range it is the first that is closed in on.
    """
    bad = min((at for at, answer in answers.items() if answer == "bad"), default=last)
    good = max((at for at, answer in answers.items() if answer == "good" and at < bad), default=0)
    return good, bad


def picks(last: int, answers: Mapping[int, Answer], width: int) -> list[int]:
    """Return up to `width` commits to try next, which cut what is open into equal parts."""
    good, bad = narrowed(last, answers)
    still = [at for at in range(good + 1, bad) if at not in answers]
    if len(still) <= width:
        return still
    return [still[len(still) * part // (width + 1)] for part in range(1, width + 1)]


def expected_steps(last: int, width: int) -> int:
    """Return how many steps a range takes if every commit answers."""
    steps = 0
    while (width + 1) ** steps < last:
        steps += 1
    return max(steps, 1)


def found_by(last: int, answers: Mapping[int, Answer]) -> tuple[int, ...]:
    """Return the first bad commit and the one before it, of those that can be tried, if found."""
    good, bad = narrowed(last, answers)
    return tuple(at for at in (good, bad) if 0 < at < last) if bad == good + 1 else ()


def search(
    last: int,
    answers: MutableMapping[int, Answer],
    width: int,
    trial: Trial,
    likely: Sequence[int] = (),
) -> int:
    """Try commits until nothing between good and bad is left to try; return the steps it took.

    Args:
        last: the number of the bad end.
        answers: those known; the new ones are added, each step's at once.
        width: the most commits tried in a step.
        trial: answers for commits.
        likely: commits that are tried first, as they were found elsewhere.
    """
    steps = 0
    while chosen := [at for at in likely if at not in answers] or picks(last, answers, width):
        answers.update(trial(chosen))
        steps += 1
    return steps
