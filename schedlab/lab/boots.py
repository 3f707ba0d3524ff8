"""A series of boots: a machine is booted for each variant by turns, and the boots are the pairs.

A folder of a series holds `boots.json` (this module's record), `boot-001/`, `boot-002/`, ... (a
result for each boot) and, when it is whole, `merged/`.
"""

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from pathlib import Path
from typing import Literal

from schedlab.base.duration import seconds
from schedlab.base.errors import HostError, SystemLost, UsageError, writing
from schedlab.base.system.durable import write_durably
from schedlab.base.system.lock import LOCK, FileLock, Taken
from schedlab.base.validation import Data
from schedlab.benchmarks import Case
from schedlab.lab.new_folder import make_folder
from schedlab.lab.order import variant_order
from schedlab.lab.result import Lab, begin, check_any_good, run_results, say_changed
from schedlab.plan.plan import Plan
from schedlab.plan.reboot import Reboot
from schedlab.result.boots import BOOTED_FOR
from schedlab.result.merge import merge
from schedlab.result.plan_files import PlanGiven
from schedlab.result.store import Store
from schedlab.settings.kinds.boot import Boot
from schedlab.settings.variant import Variant
from schedlab.targets.booting import BootedMachine, Seen, Usual, Wanted, machine_of
from schedlab.targets.choice import asked_from
from schedlab.targets.client import asked_by
from schedlab.targets.target import Session, Target

RECORD = "boots.json"
MERGED = "merged"
_POLL_SECONDS = 2.0
_TRIES = 2
"""How often a boot is asked for, where the machine comes back as something else."""
_UNDER_WAY_SECONDS = 60.0
"""How long a lab that goes on waits for a boot that the one before it may have asked for."""

_POWER_HINT = " A power_command in [reboot] switches its power by itself."


class BootAsked(Data, frozen=False):
    """A boot of the series."""

    variant: str
    state: Literal["asked", "done"] = "asked"
    before: str
    """The boot_id from which it was asked for."""
    boot_id: str = ""
    release: str = ""
    seconds: float = 0.0
    """From asking until the machine was there; 0 where no lab saw it."""


class BootSeries(Data, frozen=False):
    """The record of a series."""

    plan: Plan
    boots: int
    """Of each variant."""
    usual: Usual | None = None
    """How the machine was booted when the series began."""
    given: PlanGiven | None = None
    """The plan file that began it."""
    made: list[BootAsked] = []
    notices: list[str] = []


class Boots:
    """A series under way."""

    def __init__(
        self, series: BootSeries, folder: Path, lab: Lab, machine: BootedMachine | None = None
    ) -> None:
        """Take the record; `machine` stands for the plan's where that is not to be booted."""
        self._series = series
        self._folder = folder
        self._lab = lab
        theirs, wanted = machine_of(series.plan, lab.watcher)
        self._machine = machine or theirs
        self._wanted = {each.variant: each for each in wanted}
        self._limit = seconds((series.plan.reboot or Reboot()).limit)

    def run(self) -> Store:
        """Make the missing boots; return the merged result.

        Raises:
            HostError: another lab makes them.
        """
        lock = FileLock(self._folder / LOCK)
        try:
            lock.take()
        except Taken as taken:
            raise HostError(
                f"{self._folder}: another schedlab{taken.holder} makes the boots of this series."
            ) from None
        try:
            return self._run()
        finally:
            lock.release()

    def _run(self) -> Store:
        series = self._series
        came = self._came_meanwhile()
        with self._lab.watcher.task(f"{self._machine.name}: looking at it"):
            series.usual = self._machine.check(list(self._wanted.values()), series.usual)
        order = boot_order(series.plan, series.boots)
        for number, variant in enumerate(order, 1):
            if number <= len(series.made) and series.made[number - 1].state == "done":
                continue
            seen = self._booted(number, len(order), variant, came)
            came = None
            asked = series.made[number - 1]
            asked.boot_id, asked.release = seen.boot_id, seen.release
            self._keep()
            self._measure(number, variant)
            asked.state = "done"
            self._keep()
        store = self._merged(len(order))
        check_any_good(store)
        return store

    def _came_meanwhile(self) -> Seen | None:
        """Wait for the boot that a lab before this one asked for; return it if it came about.

        A machine that is not there is waited for as long as for any boot. One that still runs the
        boot before may never have been asked, and gets less time.
        """
        made = self._series.made
        if not made or made[-1].state == "done":
            return None
        before = made[-1].before
        words = f"{self._machine.name}: boot {len(made)} was under way, waiting for it"
        with self._lab.watcher.task(words):
            found = self._await(before, min(self._limit, _UNDER_WAY_SECONDS))
            if not isinstance(found, Seen) and not self._is_there():
                found = self._await(before, self._limit)
        return found if isinstance(found, Seen) else None

    def _is_there(self) -> bool:
        try:
            self._machine.seen()
        except SystemLost:
            return False
        return True

    def _booted(self, number: int, count: int, variant: Variant, came: Seen | None) -> Seen:
        """Boot the machine for a variant, and check that it did; take what came if it is right.

        Raises:
            HostError: it does not come back, or not as it is wanted.
        """
        what = f"boot {number} of {count} [{variant.name}]"
        wanted = self._wanted[variant.name]
        others = [each for each in self._wanted.values() if each is not wanted]
        if number <= len(self._series.made):
            if came and not came.differs(wanted, others):
                if came.boot_id != self._series.made[number - 1].boot_id:
                    self._note(f"{what}: had come about while no lab was there")
                return came
            del self._series.made[number - 1 :]
        for attempt in range(1, _TRIES + 1):
            before = self._before(what)
            asked = BootAsked(variant=variant.name, before=before)
            self._series.made[number - 1 :] = [asked]
            self._keep()  # a lab after us must know of it before the machine does
            began = time.monotonic()
            with self._lab.watcher.task(what):
                self._ask(what, wanted)
                seen = self._back(what, before)
            asked.seconds = round(time.monotonic() - began, 1)
            wrong = seen.differs(wanted, others)
            if not wrong:
                self._lab.watcher.say(f"{what}: kernel {seen.release}, after {asked.seconds:.0f} s")
                return seen
            self._note(f"{what}: came back with {wrong} (attempt {attempt} of {_TRIES})")
        raise HostError(
            f"{self._machine.name}: {what}: came back with {wrong}, {_TRIES} times."
            "\n  Its boot loader does not take the choice; the boots so far are kept:"
            f" {self._goes_on()}."
        )

    def _ask(self, what: str, wanted: Wanted) -> None:
        try:
            self._machine.boot(wanted)
        except HostError as error:
            raise type(error)(
                f"{self._machine.name}: {what}: {error}\n  The boots so far are kept:"
                f" {self._goes_on()}."
            ) from error

    def _before(self, what: str) -> str:
        """Return the boot_id of the machine as it is."""
        try:
            return self._machine.seen().boot_id
        except SystemLost as error:
            raise HostError(f"{what}: {error}") from error

    def _back(self, what: str, before: str) -> Seen:
        """Wait until the machine is there at another boot; switch its power if it is not.

        Raises:
            HostError: it is not there then either.
        """
        found = self._await(before, self._limit)
        if isinstance(found, Seen):
            return found
        look, hint = "Look why it did not go down", ""
        if not self._is_there():
            look, hint = "Look at its console", _POWER_HINT
            if self._machine.power():
                self._note(f"{what}: not back after {self._limit:.0f} s; power_command was called")
                found, hint = self._await(before, self._limit), ""
        if isinstance(found, Seen):
            return found
        raise HostError(
            f"{self._machine.name}: {what}: not back after {self._limit:.0f} s. {found}"
            f"\n  {look}; when it is up, {self._goes_on()}.{hint}"
        )

    def _goes_on(self) -> str:
        return f"`schedlab boots --resume {self._folder}` goes on"

    def _await(self, before: str, limit: float) -> Seen | str:
        """Wait for a boot other than `before`; return it, or say what the machine did instead."""
        deadline = time.monotonic() + limit
        while True:
            try:
                seen = self._machine.seen()
                if seen.boot_id != before:
                    return seen
                last = f"It still runs the boot before ({before}), kernel {seen.release}."
            except SystemLost as error:
                last = f"Last heard: {str(error).partition(chr(10))[0]}"
            if time.monotonic() + _POLL_SECONDS > deadline:
                return last
            time.sleep(_POLL_SECONDS)

    def _measure(self, number: int, variant: Variant) -> None:
        """Run the plan at this boot, in its variant; what an earlier attempt left is discarded.

        Runs that fail are no reason to end a series: what failed is not judged.
        """
        folder = self._at(number)
        if folder.exists():
            shutil.rmtree(folder)
        plan = for_boots(self._series.plan)
        target = _BootedFor(asked_from(self._machine.target(), asked_by(plan)), variant)
        cases = plan.cases(target.machine())
        result = begin(plan, cases, target, folder, self._lab)
        with closing(result.store):
            run_results({folder.name: result}, self._lab)
            failed = [record for record in result.store.records() if record.status == "failed"]
        if failed:
            of = f"{len(failed)} runs failed" if len(failed) > 1 else "a run failed"
            first = failed[0]
            self._note(f"boot {number} [{variant.name}]: {of}: {first.key.case}: {first.error}")

    def _merged(self, count: int) -> Store:
        """Make one result of all boots."""
        merged = self._folder / MERGED
        if merged.exists():
            shutil.rmtree(merged)
        with ExitStack() as stack:
            stores = [
                stack.enter_context(closing(Store.open(self._at(number))))
                for number in range(1, count + 1)
            ]
            for each in stores:
                each.check_plan()
            merge(stores, merged, [self._series.boots], self._lab.invocation).close()
        store = Store.open(merged, readonly=False)
        store.note([*self._series.notices, self._times()])
        return store

    def _times(self) -> str:
        made = self._series.made
        took = sorted(asked.seconds for asked in made if asked.seconds)
        lasted = f": {took[0]:.0f} to {took[-1]:.0f} s each" if took else ""
        return f"{len(made)} boots made by the lab, by turns{lasted}"

    def _at(self, number: int) -> Path:
        return self._folder / f"boot-{number:03d}"

    def _note(self, line: str) -> None:
        self._series.notices.append(line)
        self._keep()
        self._lab.watcher.say(f"note: {line}")

    def _keep(self) -> None:
        """Write the record, whole or not at all: a lab that dies now is gone on with."""
        place = self._folder / RECORD
        with writing(place):
            text = self._series.model_dump_json(indent=1, exclude_none=True)
            write_durably(place, text.encode())


class _BootedFor:
    """A target as it is booted for one variant."""

    def __init__(self, target: Target, variant: Variant) -> None:
        self.kind = target.kind
        self.name = target.name
        self._target = target
        self._variant = variant
        self.machine = target.machine
        self.shown = target.shown
        self.preview = target.preview

    def environment(self, plan: Plan, cases: Sequence[Case]) -> dict[str, str]:
        """Return the platform table, with the variant that the boot is for."""
        rows = self._target.environment(self._alone(plan), cases)
        return {**rows, BOOTED_FOR: self._variant.name}

    def open(self, plan: Plan, cases: list[Case], scratch: Path) -> AbstractContextManager[Session]:
        """Make the target ready for the one variant."""
        return self._target.open(self._alone(plan), cases, scratch)

    def _alone(self, plan: Plan) -> Plan:
        return plan.model_copy(update={"variant": (self._variant,)})


def for_boots(plan: Plan) -> Plan:
    """Return the plan as every boot's result has it: each variant runs at its own boots."""
    variants = tuple(
        variant.model_copy(update={"boot": {**Boot.of(variant), BOOTED_FOR: variant.name}})
        for variant in plan.variant
    )
    return plan.model_copy(update={"variant": variants, "reboot": None})


def boot_order(plan: Plan, boots: int) -> list[Variant]:
    """Return the variants in the order of their boots: rounds of all, random and balanced."""
    seed = f"{plan.blocks.seed}/boots"
    return [each for block in range(boots) for each in variant_order(plan.variant, seed, block)]


def _check_boots(boots: int) -> None:
    if boots < 2:
        raise UsageError(
            "--boots: each variant needs at least 2 boots, as its boots are what is compared."
        )


def run_boots(
    plan: Plan,
    boots: int,
    folder: Path,
    lab: Lab | None = None,
    machine: BootedMachine | None = None,
) -> Store:
    """Boot a plan's machine for its variants by turns, run the plan at each, and merge.

    Args:
        plan: on ssh:HOST or vm:KERNEL; its variants say what is booted for them.
        boots: of each variant.
        folder: a new one, for everything.
        lab: where runs are made and who watches.
        machine: what is booted in place of the plan's.

    Raises:
        UsageError: the plan's target is not one that the lab boots.
        HostError: the machine does not come back, or not as it is wanted.
    """
    _check_boots(boots)
    lab = lab or Lab()
    record = BootSeries(plan=plan, boots=boots, given=PlanGiven.read(lab.plan_file))
    series = Boots(record, folder, lab, machine)
    make_folder(folder)
    return series.run()


def resume_boots(
    folder: Path, lab: Lab | None = None, machine: BootedMachine | None = None
) -> Store:
    """Resume a series of boots, in the same order; raises what `run_boots` raises."""
    try:
        text = (folder / RECORD).read_text(encoding="utf-8")
        data = BootSeries.model_validate_json(text)
    except OSError as error:
        raise UsageError(
            f"{folder}: not a series of boots: {RECORD} cannot be read: {error.strerror}"
        ) from None
    except ValueError:
        raise UsageError(
            f"{folder}: not a series of boots: {RECORD} is not what `schedlab boots` wrote."
        ) from None
    lab = lab or Lab()
    say_changed(data.given, folder / RECORD, lab)
    return Boots(data, folder, lab, machine).run()


def boot_lines(plan: Plan, boots: int) -> Iterator[str]:
    """Yield what would be booted, in order; UsageError as `run_boots` raises it."""
    _check_boots(boots)
    _, wanted = machine_of(plan, Lab().watcher)
    by_variant = {each.variant: each for each in wanted}
    for number, variant in enumerate(boot_order(plan, boots), 1):
        each = by_variant[variant.name]
        words = [f"kernel {each.release}"] if each.release else []
        words += [f"with {' '.join(each.options)}"] if each.options else []
        yield f"boot {number}: {variant.name}: {' '.join(words) or 'as usual'}"
