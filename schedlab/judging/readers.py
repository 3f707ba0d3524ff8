"""Where the kernel reads its settings: what has to run for one to change anything."""

from collections.abc import Iterator

from schedlab.settings.kinds import given
from schedlab.settings.kinds.kernel import Kernel
from schedlab.settings.setting import Simulated
from schedlab.settings.variant import Variant


def what_was_missing(baseline: Variant, other: Variant) -> str:
    """Return what is known of why two variants did not differ, setting by setting."""
    return "; ".join(_reasons(baseline, other))


def _reasons(baseline: Variant, other: Variant) -> Iterator[str]:
    if Kernel.of(baseline) != Kernel.of(other):
        yield (
            "computation inside the other kernel's code takes no simulated time"
            " (docs/internals/engine.md), so only other decisions, locks or cache lines would show"
        )
    changed = _changed(baseline, other)
    if asked := [_asked(each) for each in changed if each.read_in]:
        rest = "did not run, or decided the same either way"
        yield f"{', '.join(asked)}; {'that' if len(asked) == 1 else 'these'} {rest}"
    if unknown := [each.label for each in changed if not each.read_in]:
        yield f"which part of the kernel reads {' and '.join(unknown)} is not known to us"


def _changed(baseline: Variant, other: Variant) -> list[Simulated]:
    """Return the settings that only one of them has, or that differ in value."""
    one, two = ({each.label: each for each in given(variant)} for variant in (baseline, other))
    labels = sorted(one.keys() | two.keys())
    return [two.get(label) or one[label] for label in labels if one.get(label) != two.get(label)]


def _asked(setting: Simulated) -> str:
    return f"{setting.name} is read in {' and '.join(f'{name}()' for name in setting.read_in)}"
