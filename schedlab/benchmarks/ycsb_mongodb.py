"""YCSB on MongoDB: client threads in a closed loop on a document database (your own of both)."""

import re

from schedlab.base.errors import IncompleteRun
from schedlab.benchmarks.benchmark import Command, Output, Values
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.server import PORT, Server
from schedlab.benchmarks.stand_in import Options, stand_in
from schedlab.benchmarks.tool import Tool

YCSB = Tool("YCSB on MongoDB", programs=("ycsb.sh", "mongod"), version=("mongod", "--version"))

THROUGHPUT = Metric("throughput", unit="ops/s", better="higher", label="Throughput (ops/sec)")
READ_P99 = Metric("read_p99", unit="us", better="lower", label="READ 99th percentile (us)")

_RECORDS = 100_000
_PORT = 27018
"""Beside the usual 27017, on which the user may have a database of their own."""


def parse(output: Output) -> Values:
    """Read the throughput and the tail of the reads.

    Raises:
        IncompleteRun: a figure is missing, or an operation failed.
    """
    wrong = re.search(r"^\[(\S+)\], Return=(?!OK)(\S+), (\d+)", output.stdout, re.MULTILINE)
    if wrong:
        raise IncompleteRun(f"{wrong[3]} operations {wrong[1]} ended with {wrong[2]}")
    done = output.number(r"^\[READ\], Operations, (\d+)", "number of reads")
    good = output.number(r"^\[READ\], Return=OK, (\d+)", "number of good reads")
    if good != done:
        raise IncompleteRun(f"{done - good:g} of {done:g} reads failed")
    return {
        THROUGHPUT: output.number(r"^\[OVERALL\], Throughput\(ops/sec\), ([\d.]+)", "throughput"),
        READ_P99: output.number(
            r"^\[READ\], 99thPercentileLatency\(us\), ([\d.]+)", "READ 99th percentile"
        ),
    }


def originals(threads: int, time: int, readproportion: str, updateproportion: str) -> list[Command]:
    """Return YCSB's phase `run` on a mongod of the run's own, after its phase `load`."""
    settings = {
        "mongodb.url": f"mongodb://127.0.0.1:{PORT}/ycsb",
        "workload": "site.ycsb.workloads.CoreWorkload",
        "recordcount": _RECORDS,
        "operationcount": 0,  # until the time is over
        "readproportion": readproportion,
        "updateproportion": updateproportion,
        "scanproportion": 0,
        "insertproportion": 0,
        "requestdistribution": "zipfian",
    }
    words = [word for key, value in settings.items() for word in ("-p", f"{key}={value}")]
    ycsb = ("mongodb", *words, "-threads", str(threads))
    mongod = ("mongod", "--dbpath", "db", "--port", PORT, "--bind_ip", "127.0.0.1")
    return [
        Command(
            *("ycsb.sh", "run", *ycsb, "-p", f"maxexecutiontime={time}"),
            parse=parse,
            server=Server(mongod, _PORT, seconds=30.0),
            setup=[("ycsb.sh", "load", *ycsb)],
            scratch=("db",),
        )
    ]


@stand_in(
    "YcsbMongodb",
    workload="ycsb-mongodb",
    stands_for="YCSB with mongod",
    results={
        THROUGHPUT: "Throughput",
        READ_P99: "READ 99thPercentileLatency",
    },
    # A client and its connection's thread take turns: cpus/5 threads keep a fifth of the CPUs
    # busy, as the published runs' utilisation says.
    defaults={"threads": "cpus/5", "time": 5, "readproportion": "0.5", "updateproportion": "0.5"},
    originals=originals,
    tools=[YCSB],
    alike="ycsb",
)
def ycsb_mongodb(threads: int, time: int, readproportion: str, updateproportion: str) -> Options:
    """Client threads of workload A (half reads, half updates), each with a connection."""
    return {
        "threadcount": threads,
        "operationcount": 0,
        "maxexecutiontime": f"{time}s",
        "recordcount": _RECORDS,
        "readproportion": readproportion,
        "updateproportion": updateproportion,
    }
