"""tbench: a file server's network traffic over loopback TCP (dbench)."""

from schedlab.benchmarks.benchmark import Command, Output, Server, Span, Values, benchmark
from schedlab.benchmarks.stand_in import workload_model
from schedlab.errors import IncompleteRun
from schedlab.metric import Metric
from schedlab.models.model import Model

THROUGHPUT = Metric("throughput", unit="MB/s", better="higher", label="Throughput (MB/sec)")

_PORT = 7003  # tbench_srv has no option for another


def parse(output: Output) -> Values:
    """Read the throughput.

    Raises:
        IncompleteRun: no summary; or clients that found no server, which tbench calls a result.
    """
    if "failed to start" in output.stdout:
        raise IncompleteRun("clients failed to start: no tbench_srv answered")
    return {THROUGHPUT: output.number(r"^Throughput ([\d.]+) MB/sec", "'Throughput' line")}


def model(time: Span, clients: int) -> Model:
    """Clients and servers with the exchanges of tbench's load file."""
    return workload_model(
        "tbench", {"nprocs": clients, "timelimit": time}, {THROUGHPUT: "Throughput"}
    )


@benchmark(
    "Tbench",
    tool="tbench",
    package="dbench",
    metrics=[THROUGHPUT],
    parse=parse,
    defaults={"time": 60, "clients": "cpus"},
    model=model,
)
def tbench(time: Span, clients: int) -> Command:
    """Client and server processes in pairs, exchanging requests over loopback TCP."""
    server = Server(("tbench_srv",), _PORT)
    return Command(
        *("tbench", "-t", str(time.whole_seconds), str(clients), "127.0.0.1"),
        version=("--help",),
        server=server,
    )
