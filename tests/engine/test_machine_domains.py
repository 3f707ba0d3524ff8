"""The domains the kernel builds on the described machines are the published ones."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from schedlab.machine.domains import Domain, read
from tests.helpers.engine.simulator import Simulator, package_domain

IDLE = {"duration": "1ms"}


@dataclass(frozen=True)
class Level:
    """A domain as published: its name, its span, how many groups of how many CPUs."""

    name: str
    span: str
    groups: int
    cpus: int


PUBLISHED = {
    # LKML (Yicong Yang), 128-core Kunpeng: 32, 64, 96, 128; clusters of 4 are a level since 5.16.
    "kunpeng-920-6426-2p": [
        Level("CLS", "0-3", 4, 1),
        Level("MC", "0-31", 8, 4),
        Level("NUMA", "0-63", 2, 32),
        Level("NUMA", "0-95", 2, 64),
        Level("NUMA", "0-127", 2, 96),
    ],
    # The ILB_UTIL thread: SMT 2, MC 16, 8 CCX a socket; one node a socket.
    "epyc-7713-2p-nps1": [
        Level("SMT", "0,128", 2, 1),
        Level("MC", "0-7,128-135", 8, 2),
        Level("PKG", "0-63,128-191", 8, 16),
        Level("NUMA", "0-255", 2, 128),
    ],
    # The same, two nodes a socket.
    "epyc-7713-2p-nps2": [
        Level("SMT", "0,128", 2, 1),
        Level("MC", "0-7,128-135", 8, 2),
        Level("PKG", "0-31,128-159", 4, 16),
        Level("NUMA", "0-63,128-191", 2, 64),
        Level("NUMA", "0-255", 2, 128),
    ],
    # The same, four nodes a socket.
    "epyc-7713-2p-nps4": [
        Level("SMT", "0,128", 2, 1),
        Level("MC", "0-7,128-135", 8, 2),
        Level("PKG", "0-15,128-143", 2, 16),
        Level("NUMA", "0-63,128-191", 4, 32),
        Level("NUMA", "0-255", 2, 128),
    ],
    # The ILB_UTIL thread, schedstat of the ILB series: MC has 56 groups of 2, NUMA 2 groups.
    "spr-8480-2p": [
        Level("SMT", "0,112", 2, 1),
        Level("MC", "0-55,112-167", 56, 2),
        Level("NUMA", "0-223", 2, 112),
    ],
    # The ILB_UTIL thread: the domain of all 192 CPUs has 12 groups.
    "zen4-1p-192": [
        Level("SMT", "0,96", 2, 1),
        Level("MC", "0-7,96-103", 8, 2),
        Level("PKG", "0-191", 12, 16),
    ],
    # The cpuidle-smt-performance report: CPUs 8, 10, 12 and 14 are a core.
    "power9-lpar-smt4": [
        Level("SMT", "8,10,12,14", 4, 1),
        Level("MC", "8-15", 2, 4),
        Level("PKG", "0-31", 4, 8),
        Level("NUMA", "0-63", 2, 32),
    ],
    # LKML (Hegde, September 2023): 0,2,4,6; 0-95; 0-191; 0-767. Its level of 48 is powerpc's own.
    "power10-768": [
        Level("SMT", "0,2,4,6", 4, 1),
        Level("PKG", "0-95", 24, 4),
        Level("NUMA", "0-191", 2, 96),
        Level("NUMA", "0-767", 4, 192),
    ],
    # The misfit series: 2+4 and 4+4.
    "juno-r0": [Level("MC", "0,3-5", 4, 1), Level("PKG", "0-5", 2, 4)],
    "hikey960": [Level("MC", "0-3", 4, 1), Level("PKG", "0-7", 2, 4)],
}
OF_CPU = {"power9-lpar-smt4": 8}
"""Which CPU is looked at, where not the first."""


def built(sim: Simulator, machine: str) -> dict[int, list[Domain]]:
    """Every CPU's domains, smallest first."""
    done = sim.start(machine, IDLE, "--print-domains")
    assert done.returncode == 0, done.stderr[-2000:]
    of_cpu: dict[int, list[Domain]] = {}
    for domain in read(done.stdout):
        of_cpu.setdefault(domain.cpu, []).append(domain)
    return of_cpu


@pytest.mark.parametrize("machine", PUBLISHED)
def test_domains_are_the_published_ones(sim: Simulator, series: str, machine: str) -> None:
    found = built(sim, machine)[OF_CPU.get(machine, 0)]
    expected = PUBLISHED[machine]
    package = package_domain(series)
    names = [package if level.name == "PKG" else level.name for level in expected]
    assert [domain.name for domain in found] == names
    assert [domain.files["span"] for domain in found] == [level.span for level in expected]
    assert [(len(d.groups), len(d.groups[0])) for d in found] == [
        (level.groups, level.cpus) for level in expected
    ]


def test_every_cpu_has_domains_like_the_first(sim: Simulator) -> None:
    for machine in ("epyc-7713-2p-nps4", "zen4-1p-192", "power10-768"):
        of_cpu = built(sim, machine)
        shapes = {tuple((d.name, len(d.span), len(d.groups)) for d in ds) for ds in of_cpu.values()}
        assert len(of_cpu[0][-1].span) == len(of_cpu)
        assert len(shapes) == 1


def test_kunpeng_from_another_node(sim: Simulator) -> None:
    """Node 1 has other distances than node 0, 12 10 22 24, and the same spans."""
    spans = [len(domain.span) for domain in built(sim, "kunpeng-920-6426-2p")[32]]
    assert spans == [4, 32, 64, 96, 128]


def test_amd_balances_fork_and_exec_across_sockets(sim: Simulator) -> None:
    """Its reclaim distance of 32 keeps these flags on the outermost domain; powerpc's 10 not."""
    wanted = {"SD_BALANCE_EXEC", "SD_BALANCE_FORK", "SD_WAKE_AFFINE"}
    assert wanted <= set(built(sim, "epyc-7713-2p-nps2")[0][-1].flags)
    assert wanted.isdisjoint(built(sim, "power9-lpar-smt4")[0][-1].flags)


def test_big_and_little_are_seen_as_such(sim: Simulator) -> None:
    for machine in ("juno-r0", "hikey960"):
        inner, outer = built(sim, machine)[0]
        assert "SD_ASYM_CPUCAPACITY_FULL" in outer.flags
        assert "SD_ASYM_CPUCAPACITY" not in inner.flags
