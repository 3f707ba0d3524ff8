"""netperf and tbench in the simulator."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.helpers.engine.loads import Load, refused, scenario
from tests.helpers.engine.simulator import Json, Simulator

EPYC = "epyc-7713-2p-nps1"


def test_netperf_wakes_twice_a_transaction(sim: Simulator) -> None:
    load = Load(sim, EPYC, scenario("netperf", length="100ms"))
    transactions = load["transactions per client"] * 0.1
    assert load.counters["switches:voluntary"] == pytest.approx(2 * transactions, rel=0.02)


def test_loopback_is_a_softirq_that_ksoftirqd_may_take_over(sim: Simulator, tmp_path: Path) -> None:
    """Eight pairs on four CPUs: who is woken there makes the softirq leave what came meanwhile.

    Something has to come just then, which happens about once a second; 7.3 needs another load.
    """
    trace = tmp_path / "trace.txt"

    def taken_over(clients: int, seed: str) -> bool:
        asked = scenario("netperf", clients=clients, length="500ms")
        options = ("--trace", str(trace), "--trace-events", "sched:sched_switch")
        result = sim("smp4", asked, *options, "--seed", seed)
        sent = 2 * clients * result["metrics"]["netperf.transactions per client"] * 0.5
        assert result["counters"]["irq:softirq_entry"] > 0.99 * sent
        return "next_comm=ksoftirqd/" in trace.read_text()

    assert any(taken_over(clients, seed) for clients in (8, 12, 16) for seed in "12")


def test_netperf_one_client_as_published(sim: Simulator) -> None:
    """LKML, the ILB_UTIL thread: 102,839.97 a second; the machine's constants are made by it."""
    load = Load(sim, EPYC, {**scenario("netperf", length="500ms"), "settle": "600ms"})
    assert load["transactions per client"] == pytest.approx(102_840, rel=0.03)


def _waits(sim: Simulator, asked: Json) -> float:
    """Return how often a line that many change was waited for, by transactions."""
    load = Load(sim, EPYC, {**asked, "settle": "600ms"})
    clients, seconds = 32, 0.06
    waits = load.counters["cost:hot_line_waits"]
    return waits / (load["transactions per client"] * clients * seconds)


def _all_connect_on_cpu_0(test: str) -> Json:
    asked = scenario("netperf", test=test, clients=32, length="60ms")
    asked["workloads"][0]["affinity"] = "0"
    asked["actions"] = [{"at": "25ms", "task": "net*", "affinity": "0-63"}]
    return asked


def test_clients_that_connect_on_their_own_cpus_have_routes_of_their_own(sim: Simulator) -> None:
    assert _waits(sim, scenario("netperf", clients=32, length="60ms")) < 0.1


def test_clients_that_connect_on_one_cpu_share_its_route(sim: Simulator) -> None:
    """Each packet is a user of that CPU's route, wherever client and server are by then.

    How often two meet there depends on how far they spread: on 7.2 they stay on fewer CPUs.
    """
    assert _waits(sim, _all_connect_on_cpu_0("TCP_RR")) > 0.2


def test_datagrams_look_their_route_up_each_time(sim: Simulator) -> None:
    """udp_sendmsg() of a socket that is not connected: the route is that of the CPU that sends."""
    assert _waits(sim, _all_connect_on_cpu_0("UDP_RR")) < 0.1


def _forks(sim: Simulator, machine: str, asked: Json, trace: Path) -> Counter[tuple[str, str]]:
    sim(machine, asked, "--trace", str(trace), "--trace-events", "sched:sched_process_fork")
    pairs = re.findall(
        r"sched_process_fork: comm=(\S+) pid=\d+ child_comm=(\S+)", trace.read_text()
    )
    return Counter((parent, child) for parent, child in pairs)


def test_servers_fork_a_process_for_each_that_connects(sim: Simulator, tmp_path: Path) -> None:
    asked = scenario("netperf", clients=5, length="10ms")
    forks = _forks(sim, "smp4", asked, tmp_path / "netperf")
    assert sum(n for (parent, _), n in forks.items() if parent.startswith("netserver")) == 5
    asked = scenario("tbench", nprocs=5, timelimit="10ms")
    forks = _forks(sim, "smp4", asked, tmp_path / "tbench")
    assert sum(n for (parent, _), n in forks.items() if parent.startswith("tbench_srv")) == 5


def test_netperf_protocols_and_sizes(sim: Simulator) -> None:
    tcp, udp, big = (
        Load(sim, "smp4", scenario("netperf", length="50ms", **options))
        for options in ({}, {"test": "UDP_RR"}, {"request": 16384, "response": 16384})
    )
    rate = "transactions per client"
    assert big[rate] < tcp[rate] < udp[rate]


def test_netperf_clients_get_the_same(sim: Simulator) -> None:
    load = Load(sim, "smp4", scenario("netperf", clients=4, length="300ms"))
    assert load["slowest client"] <= load["transactions per client"] <= load["fastest client"]
    assert load["slowest client"] > 0.5 * load["fastest client"]


def test_tbench_counts_what_is_read_and_written(sim: Simulator) -> None:
    """client.txt: 458,342 lines with 2,488,062,937 bytes."""
    load = Load(sim, EPYC, scenario("tbench", timelimit="500ms"))
    assert load["Throughput"] * 1e6 / load["operations"] == pytest.approx(5428, rel=0.05)
    # every operation wakes the server and the client, at least
    assert load.counters["switches:voluntary"] > 2 * load["operations"] * 0.5


def test_tbench_clients_add_up(sim: Simulator) -> None:
    one, eight = (Load(sim, EPYC, scenario("tbench", nprocs=n, timelimit="200ms")) for n in (1, 8))
    assert 4 * one["Throughput"] < eight["Throughput"] < 9 * one["Throughput"]


@pytest.mark.parametrize(
    ("kind", "options"),
    [("netperf", {"clients": 3, "length": "30ms"}), ("tbench", {"nprocs": 3, "timelimit": "50ms"})],
)
def test_repeats(sim: Simulator, kind: str, options: dict[str, object]) -> None:
    first, again, other = (
        Load(sim, "numa16", scenario(kind, **options), seed) for seed in (1, 1, 2)
    )
    assert (first.hash, first.results) == (again.hash, again.results)
    assert other.hash != first.hash


def test_bad_parameters(sim: Simulator) -> None:
    assert "one of TCP_RR|UDP_RR" in refused(sim, "smp4", scenario("netperf", test="TCP_STREAM"))
    assert 'nprocs: "0" is out of range' in refused(sim, "smp4", scenario("tbench", nprocs=0))


def _moved(sim: Simulator, *, deep: bool) -> float:
    """Return the share of wakeups that move a task, of as many pairs as there are CPUs."""
    asked = scenario("netperf", clients=32, length="60ms")
    asked["workloads"][0]["affinity"] = "0-31"
    asked["features"] = {"TTWU_QUEUE": False, "SIS_UTIL": not deep}
    counters = Load(sim, "kunpeng-920-2p", {**asked, "warmup": "30ms"}).counters
    return counters["workload:sched_migrate_task"] / counters["sched:sched_waking"]


@pytest.mark.parametrize("series", ["6.1"], indirect=True)  # later, a sleeper may stay queued
def test_a_cpu_looks_idle_until_the_woken_task_is_queued_there(sim: Simulator) -> None:
    """Several searches that end meanwhile find the same CPU, so others stay idle and draw tasks.

    Without that every pair comes to have a CPU of its own in some 10 ms, and nothing moves.
    """
    assert _moved(sim, deep=True) > 0.3
    assert _moved(sim, deep=False) < 0.1
