"""All knobs of a plan: every variant applied, read back, and everything put back in the end."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from schedlab.cpulist import format_cpulist
from schedlab.errors import KnobError
from schedlab.interrupt import uninterrupted
from schedlab.settings.journal import Entry, Journal, restore
from schedlab.settings.knob import Knob
from schedlab.settings.variant_knobs import variant_knobs
from schedlab.system import System
from schedlab.variant import Variant


class Switchboard:
    """Turns the knobs of a plan's variants; remembers how they were."""

    def __init__(self, system: System, variants: Sequence[Variant]) -> None:
        """Find every knob and read it; nothing is written.

        Raises:
            KnobError: this host lacks a knob, or does not let us read it.
        """
        self._system = system
        self.foreign: set[str] = set()
        """Knobs that something else set meanwhile; they were left as found."""
        self._wanted = {variant.name: variant_knobs(system, variant) for variant in variants}
        written: dict[Knob, list[str]] = {}
        for pairs in self._wanted.values():
            for knob, value in pairs:
                written.setdefault(knob, []).append(value)
        self.entries = [
            Entry(knob, knob.read(system), tuple(values)) for knob, values in written.items()
        ]

    def wanted(self, variant: Variant) -> list[tuple[Knob, str]]:
        """Give the knobs a variant turns, for a dry run."""
        return self._wanted[variant.name]

    @contextmanager
    def applied(self, variant: Variant) -> Iterator[dict[str, str]]:
        """Set a variant's knobs inside a `with` block; give every knob of the plan as read back.

        Raises:
            KnobError: a knob refused the value or did not read back as written.
        """
        try:
            for knob, value in self._wanted[variant.name]:
                knob.write(self._system, value)
            for knob, value in self._wanted[variant.name]:
                found = knob.read(self._system)
                if not knob.same(value, found):
                    raise KnobError(
                        f"{knob.path}: wrote {value}, read back {found}; the run was not started."
                        f"\n  Something else manages {knob.label} (tuned? a power daemon?)."
                    )
            yield self._read_back()
        finally:
            with uninterrupted():
                self.foreign.update(restore(self._system, self.entries).foreign)

    def journal(self, tag: str) -> Journal:
        """Write the journal that lets a later lab undo all this."""
        journal = Journal(self._system)
        journal.write(tag, self.entries)
        return journal

    def _read_back(self) -> dict[str, str]:
        """Give label -> value; where CPUs differ, `value (cpus LIST)` for each."""
        by_label: dict[str, dict[str, list[int]]] = {}
        for entry in self.entries:
            values = by_label.setdefault(entry.knob.label, {})
            cpus = values.setdefault(entry.knob.read(self._system), [])
            if entry.knob.cpu is not None:
                cpus.append(entry.knob.cpu)
        return {label: _fold(values) for label, values in by_label.items()}


def _fold(values: dict[str, list[int]]) -> str:
    if len(values) == 1:
        return next(iter(values))
    return ", ".join(f"{value} (cpus {format_cpulist(cpus)})" for value, cpus in values.items())
