"""What a check answers for a commit: the good kernel is not asked, one failed run is enough."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from schedlab.base.errors import UsageError
from schedlab.lab.bisecting import questions
from schedlab.lab.bisecting.questions import CheckQuestion
from schedlab.lab.bisecting.record import Asked
from schedlab.lab.checks.checking import Options, Verdict, Word
from schedlab.lab.checks.files import known_checks
from schedlab.lab.result import Lab

KERNELS = {"good": "base", "one": "base-to-1", "other": "base-to-2"}


def asking(monkeypatch: pytest.MonkeyPatch, word: Word) -> CheckQuestion:
    """Return a question whose second kernel has this verdict with seed 2."""

    class StandIn:
        def __init__(self, _checks: object, options: Options, _watch: object) -> None:
            self.kernels = options.kernels

        def run(self) -> Iterator[Verdict]:
            for kernel in self.kernels:
                for seed in (2, 1):
                    said: Word = word if (kernel, seed) == ("base-to-2", 2) else "passed"
                    yield Verdict("c", "smp4", kernel, seed, False, said, problems=("why",))

    monkeypatch.setattr(questions, "Checking", StandIn)
    [path, *_] = known_checks().values()
    return CheckQuestion(Asked(scenario=str(path)), Lab())


def test_one_failed_run_is_bad(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answers, runs = asking(monkeypatch, "failed").ask(KERNELS, tmp_path)
    assert runs == 4
    assert {name: each.answer for name, each in answers.items()} == {"one": "good", "other": "bad"}
    assert answers["other"].why == "smp4, seed 2: why"


def test_a_check_that_cannot_be_run_ends_the_search(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="seed 2: why"):
        asking(monkeypatch, "refused").ask(KERNELS, tmp_path)
