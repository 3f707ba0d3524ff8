"""What is done at start for the scx project's schedulers in a guest."""

from pathlib import Path

import pytest

from schedlab.kernels import KernelError
from schedlab.kernels.progress import Watch
from schedlab.kernels.scx_programs import ScxPrograms
from schedlab.kernels.scx_tree import add_scx_tree
from schedlab.kernels.shelf import Base, Shelf
from schedlab.machine.model import find_machine
from schedlab.targets.scx_setup import SETUPS, set_up


def words_of(name: str, machine: str) -> list[str]:
    words = set_up(name, find_machine(machine))
    assert words is not None
    return words


def test_the_words_follow_the_machine() -> None:
    plain = words_of("bpfland", "smp4")
    assert "cpu_capacity=1024,1024,1024,1024" in plain
    assert "preferred_cpus=0,1,2,3" in plain
    assert {"smt_enabled=0", "numa_enabled=0"} < set(plain)
    assert [word for word in plain if word.startswith("enable_")] == [
        f"enable_primary_cpu:{cpu}" for cpu in (-1, 0, 1, 2, 3)
    ]
    siblings = [word for word in words_of("beerland", "smt8") if "enable_sibling_cpu" in word]
    assert len(siblings) == 8
    assert {"numa_enabled=1", "+SCX_OPS_BUILTIN_IDLE_PER_NODE", "cpu_node_map[255]=1"} < set(
        words_of("cosmos", "epyc-7713-2p-nps1")
    )


def test_a_timer_begins_on_the_cpu_that_is_primary() -> None:
    assert words_of("tickless", "smp4")[-4:] == [
        *("@3", "enable_primary_cpu:-1", "enable_primary_cpu:3", ":start_timer:3"),
    ]


def test_lavds_arena_and_domains_follow_the_machine() -> None:
    """One domain a cache; those at one distance begin with the nearest on both sides."""
    words = words_of("lavd", "epyc-7713-2p-nps1")
    assert "arena_topology_init:2,8,8,2,0" in words
    assert words.count("arena_alloc_mask:0,0") == 1 + 2 + 16 + 128 + 256
    assert "cpdom_ctxs[0].nr_neighbors=7,8" in words
    [ring] = [word for word in words if word.startswith("cpdom_ctxs[2].neighbor_ids=")]
    assert ring.partition("=")[2].split(",")[:8] == ["1", "3", "0", "4", "5", "7", "6", "0"]
    assert ring.count(",") == 2 * 128 - 1
    assert [word for word in words_of("lavd", "smt8") if word.startswith("pco_table[1].")] == [
        "pco_table[1].=0,2,4,6,1,3,5,7"
    ]


@pytest.mark.parametrize("name", SETUPS)
def test_flags_are_set_once(name: str) -> None:
    words = words_of(name, "epyc-7713-2p-nps1")
    flags = [word for word in words if word.startswith("+")]
    assert len(flags) == len(set(flags))
    assert "+SCX_OPS_ENQ_LAST" in words


def test_a_scheduler_whose_set_up_is_not_known_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path / "cache"))
    files = ("scheds/include/scx/common.bpf.h", "scheds/rust/scx_layered/src/bpf/main.bpf.c")
    for file in files:
        (tmp_path / "scx" / file).parent.mkdir(parents=True)
        (tmp_path / "scx" / file).touch()
    tree, image = tmp_path / "tree", tmp_path / "image"
    tree.mkdir()
    image.touch()
    add_scx_tree(Shelf(), tmp_path / "scx")
    base = Base(name="t", series="7.3", release="7.3.4", origin="a folder", tree=tree, reach=())
    programs = ScxPrograms(base, image, Watch())
    with pytest.raises(KernelError, match=r"scx=layered: its own program, scx_layered, is not"):
        programs.files("layered", set_up("layered", find_machine("smp4")))
