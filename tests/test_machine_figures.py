"""Figures and their sources: read from the comments of a file, complete in our own files."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.data import data_folder
from schedlab.machine import Machine, find_machine, known_machines, machine_file
from schedlab.system import LocalSystem
from schedlab.topology import sources
from schedlab.topology.figures import as_text, sections
from schedlab.topology.here import describe
from tests import sysfs_tree

COMMENTED = '''\
# head of the file

name = "x"  # a name
# S above

notes = """
# no comment
"""
[topology]                 # of all
cpus = 8
llc = [                    # S beginning
  "0-3",                   # C first # still
  "4-7",
]
node = ["# no, # no"]      # K 'quoted'
[[cpu]]                    # the first
cpus = "0-3"
opp = [{ mhz = 1 }, { mhz = 2 }] # S opp
[[cpu]]
# E above
capacity = 5
[idle]
governor = 'a#b'
[[idle.state]]
name = "C1"                # S state
[cost]
tick = "1us"
'''


def test_comments_belong_to_their_keys() -> None:
    assert sources.read(COMMENTED) == {
        "name": "a name",
        "topology": "of all",
        "topology.llc": "S beginning; C first # still",
        "topology.node": "K 'quoted'",
        "cpu[0]": "the first",
        "cpu[0].opp": "S opp",
        "cpu[1].capacity": "E above",
        "idle.state[0].name": "S state",
    }


@given(text=st.text(alphabet="[]{}\"'#=\n\\a1. ", max_size=60))
def test_any_text_is_read(text: str) -> None:
    assert all(isinstance(path, str) for path in sources.read(text))


def told(table: dict[str, Any], path: str = "") -> Iterator[str]:
    """Give the key path of every figure: plain words for people are none."""
    for key, value in table.items():
        here = f"{path}.{key}" if path else key
        if isinstance(value, dict) and here != "topology.core":
            yield from told(value, here)
        elif here in ("cpu", "idle.state"):
            for index, entry in enumerate(value):
                yield from told(entry, f"{here}[{index}]")
        elif isinstance(value, bool) or (here.startswith("cpu[") and key == "cpus"):
            continue
        elif key not in ("name", "title", "notes", "arch", "processor"):
            yield here


@pytest.mark.parametrize("name", known_machines())
def test_every_figure_has_its_source_beside_it(name: str) -> None:
    text = machine_file(name).read_text()
    said = sources.read(text)
    without = []
    for path in told(tomllib.loads(text)):
        table = path.rpartition(".")[0]
        places = (path, f"{table}.name", table, table.partition(".")[0])
        beside = [said.get(place, "") for place in places]
        if not re.search(r"\b[SCKE]\b|\bas \w+|test machine|engine:|never paid", str(beside)):
            without.append(path)
    assert without == []


@pytest.mark.parametrize("name", known_machines())
def test_a_file_is_named_as_its_machine(name: str) -> None:
    machine = find_machine(name)
    assert machine.name == name
    assert machine.title


def test_figures_stand_with_their_sources() -> None:
    shown = as_text(find_machine("hikey960"), sources.read(machine_file("hikey960").read_text()))
    lines = shown.splitlines()
    assert "CPUs 0-3 (Cortex-A53)" in lines
    assert "  capacity    462" in shown
    assert "C 592 * 1844 / 2362, S hi3660.dtsi capacity-dmips-mhz and top OPPs" in shown
    assert "533 999 1402 1709 1844 MHz, 29 70 125 188 245 mW" in shown
    assert "latency 2100us, residency 3500us, entry 500us, exit 1600us" in shown
    assert any(re.match(r"  tick +3us", line) for line in lines)


def test_every_section_of_every_machine_is_shown() -> None:
    for name in known_machines():
        titles = [section.title for section in sections(find_machine(name), {})]
        assert titles[0] == "Topology"
        assert titles[-1] == "Costs"


def test_a_host_is_shown_with_the_files_it_was_read_from(tmp_path: Path) -> None:
    described = describe(LocalSystem(sysfs_tree.epyc_nps4(tmp_path)))
    shown = as_text(described.machine, sources.read(described.to_toml()))
    assert "/sys/devices/system/node/node*/distance" in shown
    assert "Idle states (/sys/devices/system/cpu/cpu*/cpuidle/state*" in shown
    assert "desc ACPI IOPORT 0x814, latency 400us, residency 800us" in shown


def test_the_smallest_machine_there_is() -> None:
    machine = Machine.model_validate({"name": "x", "cpus": "0"})
    assert as_text(machine, {}) == "Topology\n  cpus  0"


def test_no_machine_goes_by_an_old_name() -> None:
    assert {path.stem for path in data_folder("machines").iterdir()} == set(known_machines())
