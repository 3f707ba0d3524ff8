"""DeathStarBench: a social network of small services that call each other (your deployment).

The deployment is named by the environment: DEATHSTARBENCH_URL is where requests go,
DEATHSTARBENCH_SCRIPT wrk's Lua script, DEATHSTARBENCH_RATE the requests a second for wrk2 (without
it wrk, in a closed loop), and DEATHSTARBENCH_PIN a shell command that keeps the services to the
first K last-level caches, which it finds in $CCDS.
"""

import os

from schedlab.benchmarks.benchmark import Command, Output, Values
from schedlab.benchmarks.latency import LATENCY_P99
from schedlab.benchmarks.requests import THROUGHPUT, latency, throughput
from schedlab.benchmarks.stand_in import Options, stand_in
from schedlab.benchmarks.tool import Tool

DEATHSTARBENCH = Tool(
    "DeathStarBench",
    programs=("wrk|wrk2",),
    version=("wrk", "-v"),
    variable="DEATHSTARBENCH_URL",
)


def parse(output: Output) -> Values:
    """Read wrk's or wrk2's throughput and the tail of its latencies.

    Raises:
        IncompleteRun: requests failed, or a figure is missing.
    """
    return {THROUGHPUT: throughput(output), LATENCY_P99: latency(output, 99)}


def originals(ccds: int, connections: int, time: int) -> list[Command]:
    """Return the command of wrk or wrk2 against the user's deployment, if there is one."""
    url, script, rate, pin = (
        os.environ.get(f"DEATHSTARBENCH_{name}") for name in ("URL", "SCRIPT", "RATE", "PIN")
    )
    if not url:
        return []
    load = {"-t": 2 * ccds, "-c": connections * ccds, "-d": f"{time}s"}
    words = [str(word) for option in load.items() for word in option]
    words += ["-s", script] if script else []
    words += ["-R", rate] if rate else []
    return [
        Command(
            *("wrk2" if rate else "wrk", *words, "--latency", url),
            parse=parse,
            setup=[("env", f"CCDS={ccds}", "sh", "-c", pin)] if pin else [],
            note="" if pin else "no DEATHSTARBENCH_PIN is given, so the services are not pinned",
        )
    ]


@stand_in(
    "DeathStarBench",
    workload="deathstarbench",
    stands_for="DeathStarBench with wrk",
    results={THROUGHPUT: "Requests/sec", LATENCY_P99: "Latency p99"},
    defaults={"ccds": 1, "connections": 32, "time": 5},
    originals=originals,
    tools=[DEATHSTARBENCH],
    alike="deathstarbench",
)
def deathstarbench(ccds: int, connections: int, time: int) -> Options:
    """Services on `ccds` last-level caches, and the load generator on the others."""
    return {
        "ccds": ccds,
        "threads": 2 * ccds,
        "connections": connections * ccds,
        "duration": f"{time}s",
    }
