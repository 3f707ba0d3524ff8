"""DeathStarBench: a social network of small services that call each other."""

from schedlab.benchmarks.stand_in import Options, stand_in
from schedlab.metric import Metric

THROUGHPUT = Metric("throughput", unit="1/s", better="higher", label="Requests/sec")
LATENCY_P99 = Metric("latency_p99", unit="us", better="lower", label="Latency 99% (us)")


@stand_in(
    "DeathStarBench",
    workload="deathstarbench",
    stands_for="DeathStarBench and wrk2",
    results={THROUGHPUT: "Requests/sec", LATENCY_P99: "Latency p99"},
    defaults={"ccds": 1, "connections": 32, "time": 5},
)
def deathstarbench(ccds: int, connections: int, time: int) -> Options:
    """Services on so many last-level caches, the load on the others: connections for each."""
    return {
        "ccds": ccds,
        "threads": 2 * ccds,
        "connections": connections * ccds,
        "duration": f"{time}s",
    }
