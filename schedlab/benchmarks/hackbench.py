"""hackbench: groups of senders and receivers passing small messages (rt-tests)."""

from schedlab.benchmarks.benchmark import Command, Output, Values, benchmark
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.model import Model
from schedlab.benchmarks.tool import Tool

HACKBENCH = Tool(
    "hackbench", package="rt-tests", version=("hackbench", "-h"), required=True, listed=3
)

TIME = Metric("time", unit="s", better="lower", label="Time (sec)")

_FDS = 20
"""Senders, and receivers, of a group by hackbench's default."""


def parse(output: Output) -> Values:
    """Read hackbench's own time, in seconds.

    Raises:
        IncompleteRun: no `Time:` line, so hackbench did not finish.
    """
    return {TIME: output.number(r"^Time:\s*([\d.]+)", "'Time:' line")}


def pages_model(loops: int, groups: int, datasize: int) -> Model:
    """Threads over pipes, with messages of a page."""
    return _model(loops, groups, _FDS, datasize, pipe=True, threads=True)


def _register(name: str, what: str, *, pipe: bool, threads: bool) -> None:
    """Register one of the four: processes or threads, over socket pairs or pipes."""
    words = ["--pipe"] * pipe + ["--threads"] * threads

    def build(loops: int, groups: int, fds: int) -> Command:
        return Command("hackbench", *words, *_groups(groups), *_fds(fds), *_loops(loops))

    def model(loops: int, groups: int, fds: int) -> Model:
        return _model(loops, groups, fds, pipe=pipe, threads=threads)

    build.__doc__ = f"{what}, each group of 20 senders and 20 receivers."
    benchmark(
        name,
        tool=HACKBENCH,
        metrics=[TIME],
        parse=parse,
        defaults={"loops": 20_000, "groups": 10, "fds": _FDS},
        model=model,
        grows="loops",
        alike="hackbench" if pipe and threads else "",
    )(build)


_register("HackbenchForkSockets", "Processes over socket pairs", pipe=False, threads=False)
_register("HackbenchForkPipes", "Processes over pipes", pipe=True, threads=False)
_register(
    "HackbenchSocketThreads", "Threads of one process over socket pairs", pipe=False, threads=True
)
_register("HackbenchPipeThreads", "Threads of one process over pipes", pipe=True, threads=True)


@benchmark(
    "HackbenchPipeThreads4k",
    tool=HACKBENCH,
    metrics=[TIME],
    parse=parse,
    defaults={"loops": 20_000, "groups": 10, "datasize": 4096},
    model=pages_model,
    grows="loops",
)
def hackbench_pipe_threads_4k(loops: int, groups: int, datasize: int) -> Command:
    """As HackbenchPipeThreads, with messages of a page."""
    # Here it is the other way round than with --loops: 2.4 refuses `--datasize 4096`.
    return Command(
        "hackbench",
        "--pipe",
        "--threads",
        *_groups(groups),
        *_loops(loops),
        f"--datasize={datasize}",
    )


def _loops(loops: int) -> tuple[str, str]:
    """Return the number of rounds in two words: hackbench 2.4 refuses a last `--loops=200`."""
    return "--loops", str(loops)


def _groups(groups: int) -> list[str]:
    """Name the number of groups only where it is not hackbench's own 10, as published."""
    return [] if groups == 10 else ["-g", str(groups)]


def _fds(fds: int) -> list[str]:
    """Name the number of senders of a group only where it is not hackbench's own."""
    return [] if fds == _FDS else ["-f", str(fds)]


def _model(
    loops: int, groups: int, fds: int, datasize: int = 100, *, pipe: bool, threads: bool
) -> Model:
    """Return hackbench's behaviour: `fds` senders, each to all receivers of its group."""
    shape = {"groups": groups, "fds": fds, "loops": loops, "datasize": datasize}
    return Model(
        {"kind": "hackbench", **shape, "pipe": pipe, "threads": threads},
        {TIME: "hackbench.time"},
    )
