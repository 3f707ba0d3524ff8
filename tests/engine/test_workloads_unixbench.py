"""UnixBench's tests in the simulator."""

from __future__ import annotations

import pytest

from tests.helpers.engine.loads import Load, refused, scenario
from tests.helpers.engine.simulator import Json, Simulator, machine

EPYC = "epyc-7713-2p-nps1"


def bench(
    sim: Simulator, where: str | Json, test: str, duration: str = "100ms", copies: int = 1
) -> Load:
    return Load(sim, where, scenario("unixbench", test=test, copies=copies, duration=duration))


@pytest.mark.parametrize(
    ("test", "published"),
    [("syscall", 2_503_918), ("pipe", 2_356_348), ("spawn", 5_025), ("execl", 3_645)],
)
def test_one_copy_as_published(sim: Simulator, test: str, published: float) -> None:
    """LKML, the ILB_UTIL thread, mean of three machines; the machine's constants are made by it."""
    assert bench(sim, EPYC, test, "500ms")["lps"] == pytest.approx(published, rel=0.03)


def test_dhrystone_is_plain_work(sim: Simulator) -> None:
    """41.3 million loops a second for a CPU; all together, each has its share of a slower core."""
    one = bench(sim, EPYC, "dhry2reg")["lps"]
    assert one == pytest.approx(41.3e6, rel=0.01)
    pairs = bench(sim, EPYC, "dhry2reg", "2s", 256)["lps"]
    described = machine(EPYC)
    share, mhz = described["smt"]["speed"][1], described["boost"]["mhz"]
    assert pairs == pytest.approx(256 * share * mhz[-1] / mhz[0] * one, rel=0.06)


def test_only_who_looks_at_the_clock_pays_for_it(sim: Simulator) -> None:
    """UnixBench is stopped by an alarm; sysbench looks three times an event."""
    without, with_it = (described_with(clock) for clock in ("0ns", "20us"))
    sysbench = scenario("sysbench-memory", threads=1, time="100ms")
    free, paid = (Load(sim, m, sysbench)["events per second"] for m in (without, with_it))
    assert 1 / paid - 1 / free == pytest.approx(60e-6, rel=0.02)
    pipe = scenario("unixbench", test="pipe", duration="100ms")
    rate = Load(sim, without, pipe)["lps"]
    assert Load(sim, with_it, pipe)["lps"] == pytest.approx(rate, rel=0.002)


def described_with(clock_read: str) -> Json:
    described = machine("smp4")
    described["cost"]["clock_read"] = clock_read
    return described


def test_copies_share_a_file(sim: Simulator) -> None:
    """dup() and close() of one file do not scale."""
    one, many = (bench(sim, EPYC, "syscall", "50ms", copies)["lps"] for copies in (1, 64))
    assert many < 10 * one


def test_a_contended_line_goes_round_in_an_llc(sim: Simulator) -> None:
    near = bench(sim, EPYC, "syscall", "50ms", 512)["lps"]
    flat = machine(EPYC)
    flat["cost"].update({f"line_{level}": "115ns" for level in ("core", "cluster", "llc")})
    assert bench(sim, flat, "syscall", "50ms", 512)["lps"] < near / 2


def test_pipe_never_waits(sim: Simulator) -> None:
    load = bench(sim, "smp4", "pipe", "50ms")
    assert load.counters["switches:voluntary"] < 0.01 * load["lps"] * 0.05


def test_context1_switches_twice_a_loop(sim: Simulator) -> None:
    """On one CPU: to the partner and back, with an end for both."""
    asked = scenario("unixbench", test="context1", duration="50ms")
    asked["workloads"][0]["affinity"] = "0"
    load = Load(sim, "smp4", asked)
    switches = 2 * load["lps"] * 0.05
    assert load.counters["sched:sched_switch"] == pytest.approx(switches, rel=0.01)
    assert load.counters["sched:sched_process_exit"] >= 2


def test_spawn_forks_and_waits(sim: Simulator) -> None:
    load = bench(sim, "smp4", "spawn")
    forks = load["lps"] * 0.1
    assert load.counters["sched:sched_process_fork"] == pytest.approx(forks, abs=4)
    assert load.counters["sched:sched_process_exit"] == pytest.approx(forks, abs=4)


def test_execl_is_one_process(sim: Simulator) -> None:
    load = bench(sim, "smp4", "execl", copies=2)
    assert load["lps"] > 2000
    assert load.counters["sched:sched_process_fork"] == 2


@pytest.mark.parametrize("test", ["syscall", "context1", "spawn", "execl"])
def test_repeats(sim: Simulator, test: str) -> None:
    asked = scenario("unixbench", test=test, copies=3, duration="20ms")
    first, again, other = (Load(sim, "numa16", asked, seed) for seed in (1, 1, 2))
    assert (first.hash, first.results) == (again.hash, again.results)
    assert other.hash != first.hash


def test_bad_parameters(sim: Simulator) -> None:
    said = refused(sim, "smp4", scenario("unixbench", test="whetstone"))
    assert "one of dhry2reg|syscall|pipe|context1|spawn|execl" in said
