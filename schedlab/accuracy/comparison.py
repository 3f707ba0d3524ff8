"""The simulator against this host: every workload in both, side by side."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from schedlab.accuracy.worlds import QUIET, Native, Options, Outcome, Simulated


@dataclass(frozen=True)
class Case:
    """A workload with parameters small enough for any host, and how to read its results."""

    workload: str
    options: Options
    figure: str
    """The result that is compared."""
    better: Literal["higher", "lower"]
    operations: str | float
    """What counts are divided by: a result's name, or the number itself."""
    cpus: str = ""
    """The CPUs it may use, as a list; empty: all."""


CASES: tuple[Case, ...] = (
    Case("hackbench", {"groups": 1, "loops": 500}, "time", "lower", "messages"),
    Case("hackbench", {"groups": 1, "loops": 500, "pipe": True, "threads": True}, "time", "lower",
         "messages"),
    Case("hackbench", {"groups": 4, "loops": 200}, "time", "lower", "messages"),
    Case("sched-pipe", {"loop": 20000}, "ops/sec", "higher", 20000),
    Case("sched-pipe", {"loop": 20000, "threaded": True}, "ops/sec", "higher", 20000),
    Case("sched-messaging", {"groups": 1, "nr_loops": 500}, "time", "lower", "messages"),
    Case("sched-pipe", {"loop": 20000}, "ops/sec", "higher", 20000, cpus="0"),
    Case("futex-wake", {"threads": 64}, "time", "lower", 64 * 10),
    Case("mem-memset", {"size": "256MiB", "nr_loops": 10}, "bandwidth", "higher", 10),
    Case("sysbench-cpu", {"threads": 2, "time": "1s"}, "events per second", "higher",
         "total number of events"),
    Case("sysbench-memory", {"threads": 2, "time": "1s", "memory-access-mode": "rnd"},
         "transfer rate", "higher", "total number of events"),
    Case("sysbench-threads", {"threads": 4, "time": "1s"}, "events per second", "higher",
         "total number of events"),
    Case("sysbench-mutex", {"threads": 8, "mutex-num": 1, "mutex-locks": 10000, "time": 0},
         "total time", "lower", 8 * 10000),
    Case("schbench-old", {"message-threads": 1, "threads": 2, "runtime": "10s", "warmuptime": 0},
         "latency p50", "lower", "requests"),
    Case("schbench", {"threads": 2, "runtime": "5s"}, "average rps", "higher", "requests"),
    Case("misfit", {"unpinned": 2, "requests": 400}, "longest", "lower", 2 * 400 + 2 * 100),
    Case("nanosleep", {"processes": 2, "time": "1s"}, "loops per second", "higher", "loops"),
    Case("netperf", {"length": "1s"}, "transactions per client", "higher",
         "transactions per client"),
    Case("netperf", {"test": "UDP_RR", "length": "1s"}, "transactions per client", "higher",
         "transactions per client"),
    Case("netperf", {"length": "1s"}, "transactions per client", "higher",
         "transactions per client", cpus="0"),
    Case("tbench", {"timelimit": "1s", "warmup": "10ms"}, "Throughput", "higher", "operations"),
    Case("tbench", {"timelimit": "1s", "warmup": "10ms"}, "Throughput", "higher", "operations",
         cpus="0"),
    Case("stream", {"array-size": 4000000, "ntimes": 5}, "Copy", "higher", 5),
    *(Case("unixbench", {"test": test, "duration": "1s"}, "lps", "higher", "lps")
      for test in ("dhry2reg", "syscall", "pipe", "spawn", "execl")),
    Case("ycsb-mongodb", {"threadcount": 4, "operationcount": 5000}, "Throughput", "higher",
         "Operations"),
    Case("deathstarbench", {"connections": 4, "duration": "2s"}, "Requests/sec", "higher",
         "requests"),
    Case("specjbb2015", {"controller.type": "PRESET", "controller.preset.ir": 800},
         "response time p50", "lower", "requests"),
)  # fmt: skip


@dataclass(frozen=True)
class Compared:
    """A case in both worlds."""

    case: Case
    native: Outcome
    simulated: Outcome

    @property
    def name(self) -> str:
        """Give the workload with its options, as on a command line."""
        words = [
            f"--{key}" if value is True else f"--{key} {value}"
            for key, value in self.case.options.items()
        ]
        return " ".join((self.case.workload, *words))

    @property
    def title(self) -> str:
        """Give it as a table's row names it."""
        return f"`{self.name}`" + (f" on CPU {self.case.cpus}" if self.case.cpus else "")

    @property
    def speed(self) -> float:
        """Give the simulated speed over the real one; 1 is right, 2 is twice too fast."""
        ratio = self.simulated.results[self.case.figure] / self.native.results[self.case.figure]
        return ratio if self.case.better == "higher" else 1 / ratio

    def per_operation(self, outcome: Outcome, count: float | None) -> float | None:
        """Divide a count by the operations of its world."""
        if count is None:
            return None
        by = self.case.operations
        return count / (outcome.results[by] if isinstance(by, str) else by)


def compare(
    native: Native, simulated: Simulated, cases: Iterable[Case], told: Callable[[str], None]
) -> Iterator[Compared]:
    """Run the cases in both worlds, one after the other."""
    for case in cases:
        told(f"{case.workload} here")
        real = native.run_with_latencies(case.workload, case.options, case.cpus)
        told(f"{case.workload} simulated")
        yield Compared(case, real, simulated.run(case.workload, case.options, case.cpus))


_COLUMNS: Mapping[str, Callable[[Outcome], float | None]] = {
    "switches/op": lambda outcome: outcome.switches,
    "wakeups/op": lambda outcome: outcome.wakeups,
    "migrations/op": lambda outcome: outcome.migrations,
}
_LATENCIES: Mapping[str, Callable[[Outcome], float | None]] = {
    "wake p50 us": lambda outcome: outcome.wake_p50_us,
    "wake p99 us": lambda outcome: outcome.wake_p99_us,
}


def table(compared: Iterable[Compared]) -> str:
    """Give the comparison as a Markdown table, native / simulated in each cell."""
    head = (
        "workload",
        "figure",
        "here",
        "simulated",
        "speed ratio",
        *_COLUMNS,
        *_LATENCIES,
        "others",
    )
    lines = [_row(head), _row(["---", *["---:"] * (len(head) - 1)])]
    for item in compared:
        figure = item.case.figure
        cells = [item.title, figure]
        cells += [f"{outcome.results[figure]:.4g}" for outcome in (item.native, item.simulated)]
        cells += [f"{item.speed:.2f}"]
        cells += [
            _pair(
                item.per_operation(item.native, read(item.native)),
                item.per_operation(item.simulated, read(item.simulated)),
            )
            for read in _COLUMNS.values()
        ]
        cells += [_pair(read(item.native), read(item.simulated)) for read in _LATENCIES.values()]
        lines.append(_row([*cells, f"{item.native.others:.0%}"]))
    return "\n".join(lines) + "\n"


def disturbed(compared: Iterable[Compared]) -> str:
    """Say, where others had too much of this host meanwhile, what that does; else nothing."""
    worst = max(item.native.others for item in compared)
    if worst <= QUIET:
        return ""
    return (
        f"**This host was not quiet**: others had up to {worst:.0%} of its CPUs (last column)."
        " Its speeds are too low, its latencies too long.\n"
    )


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _pair(native: float | None, simulated: float | None) -> str:
    return " / ".join("-" if value is None else f"{value:.3g}" for value in (native, simulated))
