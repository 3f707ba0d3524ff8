"""cpuidle-smt-performance: what a wakeup period costs and gives (docs/manual/cpuidle-smt.md)."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from schedlab.base.cpulist import parse_cpulist
from schedlab.benchmarks.benchmark import Command, Cpus, Output, Span, Values, benchmark
from schedlab.benchmarks.exhibits import Curve, Line, Panel
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.model import Model
from schedlab.benchmarks.stand_in import named_results, values_of, workload_model
from schedlab.benchmarks.tool import Tool
from schedlab.counters.meaning import Meaning, Topic
from schedlab.kernels.native import CPUIDLE_SMT_PERFORMANCE

if TYPE_CHECKING:
    from schedlab.machine.model import Machine

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
MEANINGS = (
    Meaning(SLEEP, Topic.BENCHMARK, "mean sleep of an irritator"),
    Meaning(PERIOD, Topic.BENCHMARK, "mean time between wakeups"),
    Meaning("cpuidle-smt:periods:missed", Topic.BENCHMARK, "wakeup period was missed"),
    Meaning("cpuidle-smt:*:usage", Topic.IDLE, "irritator's CPU entered {}"),
    Meaning("cpuidle-smt:*:share", Topic.IDLE, "share of an irritator's time in {}"),
)
"""What `count` returns, in words."""


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


def remarks(params: Mapping[str, int | str], machine: "Machine") -> Iterator[str]:
    """Yield what is to be known of the CPUs."""
    core = next((c for c in machine.groups("core") if int(params["wcpu"]) in c), ())
    if set(parse_cpulist(str(params["icpus"]))) - set(core):
        yield (
            "The irritators are not SMT siblings of the workload: no idle state of theirs gives it"
            " more of a core."
        )


CURVE = Curve(
    parameter="period",
    unit="us",
    along="wakeup period in us",
    title="Wakeup period",
    heading="Throughput and latency against the wakeup period",
    content="Throughput, wakeup latency and idle states against the wakeup period",
    legend="From above: the workload's throughput, the wakeup latency (filled marks its median,"
    " hollow ones its 99th percentile)",
    legend_shares=", the irritators' time in each idle state",
    columns={
        THROUGHPUT: "Mops/s",
        WAKEUP: "Latency, mean (us)",
        WAKEUP_P50: "p50 (us)",
        WAKEUP_P99: "p99 (us)",
    },
    held=("Held (us)", PERIOD),
    beside=("Sleep (us)", SLEEP),
    panels=(
        Panel("Mops/s", (Line(THROUGHPUT, "throughput"),)),
        Panel(
            "latency, us",
            (
                Line(WAKEUP_P50, "latency p50", "p50"),
                Line(WAKEUP_P99, "latency p99", "p99", hollow=True),
            ),
            logarithmic=True,
        ),
    ),
    note="The waker pauses for the period after each round of wakes; what it came to is beside it"
    " (held). Latency is that of the wakeups.",
    note_shares=" Idle states: percent of the irritators' time.",
    note_without="This machine shows no idle states: the curve is that of the wakeups alone.",
    share_of=share_of,
    remarks=remarks,
)


def parse(output: Output) -> Values:
    """Read the tool's JSON; IncompleteRun if it is none, or a figure is not in it."""
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
    tool=Tool(CPUIDLE_SMT_PERFORMANCE, package="schedlab's own tool"),
    metrics=list(_RESULTS),
    parse=parse,
    defaults={"wcpu": "workload", "icpus": "irritators", "acpu": "waker", "period": 100, "time": 5},
    model=model,
    curves=[CURVE],
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
