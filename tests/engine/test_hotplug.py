"""CPUs go off-line and come back, whatever runs beside, or the run says why they did not."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_build import patched_build

from tests.helpers.engine.simulator import Json, Simulator

HOG: Json = {"name": "hog", "program": [{"run": "10ms"}]}
GOVERNOR = "/sys/devices/system/cpu/cpu7/cpufreq/scaling_governor"


def test_a_new_thread_reads_nothing(tmp_path: Path) -> None:
    """Threads of the kernel are copies of CPU 0's idle task, which may be reading (7.3 is lazy)."""
    pattern = r"(while \(!need_resched\(\)\) \{[\s\S]*?)\b(schedule_idle\(\);)"
    reads = r"rcu_read_lock(); \1rcu_read_unlock(); \2"
    binary = patched_build("7.3", "idle-reads", tmp_path, "kernel/sched/idle.c", pattern, reads)
    actions = [{"at": "20ms", "offline": 2}, {"at": "60ms", "online": 2}]
    hog = {**HOG, "affinity": "0", "loops": 1, "program": [{"run": "25ms"}]}  # pid 1 goes elsewhere
    scenario = {"duration": "200ms", "tasks": [hog], "actions": actions}
    result = Simulator(binary, tmp_path)("smp4", scenario)
    assert result["per_cpu"][2]["offline_ns"] > 20e6


@pytest.mark.parametrize("hogs", [1, 5])
def test_cpus_go_off_and_on_beside_busy_ones(sim: Simulator, hogs: int) -> None:
    """A grace period ends with the next tick of each CPU that was busy as it began."""
    actions = [
        {"at": f"{100 * i + 50 * half}ms", ("offline", "online")[half]: 1 + i % 3}
        for i in range(100)
        for half in (0, 1)
    ]
    load = {"duration": "10100ms", "tasks": [{**HOG, "count": hogs}], "actions": actions}
    result = sim("smp4", load)
    assert result["counters"]["sched:sched_process_exit"] == 200  # a cpuhp thread each time
    for cpu in result["per_cpu"][1:]:
        assert 33 * 5e6 < cpu["offline_ns"] < 34 * 100e6


def test_an_action_that_is_not_done_by_the_end_ends_the_run(sim: Simulator) -> None:
    """Real-time tasks keep the thread that prepares the CPU from running."""
    real_time = {**HOG, "count": 4, "policy": "fifo", "priority": 9}
    load = {
        "duration": "900ms",
        "knobs": {"/proc/sys/kernel/sched_rt_runtime_us": "-1"},
        "tasks": [real_time],
        "actions": [{"at": "60ms", "online": 3}, {"at": "50ms", "offline": 3}],
    }
    done = sim.start("smp4", load)
    assert done.returncode == 2
    said = "actions[1]: was asked for at 50 ms and was not done by the end (900 ms)"
    assert said in done.stderr


def test_an_action_after_the_end_is_refused(sim: Simulator) -> None:
    done = sim.start("smp4", {"duration": "9ms", "actions": [{"at": "9ms", "offline": 3}]})
    assert done.returncode == 2
    assert "actions[0].at: 9 ms is not before the end of the run at 9 ms" in done.stderr


def test_workloads_may_end_before_an_action(sim: Simulator) -> None:
    """When they end is known afterwards only."""
    sim(
        "smp4",
        {
            "duration": "1s",
            "workloads": [{"kind": "sched-pipe", "loop": 100}],
            "actions": [{"at": "900ms", "offline": 3}],
            "end": {"when": "workloads_done", "max_simulated": "1s"},
        },
    )


@pytest.mark.parametrize(("count", "fits"), [(3, True), (5, False)])
def test_a_cpu_that_deadline_tasks_need_stays(sim: Simulator, count: int, fits: bool) -> None:
    """They may use 95% of the three CPUs that are left; 6.12 wants some of it for the fair servers."""
    deadline = {"policy": "deadline", "runtime": "7ms", "period": "10ms"}
    program = [{"run": "1ms"}, {"sleep": "14ms"}]
    load = {
        "duration": "900ms",
        "tasks": [{"name": "d", "count": count, **deadline, "program": program}],
        "actions": [{"at": "50ms", "offline": 3}],
    }
    done = sim.start("smp4", load)
    assert done.returncode == (0 if fits else 2), done.stderr
    assert ("actions[0]: offline 3: Device or resource busy" in done.stderr) != fits


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([{"at": "1ms", "online": 3}], "actions[0]: online 3: Invalid argument: it is on-line"),
        (
            [{"at": "1ms", "offline": 3}, {"at": "2ms", "offline": 3}],
            "actions[1]: offline 3: Invalid argument: it is off-line already",
        ),
        (
            [{"at": f"{1 + cpu}ms", "offline": cpu} for cpu in range(4)],
            "actions[3]: offline 3: Device or resource busy: no other CPU is on-line",
        ),
    ],
)
def test_a_cpu_cannot_go_there(sim: Simulator, actions: list[Json], message: str) -> None:
    done = sim.start("smp4", {"duration": "900ms", "actions": actions})
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr


def test_the_governor_changes_while_cpus_go_off(sim: Simulator) -> None:
    """A work of schedutil's rebuilds the domains; it waits for the CPU that is on its way."""
    sleeps = [{"run": ["20us", "900us"]}, {"sleep": ["50us", "3ms"]}]
    clamped = {"uclamp_min": 300, "uclamp_max": 700, "program": [{"run": "1ms"}, {"sleep": "4ms"}]}
    busy = [{"run": ["1ms", "9ms"]}]
    load = {
        "duration": "932ms",
        "groups": [
            {"path": "/a", "cpu.max": "30000 50000"},
            {"path": "/a/b", "cpu.max": "10000 20000"},
        ],
        "tasks": [
            {"name": "hog", "count": 6, "program": busy},
            {"name": "short", "count": 3, "program": sleeps},
            {"name": "grp", "count": 5, "group": "/a/b", "program": busy},
            {"name": "uc", "count": 3, **clamped},
        ],
        "actions": [
            {"at": "25ms", "offline": 4},
            {"at": "25ms", "write": GOVERNOR, "value": "schedutil"},
            {"at": "26ms", "offline": 7},
            {"at": "31ms", "offline": 6},
        ],
    }
    for seed in range(1, 13):
        sim("hikey960", load, "--seed", str(seed))
