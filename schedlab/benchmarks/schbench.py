"""schbench: workers woken in batches, before and after its rewrite of 2023."""

from schedlab.benchmarks.benchmark import Span
from schedlab.benchmarks.stand_in import Options, stand_in
from schedlab.metric import Metric

LATENCY_P50 = Metric("latency_p50", unit="us", better="lower", label="Latency p50 (us)")
LATENCY_P99 = Metric("latency_p99", unit="us", better="lower", label="Latency p99 (us)")
WAKEUP_P99 = Metric("wakeup_p99", unit="us", better="lower", label="Wakeup p99 (us)")
REQUEST_P99 = Metric("request_p99", unit="us", better="lower", label="Request p99 (us)")
RPS = Metric("rps", unit="1/s", better="higher", label="Requests/sec")


@stand_in(
    "SchbenchOld",
    workload="schbench-old",
    stands_for="schbench before 2023",
    results={LATENCY_P99: "latency p99", LATENCY_P50: "latency p50"},
    defaults={"message_threads": 2, "workers": 16, "runtime": 30},
)
def schbench_old(message_threads: int, workers: int, runtime: Span) -> Options:
    """Message threads wake all their workers at once, and each spins for 30 ms."""
    return {"message-threads": message_threads, "threads": workers, "runtime": runtime}


@stand_in(
    "Schbench",
    workload="schbench",
    stands_for="schbench since 2023",
    results={WAKEUP_P99: "wakeup p99", REQUEST_P99: "request p99", RPS: "average rps"},
    defaults={"message_threads": 1, "workers": "cpus", "runtime": 30},
)
def schbench(message_threads: int, workers: int, runtime: Span) -> Options:
    """Workers multiply matrices under a lock of their CPU, a request at a time."""
    return {"message-threads": message_threads, "threads": workers, "runtime": runtime}
