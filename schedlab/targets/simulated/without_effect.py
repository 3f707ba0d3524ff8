"""Settings that the simulated kernels take and that change nothing there, each with the reason."""

from collections.abc import Iterator

from schedlab.settings.kinds import all_settings, given
from schedlab.settings.variant import Variant

WITHOUT_EFFECT = tuple(each for kind in all_settings() for each in kind.without_effect)


def without_effect(variant: Variant, series: str) -> Iterator[str]:
    """Return a sentence for each setting of a variant that changes nothing in a series."""
    keys = {each.key for each in given(variant)}
    for each in WITHOUT_EFFECT:
        if each.key in keys and series in each.series:
            yield f"{each.name} has no effect in the simulator: {each.reason}"
