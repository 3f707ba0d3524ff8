"""The machine file: what it refuses, in which words, and that nothing is lost on the way."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.cpulist import format_cpulist
from schedlab.errors import UsageError
from schedlab.machine import Machine, find_machine, load_machine

HEAD = 'name = "x"\narch = "x86_64"\nmemory_gib = 8\ncpus = "0-7"\n'


@pytest.fixture
def loaded(tmp_path: Path) -> Callable[[str], Machine]:
    def load(text: str) -> Machine:
        path = tmp_path / "x.toml"
        path.write_text(text)
        return load_machine(path)

    return load


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            '[topology]\nllc = ["0-3", "3-7"]',
            "topology.llc[1]: CPU 3 is already in llc[0]",
        ),
        (
            '[topology]\nllc = ["0-3", "4-5"]',
            "topology.llc: CPUs 6-7 missing; every CPU is in one group",
        ),
        ('[topology]\nllc = ["0-8"]', "topology.llc[0]: CPU 8 is not in cpus"),
        ('[topology]\nllc = ["0-7", ""]', "topology.llc[1]: names no CPU"),
        (
            '[topology]\nllc = ["0-3", "4-7"]\npackage = ["0-2", "3-7"]',
            "topology.package[1]: holds a part of llc[0] (CPUs 0-2 outside); levels must nest",
        ),
        ("[topology]\nllc = [4]", "topology.llc[0]: input should be a valid string (found 4)"),
        (
            '[topology]\nllc = ["0-"]',
            "topology.llc[0]: '0-' is no CPU list; write it as 0-3,8",
        ),
        (
            '[topology]\nllc = ["0-99999999999"]',
            "topology.llc[0]: CPU 99999999999 is beyond the 8192 a kernel can have",
        ),
        (
            "[topology]\nlcc = []",
            "topology.lcc: unknown key. Did you mean llc?"
            " Known: core, cluster, llc, package, node.",
        ),
        (
            '[topology]\nnode = ["0-3", "4-7"]',
            "numa.distances: missing; 2 nodes need 2 rows of 2 distances",
        ),
        (
            '[topology]\nnode = ["0-3", "4-7"]\n[numa]\ndistances = [[10, 20]]',
            "numa.distances: has 1 rows for 2 nodes",
        ),
        (
            '[topology]\nnode = ["0-3", "4-7"]\n[numa]\ndistances = [[10, 20], [20]]',
            "numa.distances[1]: has 1 distances for 2 nodes",
        ),
        (
            '[topology]\nnode = ["0-3", "4-7"]\n[numa]\ndistances = [[10, 10], [20, 10]]',
            "numa.distances[0][1]: 10 is not above the node's distance to itself, 10",
        ),
        (
            '[topology]\nnode = ["0-3", "4-7"]\n[numa]\ndistances = [[10, 256], [20, 10]]',
            "numa.distances[0][1]: input should be less than or equal to 255 (found 256)",
        ),
        ("[numa]\nnumbers = [0, 1]", "numa.numbers: has 2 entries for 1 nodes"),
        (
            '[[capacity]]\ncpus = "0-7"\nvalue = 0',
            "capacity[0].value: input should be greater than 0 (found 0)",
        ),
        (
            '[[capacity]]\ncpus = "0-6"\nvalue = 1024',
            "capacity: CPU 7 missing; every CPU is in one group",
        ),
        (
            '[[capacity]]\ncpus = "0-7"\nvalue = 1\n[[capacity]]\ncpus = "7"\nvalue = 2',
            "capacity[1]: CPU 7 is already in capacity[0]",
        ),
        ('[[cache]]\nlevel = 1\ntype = "data"', "cache[0]: needs either shared_by or groups"),
        (
            '[[frequency]]\ncpus = "0-7"\nmin_khz = 2\nmax_khz = 1',
            "frequency[0]: min_khz 2 is above max_khz 1",
        ),
        (
            '[[frequency]]\ncpus = "0-7"\nopps_khz = [2, 1]',
            "frequency[0].opps_khz: must rise from the lowest to the highest",
        ),
    ],
)
def test_a_file_that_fits_no_machine_is_refused_with_its_key_path(
    loaded: Callable[[str], Machine], text: str, problem: str
) -> None:
    with pytest.raises(UsageError) as refused:
        loaded(HEAD + text)
    assert str(refused.value).endswith(f"x.toml: {problem}")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (HEAD.replace("0-7", ""), "cpus: names no CPU"),
        (HEAD.replace("= 8", "= 0"), "memory_gib: input should be greater than 0 (found 0)"),
        (HEAD.replace("= 8", '= "8"'), "memory_gib: input should be a valid integer (found '8')"),
        (HEAD.replace('"x"', '"a b"'), "name: string should match pattern"),
        (HEAD.replace('name = "x"\n', ""), "name: is missing"),
        (HEAD + "memory_gb = 8", "memory_gb: unknown key. Did you mean memory_gib"),
        ("name = ", "is no TOML"),
    ],
)
def test_a_wrong_head_is_refused(loaded: Callable[[str], Machine], text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=r"x\.toml: ") as refused:
        loaded(text)
    assert problem in str(refused.value)
    assert "\n" not in str(refused.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none.toml: cannot be read: No such file"):
        load_machine(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match=r"bytes.toml: is not UTF-8"):
        load_machine(tmp_path / "bytes.toml")


def test_an_unknown_name_names_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedlab.machine.known_machines", lambda: ["juno", "hikey960"])
    with pytest.raises(UsageError, match="Did you mean juno"):
        find_machine("jun")


def test_what_a_host_does_not_tell_is_as_the_kernel_assumes(
    loaded: Callable[[str], Machine],
) -> None:
    machine = loaded(HEAD)
    assert machine.nr_cpus == 8
    assert machine.groups("core") == tuple((cpu,) for cpu in range(8))
    assert machine.groups("llc") == machine.groups("node") == (tuple(range(8)),)
    assert machine.sizes() == {
        "cpus": 8,
        "cores": 8,
        "llcs": 1,
        "packages": 1,
        "nodes": 1,
        "memory_gib": 8,
    }


def test_an_llc_may_hold_nodes_and_a_node_packages(loaded: Callable[[str], Machine]) -> None:
    levels = 'llc = ["0-7"]\nnode = ["0-3", "4-7"]\npackage = ["0-1", "2-3", "4-7"]\n'
    loaded(f"{HEAD}[topology]\n{levels}[numa]\ndistances = [[10, 11], [11, 10]]")


TEXT = st.text(max_size=12)
COUNT = st.integers(min_value=1, max_value=10**7)


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    """Give any machine: levels by cutting a shuffled list of CPUs ever finer."""
    cpus = draw(st.lists(st.integers(0, 300), min_size=1, max_size=24, unique=True))
    topology: dict[str, list[str]] = {}
    groups = [cpus]
    for level in ("package", "node", "llc", "cluster", "core"):
        groups = [part for group in groups for part in _cut(draw, group)]
        if draw(st.booleans()):
            topology[level] = [format_cpulist(group) for group in groups]
    nodes = len(topology.get("node", [1]))
    rows = [
        [10 if a == b else draw(st.integers(11, 255)) for b in range(nodes)] for a in range(nodes)
    ]
    told: dict[str, object] = {
        "name": draw(st.from_regex(r"[a-z0-9][A-Za-z0-9._-]*", fullmatch=True)),
        "title": draw(TEXT),
        "arch": draw(TEXT),
        "processor": draw(TEXT),
        "memory_gib": draw(COUNT),
        "cpus": format_cpulist(cpus),
        "topology": topology,
    }
    if nodes > 1 or draw(st.booleans()):
        told["numa"] = {"distances": rows, "memory_mib": [draw(COUNT) for _ in rows]}
    if draw(st.booleans()):
        told["capacity"] = [
            {"cpus": format_cpulist(group), "value": draw(st.integers(1, 1024))} for group in groups
        ]
    state = st.fixed_dictionaries(
        {"name": TEXT, "exit_us": COUNT, "residency_us": COUNT},
        optional={"desc": TEXT, "power_mw": COUNT},
    )
    told["idle"] = [
        {"cpus": format_cpulist(group), "states": draw(st.lists(state, min_size=1, max_size=3))}
        for group in groups
        if draw(st.booleans())
    ]
    sharing = st.sampled_from(["cpu", "core", "llc", "machine"])
    told["frequency"] = [
        {
            "cpus": format_cpulist(group),
            "shared_by": draw(st.none() | sharing),
            "opps_khz": sorted(draw(st.sets(COUNT, max_size=3))),
        }
        for group in groups
        if draw(st.booleans())
    ]
    cache = {"level": 1, "type": "data", "size_kib": draw(st.none() | COUNT)}
    listed = {"groups": [format_cpulist(group) for group in groups], "cpus": told["cpus"]}
    told["cache"] = draw(st.lists(st.sampled_from([{**cache, "shared_by": "cpu"}, cache | listed])))
    return Machine.model_validate(told)


def _cut(draw: st.DrawFn, group: list[int]) -> list[list[int]]:
    at = draw(st.integers(0, len(group)))
    return [part for part in (group[:at], group[at:]) if part]


@given(machine=machines())
def test_what_is_written_reads_back_the_same(
    machine: Machine, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("round") / "x.toml"
    sources = {"name": "anywhere", "topology.core": "there\nand here", "idle": "file"}
    path.write_text(machine.to_toml(sources, "a header\n\nof lines"), encoding="utf-8")
    assert load_machine(path) == machine


@given(garbage=st.text())
def test_garbage_is_refused_in_one_line(
    garbage: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("garbage") / "x.toml"
    path.write_text(HEAD + garbage, encoding="utf-8")
    try:
        load_machine(path)
    except UsageError as error:
        assert "\n" not in str(error)
