"""Which knobs a variant turns on this host, and to what."""

from schedlab.base.errors import KnobError
from schedlab.base.system import System
from schedlab.settings.kinds import all_settings
from schedlab.settings.knob import Knob
from schedlab.settings.variant import Variant


def variant_knobs(system: System, variant: Variant) -> list[tuple[Knob, str]]:
    """Return each knob with its wanted value, in the order they are to be written.

    Raises:
        KnobError: this host has no such knob, or two settings turn the same one.
    """
    wanted: list[tuple[Knob, str]] = []
    for kind in all_settings():
        if value := kind.of(variant):
            wanted += kind.knobs(system, value)
    seen: set[Knob] = set()
    for knob, _ in wanted:
        if knob in seen:
            raise KnobError(f"variant {variant.name}: {knob.label} is set twice.")
        seen.add(knob)
    return wanted
