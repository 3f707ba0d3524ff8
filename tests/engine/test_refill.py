"""What tasks have to fetch again: after a move, and what others pushed out of their core's caches."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers.engine.simulator import Json, Simulator, machine

FOOTPRINT_KIB = 128


def taking_turns(count: int, cpus: str, run: str = "200us", **others: Any) -> Json:
    """Return tasks that leave a CPU to each other all the time."""
    program = [{"run": run}, {"sleep": "10us"}]
    footprint = f"{FOOTPRINT_KIB}KiB"
    name = f"t{cpus}"
    return {
        "name": name,
        "count": count,
        "affinity": cpus,
        "footprint": footprint,
        "program": program,
        **others,
    }


def a_switch(result: Json) -> float:
    counters = result["counters"]
    return float(counters["cost:refill_ns"] / counters["sched:sched_switch"])


def scenario(*tasks: Json, **others: Any) -> Json:
    return {"duration": "200ms", "warmup": "100ms", "tasks": list(tasks), **others}


@pytest.mark.parametrize("lines", [0, 120])
def test_every_migration_refills_the_kernels_part(sim: Simulator, lines: int) -> None:
    described = machine("smp4")
    described["cost"]["task_lines"] = lines
    moving: Json = {"name": "m", "program": [{"run": "1ms"}]}
    moves = [
        {"at": "20ms", "task": "m", "affinity": "2"},
        {"at": "40ms", "task": "m", "affinity": "1"},
    ]
    result = sim(described, {"duration": "100ms", "tasks": [moving], "actions": moves})
    assert (result["counters"]["cost:refill_ns"] > 0) == (lines > 0)


def test_tasks_that_fit_into_the_cache_together_refill_nothing(sim: Simulator) -> None:
    described = machine("smp4")
    described["cache"]["l2"] = "512KiB"
    assert a_switch(sim(described, scenario(taking_turns(3, "0")))) < 1


def test_of_tasks_that_do_not_fit_each_refills_all_it_has(sim: Simulator) -> None:
    described = machine("smp4")
    described["cache"]["l2"] = "512KiB"
    described["cost"] |= {"line_hit": "10ns", "task_lines": 120, "refill_overlap": 25}
    full = (FOOTPRINT_KIB * 16 + 120) * 10 * 0.25
    result = sim(described, scenario(taking_turns(5, "0")))
    assert 0.9 * full < a_switch(result) <= full
    without = sim(described, scenario(taking_turns(5, "0"), ablate=["refill"]))
    assert a_switch(without) == 0


def test_what_fits_the_second_cache_but_not_the_first_comes_from_the_second(
    sim: Simulator,
) -> None:
    described = machine("smp4")
    described["cache"] |= {"l1": "32KiB", "l2": "4MiB"}
    described["cost"] |= {"line_l2": "4ns", "task_lines": 120, "refill_overlap": 25}
    full = 32 * 16 * 4 * 0.25
    assert 0.9 * full < a_switch(sim(described, scenario(taking_turns(5, "0")))) <= full


def test_a_task_that_works_for_a_moment_fetches_what_it_comes_to(sim: Simulator) -> None:
    """Ten lines of its work, and the kernel's: those, as the tasks come to few, fit together."""
    described = machine("smp4")
    described["cache"]["l2"] = "512KiB"
    described["cost"] |= {"touch": "100ns", "line_hit": "10ns", "task_lines": 0}
    described["cost"]["refill_overlap"] = 25
    result = sim(described, scenario(taking_turns(40, "0", run="1us")))
    assert a_switch(result) < 1.1 * 10 * 10 * 0.25


def test_siblings_push_each_other_out(sim: Simulator) -> None:
    described = machine("smt8")
    described["cache"]["l2"] = "512KiB"
    assert described["topology"]["core"][0] == "0-1"
    alone = a_switch(sim(described, scenario(taking_turns(2, "0"))))
    beside = a_switch(sim(described, scenario(taking_turns(2, "0"), taking_turns(3, "1"))))
    assert alone < 1
    assert beside > 1000


def test_a_new_image_is_warm_nowhere_and_pays_in_its_start(sim: Simulator) -> None:
    program = [{"exec": True}, {"run": "1ms"}]
    alone: Json = {"name": "e", "affinity": "0", "footprint": "256KiB", "program": program}
    assert sim("smp4", scenario(alone))["counters"]["cost:refill_ns"] < 100
