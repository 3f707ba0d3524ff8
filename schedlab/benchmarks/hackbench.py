"""hackbench: groups of senders and receivers passing small messages (rt-tests)."""

from schedlab.benchmarks.benchmark import Command, Output, Values, benchmark
from schedlab.metric import Metric
from schedlab.models.model import Model

TIME = Metric("time", unit="s", better="lower", label="Time (sec)")


def parse(output: Output) -> Values:
    """Read hackbench's own time, in seconds.

    Raises:
        IncompleteRun: no `Time:` line, so hackbench did not finish.
    """
    return {TIME: output.number(r"^Time:\s*([\d.]+)", "'Time:' line")}


def sockets_model(loops: int, groups: int) -> Model:
    """Groups of processes over socket pairs."""
    return _model(loops, groups, pipe=False, threads=False)


def pipes_model(loops: int, groups: int) -> Model:
    """Groups of threads over pipes."""
    return _model(loops, groups, pipe=True, threads=True)


def pages_model(loops: int, groups: int, datasize: int) -> Model:
    """As `pipes_model`, with messages of a page."""
    return _model(loops, groups, datasize, pipe=True, threads=True)


@benchmark(
    "HackbenchForkSockets",
    tool="hackbench",
    package="rt-tests",
    metrics=[TIME],
    parse=parse,
    defaults={"loops": 20_000, "groups": 10},
    model=sockets_model,
)
def hackbench_fork_sockets(loops: int, groups: int) -> Command:
    """Processes over socket pairs, each group of 20 senders and 20 receivers."""
    return Command("hackbench", *_groups(groups), *_loops(loops))


@benchmark(
    "HackbenchPipeThreads",
    tool="hackbench",
    package="rt-tests",
    metrics=[TIME],
    parse=parse,
    defaults={"loops": 20_000, "groups": 10},
    model=pipes_model,
)
def hackbench_pipe_threads(loops: int, groups: int) -> Command:
    """Threads of one process over pipes, each group of 20 senders and 20 receivers."""
    return Command("hackbench", "--pipe", "--threads", *_groups(groups), *_loops(loops))


@benchmark(
    "HackbenchPipeThreads4k",
    tool="hackbench",
    package="rt-tests",
    metrics=[TIME],
    parse=parse,
    defaults={"loops": 20_000, "groups": 10, "datasize": 4096},
    model=pages_model,
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
    """Give the number of rounds in two words: hackbench 2.4 refuses a last `--loops=200`."""
    return "--loops", str(loops)


def _groups(groups: int) -> list[str]:
    """Name the number of groups only where it is not hackbench's own 10, as published."""
    return [] if groups == 10 else ["-g", str(groups)]


def _model(loops: int, groups: int, datasize: int = 100, *, pipe: bool, threads: bool) -> Model:
    """Give hackbench's behaviour: 20 senders, each to all 20 receivers of its group."""
    shape = {"groups": groups, "fds": 20, "loops": loops, "datasize": datasize}
    return Model(
        {"kind": "hackbench", **shape, "pipe": pipe, "threads": threads},
        {TIME: "hackbench.time"},
    )
