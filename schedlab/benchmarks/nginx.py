"""nginx: workers with epoll that serve a small file to wrk's connections over loopback."""

from schedlab.base.errors import UsageError
from schedlab.benchmarks.benchmark import Command, Output, Span, Values, benchmark
from schedlab.benchmarks.enclosure import Enclosure
from schedlab.benchmarks.latency import LATENCY_P50, LATENCY_P99, PERCENTILES
from schedlab.benchmarks.model import Model
from schedlab.benchmarks.requests import THROUGHPUT, check_connections, latency, throughput
from schedlab.benchmarks.server import ADDRESS, CLIENT, PORT, Server
from schedlab.benchmarks.stand_in import workload_model
from schedlab.benchmarks.tool import Tool

NGINX = Tool("nginx", package="nginx-light", version=("nginx", "-v"), folders=("/usr/sbin",))
WRK = Tool("wrk", package="wrk", version=("wrk", "-v"), use="the clients of nginx")

_PORT = 18080
"""Beside the usual 80 and 8080, on which the user may have a server of their own."""
_PAGE = Enclosure("index.html", "0123456789abcde\n" * 64, __name__)
_SCRATCH = "temp"


def parse(output: Output) -> Values:
    """Read wrk's throughput, and the median and tail of its latencies.

    Raises:
        IncompleteRun: requests failed, or a figure is missing.
    """
    return {
        THROUGHPUT: throughput(output),
        LATENCY_P50: latency(output, 50),
        LATENCY_P99: latency(output, 99),
    }


def _configuration(workers: int, connections: int) -> Enclosure:
    """Return the whole configuration: nothing of an installed nginx's is read or written."""
    modules = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    folders = "\n".join(f"    {module}_temp_path {_SCRATCH}/{module};" for module in modules)
    text = f"""\
daemon off;
user root;
pid {_SCRATCH}/nginx.pid;
error_log stderr;
worker_processes {workers};
events {{
    worker_connections {2 * connections + 64};
}}
http {{
    access_log off;
    sendfile on;
    keepalive_requests 1000000000;
{folders}
    server {{
        listen {ADDRESS}:{PORT};
        allow {CLIENT};
        deny all;
        root .;
    }}
}}
"""
    return Enclosure("nginx.conf", text, __name__)


def _check(threads: int, connections: int) -> None:
    check_connections("Nginx", "connections", connections)
    if threads > connections:
        raise UsageError(
            f"Nginx: {threads} threads for {connections} connections: wrk wants at least one for"
            " each."
        )


def _model(workers: int, threads: int, connections: int, time: Span) -> Model:
    """The same connections to the model of the server."""
    _check(threads, connections)
    options = {"workers": workers, "threads": threads, "connections": connections, "time": time}
    return workload_model("nginx", options, {THROUGHPUT: "throughput", **PERCENTILES})


@benchmark(
    "Nginx",
    tool=NGINX,
    tools=[WRK],
    metrics=[THROUGHPUT, LATENCY_P50, LATENCY_P99],
    parse=parse,
    model=_model,
    defaults={"workers": "cpus/2", "threads": "cpus/2", "connections": "cpus*8", "time": 10},
)
def nginx(workers: int, threads: int, connections: int, time: Span) -> Command:
    """Connections of wrk in a closed loop ask nginx for a file of 1 KiB."""
    _check(threads, connections)
    load = ("wrk", "-t", str(threads), "-c", str(connections), "--latency")
    url = f"http://{ADDRESS}:{PORT}/{_PAGE.name}"
    return Command(
        *(*load, "-d", f"{time.whole_seconds}s", url),
        parse=parse,
        server=Server(
            ("nginx", "-e", "stderr", "-p", ".", "-c", "nginx.conf"), _PORT, configured=True
        ),
        setup=[(*load, "-d", "1s", url)],
        enclosures=(_PAGE, _configuration(workers, connections)),
        scratch=(_SCRATCH,),
    )
