"""MariaDB: a thread for each connection of sysbench, which asks and changes rows of tables."""

import re
from collections.abc import Mapping

from schedlab.base.errors import UsageError
from schedlab.benchmarks.benchmark import Command, Output, Span, Values, benchmark
from schedlab.benchmarks.enclosure import Enclosure
from schedlab.benchmarks.latency import LATENCY_P50, LATENCY_P99, PERCENTILES, percentiles
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.model import Model
from schedlab.benchmarks.requests import check_connections
from schedlab.benchmarks.server import (
    ADDRESS,
    CLIENT,
    FOLDER,
    LOAD_USER,
    PORT,
    Data,
    Server,
    unprivileged,
)
from schedlab.benchmarks.stand_in import workload_model
from schedlab.benchmarks.sysbench import SYSBENCH
from schedlab.benchmarks.tool import Tool

MARIADB = Tool(
    "mariadbd",
    package="mariadb-server",
    version=("mariadbd", "--version"),
    programs=("mariadbd", "mariadb-install-db", "mariadb"),
    folders=("/usr/sbin",),
    in_guests=False,
)

THROUGHPUT = Metric("throughput", unit="1/s", better="higher", label="Transactions/sec")
_RESULTS = {THROUGHPUT: "throughput", **PERCENTILES}

_PORT = 23306
"""Beside the usual 3306, on which Debian's package keeps a server of its own."""
_SCRATCH = "db"
_TRANSACTIONS = {
    "read_only": "oltp_read_only",
    "read_write": "oltp_read_write",
    "point_select": "oltp_point_select",
}
_HANDLING = {"threads": "one-thread-per-connection", "pool": "pool-of-threads"}
_PLAIN = "--no-defaults"
"""Nothing of an installed MariaDB's configuration is read."""
_WHO = Enclosure(
    "users.sql",
    f"CREATE USER IF NOT EXISTS '{LOAD_USER}'@'{CLIENT}';\n"
    f"GRANT ALL ON sbtest.* TO '{LOAD_USER}'@'{CLIENT}';\n"
    f"GRANT SHUTDOWN ON *.* TO '{LOAD_USER}'@'{CLIENT}';\n",
    __name__,
)
"""Lets the load's user in from its machine, at the tables alone."""
_LEAST_BUFFERS = 128 << 20
_ROW_BYTES = 512
"""Of a table of sysbench's: half of it on disk with its index, and what transactions add."""
_IN_HISTOGRAM = r"^\s*([\d.]+) \|\**\s+(\d+)\s*$"


def parse(output: Output) -> Values:
    """Read sysbench's rate of transactions, and percentiles of its histogram of latencies.

    Raises:
        IncompleteRun: a figure is missing.
    """
    rate = output.number(r"^\s*transactions:.*\(([\d.]+) per sec", "'transactions' line")
    rows = re.findall(_IN_HISTOGRAM, output.stdout, re.MULTILINE)
    latencies = {float(milliseconds) * 1e3: int(count) for milliseconds, count in rows}
    return {THROUGHPUT: rate, **percentiles(latencies)}


def _buffers(rows: int) -> int:
    """Return the bytes in which all rows stay in memory."""
    return _LEAST_BUFFERS + rows * _ROW_BYTES


def _check(name: str, word: str, known: Mapping[str, str]) -> None:
    if word not in known:
        raise UsageError(f"MariaDB: {name} is one of {', '.join(known)}, not '{word}'.")


def _model(
    transactions: str, threads: int, tables: int, rows: int, handling: str, time: Span
) -> Model:
    """The same transactions on the model of the server, whose rows are never waited for."""
    _check("transactions", transactions, _TRANSACTIONS)
    _check("handling", handling, _HANDLING)
    check_connections("MariaDB", "threads", threads)
    options = {"transactions": transactions, "threads": threads, "handling": handling}
    return workload_model("mariadb", {**options, "time": time}, _RESULTS)


@benchmark(
    "MariaDB",
    tool=MARIADB,
    tools=[SYSBENCH],
    metrics=[THROUGHPUT, LATENCY_P50, LATENCY_P99],
    parse=parse,
    model=_model,
    defaults={
        "transactions": "read_only",
        "threads": "cpus*2",
        "tables": "cpus",
        "rows": 50_000,
        "handling": "threads",
        "time": 10,
    },
)
def mariadb(
    transactions: str, threads: int, tables: int, rows: int, handling: str, time: Span
) -> Command:
    """Threads of sysbench in a closed loop: read_only, read_write or point_select of its OLTP."""
    _check("transactions", transactions, _TRANSACTIONS)
    _check("handling", handling, _HANDLING)
    check_connections("MariaDB", "threads", threads)
    there = (f"--mysql-host={ADDRESS}", f"--mysql-port={PORT}", f"--mysql-user={LOAD_USER}")
    tables_there = (*there, f"--tables={tables}", f"--table-size={rows}")
    test = ("sysbench", _TRANSACTIONS[transactions], *tables_there)
    load = (*test, f"--threads={threads}")
    ask = ("mariadb", _PLAIN, "-h", ADDRESS, "-P", PORT, "-u", LOAD_USER)
    folder = f"{FOLDER}/{_SCRATCH}/data"
    return Command(
        *(*load, f"--time={time.whole_seconds}", "--histogram=on", "run"),
        parse=parse,
        server=Server(
            unprivileged(
                *("mariadbd", _PLAIN, f"--datadir={folder}", f"--bind-address={ADDRESS}"),
                *(f"--port={PORT}", "--socket=mariadb.sock", "--skip-name-resolve"),
                f"--init-file={FOLDER}/{_WHO.name}",
                *(
                    f"--thread-handling={_HANDLING[handling]}",
                    f"--max-connections={threads + 10}",
                    f"--innodb-buffer-pool-size={_buffers(tables * rows)}",
                ),
            ),
            _PORT,
            seconds=60.0,
            program="mariadbd",
            data=Data(
                _SCRATCH,
                make=(
                    unprivileged(
                        *("mariadb-install-db", _PLAIN, f"--datadir={folder}", "--skip-test-db"),
                        "--auth-root-authentication-method=socket",
                    ),
                ),
                fill=(
                    (*ask, "-e", "CREATE DATABASE sbtest"),
                    (*test, f"--threads={min(threads, tables)}", "prepare"),
                ),
                stop=(*ask, "-e", "SHUTDOWN"),
            ),
        ),
        setup=[(*load, "--time=1", "run")],
        enclosures=(_WHO,),
        scratch=(_SCRATCH,),
    )
