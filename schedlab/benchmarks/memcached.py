"""memcached: threads with an event loop each, asked by libmemcached's memcaslap over loopback."""

import re

from schedlab.base.errors import IncompleteRun
from schedlab.benchmarks.benchmark import Command, Output, Span, Values, benchmark
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.model import Model
from schedlab.benchmarks.requests import check_connections
from schedlab.benchmarks.server import ADDRESS, PORT, Server, unprivileged
from schedlab.benchmarks.stand_in import workload_model
from schedlab.benchmarks.tool import Tool

MEMCACHED = Tool("memcached", package="memcached", version=("memcached", "--version"))
MEMCASLAP = Tool(
    "memcaslap",
    package="libmemcached-tools",
    version=("memcaslap", "--version"),
    use="the clients of memcached",
)

THROUGHPUT = Metric("throughput", unit="1/s", better="higher", label="Operations/sec")
LATENCY = Metric("latency_mean", unit="us", better="lower", label="Mean latency (us)")

_PORT = 21211
"""Beside the usual 11211, on which Debian's package keeps a server of its own."""
_MEBIBYTES = 1024


def parse(output: Output) -> Values:
    """Read the rate and the mean latency; of percentiles memcaslap knows the power of two only.

    Raises:
        IncompleteRun: memcaslap printed no summary, so it did not finish.
    """
    total = output.stdout.rpartition("Total Statistics (")[2]
    mean = re.search(r"^\s*Avg:\s+(\d+)$", total, re.MULTILINE)
    rate = re.search(r"^Run time: \S+ Ops: \d+ TPS: (\d+) ", total, re.MULTILINE)
    if not mean or not rate:
        raise IncompleteRun("the output has no 'Avg:' or no 'TPS:' in its last statistics")
    return {THROUGHPUT: float(rate[1]), LATENCY: float(mean[1])}


def _model(workers: int, threads: int, connections: int, time: Span) -> Model:
    """The same connections to the model of the server."""
    options = {"workers": workers, "threads": threads, "time": time}
    results = {THROUGHPUT: "throughput", LATENCY: "latency mean"}
    return workload_model(
        "memcached", {**options, "connections": _for_each(threads, connections)}, results
    )


def _for_each(threads: int, connections: int) -> int:
    """Return so many connections, or a few more: memcaslap wants as many for every thread."""
    each = -(-connections // threads) * threads
    check_connections("Memcached", "connections", each)
    return each


@benchmark(
    "Memcached",
    tool=MEMCACHED,
    tools=[MEMCASLAP],
    metrics=[THROUGHPUT, LATENCY],
    parse=parse,
    model=_model,
    defaults={"workers": "cpus/2", "threads": "cpus/2", "connections": "cpus*8", "time": 10},
)
def memcached(workers: int, threads: int, connections: int, time: Span) -> Command:
    """Connections in a closed loop on a memcached in memory: nine gets to one set, of 1 KiB."""
    each = _for_each(threads, connections)
    load = ("memcaslap", "-s", f"{ADDRESS}:{PORT}", "-T", str(threads), "-c", str(each))
    server = ("memcached", "-l", ADDRESS, "-p", PORT, "-t", str(workers))
    return Command(
        *(*load, "-t", f"{time.whole_seconds}s", "-S", "1s"),
        parse=parse,
        server=Server(
            unprivileged(*server, "-m", str(_MEBIBYTES), "-c", str(each + 64)),
            _PORT,
            program="memcached",
        ),
        setup=[(*load, "-t", "1s")],
    )
