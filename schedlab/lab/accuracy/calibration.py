"""A machine file's costs for this host: found so that simulated operations take what real ones do.

The workload `micro` times single operations. It is run here once, and simulated again and again:
each pass moves every constant by what its operation is still off, until all agree.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from schedlab.lab.accuracy.single import Outcome

Costs = Mapping[str, str | int]
"""As in a machine file: times as texts with a unit, counts as numbers."""

PASSES = 8
"""More than are needed: constants act on few operations each, nearly in proportion."""

CYCLES = "1000 cycles"
"""Among the constants, what stands for the core's frequency."""


@dataclass(frozen=True)
class Step:
    """Constants that share in what an operation is off, and how often it pays them."""

    operation: str
    times: float
    constants: tuple[str, ...]


STEPS = (
    Step("syscall", 1, ("syscall",)),
    Step("clock read", 1, ("clock_read",)),
    Step("atomic", 1, ("lock",)),
    Step("1000 cycles", 1, (CYCLES,)),
    Step("1000 divisions", 1, ("divide_per_1000",)),
    Step("futex wake", 1, ("futex",)),
    Step("poll", 1, ("poll",)),
    Step("pipe turn", 2, ("pipe",)),
    Step("pipe turn of a page", 8, ("copy_per_kb",)),
    Step("unix send", 1, ("unix_send",)),
    Step("unix receive", 1, ("unix_receive",)),
    Step("tcp send", 1, ("tcp_send",)),
    Step("tcp receive", 1, ("tcp_receive",)),
    Step("receive of nothing", 1, ("receive_nothing",)),
    Step("epoll change", 1, ("epoll_change",)),
    Step("epoll drop and add", 2, ("epoll_add",)),
    Step("epoll wait", 1, ("epoll_wait",)),
    Step("udp send", 1, ("udp_send",)),
    Step("udp receive", 1, ("udp_receive",)),
    Step("fault", 1, ("fault",)),
    Step("fork, exit, wait", 1, ("fork", "fork_child", "exit")),
    Step("fork, exec, exit, wait", 1, ("exec",)),
    Step("round trip on one CPU", 2, ("schedule", "wakeup")),
    Step("write that wakes another CPU", 1, ("ipi_send",)),
    Step("round trip to another CPU", 2, ("ipi_latency",)),
)

LINES = ("line_core", "line_cluster", "line_llc", "line_node", "line_package", "line_remote")
"""Constants of a cache line's way, by distance."""


@dataclass(frozen=True)
class Calibrated:
    """The costs found, and how far each operation is still off, in percent of the real one."""

    costs: Costs
    measured: Mapping[str, float]
    """The constants that were measured here, in ns."""
    off: Mapping[str, float]


def calibrate(
    native: Outcome,
    simulate: Callable[[Costs], Outcome],
    start: Costs,
    lines: Mapping[str, float],
) -> Calibrated:
    """Find the costs.

    Args:
        native: of `micro` here.
        simulate: runs `micro` on the machine with such costs.
        start: a complete set; what `micro` says nothing about stays as it is.
        lines: what a cache line's way takes here, in ns, by the constant of the distance.
    """
    found = {name: _ns(value) for name, value in start.items() if isinstance(value, str)}
    steps = [step for step in STEPS if step.operation in native.results]
    measured = {name for step in steps for name in step.constants}
    found |= lines
    _keep_order(found, lines)
    measured |= set(lines)
    off: dict[str, float] = {}
    for last in [False] * PASSES + [True]:
        simulated = simulate(_texts(start, found))
        for step in steps:
            real, ours = native.results[step.operation], simulated.results[step.operation]
            off[step.operation] = 100 * (ours / real - 1)
            if not last:
                _move(found, step, real - ours)
    return Calibrated(_texts(start, found), {name: found[name] for name in measured}, off)


def _move(found: dict[str, float], step: Step, ns: float) -> None:
    """Spread a difference over a step's constants in proportion to what they are now."""
    total = sum(found[name] for name in step.constants) or 1.0
    for name in step.constants:
        share = found[name] / total if total != 1.0 else 1 / len(step.constants)
        found[name] = max(0.0, found[name] + ns / step.times * share)


def _keep_order(found: dict[str, float], lines: Mapping[str, float]) -> None:
    """A line from farther away never comes sooner: estimates follow what is measured."""
    for place, name in enumerate(LINES):
        if name in lines:
            continue
        nearer = [lines[other] for other in LINES[:place] if other in lines]
        farther = [lines[other] for other in LINES[place:] if other in lines]
        found[name] = min([max([found[name], *nearer]), *farther])


def _ns(text: str) -> float:
    for unit, factor in (("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)):
        if text.endswith(unit):
            return float(text.removesuffix(unit)) * factor
    raise ValueError(text)


def _texts(start: Costs, found: Mapping[str, float]) -> Costs:
    return {name: f"{found[name]:.0f}ns" if name in found else start[name] for name in start}
