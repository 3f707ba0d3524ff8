"""YCSB on MongoDB: client threads in a closed loop on a document database."""

from schedlab.benchmarks.stand_in import Options, stand_in
from schedlab.metric import Metric

THROUGHPUT = Metric("throughput", unit="ops/s", better="higher", label="Throughput (ops/sec)")
READ_P99 = Metric("read_p99", unit="us", better="lower", label="READ 99th percentile (us)")


@stand_in(
    "YcsbMongodb",
    workload="ycsb-mongodb",
    stands_for="YCSB and mongod",
    results={
        THROUGHPUT: "Throughput",
        READ_P99: "READ 99thPercentileLatency",
    },
    # A client and its connection's thread take turns: cpus/5 threads keep a fifth of the CPUs
    # busy, as the utilisation told of the published runs.
    defaults={"threads": "cpus/5", "time": 5, "readproportion": "0.5", "updateproportion": "0.5"},
)
def ycsb_mongodb(threads: int, time: int, readproportion: str, updateproportion: str) -> Options:
    """Client threads of workload A (half reads, half updates), each with a connection."""
    return {
        "threadcount": threads,
        "operationcount": 0,
        "maxexecutiontime": f"{time}s",
        "recordcount": 100_000,
        "readproportion": readproportion,
        "updateproportion": updateproportion,
    }
