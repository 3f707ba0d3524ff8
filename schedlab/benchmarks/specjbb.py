"""SPECjbb2015 MultiJVM: groups of Java servers under a rising rate of requests."""

from schedlab.benchmarks.stand_in import Options, stand_in
from schedlab.metric import Metric

MAX_JOPS = Metric("max_jops", unit="jOPS", better="higher", label="max-jOPS")
CRITICAL_JOPS = Metric("critical_jops", unit="jOPS", better="higher", label="critical-jOPS")
PROCESSED = Metric("processed", unit="jOPS", better="higher", label="Processed (jOPS)")
RESPONSE_P99 = Metric("response_p99", unit="us", better="lower", label="Response time 99% (us)")


@stand_in(
    "Specjbb2015MultiJvm",
    workload="specjbb2015",
    stands_for="SPECjbb2015",
    results={MAX_JOPS: "max-jOPS", CRITICAL_JOPS: "critical-jOPS"},
    defaults={"groups": "nodes", "tier1": "cpus/nodes", "step": "0.01"},
)
def specjbb2015(groups: int, tier1: int, step: str) -> Options:
    """The search for the high bound and the response-time curve, times as the stand-in's own."""
    return {"controller.rtcurve.step": step, **_group(groups, tier1)}


@stand_in(
    "Specjbb2015Preset",
    workload="specjbb2015",
    stands_for="SPECjbb2015",
    results={PROCESSED: "processed", RESPONSE_P99: "response time p99"},
    defaults={"groups": "nodes", "tier1": "cpus/nodes", "ir": "cpus*300", "time": 2},
)
def specjbb2015_preset(groups: int, tier1: int, ir: int, time: int) -> Options:
    """One injection rate."""
    return {
        "controller.type": "PRESET",
        "controller.preset.ir": ir,
        "controller.preset.duration": f"{time}s",
        **_group(groups, tier1),
    }


def _group(groups: int, tier1: int) -> dict[str, object]:
    """Give the settings of published MultiJVM runs: a small second tier and third tier."""
    return {
        "group.count": groups,
        "forkjoin.workers.Tier1": tier1,
        "forkjoin.workers.Tier2": 1,
        "forkjoin.workers.Tier3": 16,
        "ParallelGCThreads": tier1,
    }
