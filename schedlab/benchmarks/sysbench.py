"""sysbench 1.0: CPU, memory, threads and mutex tests."""

import re

from schedlab.base.errors import IncompleteRun
from schedlab.benchmarks.benchmark import Amount, Command, Output, Span, Values, benchmark
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.model import Model
from schedlab.benchmarks.sizes import binary
from schedlab.benchmarks.stand_in import workload_model
from schedlab.benchmarks.tool import Tool

SYSBENCH = Tool(
    "sysbench", package="sysbench", version=("sysbench", "--version"), required=True, listed=2
)

EVENT_RATE = Metric("events_per_second", unit="1/s", better="higher", label="Events/sec")
BANDWIDTH = Metric("bandwidth", unit="MiB/s", better="higher", label="Memory BW (MiB/s)")
TIME = Metric("time", unit="s", better="lower", label="Time (sec)")


def parse_cpu(output: Output) -> Values:
    """Read sysbench's own rate of events."""
    _events(output)
    return {EVENT_RATE: output.number_after("events per second:")}


def parse_memory(output: Output) -> Values:
    """Read sysbench's own transfer rate."""
    _events(output)
    return {BANDWIDTH: output.number(r"transferred \(([\d.]+) MiB/sec\)", "'transferred' line")}


def capped_memory(output: Output) -> list[str]:
    """Return a caveat if the test ended at its total size before its time was over."""
    total = output.number(r"total size: (\d+)MiB", "'total size' line")
    moved = output.number(r"^([\d.]+) MiB transferred", "'transferred' line")
    if moved < total:
        return []
    return [f"capped: stopped at --memory-total-size ({total:g} MiB) before its time was up"]


def parse_threads(output: Output) -> Values:
    """Work out the rate from events and the true duration, which overruns `--time`."""
    return {EVENT_RATE: _events(output) / _total_time(output)}


def parse_mutex(output: Output) -> Values:
    """Read the total time.

    Raises:
        IncompleteRun: fewer events than threads: a time limit cut the test short.
    """
    threads = output.number_after("Number of threads:")
    events = _events(output)
    if events < threads:
        raise IncompleteRun(
            f"a time limit cut it short: {events:g} of {threads:g} threads finished"
        )
    return {TIME: _total_time(output)}


def cpu_model(time: Span, threads: int, max_prime: int) -> Model:
    """Threads that divide numbers."""
    options = {"time": time, "threads": threads, "cpu-max-prime": max_prime}
    return workload_model("sysbench-cpu", options, {EVENT_RATE: "events per second"})


def memory_model(time: Span, threads: int, access_mode: str, total_size: Amount) -> Model:
    """Threads over one block of 1 KiB."""
    options = {
        "time": time,
        "threads": threads,
        "memory-access-mode": access_mode,
        "memory-total-size": binary(total_size),
    }
    return workload_model("sysbench-memory", options, {BANDWIDTH: "transfer rate"})


def threads_model(time: Span, threads: int) -> Model:
    """Threads over eight futex mutexes, yielding under them."""
    options = {"time": time, "threads": threads}
    return workload_model("sysbench-threads", options, {EVENT_RATE: "events per second"})


def mutex_model(threads: int, mutexes: int, locks: int, loops: int) -> Model:
    """Threads over futex mutexes, with work between."""
    mutex = {"mutex-num": mutexes, "mutex-locks": locks, "mutex-loops": loops}
    options = {"threads": threads, "time": 0, **mutex}
    return workload_model("sysbench-mutex", options, {TIME: "total time"})


@benchmark(
    "SysBenchCpu",
    tool=SYSBENCH,
    metrics=[EVENT_RATE],
    parse=parse_cpu,
    defaults={"time": 60, "threads": "cpus/2", "max_prime": 10_000},
    model=cpu_model,
)
def sysbench_cpu(time: Span, threads: int, max_prime: int) -> Command:
    """Independent threads look for primes."""
    return Command(
        *("sysbench", "cpu", f"--time={time.whole_seconds}", f"--threads={threads}"),
        *(f"--cpu-max-prime={max_prime}", "run"),
    )


@benchmark(
    "SysBenchMemory",
    tool=SYSBENCH,
    metrics=[BANDWIDTH],
    parse=parse_memory,
    caveats=capped_memory,
    defaults={"time": 60, "threads": "cpus/2", "access_mode": "rnd", "total_size": "100 GB"},
    model=memory_model,
)
def sysbench_memory(time: Span, threads: int, access_mode: str, total_size: Amount) -> Command:
    """Threads write 1 KiB blocks of one shared buffer at random places."""
    seconds = time.whole_seconds
    # 100G is sysbench's own total; the published command leaves it out.
    total = [] if total_size == "100GB" else [f"--memory-total-size={total_size.rstrip('B')}"]
    return Command(
        *("sysbench", "memory", f"--time={seconds}", f"--memory-access-mode={access_mode}"),
        *(*total, f"--threads={threads}", "run"),
    )


@benchmark(
    "SysBenchThreads",
    tool=SYSBENCH,
    metrics=[EVENT_RATE],
    parse=parse_threads,
    defaults={"time": 60, "threads": "cpus/2"},
    model=threads_model,
)
def sysbench_threads(time: Span, threads: int) -> Command:
    """Threads take one of eight locks, yield, and give it back, a thousand times an event."""
    return Command(
        "sysbench", "threads", f"--time={time.whole_seconds}", f"--threads={threads}", "run"
    )


@benchmark(
    "SysBenchMutex",
    tool=SYSBENCH,
    metrics=[TIME],
    parse=parse_mutex,
    defaults={"threads": "cpus*4", "mutexes": 1, "locks": 50_000, "loops": 10_000},
    model=mutex_model,
    grows="locks",
)
def sysbench_mutex(threads: int, mutexes: int, locks: int, loops: int) -> Command:
    """Threads contend for one mutex, with some spinning between."""
    # Without --time=0 the default limit of 10 s ends the test early, with status 0.
    own = [
        f"--mutex-{name}={value}"
        for name, value, default in (("locks", locks, 50_000), ("loops", loops, 10_000))
        if value != default
    ]
    return Command(
        *("sysbench", "mutex", f"--mutex-num={mutexes}", *own),
        *(f"--threads={threads}", "--time=0", "run"),
    )


def _events(output: Output) -> float:
    events = output.number_after("total number of events:")
    if events < 1:
        raise IncompleteRun("no event finished")
    return events


def _total_time(output: Output) -> float:
    match = re.search(r"total time:\s+([\d.]+)s", output.stdout)
    if not match:
        raise IncompleteRun("the output has no 'total time:' line")
    return float(match[1])
