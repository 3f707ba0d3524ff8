"""netperf: requests and responses over loopback, each client one at a time."""

from schedlab.benchmarks.benchmark import Span
from schedlab.benchmarks.stand_in import Options, stand_in
from schedlab.metric import Metric

TRANSACTIONS = Metric(
    "transactions_per_client", unit="1/s", better="higher", label="Transactions/sec per client"
)


@stand_in(
    "Netperf",
    workload="netperf",
    stands_for="netperf 2.7",
    results={TRANSACTIONS: "transactions per client"},
    defaults={"test": "TCP_RR", "clients": "cpus/2", "length": 10},
)
def netperf(test: str, clients: int, length: Span) -> Options:
    """Pairs of a netperf and a netserver; one byte to and fro (TCP_RR or UDP_RR)."""
    return {"test": test, "clients": clients, "length": length}
