"""What a result needs to be repeated elsewhere: its plan, and every file that the plan names."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schedlab import __version__
from schedlab.base.data import is_path
from schedlab.base.errors import HostError, reading
from schedlab.base.printable import printable
from schedlab.benchmarks.enclosure import Enclosure
from schedlab.kernels import KernelError
from schedlab.kernels.shelf import Recipe, Shelf
from schedlab.plan.inputs import FOLDER, renamed
from schedlab.plan.plan import Plan, find_suite
from schedlab.settings.kinds.kernel import Kernel
from schedlab.targets.sim_kernels import kernels_of

_DECISIVE = ("Kernels", "Engine version", "Compiler")
"""The rows of the platform table on which the hashes of simulated runs depend."""
_LONGEST_ROW = 400


@dataclass
class Repeatable:
    """A plan that names nothing outside of its folder, and the files beside it."""

    plan: Plan
    files: list[Enclosure] = field(default_factory=list)

    def add(self, file: Path, text: str) -> str:
        """Take a file's text; return its name beside the plan, which ends as the file's own."""
        taken = {each.name: each.text for each in self.files}
        name, number = f"{FOLDER}/{file.name}", 1
        while taken.get(name, text) != text:
            number += 1
            name = f"{FOLDER}/{number}/{file.name}"
        if name not in taken:
            self.files.append(Enclosure(name, text, str(file)))
        return name

    def copy(self, file: Path) -> str:
        """Take a file; return its name beside the plan; HostError if it cannot be read any more."""
        with reading(file, HostError):
            return self.add(file, file.read_text(encoding="utf-8", errors="surrogateescape"))


def repeatable(plan: Plan, environment: Mapping[str, str]) -> Repeatable:
    """Return a plan with what it names.

    A simulated one has the kernels of the shelf too, and what its runs are made with.
    """
    found = Repeatable(plan)
    data = plan.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    if plan.suite and is_path(plan.suite):
        suite, _ = find_suite(plan.suite)
        entries = suite.model_dump(mode="json", exclude_unset=True, exclude_none=True)["benchmark"]
        data["benchmark"] = [*entries, *data.get("benchmark", ())]
        del data["suite"]
    files = {*plan.workload}
    files |= {str(each["params"]["file"]) for each in data.get("benchmark", ()) if _has_file(each)}
    kernels = data.pop("kernel", ())
    data = renamed(
        data, lambda name: found.copy(Path(name)) if name in files or is_path(name) else name
    )
    if plan.simulated:
        data |= {**_kernels(plan, found), "made_with": _made_with(environment)}
    elif kernels:
        data["kernel"] = kernels
    found.plan = Plan.model_validate(data)
    return found


def differences(plan: Plan, environment: Mapping[str, str]) -> list[str]:
    """Return what is not as where a plan of a result was run before, so that hashes may differ."""
    now = _made_with(environment)
    return [
        f"this differs from the result that the plan comes from: {row} was {_short(before)}, is"
        f" {_short(now.get(row, 'not known'))}; the runs may have other hashes"
        for row, before in plan.made_with.items()
        if now.get(row) != before
    ]


def missing_sources(plan: Plan, error: KernelError) -> KernelError:
    """Return an error about a kernel with what a plan of a result was run with before."""
    kernels = plan.made_with.get("Kernels")
    if not kernels:
        return error
    return KernelError(
        f"{error}\n  The result that this plan comes from was made with {_short(kernels)}."
    )


def _made_with(environment: Mapping[str, str]) -> dict[str, str]:
    rows = {row: environment[row] for row in _DECISIVE if row in environment}
    return {**rows, "schedlab": __version__}


def _short(text: str) -> str:
    return printable(text)[:_LONGEST_ROW]


def _has_file(entry: Mapping[str, Any]) -> bool:
    return entry["name"] == "RtApp" and "file" in entry.get("params", {})


def _kernels(plan: Plan, found: Repeatable) -> dict[str, Any]:
    """Return the kernels and variants of a plan, all of them named and described."""
    shelf = Shelf()
    recipes = kernels_of(plan.variant, shelf)
    made = {
        recipe.name: _described(recipe, shelf, found)
        for recipe in recipes.values()
        if recipe.name != recipe.base
    }
    variants = plan.variant
    if not any(Kernel.of(variant) for variant in variants):
        name = recipes[variants[0].name].name
        variants = tuple(each.model_copy(update={Kernel.key: name}) for each in variants)
    full = [
        each.model_dump(mode="json", exclude_unset=True, exclude_none=True) for each in variants
    ]
    described = {"kernel": list(made.values())} if made else {}
    return {**described, "variant": full}


def _described(recipe: Recipe, shelf: Shelf, found: Repeatable) -> dict[str, Any]:
    """Return a recipe as a plan describes it, with its patches and configuration as files."""
    patches = []
    for patch in recipe.patches:
        changes = shelf.whole_patch_file(patch)
        with reading(changes, HostError):
            text = changes.read_text(encoding="utf-8", errors="surrogateescape")
        heading = f"{patch.heading}\n" if patch.heading else ""
        patches.append(found.add(Path(patch.name), heading + text))
    entry: dict[str, Any] = {"name": recipe.name, "base": recipe.base, "patches": patches}
    entry |= {"hz": recipe.hz, "preempt": recipe.preempt}
    if recipe.configuration:
        options = (*recipe.options, *recipe.left_out)
        lines = (f"CONFIG_{option if '=' in option else f'{option}=y'}\n" for option in options)
        entry["config"] = found.add(Path(recipe.configuration), "".join(lines))
    return entry
