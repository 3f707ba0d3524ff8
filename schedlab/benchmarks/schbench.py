"""schbench: workers woken in batches, before and after its rewrite of 2023 (your own build)."""

import functools
import re

from schedlab.benchmarks.benchmark import Command, Output, Span, Values
from schedlab.benchmarks.stand_in import Options, stand_in
from schedlab.errors import IncompleteRun
from schedlab.metric import Metric

LATENCY_P50 = Metric("latency_p50", unit="us", better="lower", label="Latency p50 (us)")
LATENCY_P99 = Metric("latency_p99", unit="us", better="lower", label="Latency p99 (us)")
WAKEUP_P99 = Metric("wakeup_p99", unit="us", better="lower", label="Wakeup p99 (us)")
REQUEST_P99 = Metric("request_p99", unit="us", better="lower", label="Request p99 (us)")
RPS = Metric("rps", unit="1/s", better="higher", label="Requests/sec")

_TABLE = re.compile(
    r"^(?:(?P<of>\w+) )?Latenc(?:y|ies) percentiles \(usec\)"
    r"(?: runtime (?P<runtime>\d+) \(s\))?.*\n"
    r"(?P<rows>(?:\s+.*\n?)*)",
    re.MULTILINE,
)


def parse_old(output: Output, runtime: int) -> Values:
    """Read the last table of latencies, which schbench before 2023 writes to standard error.

    Raises:
        IncompleteRun: there is none, or none of the whole time; or it is of the later schbench.
    """
    rows = _last_table(output, "", runtime, "named schbench-old has to be that of before 2023")
    return {LATENCY_P50: _percentile(rows, "50"), LATENCY_P99: _percentile(rows, "99")}


def parse(output: Output, runtime: int) -> Values:
    """Read the last tables of wakeup and request latencies, and the rate of requests.

    Raises:
        IncompleteRun: one is missing, or not of the whole time; or it is of the older schbench.
    """
    hint = "before 2023 has to be named schbench-old"
    wakeup = _last_table(output, "Wakeup", runtime, hint)
    request = _last_table(output, "Request", runtime, hint)
    rate = Output(output.stderr).number(r"^average rps: ([\d.]+)", "'average rps' line")
    return {
        WAKEUP_P99: _percentile(wakeup, "99"),
        REQUEST_P99: _percentile(request, "99"),
        RPS: rate,
    }


def _last_table(output: Output, of: str, runtime: int, hint: str) -> str:
    """Give the rows of the last table, which it writes anew every ten seconds."""
    found = list(_TABLE.finditer(output.stderr))
    if found and not any((match["of"] or "") == of for match in found):
        raise IncompleteRun(f"this is another schbench's output: the one of {hint}")
    tables = [match for match in found if (match["of"] or "") == of]
    if not tables:
        raise IncompleteRun("schbench wrote no table of latencies")
    last = tables[-1]
    if last["runtime"] and int(last["runtime"]) < runtime:
        raise IncompleteRun(f"it ended after {last['runtime']} of {runtime} s")
    return last["rows"]


def _percentile(rows: str, percent: str) -> float:
    return Output(rows).number(rf"^\s*\*?\s*{percent}\.0+th: (\d+)", f"{percent}th percentile")


def _command(program: str, message_threads: int, workers: int, seconds: int) -> list[str]:
    sizes = ("-m", message_threads, "-t", workers, "-r", seconds)
    return [program, *map(str, sizes)]


def originals_old(message_threads: int, workers: int, runtime: Span) -> list[Command]:
    """Give the command of the old schbench, which has to be called so."""
    seconds = runtime.whole_seconds
    argv = _command("schbench-old", message_threads, workers, seconds)
    return [Command(*argv, parse=functools.partial(parse_old, runtime=seconds))]


def originals(message_threads: int, workers: int, runtime: Span) -> list[Command]:
    """Give schbench's own command."""
    seconds = runtime.whole_seconds
    argv = _command("schbench", message_threads, workers, seconds)
    return [Command(*argv, parse=functools.partial(parse, runtime=seconds))]


@stand_in(
    "SchbenchOld",
    workload="schbench-old",
    stands_for="schbench before 2023 (schbench-old)",
    results={LATENCY_P99: "latency p99", LATENCY_P50: "latency p50"},
    defaults={"message_threads": 2, "workers": 16, "runtime": 30},
    originals=originals_old,
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
    originals=originals,
)
def schbench(message_threads: int, workers: int, runtime: Span) -> Options:
    """Workers multiply matrices under a lock of their CPU, a request at a time."""
    return {"message-threads": message_threads, "threads": workers, "runtime": runtime}
