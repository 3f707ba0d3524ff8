"""The picture of a run: what each CPU did in each bin adds up, and taking it changes nothing."""

from __future__ import annotations

from tests.helpers.engine.simulator import Json, Simulator

MIX: Json = {
    "duration": "80ms",
    "settle": "10ms",
    "tasks": [
        {"name": "hog", "count": 3, "program": [{"run": "9ms"}]},
        {"name": "nap", "count": 5, "program": [{"run": "300us"}, {"sleep": "500us"}]},
    ],
    "actions": [{"at": "20ms", "offline": 3}, {"at": "50ms", "online": 3}],
}
HACKBENCH: Json = {
    "duration": "100s",
    "workloads": [{"kind": "hackbench", "groups": 2, "loops": 40}],
    "end": {"when": "workloads_done", "max_simulated": "100s"},
}


def rows(cpu: Json) -> dict[str, list[int]]:
    """What a CPU's time went into, bin by bin; waiting is not of its time."""
    named = {key: cpu[key] for key in ("idle", "offline") if key in cpu} | cpu["busy"]
    return {key: [int(ns) for ns in text.split()] for key, text in named.items()}


def check(result: Json) -> None:
    picture = result["picture"]
    bins, bin_ns = picture["bins"], picture["bin_ns"]
    assert 64 < bins <= 128
    for cpu, counted in zip(picture["cpus"], result["per_cpu"], strict=True):
        spent = rows(cpu)
        assert all(len(row) == bins for row in spent.values())
        in_bins = [sum(row[bin_] for row in spent.values()) for bin_ in range(bins)]
        # A CPU that was in the kernel as the window began or ended is not cut in two there: what it
        # did until the end is in no bin, so those before it are whole, and those behind it empty.
        assert in_bins[1:-2] == [bin_ns] * (bins - 3)
        assert in_bins[-2] == bin_ns or (in_bins[-2] < bin_ns and in_bins[-1] == 0)
        assert sum(spent.get("idle", [])) == counted["idle_ns"]
        assert sum(spent.get("offline", [])) == counted["offline_ns"]
        busy = sum(sum(row) for key, row in spent.items() if key not in ("idle", "offline"))
        assert abs(busy - counted["user_ns"] - counted["kernel_ns"]) < 100_000
    moved = sum(count for _, _, count in picture["migrations"])
    counters = result["counters"]
    assert moved == sum(n for name, n in counters.items() if name.startswith("migrations:"))


def test_time_and_migrations_add_up(sim: Simulator) -> None:
    result = sim("smp4", {**MIX, "picture": True})
    check(result)
    assert {name for cpu in result["picture"]["cpus"] for name in cpu["busy"]} >= {"hog", "nap"}
    check(sim("epyc-7713-2p-nps1", {**HACKBENCH, "picture": True}))


def test_waiting_is_where_the_task_was_queued(sim: Simulator) -> None:
    hogs = [{"name": "hog", "count": 3, "affinity": "1", "program": [{"run": "9ms"}]}]
    result = sim("smp4", {"duration": "100ms", "tasks": hogs, "picture": True})
    bin_ns = result["picture"]["bin_ns"]
    for cpu in result["picture"]["cpus"]:
        waiting = [int(ns) for ns in cpu.get("waiting", "0").split()]
        if cpu["cpu"] == 1:  # one runs, two wait, at its end too
            assert all(1.9 * bin_ns < ns <= 2 * bin_ns for ns in waiting[2:-1])
        else:
            assert sum(waiting) < bin_ns


def test_it_changes_nothing(sim: Simulator) -> None:
    for machine, scenario in (("smp4", MIX), ("epyc-7713-2p-nps1", HACKBENCH)):
        without, beside = (sim(machine, {**scenario, "picture": asked}) for asked in (False, True))
        assert "picture" not in without
        for key in ("trace_hash", "counters", "per_cpu", "metrics"):
            assert without[key] == beside[key]
