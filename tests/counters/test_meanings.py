"""Every counter has a topic and words, declared where the counter is."""

import re
from collections.abc import Iterator, Sequence

import pytest

from schedlab.base.data import data_folder
from schedlab.base.system import LocalSystem
from schedlab.benchmarks import cpuidle_smt
from schedlab.counters import all_groups, event_groups, snapshot_groups
from schedlab.counters.engine_names import engine_names
from schedlab.counters.group import SnapshotGroup, Unavailable
from schedlab.counters.meaning import Meaning, Topic, find_meaning
from schedlab.counters.simulated import ENTRIES, FUNCTIONS, SIMULATED
from schedlab.counters.tracepoints import TRACEPOINTS
from schedlab.judging.meanings import meaning_of, twins_of
from tests.counters.test_counters import SCHEDSTAT

_TRACE_EVENT = re.compile(r"^TRACE_EVENT\((\w+),", re.MULTILINE)
_KEY = re.compile(r'(?:set_int\(obj, |snprintf\(key, sizeof\(key\), )"([^"]+)"')
_FORMAT = re.compile(r"%(?:\.\d+)?s")


def engine_counters() -> Iterator[str]:
    """Yield the counters that the engine's own source writes, as patterns of names."""
    text = (data_folder("engine") / "run/results.c").read_text(encoding="utf-8")
    balance = text[text.index("static void balance_counters") : text.index("tracepoints_json")]
    counters = text[text.index("static json_t *counters_json") : text.index("*tasks_json")]
    for key in _KEY.findall(balance + counters):
        if key in ("%s:%s", "vmstat:%s", "cost:"):
            continue  # lists, taken from where they stand
        yield _FORMAT.sub("SOME", key.replace("%s:calls", "busy:calls").replace("%s:p", "idle:p"))
    events = (data_folder("engine") / "override/trace/events/schedlab.h").read_text()
    yield from (f"schedlab:{name}" for name in _TRACE_EVENT.findall(events))
    yield from (f"cost:{name}" for name in engine_names("PAID"))
    numa = (data_folder("engine") / "kernel/numa.c").read_text(encoding="utf-8")
    yield from (f"vmstat:{name}" for name in re.findall(r'= \{ "(numa_\w+)" \}', numa))
    for what in ("user", "idle", *ENTRIES, *FUNCTIONS):
        yield f"cpu-time:{what}:ns"
    for kind in ("wakeup", "queue"):
        yield from (f"{kind}-latency:count", f"{kind}-latency:ns")
    for kind in ("wakeup", "balance"):
        yield from (f"migrations:{kind}:{name}" for name in engine_names("DISTANCES")[1:])
    for key in ("usage", "seconds", "above", "below", "rejected"):
        yield f"cpuidle:C1:{key}"
    yield from ("cpufreq:cpu4-7:903MHz:seconds", "cpufreq:cpu4-7:transitions")
    yield from (f"energy:{part}joules" for part in ("", "cpu4-7:", "busy:", "idle:", "cluster:"))
    yield "ran:sender:capacity-462:seconds"


def declared(counter: str, meanings: tuple[Meaning, ...]) -> bool:
    return find_meaning(counter, meanings).topic is not Topic.OTHER


def test_the_simulators_counters() -> None:
    found = [name for name in engine_counters() if not name.startswith("migrations:SOME")]
    assert len(found) > 60
    assert [name for name in found if meaning_of(name).topic is Topic.OTHER] == []


@pytest.mark.parametrize(
    ("name", "counters"),
    [
        ("cpuidle", [f"cpuidle:C6:{key}" for key in ("usage", "seconds")]),
        (
            "procstat",
            ["context-switches", *(f"cpu:{w}-seconds" for w in ("busy", "user", "system", "irq"))],
        ),
        ("schedstat", SCHEDSTAT),
        ("cpufreq", ["cpufreq:cpu0-3:533MHz:seconds", "cpufreq:cpu0-3:transitions"]),
        ("energy", ["energy:package-0/dram:joules", "energy:amd_energy/Ecore:joules"]),
    ],
)
def test_a_hosts_counters(name: str, counters: Sequence[str]) -> None:
    assert all(declared(counter, all_groups()[name].meanings) for counter in counters)


@pytest.mark.parametrize("group", snapshot_groups().values(), ids=lambda group: group.name)
def test_what_this_host_counts_is_declared(group: SnapshotGroup) -> None:
    try:
        counts = group.read(LocalSystem())
    except Unavailable as error:
        pytest.skip(str(error))
    assert [name for name in counts if not declared(name, group.meanings)] == []


def test_events_of_the_groups() -> None:
    for group in event_groups().values():
        assert all(declared(event, group.meanings) for event in group.events), group.name


def test_tracepoints_of_any_subsystem_the_scheduler_has_to_do_with() -> None:
    for name in ("sched:sched_new_one", "irq_vectors:call_function_entry", "timer:timer_start"):
        assert declared(name, TRACEPOINTS)


def test_what_a_benchmark_counts() -> None:
    results = dict.fromkeys(
        ("sleep duration mean", "wake period", "missed periods", "C6 usage", "C6 time", "C6 share"),
        1.0,
    )
    counted = cpuidle_smt.count(results)
    assert len(counted) == 5
    assert all(declared(name, cpuidle_smt.MEANINGS) for name in counted)


def test_words_name_the_part_that_differs() -> None:
    assert meaning_of("newidle:pulls:MC").words == "newidle balance pulled a task in MC"
    assert meaning_of("cache-misses") == Meaning("cache-misses", Topic.OTHER, "cache-misses")


def test_twins() -> None:
    assert twins_of("timer:hrtimer_expire_exit") == ["timer:hrtimer_expire_entry"]
    assert twins_of("schedlab:newidle_exit")[0] == "newidle:entries"
    assert twins_of("newidle:found") == []


def test_one_meaning_a_pattern() -> None:
    groups = [meaning for group in all_groups().values() for meaning in group.meanings]
    patterns = [meaning.pattern for meaning in (*SIMULATED, *cpuidle_smt.MEANINGS, *groups)]
    assert len(set(patterns)) == len(patterns)
