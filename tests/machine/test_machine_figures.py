"""Figures and their sources: read from the comments of a file, complete in our own files."""

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.base.data import data_folder, machine_file
from schedlab.base.system import LocalSystem
from schedlab.machine import sources
from schedlab.machine.draws import draw, drawn
from schedlab.machine.figures import as_text, sections
from schedlab.machine.here import describe
from schedlab.machine.ledger import Entry
from schedlab.machine.model import Machine, find_machine, known_machines, load_machine
from tests.helpers import sysfs_tree

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


KNOWN = (
    r"read|computed|general knowledge|estimate|measured|\bas \w+|test machine|never paid"
    r"|the engine's own|all in"
)


def leaves(table: dict[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the key path and value of every figure: plain words for people are none."""
    for key, value in table.items():
        here = f"{path}.{key}" if path else key
        if isinstance(value, dict) and "value" not in value and here != "topology.core":
            yield from leaves(value, here)
        elif here in ("cpu", "idle.state"):
            for index, entry in enumerate(value):
                yield from leaves(entry, f"{here}[{index}]")
        elif isinstance(value, bool) or (here.startswith("cpu[") and key == "cpus"):
            continue
        elif key not in ("name", "title", "notes", "arch", "processor"):
            yield here, value


def physical(path: str, value: Any) -> bool:
    """Return whether a figure is what hardware takes, and not a count, a group or a name."""
    table, _, key = path.rpartition(".")
    if table == "cost":
        return key not in ("catch_up", "spin")
    if table.startswith("idle.state["):
        return key in ("entry", "exit") or (key.endswith("_mw") and value != 0)
    if table.startswith("cpu["):
        return key == "speed" or (key == "opp" and "power_mw" in str(value))
    if path == "core.mhz":  # where nothing says how far it falls with all cores busy
        return isinstance(value, dict)
    return (
        path in ("core.ipc", "boost.mhz")
        or table in ("smt", "memory", "fabric", "background")
        or (table == "thermal" and key in ("ambient", "base_mw", "resistance", "heat_capacity"))
    )


@pytest.mark.parametrize("name", known_machines())
def test_every_figure_has_its_source_beside_it(name: str) -> None:
    text = machine_file(name).read_text()
    said = sources.read(text)
    machine = find_machine(name)
    without = []
    for path, _ in leaves(tomllib.loads(text)):
        table = path.rpartition(".")[0]
        places = (path, f"{table}.name", table, table.partition(".")[0])
        entry = machine.ledger.get(path)
        beside = [entry.source] if entry else [said.get(place, "") for place in places]
        if not re.search(KNOWN, str(beside)):
            without.append(path)
    assert without == []


@pytest.mark.parametrize("name", known_machines())
def test_every_physical_figure_has_a_range(name: str) -> None:
    machine = find_machine(name)
    for path, value in leaves(tomllib.loads(machine_file(name).read_text())):
        zero = isinstance(value, dict) and value.get("value") == "0us"
        if physical(path, value) and not zero:
            entry = machine.ledger[path]
            assert entry.range and entry.range[0] != entry.range[1], path
        else:
            assert machine.ledger.get(path, Entry()).range is None, path


def test_the_same_code_takes_the_same_cycles_everywhere() -> None:
    """A machine's own cost is one that was measured on it; the rest is cycles by its core."""
    epyc, kunpeng, power = map(
        find_machine, ("epyc-7713-2p-nps1", "kunpeng-920-6426-2p", "power9-lpar-smt4")
    )
    for own in (kunpeng, power):
        assert own.cycles == {name: epyc.cycles[name] for name in epyc.cycles.keys() - own.cost}
    assert epyc.costs()["tick"] == "1200ns" and kunpeng.costs()["tick"] == "2232ns"
    assert power.costs()["schedule"] == power.cost["schedule"] == "1610ns"


@pytest.mark.parametrize("name", known_machines())
def test_a_file_is_named_as_its_machine(name: str) -> None:
    machine = find_machine(name)
    assert machine.name == name
    assert machine.title


def test_figures_stand_with_their_sources() -> None:
    shown = as_text(find_machine("hikey960"), sources.read(machine_file("hikey960").read_text()))
    lines = shown.splitlines()
    assert "CPUs 0-3 (Cortex-A53)" in lines
    assert re.search(r"^  capacity +462", shown, re.MULTILINE)
    assert "computed: 592 * 1844 / 2362, read: hi3660.dtsi capacity-dmips-mhz and top OPPs" in shown
    assert "533 999 1402 1709 1844 MHz, 29 70 125 188 245 mW" in shown
    assert "latency 2100us, residency 3500us, entry 500us, exit 1600us" in shown
    assert any(re.match(r"  tick +3734ns", line) for line in lines)


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
    files = [path for path in data_folder("machines").iterdir() if path.name != "common"]
    assert {path.stem for path in files} == set(known_machines())


def test_every_figure_of_a_program_has_a_range_and_a_source() -> None:
    machine = find_machine("smp4")
    for workload, figures in machine.work.items():
        for name in figures:
            entry = machine.ledger[f"work.{workload}.{name}"]
            assert entry.range and entry.range[0] != entry.range[1], (workload, name)
            assert re.search(KNOWN, entry.source), (workload, name)


def test_figures_of_programs_belong_to_workloads() -> None:
    sources = "".join(path.read_text() for path in data_folder("workloads").glob("*.c"))
    for workload in find_machine("smp4").work:
        assert f'.name = "{workload}"' in sources, workload


def test_a_file_says_only_what_is_its_own_of_what_programs_take(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(
        'name = "x"\ncpus = "0"\n[core]\nmhz = 1000\n[work.sqlite]\nwrite = 5\nfolder = 7\n'
    )
    machine = load_machine(path)
    assert machine.work["sqlite"]["write"] == 5
    assert machine.work["sqlite"]["statement"] == find_machine("smp4").work["sqlite"]["statement"]
    text = machine.to_toml()
    assert "write = 5" in text and "tbench" not in text and "[cycles]" not in text
    path.write_text(text)
    assert load_machine(path) == machine


@pytest.mark.parametrize("line", ["row = 5", 'row = { value = "fast", source = "x" }', "[[a]]"])
def test_a_list_of_figures_that_c_cannot_read_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "figures.toml"
    path.write_text(f'# a comment\n\n[sqlite]\nwrite = {{ value = 5, source = "x" }}\n{line}\n')
    script = data_folder("workloads") / "figures.awk"
    command = ["awk", "-f", str(script), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert done.stderr == f"figures.toml:5: neither a workload nor a figure: {line}\n"


def test_every_figure_of_the_background_has_a_range_and_a_source() -> None:
    machine = find_machine("smp4")
    assert machine.background
    for name in type(machine.background).model_fields:
        entry = machine.ledger[f"background.{name}"]
        assert entry.range and entry.range[0] != entry.range[1], name
        assert re.search(KNOWN, entry.source), name


def test_a_file_may_have_a_background_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text('name = "x"\ncpus = "0"\n[core]\nmhz = 1000\n[background]\nwakeups = 5\n')
    machine = load_machine(path)
    usual = find_machine("smp4").background
    assert usual and machine.background == usual.model_copy(update={"wakeups": 5})
    assert "background.wakeups" not in machine.ledger and machine.ledger["background.run"].range
    text = machine.to_toml()
    assert "wakeups = 5" in text and "per_cpu" not in text
    path.write_text(text)
    assert load_machine(path) == machine


def test_a_file_that_cannot_be_simulated_has_no_background() -> None:
    assert Machine.model_validate({"name": "x", "cpus": "0"}).background is None


def test_blocks_draw_their_background() -> None:
    machine = find_machine("smp4")
    draws = [drawn(machine, draw(machine, seed)).background for seed in range(8)]
    for name in ("daemons", "wakeups", "per_cpu", "run"):
        assert len({getattr(each, name) for each in draws}) > 4, name
