"""netperf: requests and responses over loopback, each client one at a time."""

from schedlab.base.errors import UsageError
from schedlab.benchmarks.benchmark import Command, Output, Span, Values
from schedlab.benchmarks.copies import SCRIPT, copies_of, read_copies
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.server import ADDRESS, PORT, Server
from schedlab.benchmarks.stand_in import Options, stand_in
from schedlab.benchmarks.tool import Tool

NETPERF = Tool("netperf", programs=("netperf", "netserver"), version=("netperf", "-V"))

TRANSACTIONS = Metric(
    "transactions_per_client", unit="1/s", better="higher", label="Transactions/sec per client"
)

_PORT = 12866
"""Beside the usual 12865, on which Debian's package keeps a netserver of its own."""


def parse(output: Output) -> Values:
    """Read each client's rate and return their mean, as published tables do.

    Raises:
        IncompleteRun: a client found no server, or printed no rate.
    """
    rates = [
        copy.number(r"^THROUGHPUT=([\d.]+)$", "'THROUGHPUT=' line") for copy in read_copies(output)
    ]
    return {TRANSACTIONS: sum(rates) / len(rates)}


def originals(test: str, clients: int, length: Span, pinned: str) -> list[Command]:
    """Return netperf's own command: so many clients of one netserver."""
    client = ["netperf", "-4", "-H", ADDRESS, "-p", PORT, "-t", test]
    client += ["-l", str(length.whole_seconds), "-P", "0", "--", "-k", "THROUGHPUT"]
    return [
        Command(
            *copies_of(clients, *client, pinned=_pinned(pinned)),
            tool="netperf",
            parse=parse,
            enclosures=(SCRIPT,),
            server=Server(("netserver", "-D", "-4", "-L", ADDRESS, "-p", PORT), _PORT),
        )
    ]


@stand_in(
    "Netperf",
    workload="netperf",
    stands_for="netperf 2.7",
    results={TRANSACTIONS: "transactions per client"},
    defaults={"test": "TCP_RR", "clients": "cpus/2", "length": 10, "pinned": "no"},
    originals=originals,
    tools=[NETPERF],
    alike="netperf",
)
def netperf(test: str, clients: int, length: Span, pinned: str) -> Options:
    """Pairs of a netperf and a netserver; one byte to and fro (TCP_RR or UDP_RR)."""
    return {"test": test, "clients": clients, "length": length, "pinned": _pinned(pinned)}


def _pinned(text: str) -> bool:
    if text not in ("yes", "no"):
        raise UsageError(f"netperf: pinned is yes (client i on CPU i) or no, not '{text}'.")
    return text == "yes"
