"""Benchmarks whose program is our own: `schedlab-load` on a host, the same source in the simulator.

It stands in where the field's own tool is not at hand, and says so.
"""

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from schedlab.base.errors import IncompleteRun, UsageError
from schedlab.benchmarks.benchmark import Command, Output, Parameter, Values, benchmark
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.model import Model
from schedlab.benchmarks.tool import Tool
from schedlab.kernels.native import PROGRAM

Options = Mapping[str, object]
"""Options of a workload, by the names `schedlab-load NAME --help` lists."""


def stand_in(
    name: str,
    *,
    workload: str,
    stands_for: str,
    results: Mapping[Metric, str],
    defaults: Mapping[str, Parameter],
    originals: Callable[..., Sequence[Command]] | None = None,
    tools: Sequence[Tool] = (),
    alike: str = "",
) -> Callable[[Callable[..., Options]], Callable[..., Options]]:
    """Register a benchmark run by one of our workloads.

    The decorated function makes the workload's options of the benchmark's parameters;
    `results` names, for each metric, the workload's result. `originals` gives the commands of
    the field's own tool, which are preferred; each has a parser of its own. `tools` are what those
    run, and `alike` is as for any benchmark.
    """

    def register(options: Callable[..., Options]) -> Callable[..., Options]:
        def build(**params: Parameter) -> Sequence[Command]:
            if originals is None:
                return [command(workload, options(**params))]
            try:
                commands, why = [*originals(**params)], f"{stands_for} is not at hand"
            except UsageError as error:
                commands, why = [], str(error)
            note = f"{why.rstrip('.')}; our own {PROGRAM} stands in for it"
            return [*commands, command(workload, options(**params), note)]

        def model(**params: Parameter) -> Model:
            return workload_model(workload, options(**params), results)

        for made in (build, model):
            functools.update_wrapper(made, options)
        benchmark(
            name,
            tool=Tool(PROGRAM, package=f"schedlab's stand-in for {stands_for}"),
            tools=tools,
            alike=alike,
            metrics=list(results),
            parse=lambda output: parse(output, results),
            defaults=defaults,
            model=model,
        )(build)
        return options

    return register


def command(workload: str, options: Options, note: str = "") -> Command:
    """Return the command line of a workload on a host."""
    words = [word for key, value in options.items() for word in _words(key, value)]
    return Command(PROGRAM, workload, *words, "--json", note=note)


def workload_model(workload: str, options: Options, results: Mapping[Metric, str]) -> Model:
    """Return the workload in the simulator."""
    figures = {metric: f"{workload}.{result}" for metric, result in results.items()}
    return Model({"kind": workload, **options}, figures)


def parse(output: Output, results: Mapping[Metric, str]) -> Values:
    """Read the JSON of `schedlab-load`; IncompleteRun if it is none, or a result is not in it."""
    return values_of(output, results, PROGRAM)


def values_of(output: Output, results: Mapping[Metric, str], program: str) -> Values:
    """Return the metrics whose results one of our programs wrote as JSON; IncompleteRun if not."""
    values = named_results(output, program)
    for result in results.values():
        if result not in values:
            raise IncompleteRun(f"{program}'s result has no '{result}'")
    return {metric: values[result] for metric, result in results.items()}


def named_results(output: Output, program: str) -> dict[str, float]:
    """Return all results by name; IncompleteRun where there are none."""
    try:
        report: Any = json.loads(output.stdout)
        return {result["name"]: float(result["value"]) for result in report["results"]}
    except (ValueError, KeyError, TypeError):
        raise IncompleteRun(f"{program} wrote no result") from None


def _words(key: str, value: object) -> list[str]:
    if value is False:
        return []
    return [f"--{key}"] if value is True else [f"--{key}", str(value)]
