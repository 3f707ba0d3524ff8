"""Any of our own workloads with its options, and one of its figures: the suite `validate`."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

from schedlab.base.errors import UsageError
from schedlab.benchmarks.benchmark import Command, Output, benchmark
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.model import Model
from schedlab.benchmarks.stand_in import command, named_results, parse, workload_model
from schedlab.benchmarks.tool import Tool
from schedlab.kernels.native import PROGRAM

NAME = "Load"
RATE = Metric("rate", unit="of the load", better="higher", label="Rate (the load's own)")
TIME = Metric("time", unit="of the load", better="lower", label="Time (the load's own)")
_METRICS = {metric.better: metric for metric in (RATE, TIME)}


def figure_of(load: str, figure: str, better: str, per: str) -> Sequence[Metric]:
    """Return the one metric of a case, by which way is better.

    Raises:
        UsageError: `better` is neither way.
    """
    if better not in _METRICS:
        raise UsageError(f"{NAME}: better: '{better}' is neither {' nor '.join(_METRICS)}.")
    return [_METRICS[better]]


def counter(result: str) -> str:
    """Return the name under which a result of the load stands among the counters of its run."""
    return f"load:{result}"


def counted(results: Mapping[str, float]) -> dict[str, float]:
    """Return a load's results under their names among counters."""
    return {counter(name): value for name, value in results.items()}


def _read(load: str) -> tuple[str, dict[str, object]]:
    """Return the workload of a command line, and its options."""
    workload, *words = shlex.split(load)
    options: dict[str, object] = {}
    key = ""
    for word in words:
        if word.startswith("--"):
            key = word.removeprefix("--")
            options[key] = True
        elif options.get(key) is True:
            options[key] = int(word) if word.isdigit() else word
        else:
            raise UsageError(f"{NAME}: load: expected --OPTION or its value, found '{word}'.")
    return workload, options


def _model(load: str, figure: str, better: str, per: str) -> Model:
    """The same load in the simulator."""
    workload, options = _read(load)
    results = {figure_of(load, figure, better, per)[0]: figure}
    return replace(workload_model(workload, options, results), count=counted)


@benchmark(
    NAME,
    tool=Tool(PROGRAM, package="schedlab's own tool"),
    metrics=[RATE, TIME],
    parse=lambda output: parse(output, {}),
    defaults={
        "load": "sched-pipe --loop 20000",
        "figure": "ops/sec",
        "better": "higher",
        "per": "20000",
    },
    model=_model,
    select=figure_of,
    count=lambda output: counted(named_results(output, PROGRAM)),
)
def load(load: str, figure: str, better: str, per: str) -> Command:
    """A workload of `schedlab-load` and one of its figures; `per` counts its operations."""
    [metric] = figure_of(load, figure, better, per)

    def read(output: Output) -> dict[Metric, float]:
        return parse(output, {metric: figure})

    made = command(*_read(load))
    return Command(*made.argv, parse=read)
