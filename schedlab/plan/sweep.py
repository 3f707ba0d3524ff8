"""A sweep: the plans that come of one whose keys take several values, each with its own result."""

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass
from itertools import chain, count, product

from schedlab.base.errors import UsageError
from schedlab.plan.plan import KernelEntry, Plan, Sweep
from schedlab.plan.targets import HOST, kind_of
from schedlab.settings.kinds.kernel import Kernel
from schedlab.settings.variant import Variant

_LONGEST = 100
"""Characters of a result's name in the folder of its sweep."""


@dataclass(frozen=True)
class Point:
    """One combination of a sweep's values, and the plan it makes."""

    values: Mapping[str, str | int]
    plan: Plan

    @property
    def place(self) -> str:
        """Name the host that is busy with it; points of one place cannot run together."""
        return self.plan.target if kind_of(self.plan.target).remote else HOST.name


def points(plan: Plan) -> dict[str, Point]:
    """Return each combination of swept values, by the name of its result.

    Raises:
        UsageError: a sweep over kernels that changes none.
    """
    swept = {key: values for key in Sweep.model_fields if (values := getattr(plan.sweep, key))}
    telling = [key for key, values in swept.items() if len(values) > 1]
    found: dict[str, Point] = {}
    taken: set[str] = set()
    for values in product(*swept.values()):
        at = dict(zip(swept, values, strict=True))
        name = _free(_name({key: at[key] for key in telling}), taken)
        taken.add(name.casefold())
        found[name] = Point(at, _point(plan, at))
    return found


def _name(values: Mapping[str, str | int]) -> str:
    """Return a name that any file system takes for a folder."""
    words = (f"seed-{value}" if key == "seed" else str(value) for key, value in values.items())
    plain = "-".join(re.sub(r"[^A-Za-z0-9_.]+", "-", word).strip("-.") for word in words)
    return plain[:_LONGEST] or "point"


def _free(name: str, taken: Container[str]) -> str:
    """Number a name that is taken; on some file systems `A` is `a`."""
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(free for free in names if free.casefold() not in taken)


def _point(plan: Plan, values: Mapping[str, str | int]) -> Plan:
    changed: dict[str, object] = {
        key: values[key] for key in ("target", "machine") if key in values
    }
    blocks = {"seed": values["seed"]} if "seed" in values else {}
    target = str(values.get("target", plan.target))
    if kind_of(target).simulated and "warmup" not in plan.blocks.model_fields_set:
        blocks["warmup"] = 0  # every simulated run begins on a machine already settled
    if blocks:
        changed["blocks"] = plan.blocks.model_copy(update=blocks)
    if "kernel" in values:
        changed |= _on_tree(plan, str(values["kernel"]))
    point = plan.model_copy(update={**changed, "sweep": Sweep()})
    point.model_fields_set.discard("sweep")
    return point


def _on_tree(plan: Plan, tree: str) -> dict[str, tuple[KernelEntry, ...] | tuple[Variant, ...]]:
    """Return the kernels and variants of a plan with all that can be on one tree."""
    names = {entry.name: f"{entry.name}-{tree}" for entry in plan.kernel}
    kernels = tuple(
        entry.model_copy(update={"name": names[entry.name], "base": tree}) for entry in plan.kernel
    )
    named = [Kernel.of(variant) for variant in plan.variant]
    if names.keys() & set(named):
        # Variants that name none run the tree in the configuration of the others.
        wanted = [names.get(name, name) if name else None for name in named]
    else:
        wanted = [name or tree for name in named]
    if wanted == named:
        raise UsageError(
            "sweep.kernel: every variant names a kernel that is none of the plan's [[kernel]], so"
            " the sweep would change nothing."
        )
    variants = tuple(
        variant.model_copy(update={"kernel": kernel})
        for variant, kernel in zip(plan.variant, wanted, strict=True)
    )
    return {"kernel": kernels, "variant": variants}
