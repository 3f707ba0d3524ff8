"""All knobs of a plan: every variant applied, read back, and everything put back in the end."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from schedlab.base.cpulist import format_cpulist
from schedlab.base.errors import KnobError
from schedlab.base.system import System
from schedlab.base.system.interrupt import uninterrupted
from schedlab.base.system.system import legible
from schedlab.settings.journal import Entry, Journal, restore
from schedlab.settings.kinds import all_settings, sysctl
from schedlab.settings.knob import Knob
from schedlab.settings.siblings import Siblings, sibling_knob
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


class Switchboard:
    """Turns the knobs of a plan's variants; remembers how they were."""

    def __init__(self, system: System, variants: Sequence[Variant]) -> None:
        """Find every knob and read it; nothing is written.

        Raises:
            KnobError: this host lacks a knob, or does not let us read it.
        """
        self._system = system
        self.journal = Journal(system)
        self.foreign: set[str] = set()
        """Knobs that something else set meanwhile; they were left as found."""
        self._wanted = {variant.name: variant_knobs(system, variant) for variant in variants}
        turned = dict.fromkeys(knob for pairs in self._wanted.values() for knob, _ in pairs)
        self._tied = {knob: other for knob in turned if (other := sysctl.tied(system, knob))}
        """Knobs of which the kernel clears another when they are written, with the other."""
        knobs = dict.fromkeys([*turned, *self._tied.values()])
        self.entries = [Entry(knob, knob.read(system)) for knob in knobs]

    def wanted(self, variant: Variant) -> list[tuple[Knob, str]]:
        """Return the knobs a variant turns, for a dry run."""
        return self._wanted[variant.name]

    def begin(self, tag: str) -> None:
        """Write the journal; then find out what writing the knobs does to them, and to others.

        Raises:
            StoreError: there can be no journal.
            KnobError: a knob does not take its own value, so it could never be put back.
            RestoreError: a file that changes with a knob could not be put back.
        """
        siblings = Siblings(self._system, [entry.knob for entry in self.entries])
        self.journal.write(tag, self.entries, siblings.before)
        try:
            self._write_own()
            siblings.compare()
            for wanted in self._wanted.values() if siblings.before else ():
                with suppress(KnobError):  # applied() reports it
                    self._set(wanted)
                siblings.compare()
                self._restore()
                siblings.compare()
        finally:
            with uninterrupted():
                siblings.compare()
                self._take_in(siblings.tied())
                self.journal.write(tag, self.entries)
        self._restore()

    def _take_in(self, tied: Mapping[str, str]) -> None:
        """Put files that change with the knobs back with them, after them."""
        knobs = {path: sibling_knob(self._system, path) for path in tied}
        found = [Entry(knob, knob.value_of(tied[path]), None) for path, knob in knobs.items()]
        self.entries = [*found, *self.entries]

    def _write_own(self) -> None:
        """Write every knob the value it has, and read that back."""
        tied = {*self._tied, *self._tied.values()}
        loose = [entry for entry in self.entries if entry.knob not in tied]
        try:
            found = self._set([(entry.knob, entry.original) for entry in loose])
        except KnobError as error:
            raise KnobError(
                f"{error}\n  This is its present value: once changed, it could not be restored."
            ) from error
        for entry in loose:
            if not entry.untouched(found[entry.knob]):
                raise KnobError(
                    f"{entry.knob.path}: wrote {legible(entry.original)}, its present value, and"
                    f" read back {legible(found[entry.knob])}; once changed, it could not be"
                    " restored."
                )

    def end(self) -> None:
        """Put everything back and forget the journal.

        Raises:
            RestoreError: a knob could not be put back, or a cgroup not removed; the journal stays.
        """
        restore(self._system, self.entries, self.journal)
        self.journal.remove_groups()
        self.journal.remove()

    @contextmanager
    def applied(self, variant: Variant) -> Iterator[dict[str, str]]:
        """Set a variant's knobs inside a `with` block; yield every knob of the plan as read back.

        Raises:
            KnobError: a knob refused the value or did not read back as written.
        """
        wanted = self._wanted[variant.name]
        try:
            found = self._set(wanted)
            for knob, value in wanted:
                if not self._entry(knob).same(value, found[knob]):
                    raise KnobError(self._not_as_written(knob, value, found[knob]))
            yield self._shown(found)
        finally:
            with uninterrupted():
                self._restore()

    def _restore(self) -> None:
        restored = restore(self._system, self.entries, self.journal)
        self.foreign.update(restored.foreign)

    def _set(self, wanted: Sequence[tuple[Knob, str]]) -> dict[Knob, str]:
        """Write knobs; return what every knob of the plan reads then, which is ours."""
        before = {entry.knob: entry.knob.read(self._system) for entry in self.entries}
        for entry in self.entries:
            if not entry.untouched(before[entry.knob]):
                self.foreign.add(entry.leave(before[entry.knob]))
        if not wanted:
            return before
        for entry in self.entries:
            entry.ours = None
        self.journal.note()
        for knob, value in wanted:
            knob.write(self._system, value)
        written = dict(wanted)
        found = {entry.knob: entry.knob.read(self._system) for entry in self.entries}
        for entry in self.entries:
            value = found[entry.knob]
            if entry.untouched(value):
                entry.ours = ()
            else:
                entry.ours = tuple(dict.fromkeys([written.get(entry.knob, value), value]))
        self.journal.note()
        return found

    def _entry(self, knob: Knob) -> Entry:
        return next(entry for entry in self.entries if entry.knob == knob)

    def _not_as_written(self, knob: Knob, value: str, found: str) -> str:
        """Return the words on a value that the kernel did not take as it is."""
        what = f"{knob.path}: wrote {value}, read back {found}; the run was not started."
        if self._entry(knob).untouched(found):
            return f"{what}\n  Something else manages {knob.label} (tuned? a power daemon?)."
        return (
            f"{what}\n  The kernel made {found} of it: ask for {found} if that will do, or for a"
            f" value that {knob.label} takes as it is."
        )

    def _shown(self, found: dict[Knob, str]) -> dict[str, str]:
        """Return label -> value; where CPUs differ, `value (cpus LIST)` for each."""
        by_label: dict[str, dict[str, list[int]]] = {}
        for knob, value in found.items():
            shown = legible(re.sub(r"\s", " ", value))
            cpus = by_label.setdefault(knob.label, {}).setdefault(shown, [])
            if knob.cpu is not None:
                cpus.append(knob.cpu)
        return {label: _fold(values) for label, values in by_label.items()}


def _fold(values: dict[str, list[int]]) -> str:
    if len(values) == 1:
        return next(iter(values))
    return ", ".join(f"{value} (cpus {format_cpulist(cpus)})" for value, cpus in values.items())
