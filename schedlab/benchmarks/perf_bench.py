"""perf bench: message passing, futexes and memory, from the kernel's own tools (linux-perf)."""

from schedlab.base.errors import IncompleteRun, UsageError
from schedlab.benchmarks.benchmark import Amount, Command, Output, Span, Values, benchmark
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.model import Model
from schedlab.benchmarks.sizes import binary
from schedlab.benchmarks.stand_in import workload_model
from schedlab.benchmarks.tool import Tool

PERF = Tool(
    "perf",
    package="linux-perf",
    version=("perf", "--version"),
    use="counters of every run",
    required=True,
    listed=1,
)

TIME = Metric("time", unit="s", better="lower", label="Time (sec)")
WAKE_TIME = Metric("wake_time", unit="ms", better="lower", label="Time (ms)")
BANDWIDTH = Metric("bandwidth", unit="GB/s", better="higher", label="Memory BW (GB/s)")

SPEED = Metric("speed", unit="GB/s", better="higher", label="Total speed (GB/s)")

_BARE_NUMBER = r"^([\d.]+)$"


_GROUPS = 10
"""Groups of `sched messaging` by perf's default."""


def parse_seconds(output: Output) -> Values:
    """Read the bare number that `-f simple` prints, in seconds.

    perf reports wrong formats on standard output and still ends with status 0.
    """
    return {TIME: output.number(_BARE_NUMBER, "bare number of seconds")}


def parse_bytes_per_second(output: Output) -> Values:
    """Read bytes per second, given in GB/s of 10^9 bytes."""
    return {BANDWIDTH: output.number(_BARE_NUMBER, "bare number of bytes/s") / 1e9}


def parse_futex_wake(output: Output) -> Values:
    """Read the mean time to wake all threads, in ms.

    Raises:
        IncompleteRun: no summary line, or not every thread was woken.
    """
    summary = r"^Wokeup (?:\d+) of (?:\d+) threads in ([\d.]+) ms \(\+-"
    woken = output.number(r"^Wokeup (\d+) of \d+ threads in [\d.]+ ms \(", "'Wokeup' summary")
    threads = output.number(r"^Wokeup \d+ of (\d+) threads in [\d.]+ ms \(", "'Wokeup' summary")
    if woken < threads:
        raise IncompleteRun(f"only {woken:g} of {threads:g} threads were woken")
    return {WAKE_TIME: output.number(summary, "'Wokeup' summary")}


def parse_speed(output: Output) -> Values:
    """Read the speed of all threads together, in GB/s of 10^9 bytes."""
    return {SPEED: output.number(r"([\d.]+) GB/sec total speed", "'total speed' line")}


def sched_pipe_model(loops: int) -> Model:
    """Two processes and two pipes; each turn passes an int to and fro."""
    return workload_model("sched-pipe", {"loop": loops}, {TIME: "time"})


def sched_messaging_model(loops: int, groups: int, threads: str) -> Model:
    """Groups of processes or threads over socket pairs."""
    shape = {"groups": groups, "nr_loops": loops, "thread": _threads(threads)}
    return workload_model("sched-messaging", shape, {TIME: "time"})


def mem_memset_model(size: Amount, loops: int) -> Model:
    """One task over memory of its own."""
    options = {"size": binary(size), "nr_loops": loops}
    return workload_model("mem-memset", options, {BANDWIDTH: "bandwidth"})


def futex_wake_model(threads: int, wakes: int) -> Model:
    """Threads pinned to one CPU after the other; the mean of ten rounds."""
    options = {"threads": threads, "nwakes": wakes}
    return workload_model("futex-wake", options, {WAKE_TIME: "time"})


@benchmark(
    "PerfBenchSchedPipe",
    tool=PERF,
    metrics=[TIME],
    parse=parse_seconds,
    defaults={"loops": 4_000_000},
    model=sched_pipe_model,
    grows="loops",
)
def sched_pipe(loops: int) -> Command:
    """Two tasks pass one token to and fro over two pipes."""
    return Command("perf", "bench", "-f", "simple", "sched", "pipe", "-l", str(loops))


@benchmark(
    "PerfBenchSchedMessaging",
    tool=PERF,
    metrics=[TIME],
    parse=parse_seconds,
    defaults={"loops": 30_000, "groups": _GROUPS, "threads": "no"},
    model=sched_messaging_model,
    grows="loops",
)
def sched_messaging(loops: int, groups: int, threads: str) -> Command:
    """Ten groups of 20 senders and 20 receivers over socket pairs."""
    words = ["-l", str(loops)]
    words += [] if groups == _GROUPS else ["-g", str(groups)]
    words += ["-t"] if _threads(threads) else []
    return Command("perf", "bench", "-f", "simple", "sched", "messaging", *words)


def _threads(text: str) -> bool:
    if text not in ("yes", "no"):
        raise UsageError(f"perf bench sched messaging: threads is yes or no, not '{text}'.")
    return text == "yes"


@benchmark(
    "PerfBenchMemMemset",
    tool=PERF,
    metrics=[BANDWIDTH],
    parse=parse_bytes_per_second,
    defaults={"size": "memory_gib/4 GB", "loops": 15},
    model=mem_memset_model,
    grows="loops",
)
def mem_memset(size: Amount, loops: int) -> Command:
    """One thread sets a quarter of the machine's memory, over and over."""
    return Command(
        *("perf", "bench", "-f", "simple", "mem", "memset"),
        *("-s", size, "-l", str(loops), "-f", "default"),
    )


@benchmark(
    "PerfBenchFutexWake",
    tool=PERF,
    metrics=[WAKE_TIME],
    parse=parse_futex_wake,
    defaults={"threads": "cpus*80", "wakes": 1},
    model=futex_wake_model,
)
def futex_wake(threads: int, wakes: int) -> Command:
    """Many threads block on one futex and are woken a few at a time."""
    return Command(
        *("perf", "bench", "-f", "simple", "futex", "wake"),
        *("-s", "-t", str(threads), "-w", str(wakes)),
    )


def numa_mem_model(processes: int, threads: int, memory: int, time: Span) -> Model:
    """Processes whose memory lies on the node of CPU 0."""
    options = {
        "nr_proc": processes,
        "nr_threads": threads,
        "mb_proc": memory,
        "nr_secs": time,
        "init_cpu0": True,
    }
    return workload_model("numa-mem", options, {SPEED: "total speed"})


@benchmark(
    "PerfBenchNumaMem",
    tool=PERF,
    metrics=[SPEED],
    parse=parse_speed,
    defaults={"processes": "nodes", "threads": "cpus/8", "memory": 1024, "time": 10},
    model=numa_mem_model,
)
def numa_mem(processes: int, threads: int, memory: int, time: Span) -> Command:
    """A process for each node, `memory` MiB each, all of it on the node of CPU 0 at first."""
    return Command(
        *("perf", "bench", "numa", "mem", "-p", str(processes), "-t", str(threads)),
        *("-P", str(memory), "-s", str(time.whole_seconds), "--init_cpu0", "-qq"),
    )
