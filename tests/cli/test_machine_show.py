"""The drawing of a machine, and the commands around it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from schedlab.base.errors import SchedlabError
from schedlab.base.system import LocalSystem
from schedlab.cli.machine import machine
from schedlab.machine.drawing import draw
from schedlab.machine.here import describe
from schedlab.machine.model import Machine, find_machine, load_machine
from tests.helpers import sysfs_tree


def drawing(name: str, folder: Path) -> str:
    return draw(describe(LocalSystem(sysfs_tree.MACHINES[name](folder))).machine)


def test_epyc_fits_a_screen(tmp_path: Path) -> None:
    text = drawing("epyc-nps4", tmp_path)
    assert "256 CPUs, 128 cores of 2 threads, 16 LLCs, 8 nodes, 2 packages" in text
    topology = text.split("\n\n")[1].splitlines()
    assert topology == [
        "package 0: CPUs 0-63,128-191",
        "  node 0 (64 GiB): CPUs 0-15,128-143",
        "    LLC 0 (32MiB): CPUs 0-7,128-135",
        "      8 cores: [0,128] [1,129] [2,130] [3,131] [4,132] [5,133] [6,134] [7,135]",
        "    LLC 1 (32MiB): CPUs 8-15,136-143 with 8 cores",
        "  node 1 (64 GiB): CPUs 16-31,144-159 with LLC 2-3 (32MiB), 16 cores",
        "  node 2 (64 GiB): CPUs 32-47,160-175 with LLC 4-5 (32MiB), 16 cores",
        "  node 3 (64 GiB): CPUs 48-63,176-191 with LLC 6-7 (32MiB), 16 cores",
        "package 1: CPUs 64-127,192-255 with node 4-7 (64 GiB), LLC 8-15 (32MiB), 64 cores",
    ]
    assert "  C1         1us        2us  all   ACPI FFH MWAIT 0x0" in text
    assert "Idle states, governor menu" in text


def test_kunpeng_shows_clusters_and_distances(tmp_path: Path) -> None:
    text = drawing("kunpeng-920", tmp_path)
    assert "cluster 0-7: [0-3] [4-7] [8-11] [12-15]" in text
    assert "  node   0   1   2   3\n  0     10  12  20  22\n" in text


def test_hikey_shows_capacities_and_frequencies(tmp_path: Path) -> None:
    text = drawing("hikey960", tmp_path)
    assert "  0-3        462  all together  schedutil  533 999 1402 1709 1844" in text
    assert "  LLC 0-1, cluster 0-1: [0-3] [4-7]" in text
    assert "NUMA" not in text


def test_nodes_inside_an_llc_and_nodes_without_cpus() -> None:
    machine = Machine.model_validate(
        {
            "name": "snc",
            "arch": "x86_64",
            "memory_gib": 8,
            "cpus": "0-7",
            "topology": {
                "llc": ["0-7"],
                "node": ["0-3", "4-7", ""],
                "distance": [[10, 11, 20], [11, 10, 20], [20, 20, 10]],
                "node_numbers": [0, 1, 4],
                "node_memory_mib": [2048, 0, 512],
            },
        }
    )
    assert draw(machine).split("\n\n")[1].splitlines() == [
        "LLC 0: CPUs 0-7",
        "  node 0-1: [0-3] [4-7]",
        "node 4 (512 MiB): no CPU",
    ]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(machine, arguments)


def test_here_writes_a_file_that_shows(tmp_path: Path) -> None:
    path = tmp_path / "here.toml"
    written = run("--here", "--output", str(path))
    assert written.exit_code == 0, written.output
    shown = run("show", str(path))
    assert shown.exit_code == 0
    assert shown.output.startswith(load_machine(path).name)
    assert run("--here").output == path.read_text()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--output", "x.toml"), "--output need --here"),
        (("--calibrate",), "need --here"),
        (("--here", "--kernel", "6.12"), "--kernel belongs to --calibrate"),
        (("show",), "name one machine to show"),
        (("show", "juno-r0", "--here"), "name one machine to show"),
        (("show", "no-such-machine"), "no machine is called 'no-such-machine'"),
        (("show", "no/such.toml"), "no/such.toml: cannot be read"),
        (("--here", "--output", "/proc/place.toml"), "cannot be written"),
        (("--here", "list"), "after the sub-command"),
        (("show", "smp4", "--cpus", "0"), "it needs --kernel NAME"),
        (("show", "smp4", "--json", "--html", "x.html"), "print the description alone"),
        (("show", "smp4", "--ledger", "--kernel", "6.12"), "print the description alone"),
        (("show", "--here", "--kernel", "6.12"), "--kernel is for a described machine"),
        (("show", "smp4", "--html", "/proc/place.html"), "cannot be written"),
    ],
)
def test_wrong_use_is_one_clear_error(arguments: tuple[str, ...], problem: str) -> None:
    result = run(*arguments)
    assert isinstance(result.exception, SchedlabError)
    assert problem in str(result.exception)


def test_list_shows_every_machine_that_comes_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    described = describe(LocalSystem(sysfs_tree.juno(tmp_path / "tree")))
    (tmp_path / "juno.toml").write_text(described.to_toml())
    monkeypatch.setattr("schedlab.base.data.data_folder", lambda name: tmp_path)
    assert run("list").output.split()[:3] == ["juno", "6", "CPUs"]
    assert run("show", "juno").output.startswith("arm-juno")
    assert "--here" in run().output


@pytest.mark.parametrize("name", ["epyc-7713-2p-nps1", "hikey960", "smp4"])
def test_a_ledger_is_80_columns_wide_and_complete(name: str) -> None:
    text = run("show", name, "--ledger").output
    assert max(map(len, text.splitlines())) <= 80
    report = json.loads(run("show", name, "--ledger", "--json").output)
    assert [line["key"] for line in report if line["key"] in text] == [
        line["key"] for line in report
    ]
    machine = find_machine(name)
    assert machine.ledger.keys() <= {line["key"] for line in report}
    assert all(line["source"] for line in report)
    without = [line["key"] for line in report if line["source"] == "not given"]
    assert without == []


def test_a_ledger_says_what_a_plain_file_does_not(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text('name = "own"\ncpus = "0-3"\n[cost]\ntick = "1us"\n')
    [cpus, *_, tick] = json.loads(run("show", str(path), "--ledger", "--json").output)
    assert (cpus["key"], cpus["source"]) == ("cpus", "not given")
    assert tick == {
        **{"key": "cost.tick", "value": "1us", "range": ["1us", "1us"]},
        **{"source": "not given", "rows": [], "moves_with": None},
    }


def test_rows_that_nothing_published_has_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    tick = 'tick = { value = "1us", range = ["1us", "2us"], rows = [%s] }'
    rows = '"misfit/Misfit", "misfit/Misfit/longest", "misfit/Misfitttt", "nodoc/x"'
    path.write_text(f'name = "mine"\ncpus = "0"\n[cost]\n{tick % rows}\n')
    errors = run("show", str(path), "--ledger").stderr
    assert "note: cost.tick: nothing in published/ is called 'misfit/Misfitttt'" in errors
    assert "note: cost.tick: nothing in published/ is called 'nodoc/x'" in errors
    assert errors.count("note: ") == 2
