"""cpuidle-smt-performance: what a wakeup period costs and gives (docs/manual/cpuidle-smt.md)."""

from collections.abc import Mapping
from dataclasses import replace

from schedlab.benchmarks.benchmark import Command, Cpus, Output, Span, Values, benchmark
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.model import Model
from schedlab.benchmarks.stand_in import named_results, values_of, workload_model
from schedlab.kernels.native import CPUIDLE_SMT_PERFORMANCE

THROUGHPUT = Metric("throughput", unit="Mops/s", better="higher", label="Throughput (Mops/s)")
WAKEUP = Metric("wakeup_latency", unit="us", better="lower", label="Wakeup latency, mean (us)")
WAKEUP_P50 = Metric(
    "wakeup_latency_p50", unit="us", better="lower", label="Wakeup latency, p50 (us)"
)
WAKEUP_P99 = Metric(
    "wakeup_latency_p99", unit="us", better="lower", label="Wakeup latency, p99 (us)"
)

NAME = "CpuidleSmt"
SLEEP = "cpuidle-smt:sleep:us"
PERIOD = "cpuidle-smt:wakes-every:us"
_STATE = "cpuidle-smt:{}:{}"

_RESULTS = {
    THROUGHPUT: "throughput",
    WAKEUP: "wakeup latency mean",
    WAKEUP_P50: "wakeup latency p50",
    WAKEUP_P99: "wakeup latency p99",
}
_COUNTED = {
    "sleep duration mean": SLEEP,
    "wake period": PERIOD,
    "missed periods": "cpuidle-smt:periods:missed",
}


def count(results: Mapping[str, float]) -> dict[str, float]:
    """Return what stands beside the metrics: sleeps, the period as it was, the idle states.

    The latter are means over the irritators' CPUs: entries, and percent of the time.
    """
    counted = {name: results[result] for result, name in _COUNTED.items() if result in results}
    for result, value in results.items():
        state, _, kind = result.rpartition(" ")
        if kind in ("usage", "share") and f"{state} time" in results:
            counted[_STATE.format(state, kind)] = value
    return counted


def share_of(counter: str) -> str | None:
    """Return the idle state whose share of the irritators' time a counter is, if it is one."""
    head, _, rest = counter.partition(":")
    state, _, kind = rest.rpartition(":")
    return state if head == "cpuidle-smt" and kind == "share" else None


def parse(output: Output) -> Values:
    """Read the tool's JSON.

    Raises:
        IncompleteRun: it is none, or a figure is not in it.
    """
    return values_of(output, _RESULTS, CPUIDLE_SMT_PERFORMANCE)


def model(wcpu: Cpus, icpus: Cpus, acpu: Cpus, period: int, time: Span) -> Model:
    """The same threads in the simulator."""
    options = {
        "wcpu": wcpu.one(),
        "icpus": ",".join(map(str, icpus.each())),
        "acpu": acpu.one(),
        "period": f"{period}us",
        "duration": str(time),
    }
    return replace(workload_model("cpuidle-smt", options, _RESULTS), count=count)


@benchmark(
    NAME,
    tool=CPUIDLE_SMT_PERFORMANCE,
    package="schedlab's own tool",
    metrics=list(_RESULTS),
    parse=parse,
    defaults={"wcpu": "workload", "icpus": "irritators", "acpu": "waker", "period": 100, "time": 5},
    model=model,
    count=lambda output: count(named_results(output, CPUIDLE_SMT_PERFORMANCE)),
)
def cpuidle_smt(wcpu: Cpus, icpus: Cpus, acpu: Cpus, period: int, time: Span) -> Command:
    """A thread computes while its SMT siblings sleep and are woken each period (us)."""
    irritators = [word for cpu in icpus.each() for word in ("--icpu", str(cpu))]
    sleeping = wcpu.one() == acpu.one()
    return Command(
        *(CPUIDLE_SMT_PERFORMANCE, "--wcpu", str(wcpu.one()), *irritators),
        *("--acpu", str(acpu.one()), "--period", str(period), "--timeout", time.removesuffix("s")),
        *("--from-last-wake", *(("--sleep",) if sleeping else ()), "--json"),
    )
