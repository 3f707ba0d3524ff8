"""Every sched feature and every file of the kernel's either changes a run, or is listed with a reason why not."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from schedlab.settings.kinds import WITHOUT_EFFECT
from schedlab.settings.sched_debug import FEATURES
from tests.helpers.engine.described import machine as described
from tests.helpers.engine.simulator import ROOT, Json, Simulator, has_cache_groups, tasks
from tests.helpers.engine.switching import CACHE_CASES, CASES, CLAMPED, DEBUG, MIX, likely_first
from tests.helpers.kernel_source import kernel_source

ENERGY_AWARE = "/proc/sys/kernel/sched_energy_aware"
CLAMP_MIN = "/proc/sys/kernel/sched_util_clamp_min"
CLAMP_MAX = "/proc/sys/kernel/sched_util_clamp_max"
EDGES = ("0", "1", "2", "-1", "2147483647", "18446744073709551615", "9" * 30, "junk", "", "x" * 300)


def features(path: Path) -> set[str]:
    return set(re.findall(r"^SCHED_FEAT\((\w+),", path.read_text(), re.MULTILINE))


def listed(series: str) -> dict[str, str | None]:
    return {each.name: each.path for each in WITHOUT_EFFECT if series in each.series}


def outcome(result: Json) -> tuple[str, Json]:
    """What a setting can change of a run."""
    return result["trace_hash"], result["counters"]


class Switched:
    """The cases as they are, and with one setting more."""

    def __init__(self, sim: Simulator, series: str) -> None:
        self.sim = sim
        self.cases = CASES + CACHE_CASES if has_cache_groups(series) else CASES
        self.results = cache(lambda index: sim(*self.cases[index]))

    def changes(self, index: int, key: str, settings: Json) -> bool | None:
        """Whether a case comes out differently; None where it tells nothing."""
        machine, case = self.cases[index]
        done = self.sim.start(machine, {**case, key: {**case.get(key, {}), **settings}})
        if done.returncode == 2:  # the value itself is refused, or for its sake a task's attributes
            return True if "attributes of" in done.stderr else None
        if "WARN_DOUBLE_CLOCK" in settings and done.returncode == 3:
            assert "kernel WARNING" in done.stderr and "in update_rq_clock()" in done.stderr
            return None
        assert done.returncode == 0, done.stderr[-3000:]
        changed: Json = self.sim.read()
        return outcome(changed) != outcome(self.results(index))

    def features_on(self, index: int) -> set[str]:
        return set(self.results(index)["settings"][FEATURES].split())

    def feature_matters(self, name: str) -> bool:
        return any(
            self.changes(index, "features", {name: name not in self.features_on(index)})
            for index in range(len(self.cases))
        )


def files(sim: Simulator, machine: str) -> dict[str, str]:
    """What may be written on a machine, with its present text."""
    command = [str(sim.binary), "--machine", str(sim.machine(machine)), "--print-files"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line.split(" ", 2) for line in done.stdout.splitlines()]
    return {path: text for mode, path, text in lines if mode == "rw"}


def kinds(paths: Iterable[str]) -> dict[str, list[str]]:
    """The same by what they are: of all CPUs, domains and idle states together."""
    found: dict[str, list[str]] = {}
    for path in paths:
        found.setdefault(re.sub(r"(cpu|domain|state|policy)\d+", r"\1N", path), []).append(path)
    return found


def beside(path: str) -> Json:
    """What has to be set for a file to be there."""
    return {f"{DEBUG}/verbose": "1"} if path.startswith(f"{DEBUG}/domains/") else {}


# ------------------------------------------------------------------ features


def test_every_feature_changes_a_run_or_is_listed(series: str, sim: Simulator) -> None:
    known = features(kernel_source(series) / "kernel/sched/features.h")
    switched = Switched(sim, series)
    without = {name for name in known if not switched.feature_matters(name)}
    assert without == {name for name, path in listed(series).items() if path is None}


@pytest.mark.parametrize("feature", ["HRTICK", "HRTICK_DL"])
def test_hrtick_ends_a_slice_between_ticks(sim: Simulator, feature: str) -> None:
    """Off: at a tick, every 4 ms. On: the timer is one of the kernel's, and an interrupt."""
    if feature == "HRTICK":
        each: Json = {"program": [{"run": "10ms"}]}
    else:
        deadline = {"policy": "deadline", "runtime": "1500us", "period": "10ms"}
        each = {**deadline, "program": [{"run": "30ms"}]}
    count = 2 if feature == "HRTICK" else 1
    affinity = {"affinity": "0"} if feature == "HRTICK" else {}
    case = {"duration": "1s", "tasks": [{"name": "t", "count": count, **affinity, **each}]}
    off, on = (sim("smp4", {**case, "features": {feature: value}}) for value in (False, True))
    assert on["trace_hash"] != off["trace_hash"]
    timers = [r["counters"].get("timer:hrtimer_expire_entry", 0) for r in (off, on)]
    assert timers[1] > timers[0] + 20
    spent = [r["kernel_time_ns"]["timer"] for r in (off, on)]
    # of a throttled deadline task the replenishment is a timer as well, and fewer ticks see it run
    assert feature == "HRTICK_DL" or spent[1] > spent[0]


# ------------------------------------------------------------------ files


def wrong(text: str) -> bool:
    """A refusal that names neither what is taken nor what to do."""
    return not re.search("; it takes |; the file is read-only|may be what", text)


@pytest.mark.parametrize("machine", ["smp4", "hikey960"])
def test_every_file_takes_a_value_or_says_why_not(sim: Simulator, machine: str) -> None:
    """Its own, and each edge; 60 ms of every kind of task show whether the kernel can live with it."""
    member = {"name": "g", "count": 2, "group": "/g", "program": [{"run": "2ms"}, {"sleep": "1ms"}]}
    grouped = {**MIX, "duration": "60ms", "tasks": [*MIX["tasks"], member]}
    problems = []
    for kind, paths in kinds(files(sim, machine)).items():
        path = paths[-1]
        for value in EDGES:
            if kind.startswith("cpu."):
                case = {**grouped, "groups": [{"path": "/g", path: value}]}
            else:
                case = {**MIX, "duration": "60ms", "knobs": {**beside(path), path: value}}
            done = sim.start(machine, case)
            said = done.stderr.strip()
            if done.returncode == 2 and wrong(said):
                problems.append(said)
            assert done.returncode in (0, 2), (path, value, done.stderr[-3000:])
            if done.returncode == 0 and not kind.startswith("cpu."):
                own = sim.read()["settings"][path]
                again = sim.start(machine, {**case, "knobs": {**beside(path), path: chosen(own)}})
                assert again.returncode == 0, (path, own, again.stderr)
    assert not problems


def chosen(text: str) -> str:
    return {"Y": "1", "N": "0"}.get(text, text.split()[0])


def values(present: str) -> list[str]:
    """Some that may differ from the present one."""
    number = int(present) if present.isdigit() else 1
    word = "teo" if present in ("menu", "teo") else "0"
    return list(dict.fromkeys([word, "1", str(number // 10), str(number * 10)]))


FAR = {
    "cgroup_mode": "smp",
    "deadline_period_max_us": "5000",
    "deadline_period_min_us": "20000",
    "newidle": "50000000",
}
"""Values that are far from the present one, by a word of the file's name."""


def test_every_file_changes_a_run_or_is_listed(series: str, sim: Simulator) -> None:
    """Those of groups are in CASES from the start; the cpufreq governor has tests of its own."""
    switched = Switched(sim, series)
    present = {machine: files(sim, machine) for machine in dict(switched.cases)}
    of_kind: dict[str, dict[str, list[str]]] = {}
    for machine, there in present.items():
        for kind, paths in kinds(there).items():
            if kind != FEATURES and not re.match(r"cpu\.|.*scaling_governor", kind):
                of_kind.setdefault(kind, {})[machine] = paths

    def matters(kind: str, on: dict[str, list[str]]) -> bool:
        return any(
            switched.changes(
                index, "knobs", dict.fromkeys(on[machine], value) | beside(on[machine][0])
            )
            for index in likely_first(kind, switched.cases)
            if (machine := switched.cases[index][0]) in on
            for value in (
                *(far for word, far in FAR.items() if word in kind),
                *values(present[machine][on[machine][0]]),
            )
        )

    without = {kind for kind, on in of_kind.items() if not matters(kind, on)}
    assert without == {path for path in listed(series).values() if path}


def test_a_clamp_is_written_without_any_group(sim: Simulator) -> None:
    """The scheduler walks down from the root group."""
    for machine in ("smp4", "hikey960"):
        sim(machine, {**MIX, "duration": "20ms", "knobs": {CLAMP_MIN: "200"}})


@pytest.mark.parametrize("order", [(CLAMP_MIN, CLAMP_MAX), (CLAMP_MAX, CLAMP_MIN)])
def test_two_clamps_are_taken_in_any_order(sim: Simulator, order: tuple[str, str]) -> None:
    """A maximum below the minimum is refused until the minimum is lower."""
    limits = {CLAMP_MIN: "200", CLAMP_MAX: "500"}
    settings = sim("smp4", {**MIX, "knobs": {path: limits[path] for path in order}})["settings"]
    assert limits.items() <= settings.items()
    done = sim.start("smp4", {**MIX, "knobs": {CLAMP_MAX: "500"}})
    assert done.returncode == 2
    assert "sched_util_clamp_min not above sched_util_clamp_max" in done.stderr


def test_the_default_clamp_reaches_tasks_that_are_there(sim: Simulator) -> None:
    """At 1024 a real-time task has the highest frequency, at 0 what its utilisation asks for."""
    [rt] = [task for task in CLAMPED["tasks"] if task["name"] == "rt"]
    case = {**CLAMPED, "warmup": "300ms", "tasks": [{**rt, "count": 2}]}
    write = {"at": "100ms", "write": f"{CLAMP_MIN}_rt_default", "value": "0"}
    before, after = (sim("hikey960", {**case, "actions": a})["per_cpu"] for a in ([], [write]))
    assert sum(c["user_ns"] for c in after) > 1.2 * sum(c["user_ns"] for c in before)


# ------------------------------------------------------------------ the cpufreq governor

LIGHT: Json = {
    "duration": "3s",
    "tasks": [{"name": "t", "count": 3, "program": [{"run": "1ms"}, {"sleep": "9ms"}]}],
}


def test_the_governor_is_a_setting(sim: Simulator) -> None:
    def run(governor: str) -> Json:
        return sim("hikey960", {**LIGHT, "cpufreq": {"governor": governor}})

    own, high, low = sim("hikey960", LIGHT), run("performance"), run("schedutil")
    assert high["trace_hash"] == own["trace_hash"], "the machine file says performance"
    assert low["settings"]["cpufreq governor"] == "schedutil"
    assert "power:cpu_frequency" not in high["counters"]
    assert low["counters"]["power:cpu_frequency"] > 10


def test_the_governor_is_changed_and_changed_back(sim: Simulator) -> None:
    path = "/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor"
    words = ["schedutil", "performance"] * 5
    actions = [
        {"at": f"{50 * n}ms", "write": path.format(cpu), "value": word}
        for n, word in enumerate(words, 1)
        for cpu in (0, 4)
    ]
    sim("hikey960", {**LIGHT, "duration": "1s", "actions": actions})


def test_a_slow_driver_is_called_by_schedutils_thread(sim: Simulator) -> None:
    def changed_by(fast_switch: bool) -> set[str]:
        board = described("hikey960")
        for entry in board["cpu"]:
            entry["fast_switch"] = fast_switch
        case = {**LIGHT, "duration": "1s", "cpufreq": {"governor": "schedutil"}}
        trace = sim.scratch / "trace.txt"
        sim(board, case, "--trace", str(trace), "--trace-events", "power:cpu_frequency")
        lines = trace.read_text().splitlines()
        return {re.sub(r"[:-].*", "", line.split()[0]) for line in lines if "cpu_frequency" in line}

    assert changed_by(False) == {"sugov"}
    assert changed_by(True) - {"sugov"} == changed_by(True) != set()


def test_the_governor_needs_operating_points(sim: Simulator) -> None:
    done = sim.start("smp4", {**MIX, "cpufreq": {"governor": "schedutil"}})
    assert done.returncode == 2
    assert "cpufreq.governor: this machine has no operating points" in done.stderr
    done = sim.start("hikey960", {**MIX, "cpufreq": {"governor": "ondemand"}})
    assert done.returncode == 2
    assert "it takes performance or schedutil" in done.stderr


def test_the_preemption_model_is_no_setting_of_a_run_without_preempt_dynamic(
    sim: Simulator,
) -> None:
    knob = "/sys/kernel/debug/sched/preempt"
    done = sim.start("smp4", {**MIX, "knobs": {knob: "full"}})
    assert done.returncode == 2
    assert "the preemption model is chosen when the kernel is built" in done.stderr


@pytest.mark.parametrize("machine", ["hikey960", "biglittle-6"])
def test_energy_aware_scheduling_keeps_light_tasks_on_little_cpus(
    sim: Simulator, machine: str
) -> None:
    def on_little(aware: str) -> float:
        settings = {"cpufreq": {"governor": "schedutil"}, "knobs": {ENERGY_AWARE: aware}}
        cpus = sim(machine, {**LIGHT, **settings})["per_cpu"]
        return float(sum(c["user_ns"] for c in cpus[:4]) / sum(c["user_ns"] for c in cpus))

    off, on = on_little("0"), on_little("1")
    assert on > 0.85
    assert off < 0.85


@pytest.mark.parametrize(("machine", "settings"), [("smp4", {}), ("hikey960", {})])
def test_energy_awareness_is_refused_where_it_cannot_be(
    sim: Simulator, machine: str, settings: Json
) -> None:
    done = sim.start(machine, {**MIX, **settings, "knobs": {ENERGY_AWARE: "0"}})
    assert done.returncode == 2
    assert "schedutil as the cpufreq governor" in done.stderr


# ------------------------------------------------------------------ groups


@pytest.mark.parametrize(
    ("file", "value", "words"),
    [
        ("cpu.max", "50000", None),
        ("cpu.uclamp.min", "20", None),
        ("cpu.uclamp.max", "max", None),
        ("cpu.weight", "0", "it takes 1 to 10000"),
        ("cpu.max", "1 100000", "a quota of 1000 or more"),
        ("cpu.uclamp.min", "101", "a percentage of 0 to 100"),
    ],
)
def test_files_of_a_group_are_read_back(
    sim: Simulator, file: str, value: str, words: str | None
) -> None:
    done = sim.start("smp4", {**MIX, "groups": [{"path": "/g", file: value}]})
    assert done.returncode == (2 if words else 0), done.stderr
    assert words is None or words in done.stderr


def test_a_throttled_real_time_queue_breaks_no_rule(sim: Simulator) -> None:
    """6.1 takes it off its CPU: the fair tasks have 5 % of the time."""
    hog = {"affinity": "0", "program": [{"run": "10ms"}]}
    rt = {"name": "rt", "policy": "fifo", "priority": 1, **hog}
    result = sim("smp4", {"duration": "4s", "tasks": [rt, {"name": "fair", **hog}]})
    assert tasks(result, "fair")[0]["runtime_ns"] / 4e9 == pytest.approx(0.05, abs=0.02)


# ------------------------------------------------------------------ the list


def test_the_list_is_in_the_docs() -> None:
    text = (ROOT / "docs/internals/engine.md").read_text()
    rows = [f"| `{e.name}` | {', '.join(e.series)} | {e.reason} |" for e in WITHOUT_EFFECT]
    assert [row for row in rows if row not in text] == []
