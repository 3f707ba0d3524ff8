"""nanosleep: processes that do nothing but sleep for a microsecond."""

from schedlab.benchmarks.benchmark import Span
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.stand_in import Options, stand_in

OVERSLEEP_P99 = Metric("oversleep_p99", unit="us", better="lower", label="Oversleep p99 (us)")
LOOPS = Metric("loops_per_second", unit="1/s", better="higher", label="Loops/sec")


@stand_in(
    "Nanosleep",
    workload="nanosleep",
    stands_for="a nanosleep stress test",
    results={OVERSLEEP_P99: "oversleep p99", LOOPS: "loops per second"},
    defaults={"processes": "cpus", "time": 10},
)
def nanosleep(processes: int, time: Span) -> Options:
    """Timers, idle entries and wakeups on every CPU, with no work between."""
    return {"processes": processes, "time": time}
