"""Requests to a server: what their clients measure, and how wrk and wrk2 print it."""

import re

from schedlab.base.errors import IncompleteRun, UsageError
from schedlab.benchmarks.benchmark import Output
from schedlab.benchmarks.metric import Metric

THROUGHPUT = Metric("throughput", unit="1/s", better="higher", label="Requests/sec")

_PORTS = 28_232
"""An address has so many ports for connections that it makes: Linux's net.ipv4.ip_local_port_range,
32768 to 60999. The load has one address, and the server one port."""

_MICROSECONDS = {"us": 1.0, "ms": 1e3, "s": 1e6, "m": 60e6}


def check_connections(benchmark: str, parameter: str, connections: int) -> None:
    """Refuse more connections to a server than one address can make."""
    if connections > _PORTS:
        raise UsageError(
            f"{benchmark}: {parameter} is at most {_PORTS:,}, not {connections:,}: the load has one"
            " address, and that has no more ports for connections to a server."
        )


def throughput(output: Output) -> float:
    """Return the requests a second; IncompleteRun if requests failed, or the figure is missing."""
    for pattern in (r"Non-2xx or 3xx responses: \d+", r"Socket errors: .*"):
        if wrong := re.search(pattern, output.stdout):
            raise IncompleteRun(f"requests failed: {wrong[0]}")
    return output.number_after("Requests/sec:")


def latency(output: Output, percent: int) -> float:
    """Return a percentile of the latencies in microseconds; IncompleteRun where there is none."""
    row = rf"^\s*{percent}(?:\.000)?%\s+([\d.]+)(us|ms|s|m)$"
    if not (found := re.search(row, output.stdout, re.MULTILINE)):
        raise IncompleteRun(f"the output has no latency of {percent} %")
    return float(found[1]) * _MICROSECONDS[found[2]]
