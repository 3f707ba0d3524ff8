"""Where the kernel reads its settings: what has to run for one to change anything."""

from collections.abc import Iterator, Mapping

from schedlab.base.words import listing
from schedlab.result.read_in import read_in
from schedlab.settings.kinds import given
from schedlab.settings.kinds.kernel import Kernel
from schedlab.settings.setting import Simulated
from schedlab.settings.variant import Variant

_NAMED = 4
"""Functions that are named of a setting; more of them say where to look no better."""


def what_was_missing(baseline: Variant, other: Variant, environment: Mapping[str, str]) -> str:
    """Return what is known of why two variants did not differ, setting by setting.

    `environment` is the result's, with what its kernels' sources say of the settings.
    """
    return "; ".join(_reasons(baseline, other, environment))


def _reasons(baseline: Variant, other: Variant, environment: Mapping[str, str]) -> Iterator[str]:
    if Kernel.of(baseline) != Kernel.of(other):
        yield (
            "computation inside the other kernel's code takes no simulated time"
            " (docs/internals/engine.md), so only other decisions, locks or cache lines would show"
        )
    in_sources = read_in(environment)
    changed = _changed(baseline, other)
    readers = {each.label: in_sources.get(each.name) or each.read_in for each in changed}
    if asked := [_asked(each.name, of) for each in changed if (of := readers[each.label])]:
        rest = "did not run, or decided the same either way"
        yield f"{', '.join(asked)}; {'that' if len(asked) == 1 else 'these'} {rest}"
    if unknown := [each.label for each in changed if not readers[each.label]]:
        yield f"which part of the kernel reads {' and '.join(unknown)} is not known to us"


def _changed(baseline: Variant, other: Variant) -> list[Simulated]:
    """Return the settings that only one of them has, or that differ in value."""
    one, two = ({each.label: each for each in given(variant)} for variant in (baseline, other))
    labels = sorted(one.keys() | two.keys())
    return [two.get(label) or one[label] for label in labels if one.get(label) != two.get(label)]


def _asked(name: str, functions: tuple[str, ...]) -> str:
    shown = [f"{function}()" for function in functions[:_NAMED]]
    more = len(functions) - _NAMED
    return f"{name} is read in {listing([*shown, f'{more} more'] if more > 0 else shown)}"
