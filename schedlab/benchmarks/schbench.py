"""schbench: workers woken in batches, before and after its rewrite of 2023 (your own build)."""

import functools
import re
from collections.abc import Mapping

from schedlab.base.errors import IncompleteRun, UsageError
from schedlab.benchmarks.benchmark import Command, Output, Span, Values
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.stand_in import Options, stand_in
from schedlab.benchmarks.tool import Tool

SCHBENCH = Tool("schbench")
SCHBENCH_OLD = Tool("schbench before 2023", programs=("schbench-old",))

Percentiles = dict[str, Metric]
"""By the percentage as schbench prints it; the one it marks with a star comes first."""


def _latencies(of: str, *percents: str) -> Percentiles:
    return {
        percent: Metric(
            f"{of}_p{percent.replace('.', '_')}",
            unit="us",
            better="lower",
            label=f"{of.capitalize()} p{percent} (us)",
        )
        for percent in percents
    }


def _rates(*percents: str) -> Percentiles:
    """Return percentiles of the requests of each second; a second may have none."""
    return {
        percent: Metric(
            f"rps_p{percent}",
            unit="1/s",
            better="higher",
            label=f"Requests/sec p{percent}",
            signed=True,
        )
        for percent in percents
    }


LATENCY = _latencies("latency", "99", "50", "75", "90", "95", "99.5", "99.9")
WAKEUP = _latencies("wakeup", "99", "50", "90", "99.9")
REQUEST = _latencies("request", "99", "50", "90", "99.9")
RPS = Metric("rps", unit="1/s", better="higher", label="Requests/sec")
SECONDS = _rates("50", "20", "90")

_TABLE = re.compile(
    r"^(?:(?P<of>\w+) )??(?:Latenc(?:y|ies) )?percentiles \((?:usec|requests)\)"
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
    return _percentiles(rows, LATENCY)


def parse(output: Output, runtime: int) -> Values:
    """Read the last tables of wakeup and request latencies and of rates, and the mean rate.

    Raises:
        IncompleteRun: one is missing, or not of the whole time; or it is of the older schbench.
    """
    hint = "before 2023 has to be named schbench-old"
    wakeup = _last_table(output, "Wakeup", runtime, hint)
    request = _last_table(output, "Request", runtime, hint)
    seconds = _last_table(output, "RPS", runtime, hint)
    rate = Output(output.stderr).number(r"^average rps: ([\d.]+)", "'average rps' line")
    return {
        **_percentiles(wakeup, WAKEUP),
        **_percentiles(request, REQUEST),
        RPS: rate,
        **_percentiles(seconds, SECONDS),
    }


def _last_table(output: Output, of: str, runtime: int, hint: str) -> str:
    """Return the rows of the last table; schbench prints one every ten seconds."""
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


def _percentiles(rows: str, metrics: Percentiles) -> Values:
    return {metric: _percentile(rows, percent) for percent, metric in metrics.items()}


def _percentile(rows: str, percent: str) -> float:
    pattern = rf"^\s*\*?\s*{float(percent)}th: (\d+)".replace(".", r"\.", 1)
    return Output(rows).number(pattern, f"{percent}th percentile")


def _results(of: str, metrics: Percentiles) -> dict[Metric, str]:
    """Return the workload's names of percentiles."""
    return {metric: f"{of} p{percent}" for percent, metric in metrics.items()}


def _command(program: str, message_threads: int, workers: int, seconds: int) -> list[str]:
    sizes = ("-m", message_threads, "-t", workers, "-r", seconds)
    return [program, *map(str, sizes)]


_SPIN = 30_000
"""Microseconds the old schbench sleeps, and spins, by default."""


def originals_old(
    message_threads: int, workers: int, runtime: Span, sleeptime: int, cputime: int
) -> list[Command]:
    """Return the command of the old schbench, which has to be called so."""
    seconds = runtime.whole_seconds
    argv = _command("schbench-old", message_threads, workers, seconds)
    for letter, given in (("-s", sleeptime), ("-c", cputime)):
        argv += [] if given == _SPIN else [letter, str(given)]
    return [Command(*argv, parse=functools.partial(parse_old, runtime=seconds))]


_REQUEST = {"operations": 5, "sleep_usec": 100, "cache_footprint": 256}
"""What a request does by default."""
_LETTERS = {"operations": "-n", "sleep_usec": "-s", "cache_footprint": "-F"}


def originals(
    message_threads: int, workers: int, runtime: Span, locking: str, **request: int
) -> list[Command]:
    """Return schbench's own command."""
    seconds = runtime.whole_seconds
    argv = _command("schbench", message_threads, workers, seconds)
    for name, given in _own(request).items():
        argv += [_LETTERS[name], str(given)]
    argv += [] if _locks(locking) else ["-L"]
    return [Command(*argv, parse=functools.partial(parse, runtime=seconds))]


def _own(request: Mapping[str, int]) -> dict[str, int]:
    """Return what differs from schbench's defaults."""
    return {name: given for name, given in request.items() if given != _REQUEST[name]}


def _locks(text: str) -> bool:
    if text not in ("yes", "no"):
        raise UsageError(
            f"schbench: locking is yes (a lock of the CPU around the work) or no, not '{text}'."
        )
    return text == "yes"


@stand_in(
    "SchbenchOld",
    workload="schbench-old",
    stands_for="schbench before 2023 (schbench-old)",
    results=_results("latency", LATENCY),
    defaults={
        **{"message_threads": 2, "workers": 16, "runtime": 30},
        **{"sleeptime": _SPIN, "cputime": _SPIN},
    },
    originals=originals_old,
    tools=[SCHBENCH_OLD],
    alike="schbench",
)
def schbench_old(
    message_threads: int, workers: int, runtime: Span, sleeptime: int, cputime: int
) -> Options:
    """Message threads wake all their workers at once, and each spins for 30 ms."""
    shape = {"message-threads": message_threads, "threads": workers, "runtime": runtime}
    times = {"sleeptime": sleeptime, "cputime": cputime}
    return shape | {name: value for name, value in times.items() if value != _SPIN}


@stand_in(
    "Schbench",
    workload="schbench",
    stands_for="schbench since 2023",
    results={
        **_results("wakeup", WAKEUP),
        **_results("request", REQUEST),
        RPS: "average rps",
        **_results("rps", SECONDS),
    },
    defaults={
        **{"message_threads": 1, "workers": "cpus", "runtime": 30},
        **_REQUEST,
        "locking": "yes",
    },
    originals=originals,
    tools=[SCHBENCH],
)
def schbench(
    message_threads: int,
    workers: int,
    runtime: Span,
    operations: int,
    sleep_usec: int,
    cache_footprint: int,
    locking: str,
) -> Options:
    """Workers multiply matrices under a lock of their CPU, a request at a time."""
    request = {
        "operations": operations,
        "sleep_usec": sleep_usec,
        "cache_footprint": cache_footprint,
    }
    shape = {"message-threads": message_threads, "threads": workers, "runtime": runtime}
    return shape | _own(request) | ({} if _locks(locking) else {"no-locking": True})
