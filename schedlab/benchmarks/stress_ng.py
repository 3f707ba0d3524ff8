"""stress-ng: its pipe stressor, writers and readers over pipes in packet mode."""

from schedlab.benchmarks.benchmark import Command, Output, Span, Values
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.stand_in import Options, stand_in
from schedlab.benchmarks.tool import Tool

STRESS_NG = Tool("stress-ng", package="stress-ng", version=("stress-ng", "--version"))

OPS = Metric("bogo_ops", unit="1/s", better="higher", label="Bogo ops/sec")

_ROW = r"^stress-ng: \w+: +\[\d+\] pipe +\d+ +[\d.]+ +[\d.]+ +[\d.]+ +([\d.]+) "
"""Bogo operations, real, user and system time, and operations by real time."""


def parse(output: Output) -> Values:
    """Read the rate by real time, which stress-ng writes to standard error.

    Raises:
        IncompleteRun: there is no row of the pipe stressor.
    """
    return {OPS: Output(output.stderr).number(_ROW, "row of the pipe stressor's metrics")}


def originals(instances: int, time: Span, data_size: int) -> list[Command]:
    """Return stress-ng's own command; it says the size of a message, as versions differ in it."""
    argv = ["stress-ng", "--pipe", str(instances), "--pipe-data-size", str(data_size)]
    argv += ["--timeout", f"{time.whole_seconds}s", "--metrics-brief"]
    return [Command(*argv, parse=parse)]


@stand_in(
    "StressNgPipe",
    workload="stress-ng-pipe",
    stands_for="stress-ng (stress-ng)",
    results={OPS: "bogo ops/s"},
    defaults={"instances": "cpus", "time": 20, "data_size": 512},
    originals=originals,
    tools=[STRESS_NG],
)
def stress_ng_pipe(instances: int, time: Span, data_size: int) -> Options:
    """Pairs of a writer and a reader; each message is a page of its own in the pipe."""
    return {"pipe": instances, "timeout": time, "pipe-data-size": data_size}
