"""STREAM: memory bandwidth of all LLCs together (your own build)."""

import functools

from schedlab.base.errors import IncompleteRun, UsageError
from schedlab.benchmarks.benchmark import Command, Output, Values, benchmark
from schedlab.benchmarks.enclosure import Enclosure
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.stand_in import Options, stand_in
from schedlab.benchmarks.tool import Tool

LIKWID = Tool("likwid-bench", package="likwid", version=("likwid-bench", "-v"))
STREAM = Tool("STREAM", programs=("stream-10|stream",))

COPY, SCALE, ADD, TRIAD = (
    Metric(kernel.lower(), unit="MB/s", better="higher", label=f"{kernel} (MB/s)")
    for kernel in ("Copy", "Scale", "Add", "Triad")
)


def parse(output: Output, array_size: int, ntimes: int, threads: int) -> Values:
    """Read STREAM's four best rates.

    Raises:
        IncompleteRun: it was built for other sizes, did not validate, or lacks a kernel.
    """
    asked = {
        r"^Array size = (\d+) \(elements\)": ("array size", "STREAM_ARRAY_SIZE", array_size),
        r"^Each kernel will be executed (\d+) times": ("repetitions", "NTIMES", ntimes),
        r"^Number of Threads counted = (\d+)": ("threads (OpenMP)", "", threads),
    }
    for pattern, (what, macro, wanted) in asked.items():
        found = int(output.number(pattern, what))
        if found != wanted:
            how = f"; build it with -D{macro}={wanted}" if macro else "; build it with -fopenmp"
            raise IncompleteRun(f"this STREAM has {found} as {what}, {wanted} was asked for{how}")
    if "Solution Validates" not in output.stdout:
        raise IncompleteRun("STREAM's own check of its arrays failed")
    return {
        metric: output.number(rf"^{metric.name.capitalize()}:\s+([\d.]+)", f"{metric.name} rate")
        for metric in (COPY, SCALE, ADD, TRIAD)
    }


def originals(array_size: int, ntimes: int, threads: int, bound: str) -> list[Command]:
    """Return the commands of builds of STREAM, whose sizes are compiled in."""
    _unbound(bound)
    read = functools.partial(parse, array_size=array_size, ntimes=ntimes, threads=threads)
    return [
        Command("env", f"OMP_NUM_THREADS={threads}", program, tool=program, parse=read)
        for program in (f"stream-{ntimes}", "stream")
    ]


@stand_in(
    "Stream",
    workload="stream",
    stands_for="STREAM 5.10",
    results={COPY: "Copy", SCALE: "Scale", ADD: "Add", TRIAD: "Triad"},
    # Each array holds four times 32 MiB for every LLC, as STREAM asks of its arrays.
    defaults={"array_size": "llcs*16777216", "ntimes": 10, "threads": "llcs", "bound": "yes"},
    originals=originals,
    tools=[STREAM],
    alike="stream",
)
def stream(array_size: int, ntimes: int, threads: int, bound: str) -> Options:
    """Four loops over arrays that no cache holds, a thread on each LLC."""
    sizes = {"array-size": array_size, "ntimes": ntimes, "threads": threads}
    return sizes | ({"unbound": True} if _unbound(bound) else {})


def _unbound(text: str) -> bool:
    if text not in ("yes", "no"):
        raise UsageError(f"stream: bound is yes (a thread on each LLC) or no, not '{text}'.")
    return text == "no"


_LIKWID = Enclosure(
    "likwid.sh",
    """\
array_size=$1 threads=$2
likwid-bench -t copy -w "N:$((array_size * 2 * 8 / 1000))kB:$threads" &&
    likwid-bench -t stream -w "N:$((array_size * 3 * 8 / 1000))kB:$threads"
""",
    __name__,
)
"""likwid-bench takes the size of all arrays of a kernel together."""


def parse_likwid(output: Output) -> Values:
    """Read the bandwidth of each of the kernels, which run one after the other."""
    kinds = {COPY: "copy", TRIAD: "stream"}
    return {
        metric: output.number(
            rf"^Test: {kind}$(?:\n(?!Test:).*)*?\nMByte/s:\s+([\d.]+)", f"rate of {kind}"
        )
        for metric, kind in kinds.items()
    }


@benchmark(
    "LikwidStream",
    tool=LIKWID,
    metrics=[COPY, TRIAD],
    parse=parse_likwid,
    defaults={"array_size": "llcs*16777216", "threads": "llcs"},
)
def likwid_stream(array_size: int, threads: int) -> Command:
    """Copy and triad of likwid-bench, whose set of kernels has no scale and no add."""
    return Command(
        *("sh", _LIKWID.name, str(array_size), str(threads)),
        tool="likwid-bench",
        enclosures=(_LIKWID,),
    )
