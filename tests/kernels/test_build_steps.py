"""Who watches a build is shown the share done; make is asked beforehand for them only."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import schedlab.kernels.build
from schedlab.kernels.build import Builder
from schedlab.kernels.engine import find_engine
from schedlab.kernels.process import output
from schedlab.kernels.progress import Step, Watch
from schedlab.kernels.shelf import Shelf
from tests.helpers.fake_engine import FakeLab


class Shown(Watch):
    """Keeps the shares that it is shown."""

    def __init__(self) -> None:
        self.shares: list[float] = []

    @contextmanager
    def task(self, what: str) -> Iterator[Step]:
        yield lambda share, text: self.shares.append(share)


@pytest.mark.parametrize("watch", [Watch(), Shown()], ids=["nobody", "somebody"])
def test_steps_are_counted_for_who_is_shown_the_share(
    lab: FakeLab, monkeypatch: pytest.MonkeyPatch, watch: Watch
) -> None:
    asked: list[str] = []

    def noted(argv: list[str]) -> tuple[int, str]:
        asked.extend(argv)
        return output(argv)

    monkeypatch.setattr(schedlab.kernels.build, "output", noted)
    shelf = Shelf(lab.cache)
    Builder(shelf, find_engine(), watch).build(shelf.recipe("6.12"))
    assert ("-n" in asked) == isinstance(watch, Shown)
    if isinstance(watch, Shown):
        assert watch.shares == [0.5, 1.0]


def test_what_several_plans_have_to_say_of_a_kernel_is_said_once() -> None:
    class Heard(Watch):
        def __init__(self) -> None:
            self.lines: list[str] = []

        def say(self, text: str) -> None:
            self.lines.append(text)

    heard = Heard()
    for text in ("a.patch: touches x", "b.patch: touches y", "a.patch: touches x"):
        heard.say_once(text)
    assert heard.lines == ["a.patch: touches x", "b.patch: touches y"]
