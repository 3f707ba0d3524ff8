"""Our own tracepoints: what the scheduler decided, and from what it did."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import pytest
from test_build import patched_make
from test_traces import SCENARIO, lines

from tests.helpers.engine.loads import refused
from tests.helpers.engine.simulator import (
    ROOT,
    SERIES,
    Json,
    Simulator,
    balances_when_kicked,
    build,
    build_folder,
    machine,
    reads,
    tasks,
)
from tests.helpers.kernel_source import sched_features

HOGS: Json = {"name": "hog", "count": 6, "affinity": "0-3", "program": [{"run": "100ms"}]}
# Six hogs held on the first LLC of four, and let go.
RELEASED: Json = {
    "duration": "100ms",
    "tasks": [HOGS],
    "actions": [{"at": "50ms", "task": "hog*", "affinity": "0-15"}],
}


def decisions(
    sim: Simulator,
    machine: str | Json,
    scenario: Json,
    path: Path,
    names: str = "schedlab:*",
    *options: str,
    moves: bool = True,
) -> tuple[list[Json], Json]:
    """Events, their fields by name, and the run's counters; migrations and switches too."""
    names += ",sched_migrate_task,sched_switch" if moves else ""
    result = sim(machine, scenario, "--trace", str(path), "--trace-events", names, *options)
    found: list[Json] = []
    for m in lines(path):
        fields = {k: int(v) if v.lstrip("-").isdigit() else v for k, v in FIELD.findall(m[6])}
        found.append({"event": m[5], "on": int(m[3]), **fields})
    return found, result["counters"]


FIELD = re.compile(r"(\w+)=(\S+)")


def of(events: list[Json], name: str) -> list[Json]:
    return [e for e in events if e["event"] == name]


def test_wakeups_go_where_it_was_decided(sim: Simulator, tmp_path: Path) -> None:
    """Every wakeup that chooses a CPU is there, and the task goes where it was decided."""
    path = tmp_path / "trace.txt"
    result = sim(
        "smt8", SCENARIO, "--trace", str(path), "--trace-events", "select_task_rq,sched_wakeup"
    )
    chosen: dict[str, str] = {}
    decisions = wakeups = 0
    for m in lines(path):
        fields = dict(re.findall(r"(\w+)=(\S+)", m[6]))
        if m[5] == "select_task_rq":
            chosen[fields["pid"]] = fields["cpu"]
            decisions += 1
        elif fields["pid"] in chosen:
            wakeups += 1
            assert int(fields["target_cpu"]) == int(chosen[fields["pid"]])
    assert decisions == result["counters"]["schedlab:select_task_rq"] > 500
    assert wakeups > 500


def was_overloaded(events: list[Json]) -> bool:
    """Return whether the last look at the first group saw more tasks than CPUs."""
    looks = [e for e in events if e["event"] == "group_stats" and e["group"] == 0]
    return bool(looks) and looks[-1]["type"] == "overloaded"


def test_balance_pass_and_its_groups(series: str, sim: Simulator, tmp_path: Path) -> None:
    """The pass that empties the loaded LLC saw it as the kernel sums it up, and says so."""
    if not balances_when_kicked(series):
        pytest.skip(f"Linux {series}: a kick wakes a polling CPU and it does not balance")
    events, counters = decisions(sim, "numa16", RELEASED, tmp_path / "t")
    pulls = [
        i
        for i, e in enumerate(events)
        if e["event"] == "load_balance" and e["pulled"] and not e["group"]
    ]
    at = next(i for i in pulls if events[i]["cpu"] >= 4 and was_overloaded(events[:i]))
    pulled = events[at]
    assert pulled["idle"] == "idle" and pulled["domain"] in ("NUMA", "PKG", "DIE")
    assert pulled["ours"] == 1 and pulled["imbalance"] > 0 and 0 <= pulled["queue"] <= 3
    moved = events[at - 1]
    assert moved["event"] == "sched_migrate_task"
    assert (moved["orig_cpu"], moved["dest_cpu"]) == (pulled["queue"], pulled["cpu"])

    groups = []
    for event in reversed(events[: at - 1]):
        if event["event"] != "group_stats" or event["dst_cpu"] != pulled["cpu"]:
            break
        groups.append(event)
    assert {(g["level"], g["domain"]) for g in groups} == {(pulled["level"], pulled["domain"])}
    busiest = next(g for g in groups if g["group"] == 0)
    assert busiest["type"] == "overloaded" and busiest["idle_cpus"] == 0
    moves = of(events[: at - 1], "sched_migrate_task")
    assert busiest["weight"] == 4 and busiest["capacity"] == 4096
    assert (
        busiest["nr_running"]
        == busiest["fair_running"]
        == 6 - sum(e["orig_cpu"] < 4 <= e["dest_cpu"] for e in moves if e["comm"] != "init")
    )
    assert busiest["load"] == busiest["avg_load"] * 4 + busiest["load"] % 4
    local = [g for g in groups if g["local"]]
    assert len(local) == 1 and local[0]["type"] == "has_spare"
    assert local[0]["idle_cpus"] == local[0]["weight"] - local[0]["nr_running"] > 0
    for event in ("load_balance", "group_stats"):
        assert len(of(events, event)) == counters[f"schedlab:{event}"]


def test_balance_passes_are_the_kernels_own_count(sim: Simulator, tmp_path: Path) -> None:
    """Passes and pulls by type are those of the kernel's statistics."""
    load: Json = {"name": "t", "count": 40, "program": [{"run": "300us"}, {"sleep": "200us"}]}
    scenario: Json = {"duration": "100ms", "tasks": [load]}
    events, counters = decisions(sim, "numa16", scenario, tmp_path / "t")
    passes = of(events, "load_balance")
    for kind in ("busy", "idle", "newidle"):
        mine = [p for p in passes if p["idle"] == kind]
        names = {p["domain"] for p in mine}
        assert len(mine) == sum(counters[f"{kind}:calls:{name}"] for name in names)
        assert sum(p["pulled"] for p in mine) == sum(counters[f"{kind}:pulls:{n}"] for n in names)
    assert any(p["pulled"] for p in passes if p["idle"] == "newidle")


def test_newidle_counters_are_the_traces(sim: Simulator, tmp_path: Path) -> None:
    """Entries, those without an overloaded queue, and those that found a task."""
    load: Json = {"name": "t", "count": 7, "program": [{"run": "300us"}, {"sleep": "200us"}]}
    scenario: Json = {"duration": "100ms", "tasks": [load]}
    events, counters = decisions(
        sim, "smp4", scenario, tmp_path / "t", "newidle_entry,newidle_exit"
    )
    entries = of(events, "newidle_entry")
    assert counters["newidle:entries"] == len(entries) > 10
    assert counters["newidle:avg_idle:ns"] == sum(e["avg_idle"] for e in entries)
    assert counters["newidle:found"] == sum(e["pulled"] > 0 for e in of(events, "newidle_exit")) > 0
    calm = sum(not e["overloaded"] for e in entries)
    assert calm - counters["newidle:left:pending"] <= counters["newidle:left:calm"] <= calm


def test_newidle_weighs_each_domain(series: str, sim: Simulator, tmp_path: Path) -> None:
    """It looks at domains from below while the CPU's idle time is worth their cost."""
    load: Json = {"name": "t", "count": 450, "program": [{"run": "20us"}, {"sleep": "5us"}]}
    draws = "NI_RANDOM" in sched_features(series)
    features = {"NI_RANDOM": False} if draws else {}
    scenario: Json = {"duration": "27ms", "tasks": [load], "features": features}
    names = "schedlab:newidle*,schedlab:load_balance"
    trace = tmp_path / "t"
    events, counters = decisions(sim, "epyc-7713-2p-nps1", scenario, trace, names, moves=False)
    inside: dict[int, list[Json]] = {}
    searched = stopped = 0
    for event in events:
        name, cpu = event["event"], event["on"]
        if name == "newidle_entry":
            inside[cpu] = []
        elif name == "newidle_exit" and cpu in inside:
            reached = inside.pop(cpu)
            domains = [e for e in reached if e["event"] == "newidle_domain"]
            passes = [e for e in reached if e["event"] == "load_balance"]
            levels = [d["level"] for d in domains]
            assert levels == sorted(levels)
            assert [p["level"] for p in passes] == levels[: len(passes)]
            if domains and domains[-1]["avg_idle"] < domains[-1]["max_newidle_lb_cost"]:
                assert len(passes) < len(domains)
                stopped += 1
            assert not any(p["pulled"] for p in passes[:-1])
            assert event["pulled"] or not (passes and passes[-1]["pulled"])
            searched += bool(passes)
        elif cpu in inside:
            inside[cpu].append(event)
    assert searched > 10 and stopped > 0
    assert len(of(events, "newidle_entry")) == counters["schedlab:newidle_entry"]


def test_picked_task_is_the_one_that_runs(sim: Simulator, tmp_path: Path) -> None:
    mix: Json = {
        "duration": "100ms",
        "tasks": [
            *SCENARIO["tasks"],
            {
                "name": "rt",
                "policy": "fifo",
                "priority": 5,
                "program": [{"run": "1ms"}, {"sleep": "3ms"}],
            },
        ],
    }
    events, _ = decisions(sim, "smp4", mix, tmp_path / "t")
    picked: dict[int, Json] = {}
    for event in events:
        if event["event"] == "pick_next":
            picked[event["on"]] = event
        elif event["event"] == "sched_switch":
            pick = picked[event["on"]]
            assert (pick["prev_pid"], pick["pid"]) == (event["prev_pid"], event["next_pid"])
            assert (pick["class"] == "idle") == (pick["nr_running"] == 0) == (pick["pid"] == 0)
    classes = {e["class"]: e["comm"] for e in of(events, "pick_next")}
    assert set(classes) >= {"fair", "rt", "idle"} and classes["rt"].startswith("rt")


@pytest.mark.parametrize("series", SERIES, indirect=True)  # how a build is patched goes by no tree
def test_patched_kernel_is_traced(series: str, tmp_path: Path) -> None:
    """A patch of a traced function is what the tracepoint sees, and all that is compiled."""
    shutil.rmtree(build_folder(f"{series}-traced"), ignore_errors=True)
    binary, compiled = patched_make(
        series,
        "traced",
        tmp_path,
        "kernel/sched/fair.c",
        r"(sgs->group_weight = group->group_weight);",
        r"\1 + 1000;",
    )
    assert compiled == ["kernel/sched/fair.c"]
    events, _ = decisions(Simulator(binary, tmp_path), "numa16", RELEASED, tmp_path / "t")
    assert min(e["weight"] for e in of(events, "group_stats")) > 1000
    plain, patched = (
        Simulator(program, tmp_path)("numa16", RELEASED)["trace_hash"]
        for program in (build(series), binary)
    )
    assert plain != patched


def test_random_numbers_pass_over_domains(series: str, sim: Simulator, tmp_path: Path) -> None:
    """One is drawn for each domain that is reached and worth its cost, and is shown with it."""
    if "NI_RANDOM" not in sched_features(series):
        pytest.skip(f"Linux {series} draws none")
    load: Json = {"name": "t", "count": 40, "program": [{"run": "300us"}, {"sleep": "200us"}]}
    scenario: Json = {"duration": "50ms", "tasks": [load]}
    names = "schedlab:newidle*,schedlab:load_balance"
    events, counters = decisions(sim, "numa16", scenario, tmp_path / "t", names)
    draws = of(events, "newidle_draw")
    assert len(draws) == counters["schedlab:newidle_draw"] > 50
    assert all(0 <= e["d1k"] < 1024 for e in draws)
    passes = [e for e in of(events, "load_balance") if e["idle"] == "newidle"]
    assert len(passes) <= len(draws) <= len(of(events, "newidle_domain"))


SLEEPERS: Json = {"name": "s", "count": 6, "program": [{"run": "200us"}, {"sleep": "700us"}]}


def test_idle_states_are_chosen_as_used(sim: Simulator, tmp_path: Path) -> None:
    """Every use of a state was a choice, made from a limit and a timer that lies ahead."""
    path = tmp_path / "t"
    result = sim(
        *("smt8", {"duration": "50ms", "tasks": [SLEEPERS]}),
        *("--trace", str(path), "--trace-events", "idle_choice,cpu_idle"),
    )
    chosen: dict[int, str] = {}
    used = 0
    for m in lines(path):
        fields = dict(FIELD.findall(m[6]))
        if m[5] == "idle_choice":
            assert fields["cpu"] == str(int(m[3]))
            assert int(fields["latency_limit"]) > 0
            assert int(fields["next_timer"]) >= -1
            chosen[int(m[3])] = fields["state"]
        elif fields["state"] != "4294967295" and (state := chosen.pop(int(m[3]), None)):
            used += 1
            assert result["idle_states"][int(fields["state"])]["name"] == state
    assert used > 50


def test_frequencies_are_asked_for_before_they_change(sim: Simulator, tmp_path: Path) -> None:
    path = tmp_path / "t"
    scenario: Json = {
        "duration": "100ms",
        "tasks": [SLEEPERS],
        "cpufreq": {"governor": "schedutil"},
    }
    result = sim(
        *("hikey960", scenario, "--trace", str(path), "--trace-boot"),
        *("--trace-events", "next_freq,cpu_frequency"),
    )
    events = [
        {"event": m[5], **{name: int(value) for name, value in FIELD.findall(m[6])}}
        for m in lines(path)
    ]
    highest = {0: 0, 4: 0}  # of the policies of CPUs 0 to 3 and 4 to 7
    for e in of(events, "cpu_frequency"):
        highest[e["cpu_id"] // 4 * 4] = max(highest[e["cpu_id"] // 4 * 4], e["state"])
    wanted: dict[int, int] = {}
    changes = 0
    for e in events:
        if e["event"] == "next_freq":
            assert e["util"] <= e["max"] <= 1024
            wanted[e["policy"]] = e["next_khz"]
        elif (policy := e["cpu_id"] // 4 * 4) in wanted:
            changes += 1
            assert e["state"] >= min(wanted[policy], highest[policy])
    assert changes > 4 and set(wanted) == {0, 4}
    assert len(of(events, "next_freq")) >= result["counters"]["schedlab:next_freq"] > 10


def test_a_trace_from_power_on(sim: Simulator, tmp_path: Path) -> None:
    """It begins before the scenario does, ends with it, and changes nothing."""
    names = ("--trace-events", "schedlab:*")
    scenario: Json = {"duration": "50ms", "tasks": [SLEEPERS]}
    ours = sim("smp4", scenario, "--trace", str(tmp_path / "a"), *names)
    boot = sim("smp4", scenario, "--trace", str(tmp_path / "b"), *names, "--trace-boot")
    assert ours["trace_hash"] == boot["trace_hash"]
    later, all_of_it = lines(tmp_path / "a"), lines(tmp_path / "b")
    assert len(all_of_it) > len(later) > 0
    assert float(all_of_it[0][4]) < 0.001 < boot["boot_s"]
    assert all_of_it[-1].group(5, 6) == later[-1].group(5, 6)
    assert abs(float(all_of_it[-1][4]) - boot["boot_s"] - float(later[-1][4])) < 2e-6


def test_cpus_that_tasks_may_use_are_shown_as_they_begin_and_as_they_change(
    sim: Simulator, tmp_path: Path
) -> None:
    scenario: Json = {
        "duration": "40ms",
        "boot": {"isolcpus": "7"},
        "tasks": [
            {"name": "free", "program": [{"run": "1ms"}]},
            {"name": "bound", "affinity": "1,3", "program": [{"run": "40ms"}]},
        ],
        "actions": [{"at": "20ms", "task": "bound", "affinity": "4-7"}],
    }
    events, _ = decisions(sim, "smt8", scenario, tmp_path / "trace.txt")
    seen: dict[str, list[object]] = {}
    for event in of(events, "cpus_allowed"):
        seen.setdefault(event["comm"], []).append(event["cpus"])
    assert seen["free"] == ["0-6"]
    assert seen["bound"] == ["0-6", "1,3", "4-7"]


def test_who_is_woken_on_the_way_to_user_mode_preempts(sim: Simulator, tmp_path: Path) -> None:
    """An interrupt that comes due after the last look at need_resched is one of user mode."""
    check = tomllib.loads((ROOT / "scenarios/features/real-time.toml").read_text())
    scenario = {"settle": "100ms", **check["scenario"]}
    for seed in ("13", "15"):
        path = tmp_path / "trace.txt"
        options = ("--trace", str(path), "--trace-events", "sched_wakeup,sched_switch")
        sim("smp4", scenario, *options, "--seed", seed)
        woken: dict[str, float] = {}
        longest = 0.0
        for match in lines(path):
            fields = dict(FIELD.findall(match[6]))
            if match[5] == "sched_wakeup":
                woken[fields["comm"]] = float(match[4])
            elif (comm := fields["next_comm"]).startswith("high") and comm in woken:
                longest = max(longest, float(match[4]) - woken.pop(comm))
        assert 0 < longest < 100e-6


def test_a_task_has_a_slice_of_its_own(sim: Simulator, series: str) -> None:
    """As sched_setattr() gives it; a shorter one preempts before the others' slices are over."""
    knobs = {"/sys/kernel/debug/sched/base_slice_ns": "20000000"}
    beside = {"name": "beside", "count": 2, "affinity": "0", "program": [{"run": "10s"}]}
    usual = {"name": "one", "affinity": "0", "program": [{"run": "300us"}, {"sleep": "2ms"}]}
    short = {**usual, "slice": "500us"}
    asked: Json = {"duration": "2s", "tasks": [beside, short], "knobs": knobs}
    if not reads(series, "include/linux/sched.h", "custom_slice;"):
        asked.pop("knobs")
        assert "gives all fair tasks the same slice" in refused(sim, machine("smp4"), asked)
        return

    def wait(task: Json, **features: bool) -> float:
        result = sim("smp4", {**asked, "tasks": [beside, task], "features": features})
        one = tasks(result, "one")[0]
        return float(one["wait_ns"] / one["waits"])

    assert 10 * wait(short) < min(wait(usual), wait(short, PREEMPT_SHORT=False))
    fifo = {**short, "policy": "fifo", "priority": 1}
    said = refused(sim, machine("smp4"), {**asked, "tasks": [fifo]})
    assert "tasks[0].slice: only the policies normal and batch have one" in said
