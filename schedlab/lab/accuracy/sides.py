"""A plan for two sides, this host and the simulator, that takes the same of both."""

from collections.abc import Sequence

from schedlab.plan.plan import Blocks, Plan
from schedlab.plan.targets import kind_of
from schedlab.settings.variant import Variant
from schedlab.targets.simulated.scenario import COLD


def plan_of_side(
    title: str,
    suite: str,
    target: str,
    kernel: str | None = None,
    only: Sequence[str] = (),
    *,
    rounds: int = 1,
    counters: Sequence[str] = (),
) -> Plan:
    """Return the plan for a target: figures at their values, and no load warms up.

    Args:
        title: of its reports.
        suite: whose benchmarks it runs.
        target: of the one side or the other.
        kernel: what is simulated, if not the usual kernel.
        only: names of some of the benchmarks.
        rounds: of a pair of runs each on a host; simulated there is one, as all are the same.
        counters: what is counted.
    """
    simulated = kind_of(target).simulated
    own = {"kernel": kernel} if simulated else {}
    return Plan(
        title=title,
        target=target,
        suite=suite,
        only=tuple(only),
        variant=tuple(Variant(name=name, **own) for name in ("first", "second")),
        aa=True,
        exact=simulated,
        blocks=Blocks(looks=(1 if simulated else rounds,), warmup=0),
        load_warmup=COLD,
        counters=tuple(counters),
    )
