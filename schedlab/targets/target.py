"""What every target can do: open a plan, run its cases under its variants, describe itself."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from schedlab.benchmarks import Case
from schedlab.machine.model import Machine
from schedlab.plan.plan import Plan
from schedlab.plan.targets import TargetKind
from schedlab.result.record import RunKey, RunRecord
from schedlab.settings.variant import Variant
from schedlab.targets.simulators import Simulators


@dataclass(frozen=True)
class Order:
    """A run to do: the key, its case and variant, the run's seed and place in the run order."""

    key: RunKey
    case: Case
    variant: Variant
    seed: int
    position: int


Wait = Future[Any]
"""What has to be over before a plan goes on."""


_LONGEST = 120
"""Bytes of a run's folder name; most file systems take 255."""


def folder_name(number: str, key: RunKey) -> str:
    """Return the name of a run's raw folder.

    Where a label has to be changed or cut for it, a digest keeps the folders of two runs apart.
    """
    whole = f"{number}-{key.case}@{key.variant}"
    plain = re.sub(r"[\x00-\x20/\x7f]", "_", whole).encode(errors="replace")
    if plain == whole.encode(errors="replace") and len(plain) <= _LONGEST:
        return whole
    digest = hashlib.sha256(whole.encode(errors="surrogatepass")).hexdigest()[:8]
    return f"{plain[:_LONGEST].decode(errors='ignore')}-{digest}"


class Session(Protocol):
    """A target made ready for one plan."""

    notices: list[str]
    """What the user should know once: counters that are missing, load on the machine, ..."""

    def run(self, order: Order, raw: Path) -> RunRecord:
        """Make one run; raw output goes below `raw`. A failed run is a record, not an error.

        Raises:
            SchedlabError: the target itself can no longer be trusted; the plan ends here.
        """


@runtime_checkable
class SessionOfMany(Session, Protocol):
    """A session whose runs do not disturb each other."""

    def run_many(
        self, orders: Iterable[Order], raw: Path, simulators: Simulators
    ) -> Iterator[Wait | RunRecord]:
        """Make several runs at a time, taking orders ahead; yield records in the orders' order.

        Where the next record is not there yet, what is waited for comes first.
        """


class Target(Protocol):
    """A host, a simulated machine, ..."""

    kind: TargetKind
    name: str

    def machine(self) -> Machine:
        """Describe the machine runs happen on."""

    def environment(self, plan: Plan, cases: Sequence[Case]) -> dict[str, str]:
        """Return the rows of a report's platform table, e.g. `Kernel release`."""

    def shown(self, case: Case) -> str:
        """Return the command of a case, or what stands in its place, for reports."""

    def preview(self, order: Order) -> list[str]:
        """Return in lines what a run would touch and call, touching nothing."""

    def open(self, plan: Plan, cases: list[Case], scratch: Path) -> AbstractContextManager[Session]:
        """Check everything a plan needs, then hold the target until the block ends.

        Raises:
            SchedlabError: something is missing or refused; nothing was changed.
        """
