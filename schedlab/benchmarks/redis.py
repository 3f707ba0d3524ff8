"""Redis: one event loop that answers the connections of redis-benchmark over loopback."""

import csv

from schedlab.base.errors import IncompleteRun, UsageError
from schedlab.benchmarks.benchmark import Command, Output, Values, benchmark
from schedlab.benchmarks.latency import LATENCY_P50, LATENCY_P99, PERCENTILES
from schedlab.benchmarks.model import Model
from schedlab.benchmarks.requests import THROUGHPUT, check_connections
from schedlab.benchmarks.server import ADDRESS, PASSWORD, PORT, Server
from schedlab.benchmarks.stand_in import workload_model
from schedlab.benchmarks.tool import Tool

REDIS = Tool("redis-server", package="redis-server", version=("redis-server", "--version"))
REDIS_BENCHMARK = Tool(
    "redis-benchmark",
    package="redis-tools",
    version=("redis-benchmark", "--version"),
    use="the clients of Redis",
)

_PORT = 16379
"""Beside the usual 6379, on which Debian's package keeps a server of its own."""
_TESTS = ("get", "set")
_KEYS = 10_000
_SCRATCH = "db"


def parse(output: Output) -> Values:
    """Read the rate, and the median and tail of the latencies, of the only test.

    Raises:
        IncompleteRun: there is no row with them, so redis-benchmark did not finish.
    """
    rows = list(csv.DictReader(output.stdout.splitlines()))
    if len(rows) != 1:
        raise IncompleteRun(f"the output has {len(rows)} tests; one was requested")
    try:
        return {
            THROUGHPUT: float(rows[0]["rps"]),
            LATENCY_P50: float(rows[0]["p50_latency_ms"]) * 1e3,
            LATENCY_P99: float(rows[0]["p99_latency_ms"]) * 1e3,
        }
    except (KeyError, TypeError, ValueError):
        raise IncompleteRun("the output has no rate, or no latency of 50 and 99 %") from None


def _check(test: str, clients: int) -> None:
    if test not in _TESTS:
        raise UsageError(f"Redis: test is {' or '.join(_TESTS)}, not '{test}'.")
    check_connections("Redis", "clients", clients)


def _model(test: str, clients: int, requests: int) -> Model:
    """The same requests on the model of the server."""
    _check(test, clients)
    options = {"test": test, "clients": clients, "requests": requests}
    return workload_model("redis", options, {THROUGHPUT: "throughput", **PERCENTILES})


@benchmark(
    "Redis",
    tool=REDIS,
    tools=[REDIS_BENCHMARK],
    metrics=[THROUGHPUT, LATENCY_P50, LATENCY_P99],
    parse=parse,
    model=_model,
    defaults={"test": "get", "clients": 50, "requests": 1_000_000},
    grows="requests",
)
def redis(test: str, clients: int, requests: int) -> Command:
    """Connections in a closed loop on a Redis of 10,000 keys, kept in memory only."""
    _check(test, clients)
    there = ("-h", ADDRESS, "-p", PORT, "-a", PASSWORD)
    ask = ("redis-benchmark", *there, "-r", str(_KEYS), "-d", "64")
    # Ten times as many random keys as there are: all but one in 22,000 is written.
    load = (*ask, "-t", "set", "-n", str(10 * _KEYS), "-P", "16", "-q")
    server = ("redis-server", "--port", PORT, "--bind", ADDRESS, "--requirepass", PASSWORD)
    return Command(
        *(*ask, "-t", test, "-n", str(requests), "-c", str(clients), "--csv"),
        parse=parse,
        server=Server((*server, "--dir", _SCRATCH, "--save", "", "--appendonly", "no"), _PORT),
        setup=[load],
        scratch=(_SCRATCH,),
    )
