"""The machine file: what it refuses, in which words, and that nothing is lost on the way."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.base.cpulist import format_cpulist
from schedlab.base.errors import UsageError
from schedlab.machine.model import Machine, find_machine, load_machine

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
        ("[topology]\nllc = [4]", "topology.llc[0]: a text in quotes is expected (found 4)"),
        (
            '[topology]\nllc = ["0-"]',
            "topology.llc[0]: '0-' is not a CPU list; write it as 0-3,8",
        ),
        (
            '[topology]\nllc = ["0-99999999999"]',
            "topology.llc[0]: CPU 99999999999 is beyond the 8192 a kernel can have",
        ),
        (
            "[topology]\nlcc = []",
            "topology.lcc: unknown key. Did you mean llc?"
            " Known: core, cluster, llc, package, node, distance, reclaim_distance, hybrid,"
            " node_numbers, node_memory_mib.",
        ),
        (
            '[topology]\nnode = ["0-3", "4-7"]',
            "topology.distance: missing; 2 nodes need 2 rows of 2",
        ),
        (
            '[topology]\nnode = ["0-3", "4-7"]\ndistance = [[10, 20]]',
            "topology.distance: has 1 rows for 2 nodes",
        ),
        (
            '[topology]\nnode = ["0-3", "4-7"]\ndistance = [[10, 20], [20]]',
            "topology.distance[1]: has 1 distances for 2 nodes",
        ),
        (
            '[topology]\nnode = ["0-3", "4-7"]\ndistance = [[10, 10], [20, 10]]',
            "topology.distance[0][1]: 10 is not above the node's own, 10",
        ),
        (
            '[topology]\nnode = ["0-3", "4-7"]\ndistance = [[10, 256], [20, 10]]',
            "topology.distance[0][1]: at most 255 is expected (found 256)",
        ),
        (
            "[topology]\nnode_numbers = [0, 1]",
            "topology.node_numbers: has 2 entries for 1 nodes",
        ),
        (
            "[topology]\ncore = { threads = 3, stride = 1 }",
            "topology.core: 3 threads with a stride of 1 do not divide CPUs 0-7",
        ),
        (
            "[topology]\ncore = { thread = 2, stride = 4 }",
            "topology.core.thread: unknown key. Did you mean threads?",
        ),
        ("[topology]\ncore = { threads = 2 }", "topology.core.stride: is missing"),
        (
            '[topology]\nllc = "core"',
            "topology.llc: 'core' is not a level that this file lists; give CPU lists, or the name"
            " of the level that has the same groups",
        ),
        (
            "[topology]\ncore = { threads = 0, stride = 1 }",
            "topology.core.threads: must be a whole number above 0",
        ),
        (
            "[topology]\ncore = { threads = 9, stride = 1 }",
            "topology.core.threads: a core has at most 8",
        ),
        (
            '[[cpu]]\ncpus = "0-7"\ncapacity = 0',
            "cpu[0].capacity: more than 0 is expected (found 0)",
        ),
        (
            '[[cpu]]\ncpus = "0-7"\n[[cpu]]\ncpus = "7"',
            "cpu[1]: CPU 7 is already in cpu[0]",
        ),
        (
            '[[cpu]]\ncpus = "0-7"\nmin_mhz = 2\nmax_mhz = 1',
            "cpu[0]: min_mhz 2 is above max_mhz 1",
        ),
        (
            '[[cpu]]\ncpus = "0-7"\nopp = [{ mhz = 2 }, { mhz = 1 }]',
            "cpu[0].opp: must rise from the lowest frequency to the highest",
        ),
        (
            '[[cpu]]\ncpus = "0-7"\nfast_switch = false',
            "cpu[0].fast_switch: without opp the frequency never changes; delete it",
        ),
        (
            '[[cpu]]\ncpus = "0-7"\nopp = [{ mhz = "fast" }]',
            "cpu[0].opp[0].mhz: a whole number or a number is expected (found 'fast')",
        ),
        (
            '[[idle.state]]\nname = "C1"\nlatency = 1\nresidency = "2us"',
            "idle.state[0].latency: a text in quotes is expected (found 1)",
        ),
        (
            '[[idle.state]]\nname = "C1"\nlatency = "1"\nresidency = "2us"',
            "idle.state[0].latency: '1' is not a quantity; write it as 1.5us",
        ),
        (
            '[[idle.state]]\nname = "C1"\nlatency = "1us"\nresidency = "2us"\ncpus = "9"',
            "idle.state[0].cpus[0]: CPU 9 is not in cpus",
        ),
        (
            '[cache]\nl2 = { shared_by = "cpu", groups = ["0-3"] }',
            "cache.l2: has both shared_by and groups; one says who shares an instance",
        ),
        *(
            (
                f"[cost]\nthread = {given}",
                f"cost.thread: {shown} is neither a time, such as 1.5us, nor a count",
            )
            for given, shown in (
                ('"-5us"', "'-5us'"),
                ("-1", "-1"),
                ("true", "True"),
                ("1.5", "1.5"),
            )
        ),
        ('[cache]\nl2 = "512"', "cache.l2[0].size: '512' is not a quantity; write it as 512KiB"),
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
        (HEAD.replace('cpus = "0-7"', ""), "cpus: is missing"),
        (HEAD + "[topology]\ncpus = 8", "topology.cpus: `cpus` names the CPUs already"),
        (
            HEAD.replace('cpus = "0-7"', "[topology]\ncpus = 9999"),
            "topology.cpus: must be a whole number from 1 to 8192",
        ),
        (HEAD.replace("= 8", "= 0"), "memory_gib: more than 0 is expected (found 0)"),
        (HEAD.replace("= 8", '= "8"'), "memory_gib: a whole number is expected (found '8')"),
        (HEAD.replace('"x"', '"a b"'), "name: 'a b' is not a name; use letters"),
        (HEAD.replace('name = "x"\n', ""), "name: is missing"),
        (HEAD + "memory_gb = 8", "memory_gb: unknown key. Did you mean memory_gib"),
        ("name = ", "is not TOML"),
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
    monkeypatch.setattr("schedlab.machine.model.known_machines", lambda: ["juno", "hikey960"])
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
        "little_cpus": 0,
        "cores": 8,
        "llcs": 1,
        "packages": 1,
        "nodes": 1,
        "memory_gib": 8,
    }


def test_an_llc_may_hold_nodes_and_a_node_packages(loaded: Callable[[str], Machine]) -> None:
    levels = 'llc = ["0-7"]\nnode = ["0-3", "4-7"]\npackage = ["0-1", "2-3", "4-7"]\n'
    loaded(f"{HEAD}[topology]\n{levels}distance = [[10, 11], [11, 10]]")


@pytest.mark.parametrize(
    ("rule", "lists"),
    [
        ("threads = 2, stride = 4", ("0,4", "1,5", "2,6", "3,7")),
        ("threads = 4, stride = 1", ("0-3", "4-7")),
        ("threads = 2, stride = 2", ("0,2", "1,3", "4,6", "5,7")),
    ],
)
def test_cores_by_rule_are_written_as_the_rule_again(
    loaded: Callable[[str], Machine], rule: str, lists: tuple[str, ...]
) -> None:
    machine = loaded(f"{HEAD}[topology]\ncore = {{ {rule} }}")
    assert machine.topology.core == lists
    assert f"core = {{ {rule} }}" in machine.to_toml()


def test_a_level_may_be_named_as_another(loaded: Callable[[str], Machine]) -> None:
    levels = 'core = { threads = 2, stride = 4 }\nllc = "core"\npackage = ["0-7"]\nnode = "package"'
    machine = loaded(f"{HEAD}[topology]\n{levels}")
    assert machine.topology.llc == ("0,4", "1,5", "2,6", "3,7")
    assert machine.topology.node == ("0-7",)


def test_everything_the_simulator_takes(loaded: Callable[[str], Machine]) -> None:
    machine = loaded(
        f"""{HEAD}
[topology]
core = {{ threads = 2, stride = 4 }}
llc = ["0-7"]
[[cpu]]
cpus = "0-7"
speed = 0.7
opp = [{{ mhz = 1000, power_mw = 250.5 }}]
transition = "500us"
[smt]
speed = [1, 0.59]
polling = 0.5
[idle]
governor = "teo"
state = [{{ name = "C1", latency = "1us", residency = "2us", entry = "200ns", mwait = true }}]
[cache]
l2 = "512KiB"
llc = "32MiB"
[memory]
node_bandwidth = "33GB/s"
thread_bandwidth = "11.3 GB/s"
cache_bandwidth = "20GB/s"
[cost]
syscall = "100ns"
wake_lines = 3
"""
    )
    assert machine.cost == {"syscall": "100ns", "wake_lines": 3}
    assert machine.cache.last_level()[0].size == "32MiB"
    assert loaded(machine.to_toml()) == machine


TEXT = st.text(max_size=12)
COUNT = st.integers(min_value=1, max_value=10**7)
RATE = st.floats(min_value=0.001, max_value=1e7)
TIME = st.sampled_from(["0us", "1.5us", "3 ms", "7ns", "1s"])
STATE = st.fixed_dictionaries(
    {"name": TEXT, "latency": TIME, "residency": TIME},
    optional={"desc": TEXT, "power_mw": COUNT | RATE, "polling": st.booleans()},
)


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    """Return any machine: levels by cutting a shuffled list of CPUs ever finer."""
    cpus = draw(st.lists(st.integers(0, 300), min_size=1, max_size=24, unique=True))
    topology: dict[str, object] = {}
    groups = [cpus]
    for level in ("package", "node", "llc", "cluster", "core"):
        groups = [part for group in groups for part in _cut(draw, group)]
        if draw(st.booleans()):
            topology[level] = [format_cpulist(group) for group in groups]
    nodes = len(topology["node"]) if "node" in topology else 1  # type: ignore[arg-type]
    rows = [
        [10 if a == b else draw(st.integers(11, 255)) for b in range(nodes)] for a in range(nodes)
    ]
    levels: dict[str, object] = {
        "name": draw(st.from_regex(r"[a-z0-9][A-Za-z0-9._-]*", fullmatch=True)),
        "title": draw(TEXT),
        "arch": draw(TEXT),
        "processor": draw(TEXT),
        "memory_gib": draw(COUNT),
        "cpus": format_cpulist(cpus),
        "topology": topology,
    }
    if nodes > 1 or draw(st.booleans()):
        topology["distance"] = rows
        topology["node_memory_mib"] = [draw(COUNT) for _ in rows]
    sharing = st.sampled_from(["cpu", "core", "llc", "machine"])
    levels["cpu"] = [
        {
            "cpus": format_cpulist(group),
            "capacity": draw(st.none() | st.integers(1, 1024)),
            "shared_by": draw(st.none() | sharing),
            "opp": [{"mhz": mhz} for mhz in sorted(draw(st.sets(COUNT | RATE, max_size=3)))],
        }
        for group in groups
        if draw(st.booleans())
    ]
    levels["idle"] = {"governor": draw(TEXT), "state": draw(st.lists(STATE, max_size=3))}
    listed = {"groups": [format_cpulist(group) for group in groups], "cpus": levels["cpus"]}
    kinds = st.lists(st.sampled_from([{"size": "1KiB"}, {"shared_by": "cpu"}, listed]), max_size=2)
    levels["cache"] = {"l1d": draw(kinds), "l2": "512KiB", "l3": draw(kinds)}
    levels["cost"] = draw(st.dictionaries(TEXT, COUNT | TIME, max_size=3))
    if draw(st.booleans()):
        levels["smt"] = {"speed": [1, 0.59], "polling": 0.5}
    return Machine.model_validate(levels)


def _cut(draw: st.DrawFn, group: list[int]) -> list[list[int]]:
    at = draw(st.integers(0, len(group)))
    return [part for part in (group[:at], group[at:]) if part]


@given(machine=machines())
@settings(deadline=None)
def test_what_is_written_reads_back_the_same(
    machine: Machine, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("round") / "x.toml"
    sources = {"name": "anywhere", "topology.core": "there\nand here", "idle": "file"}
    path.write_text(machine.to_toml(sources, "a header\n\nof lines"), encoding="utf-8")
    assert load_machine(path) == machine


@given(garbage=st.text())
@settings(deadline=None)
def test_garbage_is_refused_in_one_line(
    garbage: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("garbage") / "x.toml"
    path.write_text(HEAD + garbage, encoding="utf-8")
    try:
        load_machine(path)
    except UsageError as error:
        assert "\n" not in str(error)


def test_the_example_of_the_page_loads(loaded: Callable[[str], Machine]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "manual/machines.md").read_text()
    section = page.partition("\n## The file\n")[2]
    example = section.partition("```toml\n")[2].partition("```")[0]
    assert loaded(example).cpu[0].capacity == 462
