"""Each kind of expectation holds on one trace and is broken by another."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from schedlab.base.errors import UsageError
from schedlab.lab.checks.expect import all_kinds, parse_expectation
from schedlab.lab.checks.given import Given
from schedlab.lab.checks.timeline import Timeline
from schedlab.lab.ftrace import events
from schedlab.machine.model import find_machine

EVENTS = {
    "sched_switch": ("prev_comm", "prev_pid", "next_comm", "next_pid"),
    "sched_wakeup": ("comm", "pid", "prio", "target_cpu"),
    "load_balance": ("cpu", "level", "ours"),
    "x": (),
}
END: dict[str, Any] = {
    "metrics": {"ops_per_s": 10.0},
    "counters": {"switches:voluntary": 3},
    "settings": {"/sys/fs/cgroup/a/cpu.max": "max 100000\n"},
    "tracepoints": ["sched:sched_stat_wait", *(f"sched:{name}" for name in EVENTS)],
}


def line(cpu: int, ms: float, event: str, text: str) -> str:
    return f"            task-12      [{cpu:03}] d..2     {ms / 1e3:.9f}: {event}: {text}\n"


def switch(cpu: int, ms: float, before: str, after: str, state: str = "S") -> str:
    """Return a switch; tasks are NAME/PID, idle is 0."""

    def named(task: str) -> tuple[str, str]:
        name, _, pid = task.partition("/")
        return (f"swapper/{cpu}", "0") if task == "0" else (name, pid)

    (old, old_pid), (new, new_pid) = named(before), named(after)
    return line(
        *(cpu, ms, "sched_switch"),
        f"prev_comm={old} prev_pid={old_pid} prev_prio=120 prev_state={state} ==>"
        f" next_comm={new} next_pid={new_pid} next_prio=120",
    )


def woken(task: str, ms: float, cpu: int) -> str:
    name, _, pid = task.partition("/")
    text = f"comm={name} pid={pid} prio=120 target_cpu={cpu:03}"
    return line(0, ms, "sched_wakeup", text)


def migrated(task: str, ms: float, origin: int, cpu: int) -> str:
    name, _, pid = task.partition("/")
    text = f"comm={name} pid={pid} prio=120 orig_cpu={origin} dest_cpu={cpu}"
    return line(0, ms, "sched_migrate_task", text)


def allowed(task: str, ms: float, cpus: str) -> str:
    name, _, pid = task.partition("/")
    return line(0, ms, "cpus_allowed", f"comm={name} pid={pid} cpus={cpus}")


SCENARIO: dict[str, Any] = {
    "tasks": [
        {"name": "a"},
        {"name": "b"},
        {"name": "limited", "group": "/small"},
    ],
    "groups": [{"path": "/small", "cpu.max": "1000 100000"}],
}

# a runs on CPU 0 for 40 ms, b waits for it for 30 ms and runs for 10 ms; CPU 1 is idle all the time
WAITING = [
    *(woken("a/11", 0, 0), switch(0, 0, "0", "a/11"), woken("b/12", 10, 0)),
    switch(0, 40, "a/11", "b/12", "R"),
    switch(0, 50, "b/12", "a/11"),
]
# the same on two CPUs
APART = [
    *(woken("a/11", 0, 0), switch(0, 0, "0", "a/11"), woken("b/12", 10, 1)),
    *(switch(1, 10, "0", "b/12"), switch(1, 50, "b/12", "0"), switch(0, 50, "a/11", "0")),
]


def broken(
    lines: list[str],
    expected: dict[str, Any],
    scenario: dict[str, Any] | None = None,
    machine: str = "smp4",
    window: float = 0,
    series: str = "6.12",
) -> list[str]:
    build: Any = SimpleNamespace(series=series, release=f"{series}.1", events=EVENTS)
    watcher = parse_expectation(expected).watch(
        Given(find_machine(machine), SCENARIO if scenario is None else scenario, build=build)
    )
    timeline = Timeline(find_machine(machine).nr_cpus, [watcher])
    timeline.follow(events(lines))
    timeline.end({**END, "window_s": window})
    return [what for _, what in watcher.problems]


@pytest.mark.parametrize(
    ("expected", "good", "bad"),
    [
        ({"that": "work-conservation", "waits": "20ms"}, APART, WAITING),
        ({"that": "no-stall", "longest": "20ms"}, APART, WAITING),
        ({"that": "latency", "tasks": "b", "at_most": "20ms"}, APART, WAITING),
        ({"that": "placement", "tasks": "b", "cpus": "1"}, APART, WAITING),
        ({"that": "isolation", "cpus": "0", "only": "a"}, APART, WAITING),
        ({"that": "bandwidth", "at_most": 1.2}, WAITING, APART),
        ({"that": "bandwidth", "tasks": "b", "at_least": 0.5}, APART, WAITING),
        ({"that": "bandwidth", "tasks": "b", "at_most": 0.5, "every": "10ms"}, WAITING[:3], APART),
        ({"that": "fairness", "within": 0.2}, APART, WAITING),
        ({"that": "fairness", "within": 0.1, "weights": {"a": 4, "b": 1}}, WAITING, APART),
        ({"that": "spread", "over": "core", "longest": "20ms"}, APART, WAITING),
    ],
    ids=lambda value: value["that"] if isinstance(value, dict) else "",
)
def test_holds_and_breaks(expected: dict[str, Any], good: list[str], bad: list[str]) -> None:
    assert not broken(good, expected)
    assert broken(bad, expected)


def test_every_kind_says_what_it_means() -> None:
    assert len(all_kinds()) >= 12
    assert all(kind.meaning for kind in all_kinds().values())


def test_a_wait_counts_only_for_cpus_that_a_task_may_use() -> None:
    asked = {"that": "work-conservation", "waits": "20ms"}
    bound = allowed("b/12", 0, "0")
    assert not broken([bound, *WAITING], asked)
    assert broken([bound, allowed("b/12", 5, "0-3"), *WAITING], asked)
    wide = [allowed("b/12", 0, "0,1"), *WAITING]
    away = {"tasks": [{"name": "b"}], "actions": [{"at": "5ms", "offline": 1}]}
    assert broken(wide, asked)
    assert not broken(wide, asked, away)


def test_limits_count_of_the_groups_that_an_rt_app_file_names(tmp_path: Path) -> None:
    file = tmp_path / "load.json"
    file.write_text('{"tasks": {"a": {"run": 9}, "b": {"run": 9, "taskgroup": "/small/in"}}}')
    limited = {
        "workloads": [{"kind": "rt-app", "file": str(file)}],
        "groups": [{"path": "/small", "cpu.max": "1000 100000"}],
    }
    asked = {"that": "work-conservation", "waits": "20ms"}
    assert not broken(WAITING, asked, limited)
    file.write_text('{"tasks": {"a": {"run": 9}, "b": {"run": 9, "taskgroup": "/smaller"}}}')
    assert broken(WAITING, asked, limited)
    of_workload = {**limited, "workloads": [{"kind": "schbench", "group": "/small"}]}
    assert not broken(WAITING, asked, of_workload)


def test_a_cookie_keeps_a_cpu_idle_beside_another() -> None:
    """CPU 1 of smt8 is the sibling of CPU 0, where a runs."""
    asked = {"that": "work-conservation", "waits": "20ms"}
    tagged = {"tasks": [{"name": "a", "cookie": "A"}, {"name": "b", "cookie": "B"}]}
    bound = allowed("b/12", 0, "0-1")
    assert broken([bound, *WAITING], asked, machine="smt8")
    assert not broken([bound, *WAITING], asked, tagged, machine="smt8")
    assert broken([allowed("b/12", 0, "0-2"), *WAITING], asked, tagged, machine="smt8")


def test_real_time_and_deadline_tasks_have_limits() -> None:
    asked = {"that": "work-conservation", "waits": "20ms"}
    for prio, series, found in ((49, "6.1", 0), (49, "6.12", 1), (-1, "6.12", 0)):
        lines = [
            re.sub(r"(b (?:next_)?pid=12 (?:next_)?prio=)120", rf"\g<1>{prio}", each)
            for each in WAITING
        ]
        assert bool(broken(lines, asked, series=series)) == found


def test_init_which_starts_the_tasks_is_not_of_the_scenario() -> None:
    lines = [
        each.replace("b/12", "init/1").replace("=b ", "=init ").replace("pid=12", "pid=1")
        for each in WAITING
    ]
    assert not broken(lines, {"that": "work-conservation", "waits": "20ms"})
    assert not broken(lines, {"that": "no-stall", "longest": "20ms"})


def test_a_wait_is_shown_on_the_queue_where_it_was() -> None:
    lines = [*WAITING[:3], migrated("b/12", 39.9, 0, 2), *WAITING[3:]]
    [problem] = broken(lines, {"that": "no-stall", "longest": "20ms"})
    assert problem.startswith("b waits on CPU 0 from 10 ms")


def test_a_limited_task_may_wait_beside_idle_cpus() -> None:
    lines = [each.replace("b/12", "limited/12").replace("=b ", "=limited ") for each in WAITING]
    assert not broken(lines, {"that": "work-conservation", "waits": "20ms"})
    assert broken(lines, {"that": "no-stall", "longest": "20ms"})


def test_a_wait_lasts_to_the_end_of_the_run_though_no_event_follows() -> None:
    """As that of a task which is throttled for good and leaves its CPU idle."""
    lines = [woken("a/11", 0, 0), switch(0, 0, "0", "a/11"), switch(0, 40, "a/11", "0", "R")]
    assert not broken(lines, {"that": "no-stall", "longest": "20ms"}, window=0.05)
    assert broken(lines, {"that": "no-stall", "longest": "20ms"}, window=0.1)


def test_both_times_have_to_pass() -> None:
    """The wait has lasted longer than X at a moment at which the CPU was idle longer than Y."""
    busy = [switch(1, 15, "0", "a/11"), switch(1, 30, "a/11", "0")]
    lines = [switch(0, 0, "0", "c/9"), *WAITING[2:3], *busy, switch(0, 60, "c/9", "b/12")]
    lines.insert(0, allowed("b/12", 0, "0-1"))
    kept = {"that": "work-conservation", "waits": "10ms"}
    assert broken(lines, {**kept, "idle": "20ms"})
    assert not broken(lines, {**kept, "idle": "35ms"})


def test_migrations_are_counted_by_task() -> None:
    lines = [*APART[:2], migrated("a/11", 1, 0, 1), migrated("a/11", 2, 1, 0)]
    assert not broken(lines, {"that": "migrations", "tasks": "a", "at_most": 2})
    [problem] = broken(lines, {"that": "migrations", "tasks": "a", "at_most": 1})
    assert "from CPU 1 to 0" in problem
    assert broken(lines, {"that": "migrations", "tasks": "a", "at_least": 3})
    assert not broken(lines, {"that": "migrations", "tasks": "a", "at_most": 1, "since": "2ms"})


def test_decisions_are_counted_and_bounded() -> None:
    lines = [
        line(2, 5, "load_balance", "cpu=2 level=1 ours=1"),
        line(3, 6, "load_balance", "cpu=3 level=1 ours=0"),
    ]
    asked = {"that": "decision", "event": "schedlab:load_balance"}
    assert not broken(lines, {**asked, "where": {"ours": 1}, "at_most": 1})
    assert broken(lines, {**asked, "where": {"level": [1, 2]}, "at_most": 1})
    assert not broken(lines, {**asked, "cpu": 3, "at_most": 1, "at_least": 1})
    assert not broken(lines, {**asked, "field": "cpu", "at_most": 3})
    assert broken(lines, {**asked, "field": "cpu", "at_most": 2})
    assert not broken(lines, {**asked, "field": "cpu", "at_most": 2, "until": "5ms"})
    for some in (lines, []):
        with pytest.raises(UsageError, match=r"no field 'levle'. Did you mean level"):
            broken(some, {**asked, "where": {"levle": 1}, "at_most": 1})
        with pytest.raises(UsageError, match=r"no field 'cup'. Did you mean cpu"):
            broken(some, {**asked, "field": "cup", "at_most": 1})


def test_numbers_are_compared_as_numbers() -> None:
    """CPUs are written with leading zeros, flags in hexadecimal."""
    lines = [woken("b/12", 10, 1), line(0, 11, "load_balance", "cpu=0x10 level=1 ours=1")]
    asked = {"that": "decision", "event": "sched_wakeup", "where": {"target_cpu": 1}}
    assert broken(lines, {**asked, "at_most": 0})
    assert broken(lines, {**asked, "field": "target_cpu", "at_most": 0})
    balance = {"that": "decision", "event": "load_balance", "where": {"level": [1, 2]}}
    assert broken(lines, {**balance, "field": "cpu", "at_most": 15})


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({"event": "sched_wakeup", "where": {"comm": "c"}, "at_most": 0}, "no task is called 'c'"),
        ({"event": "sched_wakeup", "where": {"target_cpu": 4}, "at_most": 0}, "CPUs 0 to 3"),
        ({"event": "sched_*", "at_most": 0}, r"no tracepoint 'sched_\*'"),
        ({"event": "sched_wakup", "at_most": 0}, "Did you mean sched_wakeup"),
        ({"event": "sched_stat_wait", "at_most": 0}, r"counted.*that = \"figure\""),
        ({"event": "load_balance", "field": "cpu", "at_most": 9}, "never happens"),
        (
            {"event": "sched_wakeup", "where": {"pid": 99}, "field": "prio", "at_most": 9},
            "sched_wakeup with pid 99 never happens",
        ),
        ({"event": "sched_wakeup", "field": "comm", "at_most": 9}, "comm=a is not a whole number"),
    ],
)
def test_decisions_that_nothing_can_break_are_refused(
    expected: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        broken(WAITING, {"that": "decision", **expected})


def test_figures_and_files_of_the_result() -> None:
    assert not broken([], {"that": "figure", "name": "ops_per_s", "at_least": 10})
    assert broken([], {"that": "figure", "name": "ops_per_s", "at_most": 9})
    assert not broken([], {"that": "figure", "name": "sched:sched_stat_wait", "at_most": 0})
    with pytest.raises(
        UsageError, match=r"no metric or counter 'ops_per_ss'. Did you mean ops_per"
    ):
        broken([], {"that": "figure", "name": "ops_per_ss", "at_most": 9})
    file = "/sys/fs/cgroup/a/cpu.max"
    assert not broken([], {"that": "setting", "file": file, "reads": "max 100000"})
    assert broken([], {"that": "setting", "file": file, "reads": "max 50000"})
    with pytest.raises(UsageError, match="not among the files"):
        broken([], {"that": "setting", "file": f"{file}x", "reads": ""})


def test_cpus_by_their_kind() -> None:
    placed = {"that": "placement", "tasks": "a", "cpus": "biggest"}
    assert broken(APART, placed, {}, "hikey960")  # its CPUs 4 to 7 are the big ones
    with pytest.raises(UsageError, match="all CPUs have one capacity"):
        broken(APART, placed)
    with pytest.raises(UsageError, match="has CPUs 0 to 3"):
        broken(APART, {**placed, "cpus": "8"})
    with pytest.raises(UsageError, match="one node"):
        broken(APART, {"that": "spread", "over": "node", "longest": "1ms"})


NEVER = [*WAITING[:2], woken("b/12", 10, 0), switch(0, 300, "a/11", "0")]
"""b waits for 290 ms and never runs."""


def test_a_task_that_never_runs_counts() -> None:
    assert broken(NEVER, {"that": "fairness", "within": 0.01})
    there = {"that": "placement", "cpus": "0", "after": "100ms"}
    assert broken(NEVER, there) == ["b waits from 10 ms on and never runs"]


def test_what_nothing_can_break_is_refused() -> None:
    for about in (
        {"that": "fairness", "within": float("inf")},
        {"that": "bandwidth", "at_least": 0},
        {"that": "bandwidth", "at_most": float("inf")},
    ):
        with pytest.raises(ValueError, match=r"finite number|more than 0"):
            parse_expectation(about)
    with pytest.raises(UsageError, match="weights: no task is called 'c'"):
        broken(NEVER, {"that": "fairness", "within": 0.01, "weights": {"c": 3.0}})
    with pytest.raises(UsageError, match="tasks: a is the only one"):
        broken(WAITING, {"that": "fairness", "tasks": "a", "within": 0.01})
    with pytest.raises(UsageError, match="after: the run is over 50 ms after"):
        broken(WAITING, {"that": "placement", "tasks": "a", "cpus": "0", "after": "10s"})
    with pytest.raises(UsageError, match="no task called 'a' is woken from 20 ms on"):
        broken(WAITING, {"that": "latency", "tasks": "a", "at_most": "1us", "since": "20ms"})


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({"that": "bandwidth", "at_least": 0.1, "every": "10s"}, "every: the run is over"),
        ({"that": "fairness", "within": 0.1, "every": "10s"}, "every: the run is over"),
        ({"that": "decision", "event": "sched_switch", "cpu": 99, "at_most": 0}, "CPUs 0 to 3"),
        (
            {"that": "decision", "event": "x", "since": "9ms", "until": "1ms", "at_most": 0},
            "until: is not after since",
        ),
    ],
)
def test_empty_intervals_and_cpus_that_are_not_there_are_refused(
    expected: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        broken(WAITING, expected)


def test_a_wait_counts_from_when_a_cpu_is_allowed() -> None:
    widened = [allowed("b/12", 0, "0"), *NEVER[:3], allowed("b/12", 50, "0-1"), *NEVER[3:]]
    asked = {"that": "work-conservation", "waits": "20ms"}
    assert broken(widened, asked)[0].startswith("b waits since 10 ms")
    assert not broken(widened, {**asked, "waits": "260ms"})
    late = [allowed("b/12", 0, "0"), *NEVER[:3], allowed("b/12", 290, "0-1"), *NEVER[3:]]
    assert not broken(late, asked)


def test_weights_follow_actions_and_policies() -> None:
    """A and b share a CPU: half each at first, 3 to 1 from 40 ms on, and 1 to 341 as `idle`."""
    first = [woken("b/12", 0, 0), switch(0, 0, "0", "a/11"), switch(0, 20, "a/11", "b/12", "R")]
    later = [switch(0, 40, "b/12", "a/11", "R"), switch(0, 70, "a/11", "b/12", "R")]
    lines = [*first, *later, switch(0, 80, "b/12", "a/11", "R")]
    nicer = {"tasks": [{"name": "a"}, {"name": "b"}]}
    nicer |= {"actions": [{"at": "40ms", "task": "b", "nice": 5}]}
    asked = {"that": "fairness", "within": 0.05}
    assert not broken(lines, asked, nicer, window=0.08)
    assert broken(lines, asked, {**nicer, "actions": []}, window=0.08)
    idler = {"tasks": [{"name": "a"}, {"name": "b", "policy": "idle"}]}
    mostly = [*first[:2], switch(0, 79.77, "a/11", "b/12", "R"), switch(0, 80, "b/12", "0")]
    assert not broken(mostly, asked, idler)


def test_entries_are_told_apart_by_their_whole_names() -> None:
    given = Given(
        find_machine("smp4"),
        {"tasks": [{"name": "pin0", "count": 2, "nice": -5}, {"name": "pin3", "count": 2}]},
    )
    weights = [given.weight(name) for name in ("pin02", "pin32", "pin03")]
    assert weights == pytest.approx([3125, 1024, 1024])


@pytest.mark.parametrize(
    "action",
    [
        {"at": "1ms", "write": "/sys/fs/cgroup/g/cpu.max", "value": "20000 100000"},
        {"at": "1ms", "task": "b*", "group": "/small/inner"},
    ],
)
def test_limits_that_an_action_sets_count(action: dict[str, Any]) -> None:
    scenario = {**SCENARIO, "tasks": [{"name": "b", "group": "/g"}], "actions": [action]}
    asked = {"that": "work-conservation", "waits": "20ms"}
    assert not broken(WAITING, asked, scenario)
    assert broken(WAITING, asked, {**scenario, "actions": []})
