"""`schedlab list`: what there is to choose from."""

from collections.abc import Iterator

import click

from schedlab.benchmarks import all_benchmarks
from schedlab.counters.choice import SUMMARIES
from schedlab.errors import KnobError
from schedlab.plan import BenchmarkEntry, all_suites, find_suite
from schedlab.settings import sched_debug
from schedlab.settings.knob import read_features
from schedlab.system import LocalSystem


def _benchmarks() -> Iterator[str]:
    for benchmark in all_benchmarks():
        metrics = ", ".join(f"{m.name} ({m.unit}, {m.better} is better)" for m in benchmark.metrics)
        defaults = ", ".join(f"{key}={value}" for key, value in benchmark.defaults.items())
        yield f"{benchmark.name:24} {benchmark.summary}"
        yield f"{'':24} measures {metrics}; needs {benchmark.tool} ({benchmark.package})"
        yield f"{'':24} parameters: {defaults}"


def _suites() -> Iterator[str]:
    for name in all_suites():
        suite, _ = find_suite(name)
        yield f"{name:24} {suite.title}"
        yield f"{'':24} {', '.join(map(_entry, suite.benchmark))}"


def _entry(entry: BenchmarkEntry) -> str:
    swept = (f" ({key} {', '.join(map(str, values))})" for key, values in entry.axis.items())
    return (entry.label or entry.name) + "".join(swept)


def _counters() -> Iterator[str]:
    for name, summary in SUMMARIES.items():
        yield f"{name:24} {summary}"
    yield f"{'SUBSYSTEM:EVENT':24} any tracepoint of this kernel, on all CPUs, by perf stat"


def _features() -> Iterator[str]:
    system = LocalSystem()
    path = sched_debug.features_path(system)
    try:
        yield from read_features(system, path)
    except KnobError as error:
        raise KnobError(f"the features of this kernel cannot be listed.\n  {error}") from error


_KINDS = {
    "benchmarks": _benchmarks,
    "suites": _suites,
    "counters": _counters,
    "features": _features,
}


@click.command("list")
@click.argument("kind", type=click.Choice(list(_KINDS)))
def list_command(kind: str) -> None:
    """List benchmarks, suites, counters, or the sched features of this kernel."""
    for line in _KINDS[kind]():
        click.echo(line)
