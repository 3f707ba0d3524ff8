"""`schedlab list`: benchmarks, plans, suites, counters and sched features."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from schedlab.base.errors import KnobError, UsageError
from schedlab.base.system import LocalSystem
from schedlab.cli.echo import echo
from schedlab.cli.names import KERNEL

if TYPE_CHECKING:
    from schedlab.plan.plan import BenchmarkEntry

_ANY_MACHINE = "smp4"
"""A kernel's features come up alike on every machine."""


def _benchmarks() -> Iterator[str]:
    from schedlab.benchmarks import all_benchmarks

    for benchmark in all_benchmarks():
        metrics = ", ".join(f"{m.name} ({m.unit}, {m.better} is better)" for m in benchmark.metrics)
        defaults = ", ".join(f"{key}={value}" for key, value in benchmark.defaults.items())
        yield f"{benchmark.name:24} {benchmark.summary}"
        yield f"{'':24} measures {metrics}; needs {benchmark.tool.name} ({benchmark.tool.package})"
        yield f"{'':24} parameters: {defaults}"


def _suites() -> Iterator[str]:
    from schedlab.plan.plan import all_suites, find_suite

    for name in all_suites():
        suite, _ = find_suite(name)
        yield f"{name:24} {suite.title}"
        yield f"{'':24} {', '.join(map(_entry, suite.benchmark))}"


def _plans() -> Iterator[str]:
    from schedlab.plan.plan import all_plans, find_plan

    for name in all_plans():
        plan, _ = find_plan(name)
        yield f"{name:32} {plan.title}"


def _entry(entry: "BenchmarkEntry") -> str:
    swept = (f" ({key} {', '.join(map(str, values))})" for key, values in entry.axis.items())
    return (entry.label or entry.name) + "".join(swept)


def _counters() -> Iterator[str]:
    from schedlab.counters import all_groups

    for name, group in all_groups().items():
        yield f"{name:24} {group.summary}"
    yield f"{'SUBSYSTEM:EVENT':24} any tracepoint of this kernel, on all CPUs, by perf stat"


def _features(kernel: str | None) -> Iterator[str]:
    from schedlab.cli.watcher import ConsoleWatcher
    from schedlab.settings import sched_debug
    from schedlab.settings.knob import read_features
    from schedlab.settings.variant import Variant
    from schedlab.targets.sim import SimTarget

    if kernel:
        yield from SimTarget(_ANY_MACHINE, ConsoleWatcher()).features(
            Variant(name="base", kernel=kernel)
        )
        return
    system = LocalSystem()
    path = sched_debug.features_path(system)
    try:
        yield from read_features(system, path)
    except KnobError as error:
        raise KnobError(
            f"the features of this kernel cannot be listed.\n  {error}"
            "\n  `schedlab list features --kernel NAME` lists those of a simulated kernel."
        ) from error


_KINDS = {"benchmarks": _benchmarks, "plans": _plans, "suites": _suites, "counters": _counters}
_ELSEWHERE = {
    "machines": "machine list",
    "kernels": "kernel list",
    "schedulers": "scx list",
    "checks": "check --list",
    "docs": "docs",
}
"""What other commands list."""


class _Kind(click.Choice[str]):
    """What can be listed here; of what is listed elsewhere the command is named."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value in _ELSEWHERE:
            self.fail(f"`schedlab {_ELSEWHERE[value]}` lists the {value}.", param, ctx)
        return super().convert(value, param, ctx)


@click.command("list")
@click.argument("kind", type=_Kind([*_KINDS, "features"]))
@click.option("--kernel", type=KERNEL, metavar="NAME", help="Features of this simulated kernel.")
def list_command(kind: str, kernel: str | None) -> None:
    """List benchmarks, plans, suites, counters, or the sched features of this kernel."""
    if kernel and kind != "features":
        raise UsageError(f"--kernel: {kind} are the same for every kernel.")
    if kernel:
        from schedlab.kernels.shelf import check_name

        check_name(kernel)
    for line in _KINDS[kind]() if kind in _KINDS else _features(kernel):
        echo(line)
