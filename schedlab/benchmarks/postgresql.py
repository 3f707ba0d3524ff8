"""PostgreSQL: a process for each connection of pgbench, which runs its own transactions."""

import functools
from pathlib import Path

from schedlab.base.errors import IncompleteRun, UsageError
from schedlab.benchmarks.benchmark import Command, Output, Span, Values, benchmark
from schedlab.benchmarks.enclosure import Enclosure
from schedlab.benchmarks.latency import (
    HISTOGRAM,
    LATENCY_P50,
    LATENCY_P99,
    PERCENTILES,
    counted,
    keep_histogram,
    percentiles,
)
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
from schedlab.benchmarks.tool import Tool

POSTGRESQL = Tool(
    "postgres",
    package="postgresql",
    version=("postgres", "--version"),
    programs=("postgres", "initdb", "pg_ctl", "pg_isready"),
    folders=("/usr/lib/postgresql/*/bin",),
    in_guests=False,
)
PGBENCH = Tool(
    "pgbench",
    package="postgresql",
    version=("pgbench", "--version"),
    folders=POSTGRESQL.folders,
    use="the clients of PostgreSQL",
    in_guests=False,
)

THROUGHPUT = Metric("throughput", unit="1/s", better="higher", label="Transactions/sec")
_RESULTS = {THROUGHPUT: "throughput", **PERCENTILES}

_PORT = 25432
"""Beside the usual 5432, on which Debian's package keeps a server of its own."""
_SCRATCH = "db"
_LOG = "transactions"
_LOGGED_CLIENTS = 8
"""Of so many clients' worth of transactions the latencies are kept: on two CPUs all, on hundreds
enough for the tail, and always a file that can be brought from another host."""
_LEAST_LOGGED, _FEW = 0.9, 100
"""Transactions are drawn for the log, so that a tenth, or so many, may be missing by chance."""
_TRANSACTIONS = {"select": "select-only", "tpcb": "tpcb-like"}
_LEAST_MEGABYTES = 128
_SCALE_MEGABYTES = 24
"""Of a scale's 100,000 accounts: 15 on disk, and what transactions add; all stay in memory."""

_SETTINGS = {
    "listen_addresses": ADDRESS,
    "unix_socket_directories": "",
    "hba_file": f"{FOLDER}/pg_hba.conf",
    # Nothing of its own accord while it is measured.
    "autovacuum": "off",
    "checkpoint_timeout": "1d",
    "max_wal_size": "64GB",
    # Below its data folder: what it leaves when it is killed goes with its data.
    "dynamic_shared_memory_type": "mmap",
}
_WHO = Enclosure("pg_hba.conf", f"host postgres {LOAD_USER} {CLIENT}/32 trust\n", __name__)
"""Connections of the load's user from its machine, and none else."""
_MAKE_USER = (
    f"printf 'CREATE ROLE {LOAD_USER} LOGIN;\\nALTER DATABASE postgres OWNER TO {LOAD_USER};\\n' |"
    ' postgres --single -D "$1" postgres'
)
_WAIT = (
    'for i in $(seq 300); do pg_isready -q -d postgres "$@" && exit; sleep 0.1; done;'
    ' echo "it takes no connections" >&2; exit 1'
)
"""A server listens before it has read its log, and refuses connections until then."""


def parse(output: Output, share: float = 1.0) -> Values:
    """Read pgbench's rate, and percentiles of the latencies in its log.

    `share` of the transactions are to be in the log: pgbench does not notice a full disk. The log
    is long and does not stay; how often it has each latency is kept beside it.

    Raises:
        IncompleteRun: transactions failed, a figure is missing, or the log is not whole.
    """
    failed = output.number(r"^number of failed transactions: (\d+)", "'failed transactions' line")
    if failed:
        raise IncompleteRun(f"{failed:g} transactions failed")
    rate = output.number(r"^tps = ([\d.]+) \(without", "'tps' line")
    done = output.number(r"^number of transactions actually processed: (\d+)", "'processed' line")
    latencies = _latencies(output.folder)
    if len(latencies) < _LEAST_LOGGED * done * share - _FEW:
        raise IncompleteRun(
            f"pgbench's log has {len(latencies)} latencies, {share:.0%} of {done:g} are expected:"
            " it could not be written"
        )
    counts = counted(latencies)
    keep_histogram(output.folder / HISTOGRAM, counts)
    return {THROUGHPUT: rate, **percentiles(counts)}


def _latencies(folder: Path) -> list[float]:
    """Return the latencies in the logs of pgbench's threads, in microseconds."""
    found: list[float] = []
    for file in sorted(folder.glob(f"{_LOG}.*")):
        try:
            found += [float(line.split()[2]) for line in file.read_text().splitlines()]
        except (OSError, ValueError, IndexError):
            raise IncompleteRun(f"{file.name} is not a log of pgbench's") from None
    return found


def _model(transactions: str, clients: int, threads: int, scale: int, time: Span) -> Model:
    """The same transactions on the model of the server."""
    _check(transactions, clients)
    options = {"transactions": transactions, "clients": clients, "threads": threads}
    return workload_model("postgresql", {**options, "scale": scale, "time": time}, _RESULTS)


def _check(transactions: str, clients: int) -> None:
    check_connections("PostgreSQL", "clients", clients)
    if transactions not in _TRANSACTIONS:
        known = " or ".join(_TRANSACTIONS)
        raise UsageError(f"PostgreSQL: transactions is {known}, not '{transactions}'.")


@benchmark(
    "PostgreSQL",
    tool=POSTGRESQL,
    tools=[PGBENCH],
    metrics=[THROUGHPUT, LATENCY_P50, LATENCY_P99],
    parse=parse,
    model=_model,
    defaults={
        "transactions": "select",
        "clients": "cpus*2",
        "threads": "cpus/2",
        "scale": "cpus*2",
        "time": 10,
    },
)
def postgresql(transactions: str, clients: int, threads: int, scale: int, time: Span) -> Command:
    """Clients of pgbench in a closed loop, each a backend process; select-only or TPC-B-like."""
    _check(transactions, clients)
    there = ("-h", ADDRESS, "-p", PORT, "-U", LOAD_USER)
    load = (
        *("pgbench", *there, "-n", "-b", _TRANSACTIONS[transactions]),
        *("-c", str(clients), "-j", str(min(threads, clients))),
    )
    share = min(1.0, _LOGGED_CLIENTS / clients)
    settings = _SETTINGS | {
        "max_connections": str(clients + 10),
        "shared_buffers": f"{_LEAST_MEGABYTES + scale * _SCALE_MEGABYTES}MB",
    }
    options = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
    folder = f"{_SCRATCH}/data"
    # What it has made stays if it fails, so that a full disk is seen; we remove it.
    init = (
        "initdb",
        "--no-clean",
        "-D",
        folder,
        "-U",
        "postgres",
        "-A",
        "trust",
        "--no-locale",
        "-E",
        "UTF8",
    )
    return Command(
        *(*load, "-T", str(time.whole_seconds)),
        *("-l", f"--log-prefix={_LOG}", f"--sampling-rate={share:.6g}", "postgres"),
        parse=functools.partial(parse, share=share),
        server=Server(
            unprivileged("postgres", "-D", folder, "-p", PORT, *options),
            _PORT,
            seconds=60.0,
            program="postgres",
            data=Data(
                _SCRATCH,
                make=(
                    unprivileged(*init, "--no-sync"),
                    unprivileged("sh", "-c", _MAKE_USER, "sh", folder),
                ),
                fill=(
                    ("sh", "-c", _WAIT, "sh", *there),
                    ("pgbench", *there, "-i", "-q", "-s", str(scale), "postgres"),
                ),
                stop=unprivileged("pg_ctl", "stop", "-D", folder, "-m", "fast", "-w"),
            ),
        ),
        setup=[("sh", "-c", _WAIT, "sh", *there), (*load, "-T", "1", "postgres")],
        enclosures=(_WHO,),
        scratch=(_SCRATCH,),
        passing=(f"{_LOG}.*",),
    )
