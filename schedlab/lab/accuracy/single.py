"""Single loads on a target: what `validate` measures beside plans, run as a plan's runs are."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from schedlab.base.errors import IncompleteRun
from schedlab.benchmarks import Case, find_benchmark
from schedlab.benchmarks.load import NAME, counted, counter
from schedlab.benchmarks.model import Model
from schedlab.benchmarks.stand_in import command
from schedlab.plan.plan import Blocks, Plan
from schedlab.result.record import RunKey, RunRecord
from schedlab.settings.variant import Variant
from schedlab.targets.simulated.scenario import COLD
from schedlab.targets.target import Order, Session, Target

Options = Mapping[str, object]

QUIET = 0.05
"""What others may have of this host's CPUs while its speed is measured."""

COUNTERS = ("context-switches", "sched:sched_wakeup", "cpu-migrations")
"""What is counted: an outcome's switches, wakeups and migrations."""
PLAIN = Variant(name="plain")
SUITE = "validate"


@dataclass(frozen=True)
class Outcome:
    """What a load reported, and what the scheduler did; None where nobody could count."""

    results: Mapping[str, float]
    switches: float | None = None
    wakeups: float | None = None
    migrations: float | None = None
    others: float = 0.0
    """The share of the CPUs that others had meanwhile."""


def load_case(
    workload: str, options: Options, label: str = "", scenario: Mapping[str, object] | None = None
) -> Case:
    """Return a load as a benchmark's case, all of whose results are counters.

    Args:
        workload: its name.
        options: its options.
        label: the case's; the load's command line if there is none.
        scenario: keys that its scenario has in the simulator; those of `workloads` are the load's.
    """
    more = dict(scenario or {})
    attributes = more.pop("workloads", {})
    assert isinstance(attributes, Mapping)
    words = command(workload, options).argv[1:-1]
    workload_keys = {"kind": workload, **attributes, **options}
    benchmark = replace(
        find_benchmark(NAME, NAME),
        metrics=(),
        parse=lambda _: {},
        build=lambda: command(workload, options),
        defaults={},
        model=lambda: Model(workload_keys, {}, count=counted, beside=more),
        select=None,
    )
    return Case(label or shlex.join(words), benchmark, {})


class Bench:
    """A target that is held for single runs."""

    def __init__(self, session: Session, raw: Path, variant: Variant) -> None:
        """Take the target's session, where runs leave their files, and what it is set to."""
        self.variant = variant
        self._session = session
        self._raw = raw
        self._made = 0

    def run(self, case: Case, variant: Variant | None = None, seed: int = 1) -> Outcome:
        """Run a case once, with what is put around it if anything; IncompleteRun if it fails."""
        self._made += 1
        variant = variant or self.variant
        key = RunKey(case.label, variant.name, self._made)
        record = self._session.run(Order(key, case, variant, seed, self._made), self._raw)
        if record.status == "failed":
            raise IncompleteRun(f"{case.label}: {record.error}")
        return _outcome(record)


@contextmanager
def held(
    target: Target,
    cases: Sequence[Case],
    counters: Sequence[str] = COUNTERS,
    exact: bool = True,
    settle: str = "0s",
    variant: Variant = PLAIN,
) -> Iterator[Bench]:
    """Hold a target for single runs of some cases inside a `with` block.

    Args:
        target: where they run.
        cases: all that may be run; no two have one label.
        counters: what is counted, where that is possible.
        exact: simulated figures are at their values; else each seed draws them.
        settle: a pause before each run.
        variant: what the machine is set to.
    """
    plan = Plan(
        target=target.name,
        suite=SUITE,
        variant=(variant, variant.model_copy(update={"name": f"{variant.name}-again"})),
        aa=True,
        exact=exact and target.kind.simulated,
        blocks=Blocks(looks=(1,), warmup=0, settle=settle),
        load_warmup=COLD,
        counters=tuple(counters),
    )
    with TemporaryDirectory() as name:
        raw = Path(name) / "raw"
        raw.mkdir()
        with target.open(plan, list(cases), raw) as session:
            yield Bench(session, raw, variant)


def _outcome(record: RunRecord) -> Outcome:
    prefix = counter("")
    results = {
        name.removeprefix(prefix): value
        for name, value in record.counters.items()
        if name.startswith(prefix)
    }
    switches, wakeups, migrations = (record.counters.get(name) for name in COUNTERS)
    return Outcome(results, switches, wakeups, migrations, record.busy_during or 0.0)
