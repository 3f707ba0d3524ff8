"""The simulator against this host: every workload in both, side by side."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

from schedlab.accuracy.journal import Journal
from schedlab.accuracy.markdown import table_row
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

    @property
    def title(self) -> str:
        """Return the workload with its options, as on a command line, and its CPUs."""
        words = [
            f"--{key}" if value is True else f"--{key} {value}"
            for key, value in self.options.items()
        ]
        name = " ".join((self.workload, *words))
        return f"`{name}`" + (f" on CPU {self.cpus}" if self.cpus else "")


CASES: tuple[Case, ...] = (
    Case("hackbench", {"groups": 1, "loops": 500}, "time", "lower", "messages"),
    Case("hackbench", {"groups": 1, "loops": 500, "pipe": True, "threads": True}, "time", "lower",
         "messages"),
    *(Case("hackbench", {"groups": groups, "loops": 200}, "time", "lower", "messages")
      for groups in (2, 4, 8)),
    *(Case("hackbench", {"groups": groups, "loops": 100, "pipe": True}, "time", "lower",
           "messages", cpus="0") for groups in (1, 4)),
    Case("sched-pipe", {"loop": 20000}, "ops/sec", "higher", 20000),
    Case("sched-pipe", {"loop": 20000, "threaded": True}, "ops/sec", "higher", 20000),
    Case("sched-messaging", {"groups": 1, "nr_loops": 500}, "time", "lower", "messages"),
    Case("sched-pipe", {"loop": 20000}, "ops/sec", "higher", 20000, cpus="0"),
    *(Case("futex-wake", {"threads": threads}, "time", "lower", threads * 10)
      for threads in (8, 64)),
    Case("mem-memset", {"size": "256MiB", "nr_loops": 10}, "bandwidth", "higher", 10),
    *(Case("sysbench-cpu", {"threads": threads, "time": "1s"}, "events per second", "higher",
           "total number of events") for threads in (1, 2, 8)),
    Case("sysbench-memory", {"threads": 2, "time": "1s", "memory-access-mode": "rnd"},
         "transfer rate", "higher", "total number of events"),
    *(Case("sysbench-threads", {"threads": threads, "time": "1s"}, "events per second", "higher",
           "total number of events") for threads in (2, 4, 16)),
    Case("sysbench-mutex", {"threads": 8, "mutex-num": 1, "mutex-locks": 10000, "time": 0},
         "total time", "lower", 8 * 10000),
    Case("schbench-old", {"message-threads": 1, "threads": 2, "runtime": "10s", "warmuptime": 0},
         "latency p50", "lower", "requests"),
    *(Case("schbench", {"threads": threads, "runtime": "5s"}, "average rps", "higher", "requests")
      for threads in (1, 2, 8)),
    Case("misfit", {"unpinned": 2, "requests": 400}, "longest", "lower", 2 * 400 + 2 * 100),
    Case("nanosleep", {"processes": 2, "time": "1s"}, "loops per second", "higher", "loops"),
    Case("netperf", {"length": "1s"}, "transactions per client", "higher",
         "transactions per client"),
    Case("netperf", {"test": "UDP_RR", "length": "1s"}, "transactions per client", "higher",
         "transactions per client"),
    *(Case("netperf", {"clients": clients, "length": "1s"}, "transactions per client", "higher",
           "transactions per client", cpus="0") for clients in (1, 4, 16)),
    Case("tbench", {"timelimit": "1s", "warmup": "10ms"}, "Throughput", "higher", "operations"),
    *(Case("tbench", {"nprocs": clients, "timelimit": "1s", "warmup": "10ms"}, "Throughput",
           "higher", "operations", cpus="0") for clients in (1, 4, 16)),
    Case("stream", {"array-size": 4000000, "ntimes": 5}, "Copy", "higher", 5),
    *(Case("unixbench", {"test": test, "duration": "1s"}, "lps", "higher", "lps")
      for test in ("dhry2reg", "syscall", "pipe", "spawn", "execl")),
    *(Case("unixbench", {"test": test, "copies": 4, "duration": "1s"}, "lps", "higher", "lps")
      for test in ("dhry2reg", "spawn")),
    *(Case("ycsb-mongodb", {"threadcount": threads, "operationcount": 5000}, "Throughput",
           "higher", "Operations") for threads in (1, 4, 16)),
    *(Case("deathstarbench", {"connections": connections, "duration": "2s"}, "Requests/sec",
           "higher", "requests") for connections in (1, 4, 16)),
    *(Case("specjbb2015", {"controller.type": "PRESET", "controller.preset.ir": rate},
           "response time p50", "lower", "requests") for rate in (200, 800)),
)  # fmt: skip


@dataclass(frozen=True)
class Compared:
    """A case in both worlds."""

    case: Case
    native: Outcome
    simulated: Outcome

    @property
    def speed(self) -> float:
        """Return the simulated speed over the real one; 1 is right, 2 is twice too fast."""
        ratio = self.simulated.results[self.case.figure] / self.native.results[self.case.figure]
        return ratio if self.case.better == "higher" else 1 / ratio

    def per_operation(self, outcome: Outcome, count: float | None) -> float | None:
        """Divide a count by the operations of its world."""
        if count is None:
            return None
        by = self.case.operations
        return count / (outcome.results[by] if isinstance(by, str) else by)


def compare(
    native: Native,
    simulated: Simulated,
    cases: Sequence[Case],
    say: Callable[[str], None],
    journal: Journal,
) -> Iterator[Compared]:
    """Run the cases in both worlds, one after the other; what the journal has is not run again."""
    for place, case in enumerate(cases, start=1):
        if case.title not in journal:
            say(f"{place} of {len(cases)}: {case.workload} here")
            real = native.run_with_latencies(case.workload, case.options, case.cpus)
            say(f"{place} of {len(cases)}: {case.workload} simulated")
            ours = simulated.run(case.workload, case.options, case.cpus)
            journal.put(case.title, [asdict(real), asdict(replace(ours, settings={}))])
        yield Compared(case, *(Outcome(**outcome) for outcome in journal[case.title]))


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
    """Return the comparison as a Markdown table, native / simulated in each cell."""
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
    lines = [table_row(head), table_row(["---", *["---:"] * (len(head) - 1)])]
    for item in compared:
        figure = item.case.figure
        cells = [item.case.title, figure]
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
        lines.append(table_row([*cells, f"{item.native.others:.0%}"]))
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


def _pair(native: float | None, simulated: float | None) -> str:
    return " / ".join("-" if value is None else f"{value:.3g}" for value in (native, simulated))
