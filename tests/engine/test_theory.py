"""What theory says must come out, against computed values."""

from __future__ import annotations

import pytest
from conftest import Json, Simulator, machine, tasks

HOG: Json = {"program": [{"run": "100ms"}]}


def runtime(result: Json, name: str) -> float:
    return sum(t["runtime_ns"] for t in tasks(result, name)) / 1e9


# The weights of sched_prio_to_weight[], for the nice values used here.
WEIGHT = {-10: 9548, -5: 3121, 0: 1024, 5: 335, 10: 110}


def test_equal_hogs_on_one_cpu_get_equal_time(sim: Simulator) -> None:
    result = sim(
        "smp4",
        {
            "duration": "4s",
            "warmup": "1s",
            "tasks": [{"name": "h", "count": 5, "affinity": "1", **HOG}],
        },
    )
    for task in tasks(result, "h"):
        assert task["runtime_ns"] == pytest.approx(3e9 / 5, rel=0.02)


@pytest.mark.parametrize(("a", "b"), [(0, 5), (-5, 0), (-10, 0), (5, 10)])
def test_nice_hogs_get_time_by_weight(sim: Simulator, a: int, b: int) -> None:
    result = sim(
        "smp4",
        {
            "duration": "11s",
            "warmup": "1s",
            "tasks": [
                {"name": "a", "nice": a, "affinity": "0", **HOG},
                {"name": "b", "nice": b, "affinity": "0", **HOG},
            ],
        },
    )
    share = WEIGHT[a] / (WEIGHT[a] + WEIGHT[b])
    assert runtime(result, "a") / (runtime(result, "a") + runtime(result, "b")) == pytest.approx(
        share, abs=0.015
    )


def test_groups_get_time_by_weight(sim: Simulator) -> None:
    result = sim(
        "smp4",
        {
            "duration": "5s",
            "warmup": "1s",
            "groups": [{"path": "/a", "cpu.weight": "100"}, {"path": "/b", "cpu.weight": "300"}],
            "tasks": [
                {"name": "a", "count": 3, "group": "/a", "affinity": "0", **HOG},
                {"name": "b", "group": "/b", "affinity": "0", **HOG},
            ],
        },
    )
    assert runtime(result, "b") / 4 == pytest.approx(0.75, abs=0.02)


def test_groups_nest(sim: Simulator) -> None:
    result = sim(
        "smp4",
        {
            "duration": "5s",
            "warmup": "1s",
            "groups": [
                {"path": "/a"},
                {"path": "/a/x", "cpu.weight": "300"},
                {"path": "/a/y"},
                {"path": "/b"},
            ],
            "tasks": [
                {"name": "x", "group": "/a/x", "affinity": "2", **HOG},
                {"name": "y", "group": "/a/y", "affinity": "2", **HOG},
                {"name": "b", "group": "/b", "affinity": "2", **HOG},
            ],
        },
    )
    assert runtime(result, "x") / 4 == pytest.approx(0.375, abs=0.02)
    assert runtime(result, "b") / 4 == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize(
    ("quota", "period"), [(20000, 100000), (50000, 100000), (150000, 100000), (5000, 20000)]
)
def test_cpu_max_limits_a_group(sim: Simulator, quota: int, period: int) -> None:
    result = sim(
        "smp4",
        {
            "duration": "6s",
            "warmup": "1s",
            "groups": [{"path": "/lim", "cpu.max": f"{quota} {period}"}],
            "tasks": [{"name": "h", "count": 3, "group": "/lim", **HOG}],
        },
    )
    assert runtime(result, "h") / 5 == pytest.approx(quota / period, rel=0.05)


def test_realtime_task_runs_at_once(sim: Simulator) -> None:
    """A FIFO task that wakes beside hogs waits for interrupts and switches only, microseconds."""
    result = sim(
        "smp4",
        {
            "duration": "2s",
            "warmup": "100ms",
            "tasks": [
                {"name": "hog", "count": 12, **HOG},
                {
                    "name": "rt",
                    "policy": "fifo",
                    "priority": 50,
                    "program": [{"run": "100us"}, {"sleep": "1ms"}],
                },
            ],
        },
    )
    assert tasks(result, "rt")[0]["wait_max_ns"] < 20_000


def test_round_robin_shares_a_cpu(sim: Simulator) -> None:
    result = sim(
        "smp4",
        {
            "duration": "4s",
            "knobs": {"/proc/sys/kernel/sched_rt_runtime_us": "-1"},
            "tasks": [
                {"name": "rr", "count": 4, "policy": "rr", "priority": 10, "affinity": "3", **HOG}
            ],
        },
    )
    for task in tasks(result, "rr"):
        assert task["runtime_ns"] == pytest.approx(1e9, rel=0.11)


def test_deadline_task_gets_its_runtime_every_period(sim: Simulator) -> None:
    """5 ms of work each 20 ms, reserved 6 ms: every period, whatever else runs."""
    result = sim(
        "smp4",
        {
            "duration": "4s",
            "tasks": [
                {"name": "hog", "count": 16, **HOG},
                {
                    "name": "dl",
                    "policy": "deadline",
                    "runtime": "6ms",
                    "period": "20ms",
                    "program": [{"run": "5ms"}, {"sleep": "15ms"}],
                },
            ],
        },
    )
    task = tasks(result, "dl")[0]
    assert task["ops"] >= 4000 / 20.5 - 5
    assert task["wait_max_ns"] < 1_000_000


def test_deadline_hog_is_held_to_its_bandwidth(sim: Simulator) -> None:
    result = sim(
        "smp4",
        {
            "duration": "3s",
            "warmup": "1s",
            "tasks": [
                {"name": "dl", "policy": "deadline", "runtime": "3ms", "period": "10ms", **HOG}
            ],
        },
    )
    assert runtime(result, "dl") / 2 == pytest.approx(0.3, abs=0.01)


def test_idle_policy_takes_the_rest(sim: Simulator) -> None:
    result = sim(
        "smp4",
        {
            "duration": "4s",
            "tasks": [
                {"name": "n", "affinity": "0", **HOG},
                {"name": "i", "policy": "idle", "affinity": "0", **HOG},
            ],
        },
    )
    assert runtime(result, "i") / 4 == pytest.approx(3 / 1027, abs=0.01)


def test_eevdf_lag_is_bounded(series: str, sim: Simulator) -> None:
    """Between equal hogs nobody gets ahead by more than a request and a tick."""
    if series == "6.1":
        pytest.skip("6.1 has CFS, no lag")
    for end in ("1001ms", "1013ms", "1029ms", "1043ms"):
        result = sim(
            "smp4", {"duration": end, "tasks": [{"name": "h", "count": 4, "affinity": "0", **HOG}]}
        )
        times = [t["runtime_ns"] for t in tasks(result, "h")]
        assert max(times) - min(times) < 2 * (3e6 + 4e6) + 1e6


def test_misfit_task_moves_to_a_big_cpu(sim: Simulator) -> None:
    """The hog starts pinned to a little CPU and is let go: it must reach a big one and stay."""
    quiet = machine("biglittle-6")
    result = sim(
        quiet,
        {
            "duration": "2s",
            "warmup": "1s",
            "tasks": [{"name": "big", "affinity": "0", **HOG}],
            "actions": [{"at": "500ms", "task": "big", "affinity": "0-5"}],
        },
    )
    busy = {c["cpu"]: c["user_ns"] for c in result["per_cpu"]}
    assert busy[4] + busy[5] > 0.98e9


def test_speed_of_little_cpus(sim: Simulator) -> None:
    """The same work takes 1 / 0.70 as long on Juno's little cores."""
    result = sim(
        "juno-r0",
        {
            "duration": "10s",
            "tasks": [
                {"name": "big", "affinity": "1", "loops": 1, "program": [{"run": "1s"}]},
                {"name": "little", "affinity": "0", "loops": 1, "program": [{"run": "1s"}]},
            ],
        },
    )
    took = {t["name"]: t["died_ns"] - t["born_ns"] for t in result["tasks"]}
    assert took["little"] / took["big"] == pytest.approx(1 / 0.70, rel=0.02)


def test_smt_siblings_share_a_core(sim: Simulator) -> None:
    def ops(cpus: str) -> float:
        return sim(
            "smt8",
            {
                "duration": "1s",
                "tasks": [
                    {"name": "a", "affinity": cpus.split()[0], "program": [{"run": "1ms"}]},
                    {"name": "b", "affinity": cpus.split()[1], "program": [{"run": "1ms"}]},
                ],
            },
        )["metrics"]["ops_per_s"]

    assert ops("0 1") / ops("0 2") == pytest.approx(0.6, abs=0.01)


def test_uclamp_max_keeps_the_frequency_down(sim: Simulator) -> None:
    def ops(**more: int) -> float:
        return sim(
            "biglittle-6",
            {
                "duration": "2s",
                "warmup": "1s",
                "tasks": [{"name": "h", "affinity": "4", "program": [{"run": "1ms"}], **more}],
            },
        )["metrics"]["ops_per_s"]

    assert ops(uclamp_max=300) / ops() == pytest.approx(903 / 2362, abs=0.03)


def test_schedutil_follows_the_load(sim: Simulator) -> None:
    def frequencies(run: str, sleep: str) -> int:
        result = sim(
            "biglittle-6",
            {
                "duration": "1s",
                "warmup": "300ms",
                "tasks": [
                    {"name": "t", "affinity": "5", "program": [{"run": run}, {"sleep": sleep}]}
                ],
            },
        )
        return int(result["per_cpu"][5]["user_ns"])

    # 10 % of the work at a low operating point takes more than 10 % of the time
    assert frequencies("1ms", "9ms") > 0.1 * 0.7e9 * 1.5
