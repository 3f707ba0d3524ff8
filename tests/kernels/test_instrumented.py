"""Builds that count lines or check addresses, beside plain ones."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from schedlab.kernels.build import Builder
from schedlab.kernels.engine import find_engine
from schedlab.kernels.part import PROGRAM, Part
from schedlab.kernels.progress import Watch
from schedlab.kernels.shelf import Base, Recipe, Shelf

RECIPE = Recipe(name="t", base="t", hz=250, preempt="voluntary")


def makes(builder: Builder, objects: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a builder make a simulator in a folder, without a compiler."""

    def make(part: Part, *_: object) -> tuple[int, list[str]]:
        (part.objects / PROGRAM).touch()
        return 0, []

    monkeypatch.setattr(builder, "_run_make", make)
    builder._make(Part(objects, {}, RECIPE), ExitStack())


@pytest.mark.parametrize("asked", ["sanitize", "coverage"])
def test_they_give_no_objects_and_take_those_of_their_recipe_at_most(
    asked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plain simulator does not link with objects that call AddressSanitizer.

    Generated headers of another configuration come with the kernel's objects.
    """
    shelf, engine = Shelf(tmp_path), find_engine()
    objects = shelf.folder / "objects"
    core = tmp_path / "tree" / "kernel/sched/core.c"
    core.parent.mkdir(parents=True)
    core.touch()
    tree = core.parents[2]
    about = {"series": "6.12", "release": "6.12.1", "origin": "a folder", "reach": ()}
    base = Base.model_validate({"name": "t", "tree": tree, "identity": "one", **about})
    shelf.put_base(base)
    for folder in ("locks", "logs"):
        (shelf.folder / folder).mkdir(parents=True, exist_ok=True)
    plain = Builder(shelf, engine, Watch())
    instrumented = Builder(
        shelf, engine, Watch(), sanitize=asked == "sanitize", coverage=asked == "coverage"
    )
    wanted = Part(objects / "wanted", {}, RECIPE)
    makes(instrumented, objects / "instrumented", monkeypatch)
    assert "BASE" not in plain._with_base(wanted, base).variables
    makes(plain, objects / "plain", monkeypatch)
    assert plain._with_base(wanted, base).variables["BASE"] == str(objects / "plain")
    assert "BASE" not in instrumented._with_base(wanted, base).variables
    own = plain.objects(RECIPE)
    makes(plain, own, monkeypatch)
    taken = instrumented._with_base(wanted, base).variables.get("BASE")
    assert taken == (str(own) if asked == "sanitize" else None)
