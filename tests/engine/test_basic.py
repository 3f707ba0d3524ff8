"""The engine boots, runs the kernel's own code and is deterministic."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import builds
from tests.helpers.engine.simulator import ROOT, Json, Simulator, machine, package_domain, tasks

HOGS = {"duration": "1s", "tasks": [{"name": "hog", "count": 8, "program": [{"run": "10ms"}]}]}
MIX = {
    "duration": "200ms",
    "tasks": [
        {
            "name": "rs",
            "count": 512,
            "program": [{"run": ["100us", "2ms"]}, {"sleep": ["100us", "2ms"]}],
        }
    ],
}


def hackbench(**more: object) -> dict[str, object]:
    return {
        "duration": "1s",
        "workloads": [{"kind": "hackbench", "groups": 2, "loops": 20, **more}],
        "end": {"when": "workloads_done", "max_simulated": "20s"},
    }


def test_hogs_use_all_time(sim: Simulator) -> None:
    result = sim("smp4", HOGS)
    assert result["metrics"]["utilisation"] == pytest.approx(1, abs=0.001)
    assert sum(t["runtime_ns"] for t in tasks(result, "hog")) == pytest.approx(4e9, rel=0.01)


def test_a_spin_ends_by_the_clock_whoever_took_its_cpu(sim: Simulator) -> None:
    scenario: Json = {
        "duration": "1.1s",
        "settle": "100ms",
        "tasks": [
            {"name": "spinner", "affinity": "0", "program": [{"spin": "1s"}, {"sleep": "1s"}]},
            {"name": "hog", "affinity": "0", "program": [{"run": "9s"}]},
        ],
    }
    spinner, hog = (tasks(sim("smp4", scenario), name)[0] for name in ("spinner", "hog"))
    assert spinner["runtime_ns"] == pytest.approx(0.5e9, rel=0.03)
    assert hog["runtime_ns"] == pytest.approx(0.6e9, rel=0.03), "alone once a second is over"


@pytest.mark.parametrize("pipe", [True, False])
@pytest.mark.parametrize("threads", [True, False])
def test_hackbench_finishes(sim: Simulator, pipe: bool, threads: bool) -> None:
    result = sim("epyc-7713-2p-nps1", hackbench(pipe=pipe, threads=threads))
    assert result["status"] == "done"
    assert result["metrics"]["hackbench.messages"] == 2 * 20 * 20 * 20
    assert 0 < result["metrics"]["hackbench.time"] < 1


def test_sched_pipe(sim: Simulator) -> None:
    result = sim(
        "smp4",
        {
            "duration": "1s",
            "workloads": [{"kind": "sched-pipe", "loop": 1000}],
            "end": {"when": "workloads_done", "max_simulated": "5s"},
        },
    )
    # two switches and two wakeups a turn, a few microseconds each
    assert 2e-6 < result["metrics"]["sched-pipe.time"] / 1000 < 30e-6


def test_same_seed_same_run(sim: Simulator) -> None:
    first, second, other = (sim("epyc-7713-2p-nps1", MIX, "--seed", s)["trace_hash"] for s in "112")
    assert first == second
    assert first != other


def test_domains_are_the_kernels(series: str, sim: Simulator) -> None:
    done = sim.start("epyc-7713-2p-nps1", HOGS, "--print-domains")
    lines = [line for line in done.stdout.splitlines() if line.startswith("cpu0/")]
    names = [line.split("=")[1].split()[0] for line in lines]
    assert names == ["SMT", "MC", package_domain(series), "NUMA"]
    assert "span=0-7,128-135" in lines[1]
    assert lines[2].count("{") == 8


def test_processes_leave_nothing_behind(sim: Simulator) -> None:
    """More of them, one after the other, than per-CPU memory of a process each has room for."""
    forks = {"name": "f", "count": 8, "program": [{"fork": True, "body": [{"run": "1us"}]}]}
    counters = sim("smp4", {"duration": "500ms", "tasks": [forks]})["counters"]
    assert counters["sched:sched_process_fork"] > 4096


def test_nothing_the_engine_looks_for_is_missing(series: str) -> None:
    """Missing hooks and hot fields are named; a tree that renames one is not simulated in silence."""
    assert not builds.made(series).unmatched


@pytest.mark.parametrize("name", sorted(p.stem for p in (ROOT / "machines").glob("*.toml")))
def test_every_machine_boots_and_runs(sim: Simulator, name: str) -> None:
    result = sim(
        name,
        {
            "duration": "20ms",
            "tasks": [{"name": "h", "count": 8, "program": [{"run": "1ms"}, {"sleep": "100us"}]}],
        },
    )
    assert result["machine"] == name
    assert result["counters"]["sched:sched_switch"] > 0


def test_no_cost_of_the_host_in_the_result(sim: Simulator) -> None:
    """An idle machine stays idle."""
    result = sim(
        "smp4",
        {
            "duration": "1s",
            "tasks": [{"name": "nap", "program": [{"run": "10us"}, {"sleep": "100ms"}]}],
        },
    )
    assert result["metrics"]["utilisation"] < 0.01


def test_time_is_conserved(sim: Simulator) -> None:
    """Each CPU's accounts fill the window; kernel time by entry is the CPUs' kernel time."""
    result = sim("epyc-7713-2p-nps1", {**MIX, "warmup": "50ms"})
    for cpu in result["per_cpu"]:
        total = sum(cpu[k] for k in ("user_ns", "kernel_ns", "idle_ns", "offline_ns"))
        assert total == pytest.approx(150e6, abs=300e3)
    kernel = sum(cpu["kernel_ns"] for cpu in result["per_cpu"])
    assert sum(result["kernel_time_ns"].values()) == pytest.approx(kernel, rel=0.01)
    assert result["kernel_time_ns"]["timer"] > result["kernel_time_ns"]["reschedule"]
    spent = {name: of["ns"] for name, of in result["functions"].items()}
    assert all(0 < ns < kernel for ns in spent.values())
    assert spent["update_sd_lb_stats"] < spent["load_balance"]
    assert spent["newidle_balance"] < spent["pick_next_task"]


@pytest.mark.parametrize("settle", ["0ms", "1ms", "100ms"])
@pytest.mark.parametrize(
    ("warmup", "duration", "window"), [("2ms", "5ms", 3e6), ("20ms", "31ms", 11e6)]
)
def test_short_window_counts_everything(
    sim: Simulator, settle: str, warmup: str, duration: str, window: float
) -> None:
    """A hog that has a CPU for itself runs all of the window, wherever the ticks lie."""
    times = {"settle": settle, "warmup": warmup, "duration": duration}
    hogs = {"name": "hog", "count": 3, "program": [{"run": "1s"}]}
    for seed in "123":
        result = sim("smp4", {**times, "tasks": [hogs]}, "--seed", seed)
        assert result["window_s"] * 1e9 == pytest.approx(window, abs=1)
        for task in tasks(result, "hog"):
            assert task["runtime_ns"] == pytest.approx(window, abs=20e3)
        for cpu in result["per_cpu"]:
            busy = cpu["user_ns"] + cpu["kernel_ns"] + cpu["idle_ns"]
            assert busy == pytest.approx(window, abs=20e3)


def test_switched_off_mechanisms_cost_nothing(sim: Simulator) -> None:
    base = sim("epyc-7713-2p-nps1", MIX)["counters"]
    off = sim("epyc-7713-2p-nps1", {**MIX, "ablate": ["scan", "locks", "hot_lines"]})["counters"]
    assert base["cost:runqueue_lookups"] > 0 and base["cost:hot_line_waits"] > 0
    assert off["cost:runqueue_lookups"] == 0 and off["cost:lock_waits"] == 0
    assert off["cost:hot_line_waits"] == 0


def test_machine_of_1024_cpus(sim: Simulator) -> None:
    big = machine("smp4")
    big["name"] = "smp1024"
    nodes = [f"{i * 128}-{i * 128 + 127}" for i in range(8)]
    big["topology"] = {
        "cpus": 1024,
        "core": {"threads": 1, "stride": 1},
        "llc": [f"{i * 16}-{i * 16 + 15}" for i in range(64)],
        "package": nodes,
        "node": nodes,
        "distance": [[10 if a == b else 20 for b in range(8)] for a in range(8)],
    }
    result = sim(
        big,
        {
            "duration": "50ms",
            "tasks": [{"name": "hog", "count": 1024, "program": [{"run": "1ms"}]}],
        },
    )
    assert result["cpus"] == 1024


def test_the_last_busy_cpu_of_an_idle_machine_goes_down(sim: Simulator) -> None:
    """6.12 then has the migration of timers taken over by another CPU, in a thread of that CPU."""
    away: Json = {
        "duration": "60ms",
        "actions": [{"at": "20ms", "offline": 6}, {"at": "40ms", "online": 6}],
    }
    result = sim("hikey960", away)
    assert 0 < result["per_cpu"][6]["offline_ns"] < 25e6


@pytest.mark.parametrize("seed", ["211", "363"])
def test_a_cpu_goes_down_after_the_thread_that_prepared_it(tmp_path: Path, seed: str) -> None:
    """Here that thread is preempted between saying that all is done and its own end."""
    slow = machine("numa16")
    slow["cost"] |= {"wakeup": "5us", "irq": "5us", "catch_up": "20us"}
    away: Json = {
        "duration": "120ms",
        "tasks": [{"name": "t", "count": 2, "program": [{"run": ["267us", "2455us"]}]}],
        "actions": [{"at": f"{5 + 7 * i}ms", "offline": 1 + i} for i in range(14)],
    }
    result = Simulator(builds.fully_preempted(), tmp_path)(slow, away, "--seed", seed)
    assert all(cpu["offline_ns"] for cpu in result["per_cpu"][1:15])
