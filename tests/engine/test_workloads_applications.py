"""Models of applications in the simulator: who waits for whom, and what is woken together."""

from __future__ import annotations

import pytest

from tests.helpers.engine.loads import Load, scenario
from tests.helpers.engine.simulator import Simulator, machine

FLUSH = 0.001


def commits(sim: Simulator, kind: str, flush: str, **options: object) -> Load:
    described = machine("smp4")
    described["work"][kind]["flush"] = flush
    return Load(sim, described, scenario(kind, time="40ms", **options))


def test_a_commit_waits_for_the_disk_of_the_machine(sim: Simulator) -> None:
    short, long = (
        commits(sim, "postgresql", flush, transactions="tpcb")["latency p50"]
        for flush in ("100us", "1100us")
    )
    assert long - short == pytest.approx(FLUSH * 1e6, rel=0.05)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("postgresql", {"transactions": "tpcb", "threads": 2, "scale": 100}),
        ("mariadb", {"transactions": "read_write"}),
        ("mariadb", {"transactions": "read_write", "handling": "pool"}),
    ],
)
def test_a_flush_serves_all_who_commit_meanwhile(
    sim: Simulator, kind: str, options: dict[str, object]
) -> None:
    """A thousand flushes a second are all the disk does, and there are more commits."""
    count = "clients" if kind == "postgresql" else "threads"
    load = commits(sim, kind, "1ms", **options, **{count: 12})
    assert load["throughput"] > 1.5 / FLUSH


def test_transactions_wait_for_the_rows_of_others(sim: Simulator) -> None:
    """With one branch a transaction ends before the next one's update, and its flush is its own."""
    few, many = (
        commits(sim, "postgresql", "1ms", transactions="tpcb", clients=8, scale=scale)["throughput"]
        for scale in (1, 100)
    )
    assert few < 1 / FLUSH < many


def test_an_event_loop_answers_all_that_asked_meanwhile(sim: Simulator) -> None:
    """One epoll_wait() returns them all, so that with many clients nobody sleeps in between."""
    one, many = (
        Load(sim, "smp4", scenario("redis", clients=clients, requests=600)) for clients in (1, 50)
    )
    assert one.counters["switches:voluntary"] > 600
    assert many.counters["switches:voluntary"] < 300


@pytest.mark.parametrize(
    ("cost", "kind", "options", "least", "most"),
    [
        # Taken out and put in anew for each direction, and changed once.
        ("epoll_add", "redis", {"clients": 1, "requests": 600}, 3, 4.2),
        ("epoll_change", "redis", {"clients": 1, "requests": 600}, 0.9, 1.1),
        # Beside the other side's work, in part.
        ("epoll_change", "nginx", {"connections": 1, "time": "20ms"}, 0.9, 2),
        ("receive_nothing", "mariadb", {"transactions": "point_select", "time": "20ms"}, 0.5, 2),
    ],
)
def test_a_client_pays_for_what_it_asks_the_kernel_between_two_requests(
    sim: Simulator, cost: str, kind: str, options: dict[str, object], least: float, most: float
) -> None:
    more = 20
    usual, dear = machine("smp4"), machine("smp4")
    dear["cost"][cost] = f"{more}us"
    took = []
    for described in (usual, dear):
        load = Load(sim, described, scenario(kind, **options))
        took.append(1e6 / load["throughput"])
    assert least * more < took[1] - took[0] < most * more


def test_a_pool_works_with_one_thread_of_each_cpu(sim: Simulator) -> None:
    """Requests that come meanwhile are queued, so that fewer threads are runnable."""
    threads, pool = (
        Load(
            sim,
            "smp4",
            scenario(
                "mariadb",
                transactions="point_select",
                threads=32,
                handling=handling,
                time="30ms",
            ),
        )
        for handling in ("threads", "pool")
    )
    each = [load.counters["switches:voluntary"] / load["requests"] for load in (threads, pool)]
    assert each[1] < each[0]


def test_make_keeps_its_jobs_running(sim: Simulator) -> None:
    """Ten files of 16 CPU seconds at the EPYC's clock: four jobs take a quarter, and its rest."""
    one, four = (
        Load(sim, "smp4", scenario("build", units=10, jobs=jobs))["time"] for jobs in (1, 4)
    )
    assert one / 4 < four < one / 2


def test_frames_are_encoded_side_by_side(sim: Simulator) -> None:
    one, four = (
        Load(sim, "smp4", scenario("x264", frames=12, threads=threads))["frames"]
        for threads in (1, 4)
    )
    assert 1.5 * one < four < 4.5 * one
