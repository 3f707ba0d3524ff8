"""tbench: a file server's network traffic over loopback TCP (dbench)."""

from schedlab.base.errors import IncompleteRun
from schedlab.benchmarks.benchmark import Command, Output, Span, Values
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.server import Server
from schedlab.benchmarks.stand_in import Options, stand_in
from schedlab.benchmarks.tool import Tool

TBENCH = Tool(
    "tbench",
    package="dbench",
    version=("tbench", "--help"),
    files=("/usr/share/dbench/client.txt",),
)
TBENCH_SRV = Tool("tbench_srv", package="dbench", use="the server tbench talks to")

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


def originals(time: Span, clients: int) -> list[Command]:
    """Return tbench's own command, with a server of the run's own."""
    return [
        Command(
            *("tbench", "-t", str(time.whole_seconds), str(clients), "127.0.0.1"),
            parse=parse,
            server=Server(("tbench_srv",), _PORT),
        )
    ]


@stand_in(
    "Tbench",
    workload="tbench",
    stands_for="tbench 4.0 (Debian's package dbench)",
    results={THROUGHPUT: "Throughput"},
    defaults={"time": 60, "clients": "cpus"},
    originals=originals,
    tools=[TBENCH, TBENCH_SRV],
    alike="tbench",
)
def tbench(time: Span, clients: int) -> Options:
    """Client and server processes in pairs, exchanging requests over loopback TCP."""
    return {"nprocs": clients, "timelimit": time}
