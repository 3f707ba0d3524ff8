"""Reading the simulator's result: the model's metrics, and counters under the host's names."""

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, Literal

from schedlab.base.errors import IncompleteRun
from schedlab.benchmarks.energy import energy
from schedlab.benchmarks.metric import NONE_OF_IT, Metric, comparable
from schedlab.benchmarks.model import Model
from schedlab.counters import all_groups, event_groups
from schedlab.counters.cpufreq import add_domain, by_frequencies
from schedlab.counters.simulated import CPU_TIME, ENTRIES, FUNCTIONS
from schedlab.counters.times import GONE, MEASURED, time_counter
from schedlab.counters.wakeups import of_simulated
from schedlab.result.record import BRIEF, TOO_SHORT
from schedlab.targets.simulated.scenario import SETTLED

_MADE_OF = {
    "context-switches": ("switches:voluntary", "switches:involuntary"),
    "cpu-migrations": ("sched:sched_migrate_task",),
}
"""What perf counts on a host, from what the simulator counts."""

_PARTS = {"": "joules", "busy:": "busy_j", "idle:": "idle_j", "cluster:": "cluster_j"}
"""Of the counters `energy:...joules`, with their keys in the result."""

FAR = 10
"""A window so many times shorter than a busy CPU's slowest balance sees next to none of it."""

_NOT_THE_KERNELS = ("engine:",)
"""Counters of how the simulator itself worked."""

_UNUSUAL = ("_tp", "kthread_work", "kthread_stop")
"""Tracepoints without meaning for a comparison: PELT's inner steps, and what never happens."""
_OF_EAS = ("sched:sched_compute_energy_tp", "sched:sched_overutilized_tp")
"""Those of them that say whether energy-aware scheduling placed tasks."""


def metrics(model: Model, result: Mapping[str, Any]) -> tuple[dict[Metric, float], list[str]]:
    """Return the model's metrics, and caveats where one cannot be compared.

    Raises:
        IncompleteRun: the result lacks one, or it makes no sense.
    """
    values, lacking = {}, []
    for metric, name in model.figures.items():
        value = result.get("metrics", {}).get(name)
        if value is None and metric.optional:
            lacking.append(f"{metric.name}: {NONE_OF_IT}")
            continue
        if value is None:
            raise IncompleteRun(f"the simulator's result has no {name}")
        values[metric] = float(value)
    for metric in model.besides:
        taken = energy(metric, values, result)
        if taken is None:
            raise IncompleteRun(f"the simulator's result has no {metric.name}")
        values[metric] = taken
    kept, caveats = comparable(values)
    return kept, [*lacking, *caveats]


def unsettled(result: Mapping[str, Any], warm_up: str) -> list[str]:
    """Return a caveat if the scheduler's slow state was not the load's while it was measured.

    `warm_up` is how long the load went on before, as in a plan.
    """
    said = "; ".join(result.get("steady", {}).get("unsettled", []))
    if not said:
        return []
    if warm_up != SETTLED:
        said += f'; load_warmup is {warm_up}: a longer one, or "{SETTLED}", lets it settle'
    return [f"{TOO_SHORT}{said}"]


def brief(result: Mapping[str, Any]) -> list[str]:
    """Return a caveat if the measured window is far shorter than the slowest balance interval."""
    domains = result.get("steady", {}).get("domains", [])
    slowest = max((float(domain["busy_interval_s"]) for domain in domains), default=0.0)
    window = float(result.get("window_s", 0.0))
    if not 0 < window * FAR < slowest:
        return []
    return [
        f"{BRIEF}measured {_time(window)}, while busy CPUs balance their widest domain every"
        f" {_time(slowest)}: much depends on how the load starts and when balancing comes round"
    ]


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def counted(model: Model, result: Mapping[str, Any]) -> Mapping[str, float]:
    """Return the figures that explain the metrics of a model."""
    prefix = f"{model.workload['kind']}."
    figures = result.get("metrics", {})
    return model.count(
        {
            name.removeprefix(prefix): float(figures[name])
            for name in figures
            if name.startswith(prefix)
        }
    )


def counters(
    result: Mapping[str, Any], wanted: tuple[str, ...] | Literal["all"]
) -> dict[str, float]:
    """Return the counters of a result: all a comparison can use, or those wanted that there are.

    Where the tasks' time went and how long wakeups took are always among them: they explain what
    the metrics say.
    """
    counted = _counted(result)
    if wanted == "all":
        return {
            name: value
            for name, value in counted.items()
            if name in _OF_EAS
            or not (name.startswith(_NOT_THE_KERNELS) or any(word in name for word in _UNUSUAL))
        }
    counted = _silent(result) | counted
    names = chain.from_iterable(_members(name, counted) for name in wanted)
    chosen = {name: counted[name] for name in names if name in counted}
    return chosen | _task_time(result) | _percentiles(result)


def missing(result: Mapping[str, Any], wanted: tuple[str, ...] | Literal["all"]) -> list[str]:
    """Return those wanted of which a result has none."""
    if wanted == "all":
        return []
    counted = _silent(result) | _counted(result)
    return [name for name in wanted if not any(n in counted for n in _members(name, counted))]


def _counted(result: Mapping[str, Any]) -> dict[str, float]:
    counted = {name: float(value) for name, value in result.get("counters", {}).items()}
    counted |= _cpu_time(result) | _waits(result) | _task_time(result) | _percentiles(result)
    counted |= _frequencies(result) | _kinds(result)
    for name, parts in _MADE_OF.items():
        counted[name] = sum(counted.get(part, 0.0) for part in parts)
    for state in result.get("idle_states", []):
        counted |= _of_idle_state(state)
    return counted


def _silent(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the kernel's tracepoints at zero; of those that were hit the result has a count."""
    return dict.fromkeys(result.get("tracepoints", ()), 0.0)


def _members(name: str, counted: Iterable[str]) -> Iterable[str]:
    """Return what a host's group of counters is here, or the one counter of that name."""
    if group := event_groups().get(name):
        return group.events
    if other := all_groups().get(name):
        return [counter for counter in counted if counter.startswith(other.simulated)]
    return [name]


def _cpu_time(result: Mapping[str, Any]) -> dict[str, float]:
    cpus, entries, functions = (
        result.get(key, {}) for key in ("per_cpu", "kernel_time_ns", "functions")
    )
    spent = {
        "user": sum(cpu["user_ns"] for cpu in cpus),
        "idle": sum(cpu["idle_ns"] for cpu in cpus),
        **{entry: entries[entry] for entry in ENTRIES if entry in entries},
        **{function: functions[function]["ns"] for function in FUNCTIONS if function in functions},
    }
    return {f"{CPU_TIME}:{what}:ns": float(ns) for what, ns in spent.items()}


def _task_time(result: Mapping[str, Any]) -> dict[str, float]:
    """Return where the tasks' time went, of all of them and of each role, without what is zero."""
    counts: dict[str, float] = {}
    window = result.get("window_s", 0.0) * 1e9
    for role, group in result.get("task_time", {}).items():
        gone = max(0.0, group["tasks"] * window - group["ns"])
        for state, ns in (*group["parts_ns"].items(), (GONE, gone)):
            if ns:
                counts[time_counter(state, role)] = float(ns)
                of_all = time_counter(state)
                counts[of_all] = counts.get(of_all, 0.0) + ns
    return {MEASURED: window, **counts} if counts else {}


def _waits(result: Mapping[str, Any]) -> dict[str, float]:
    """Return how often tasks waited for a CPU, woken or preempted, and how long all did."""
    counts = {}
    for kind in ("wakeup", "queue"):
        waits = result.get(f"{kind}_latency", {})
        number = waits.get("count", 0)
        counts[f"{kind}-latency:count"] = float(number)
        counts[f"{kind}-latency:ns"] = number * waits.get("mean_ns", 0.0)
    return counts


def _percentiles(result: Mapping[str, Any]) -> dict[str, float]:
    """Return how long the load's tasks waited from being woken to running, as percentiles."""
    return of_simulated(result.get("task_wakeup_latency", {}))


def _frequencies(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the time at each frequency and the energy taken, by frequency domain."""
    counts: dict[str, float] = {}
    domains = result.get("frequency_domains", [])
    measured = [(tuple(d["mhz"]), [cpu["cpu"] for cpu in d["cpus"]], d) for d in domains]
    for name, alike in by_frequencies(measured):
        for domain in alike:
            spent = dict(zip(domain["mhz"], domain["seconds"], strict=True))
            add_domain(counts, name, spent, domain["changes"])
        if all("joules" in domain for domain in alike):
            counts[f"energy:{name}:joules"] = sum(domain["joules"] for domain in alike)
    for part, key in _PARTS.items():
        if domains and all(key in domain for domain in domains):
            counts[f"energy:{part}joules"] = sum(domain[key] for domain in domains)
    return counts


def _kinds(result: Mapping[str, Any]) -> dict[str, float]:
    """Return how long each group of tasks ran on CPUs of each capacity, where they differ."""
    ran = result.get("kinds", [])
    if len({each["capacity"] for each in ran}) < 2:
        return {}
    return {
        f"ran:{each['group']}:capacity-{each['capacity']}:seconds": each["seconds"] for each in ran
    }


def _of_idle_state(state: Mapping[str, Any]) -> dict[str, float]:
    """Return a state's entries and seconds summed over CPUs, and how often it was the wrong one."""
    counts = {key: float(state[key]) for key in ("usage", "above", "below", "rejected")}
    counts["seconds"] = state["time_ns"] / 1e9
    return {f"cpuidle:{state['name']}:{key}": value for key, value in counts.items()}
