"""Proxy execution: who holds a mutex of the kernel's runs in place of those that wait for it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.helpers import builds
from tests.helpers.engine.loads import refused
from tests.helpers.engine.simulator import Json, Simulator, machine

HOG_NS = 200e6


@pytest.fixture
def proxies(tmp_path: Path) -> Simulator:
    """7.3 with SCHED_PROXY_EXEC."""
    return Simulator(builds.bare(), tmp_path)


@pytest.fixture
def plain(tmp_path: Path) -> Simulator:
    return Simulator(builds.build("7.3"), tmp_path)


def hold(mutex: str, *body: Json) -> Json:
    return {"hold": mutex, "body": list(body)}


def once(name: str, start: str, cpus: str, *program: Json, priority: int = 0) -> Json:
    policy = {"policy": "fifo", "priority": priority} if priority else {}
    begun = {"name": name, "start": start, "affinity": cpus, "loops": 1}
    return {**begun, **policy, "program": list(program)}


def chain(cpus: str = "0") -> Json:
    """`first` waits for `link`, which waits for `owner`; a hog comes between these three."""
    return {
        "duration": "400ms",
        "tasks": [
            once("owner", "0ms", cpus, hold("a", {"run": "20ms"})),
            once("link", "1ms", cpus, hold("b", hold("a", {"run": "1ms"}))),
            once("first", "15ms", cpus, hold("b", {"run": "1ms"}), priority=50),
            once("hog", "17ms", cpus, {"run": "200ms"}, priority=10),
        ],
    }


def ended(result: Json) -> dict[str, float]:
    return {task["name"]: task["died_ns"] for task in result["tasks"]}


def test_the_owner_runs_in_place_of_who_waits(proxies: Simulator, plain: Simulator) -> None:
    """Two mutexes away; without it all of them wait for the hog, which none needs."""
    helped, alone = (ended(sim("smp4", chain())) for sim in (proxies, plain))
    assert helped["first"] < 30e6 < HOG_NS < helped["hog"]
    assert min(alone[name] for name in ("owner", "link", "first")) > alone["hog"] > HOG_NS


def test_it_is_chosen_as_the_one_that_waits(proxies: Simulator, tmp_path: Path) -> None:
    """The class picks the donor at the head of the chain, and the CPU goes to the owner."""
    trace = tmp_path / "trace"
    events = "sched_switch,pick_next"
    proxies("smp4", chain(), "--trace", str(trace), "--trace-cpus", "0", "--trace-events", events)
    steps = re.findall(
        r"pick_next: comm=(\S+).*\n.*sched_switch: .* next_comm=(\S+)", trace.read_text()
    )
    assert ("first", "owner") in steps
    assert ("hog", "hog") in steps


def test_each_has_its_own_time(proxies: Simulator) -> None:
    """What a task ran in another's place is its own runtime, and the other's slice."""
    ran = {task["name"]: task["runtime_ns"] for task in proxies("smp4", chain())["tasks"]}
    expected = {"owner": 20e6, "link": 1e6, "first": 1e6, "hog": HOG_NS}
    assert ran == {name: pytest.approx(ns, abs=0.3e6) for name, ns in expected.items()}


def test_who_waits_goes_to_the_owners_cpu(proxies: Simulator, plain: Simulator) -> None:
    """And comes back from it: its own CPUs are others."""
    asked = chain("1")
    asked["tasks"][2]["affinity"] = "0"
    helped, alone = (ended(sim("smp4", asked)) for sim in (proxies, plain))
    assert helped["first"] < 30e6 < HOG_NS < alone["first"]


def test_a_holder_that_sleeps_helps_nobody(proxies: Simulator) -> None:
    """The kernel has those that wait for it sleep as well."""
    asked = chain()
    asked["tasks"][0]["program"] = [hold("a", {"run": "2ms"}, {"sleep": "30ms"}, {"run": "2ms"})]
    at = ended(proxies("smp4", asked))
    assert at["first"] > at["hog"] > HOG_NS


def test_many_take_the_same_few(proxies: Simulator) -> None:
    """On all CPUs, at all priorities; each in its turn, and at last all of them."""
    body = hold("a", {"run": ["10us", "400us"]}, hold("b", {"run": ["10us", "200us"]}))
    many = [
        {
            "name": f"t{nice}",
            "count": 4,
            "nice": nice,
            "loops": 40,
            "program": [body, {"run": "1ms"}],
        }
        for nice in (-10, 0, 10)
    ]
    rt = {"name": "rt", "loops": 40, "policy": "fifo", "priority": 5}
    many.append({**rt, "program": [{"sleep": "1ms"}, hold("b", {"run": "100us"})]})
    result = proxies("smt8", {"duration": "3s", "tasks": many})
    assert [task["ops"] for task in result["tasks"]] == [40] * 13
    again = proxies("smt8", {"duration": "3s", "tasks": many})
    assert result["trace_hash"] == again["trace_hash"]


def test_holders_that_wait_for_each_other_are_refused(plain: Simulator) -> None:
    one = once("one", "0ms", "0", hold("a", {"sleep": "5ms"}, hold("b", {"run": "1ms"})))
    two = once("two", "1ms", "1", hold("b", {"sleep": "5ms"}, hold("a", {"run": "1ms"})))
    asked: Json = {"duration": "50ms", "tasks": [one, two]}
    said = refused(plain, machine("smp4"), asked)
    assert "task two waits for mutex a, whose holder waits for it" in said
    itself = {**asked, "tasks": [once("own", "0ms", "0", hold("a", hold("a", {"run": "1ms"})))]}
    assert "task own waits for mutex a, whose holder" in refused(plain, machine("smp4"), itself)


def test_what_a_system_call_cannot_do_is_refused(plain: Simulator) -> None:
    asked: Json = {"duration": "9ms", "tasks": [once("t", "0ms", "0", hold("a", {"exec": True}))]}
    said = refused(plain, machine("smp4"), asked)
    assert "tasks[0].program[0].body[0]: a system call runs, sleeps and holds mutexes" in said


def test_an_owner_runs_whatever_its_cookie(proxies: Simulator) -> None:
    """7.3 asks for the donor's alone: a gap of its own, which ends a run. docs/manual/kernels.md."""
    tasks = [
        {
            "name": f"t{number}",
            "cookie": "abc"[number % 3],
            "program": [
                hold(f"m{number % 4}", {"run": ["200us", "2ms"]}, {"sleep": ["50us", "300us"]}),
                {"run": ["100us", "1ms"]},
                {"sleep": ["100us", "900us"]},
            ],
        }
        for number in range(12)
    ]
    done = proxies.start("smt8", {"duration": "2s", "tasks": tasks}, "--seed", "1")
    assert done.returncode == 3
    assert "different core scheduling cookies" in done.stderr
    for task in tasks:
        del task["cookie"]
    assert proxies.start("smt8", {"duration": "200ms", "tasks": tasks}).returncode == 0
