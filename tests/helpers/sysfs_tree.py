"""Makes the /proc and /sys of machines we do not own, file by file as the kernel lays them out.

Formats are those of the kernel's ABI documents (sysfs-devices-system-cpu, sysfs-devices-node,
cpuidle, cpufreq); the figures of each machine are published ones, named beside it. What nobody
published is not in the tree.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from schedlab.base.cpulist import format_cpulist

CPU = "sys/devices/system/cpu"
NODE = "sys/devices/system/node"


class Tree:
    """A folder that becomes the root of a recorded machine."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def put(self, path: str, text: object) -> None:
        """Write a file as the kernel shows it: one trailing newline."""
        place = self.root / path.lstrip("/")
        try:
            place.write_text(f"{text}\n")
        except FileNotFoundError:  # one of many thousands is the first of its folder
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(f"{text}\n")


@dataclass(frozen=True)
class CacheSpec:
    """`groups` share an instance each; the size may be untold, as on device trees."""

    level: int
    type: str
    size: str | None
    groups: Sequence[Sequence[int]]


@dataclass(frozen=True)
class StateSpec:
    name: str
    desc: str
    latency: int
    residency: int
    power: int = 0


@dataclass(frozen=True)
class NodeSpec:
    number: int
    cpus: Sequence[int]
    memory_kib: int


@dataclass
class Spec:
    """What a tree is made of."""

    arch: str
    cpuinfo: str
    online: Sequence[int]
    cores: Sequence[Sequence[int]]
    packages: Sequence[Sequence[int]]
    memory_kib: int
    clusters: Sequence[Sequence[int]] = ()
    caches: Sequence[CacheSpec] = ()
    nodes: Sequence[NodeSpec] = ()
    distances: Sequence[Sequence[int]] = ()
    capacity: Mapping[int, int] = field(default_factory=dict)
    idle: Mapping[int, Sequence[StateSpec]] = field(default_factory=dict)
    policies: Sequence[tuple[Sequence[int], Sequence[int]]] = ()
    """CPUs that change frequency together, and the frequencies in kHz."""
    present: Sequence[int] | None = None
    """All CPUs plugged in, where some are offline."""
    files: Mapping[str, object] = field(default_factory=dict)
    """Anything else."""


def plain(**changes: object) -> Spec:
    """Return a machine of 4 CPUs that tells little; changed as a test needs."""
    spec: dict[str, object] = {
        "arch": "x86_64",
        "cpuinfo": "model name\t: Some(R) CPU @ 2.00GHz",
        "online": range(4),
        "cores": split(range(4), 1),
        "packages": [range(4)],
        "memory_kib": 4 * 1024 * 1024,
    }
    return Spec(**{**spec, **changes})  # type: ignore[arg-type]


def write(root: Path, spec: Spec) -> Path:
    """Write the tree of a machine below `root`, and give `root`."""
    tree = Tree(root)
    present = spec.online if spec.present is None else spec.present
    off = [cpu for cpu in present if cpu not in spec.online]
    tree.put(f"{CPU}/online", format_cpulist(spec.online))
    tree.put(f"{CPU}/present", format_cpulist(present))
    tree.put(f"{CPU}/possible", format_cpulist(present))
    tree.put(f"{CPU}/offline", format_cpulist(off))
    for cpu in off:
        tree.put(f"{CPU}/cpu{cpu}/online", 0)
    _topology(tree, spec)
    _caches(tree, spec)
    _nodes(tree, spec)
    _power(tree, spec)
    tree.put("proc/cpuinfo", spec.cpuinfo)
    tree.put("proc/meminfo", f"MemTotal: {spec.memory_kib:>15} kB\nMemFree: {0:>16} kB")
    tree.put("proc/sys/kernel/arch", spec.arch)
    for path, text in spec.files.items():
        tree.put(path, text)
    return root


def _topology(tree: Tree, spec: Spec) -> None:
    for new, old, groups in (
        ("core_cpus", "thread_siblings", spec.cores),
        ("cluster_cpus", None, spec.clusters),
        ("package_cpus", "core_siblings", spec.packages),
    ):
        for group in groups:
            for cpu in group:
                folder = f"{CPU}/cpu{cpu}/topology"
                tree.put(f"{folder}/{new}_list", format_cpulist(group))
                if old:
                    tree.put(f"{folder}/{old}_list", format_cpulist(group))


def _caches(tree: Tree, spec: Spec) -> None:
    indices = dict.fromkeys(spec.online, 0)
    for cache in spec.caches:
        for group in cache.groups:
            for cpu in group:
                folder = f"{CPU}/cpu{cpu}/cache/index{indices[cpu]}"
                indices[cpu] += 1
                tree.put(f"{folder}/level", cache.level)
                tree.put(f"{folder}/type", cache.type)
                tree.put(f"{folder}/shared_cpu_list", format_cpulist(group))
                if cache.size:
                    tree.put(f"{folder}/size", cache.size)


def _nodes(tree: Tree, spec: Spec) -> None:
    if not spec.nodes:
        return
    tree.put(f"{NODE}/online", format_cpulist(node.number for node in spec.nodes))
    for node, row in zip(spec.nodes, spec.distances, strict=True):
        folder = f"{NODE}/node{node.number}"
        tree.put(f"{folder}/cpulist", format_cpulist(node.cpus))
        tree.put(f"{folder}/distance", " ".join(str(distance) for distance in row))
        tree.put(f"{folder}/meminfo", f"Node {node.number} MemTotal: {node.memory_kib:>14} kB")


def _power(tree: Tree, spec: Spec) -> None:
    for cpu, capacity in spec.capacity.items():
        tree.put(f"{CPU}/cpu{cpu}/cpu_capacity", capacity)
    if spec.idle:
        tree.put(f"{CPU}/cpuidle/current_governor", "menu")
    for cpu, states in spec.idle.items():
        for index, state in enumerate(states):
            folder = f"{CPU}/cpu{cpu}/cpuidle/state{index}"
            tree.put(f"{folder}/name", state.name)
            tree.put(f"{folder}/desc", state.desc)
            tree.put(f"{folder}/latency", state.latency)
            tree.put(f"{folder}/residency", state.residency)
            tree.put(f"{folder}/power", state.power)
            tree.put(f"{folder}/disable", 0)
    for cpus, khz in spec.policies:
        folder = f"{CPU}/cpufreq/policy{min(cpus)}"
        members = " ".join(str(cpu) for cpu in cpus)
        tree.put(f"{folder}/affected_cpus", members)
        tree.put(f"{folder}/related_cpus", members)
        tree.put(f"{folder}/cpuinfo_min_freq", min(khz))
        tree.put(f"{folder}/cpuinfo_max_freq", max(khz))
        tree.put(f"{folder}/scaling_available_frequencies", f"{' '.join(map(str, khz))} ")
        tree.put(f"{folder}/scaling_governor", "schedutil")


def split(cpus: Sequence[int], size: int) -> list[list[int]]:
    """Cut CPUs into groups of one size."""
    return [list(cpus[start : start + size]) for start in range(0, len(cpus), size)]


def _arm_cpuinfo(parts: Iterable[tuple[str, str]]) -> str:
    return "\n\n".join(
        f"processor\t: {cpu}\nBogoMIPS\t: 100.00\nCPU implementer\t: {who}\n"
        f"CPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: {part}\nCPU revision\t: 0"
        for cpu, (who, part) in enumerate(parts)
    )


def kunpeng_920(root: Path) -> Path:
    """Return a Kunpeng 920-6426 with 2 sockets: 128 CPUs, 4 nodes, clusters of 4.

    Distances and clusters: wayca-scheduler and LKML (Yicong Yang); L2: openEuler A-Tune docs.
    """
    cpus = range(128)
    dies = split(cpus, 32)
    return write(
        root,
        Spec(
            arch="aarch64",
            cpuinfo=_arm_cpuinfo([("0x48", "0xd01")] * 128),
            online=cpus,
            cores=split(cpus, 1),
            clusters=split(cpus, 4),
            packages=split(cpus, 64),
            memory_kib=256 * 1024 * 1024,
            caches=[
                CacheSpec(1, "Data", "64K", split(cpus, 1)),
                CacheSpec(1, "Instruction", "64K", split(cpus, 1)),
                CacheSpec(2, "Unified", "512K", split(cpus, 1)),
                CacheSpec(3, "Unified", "32768K", dies),
            ],
            nodes=[NodeSpec(n, die, 64 * 1024 * 1024) for n, die in enumerate(dies)],
            distances=[
                [10, 12, 20, 22],
                [12, 10, 22, 24],
                [20, 22, 10, 12],
                [22, 24, 12, 10],
            ],
            capacity=dict.fromkeys(cpus, 1024),
        ),
    )


def epyc_nps4(root: Path) -> Path:
    """Return a 2-socket Zen 3 EPYC in NPS4: 256 threads, siblings i and i+128.

    Topology, distances and idle states: LKML, the ILB_UTIL thread and posts of EPYC 2P.
    """
    cores = [[core, core + 128] for core in range(128)]

    def threads(size: int) -> list[list[int]]:
        return [sorted(cpu for core in group for cpu in core) for group in _chunks(cores, size)]

    nodes = threads(16)
    cpuinfo = "\n\n".join(
        f"processor\t: {cpu}\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 7713 64-Core "
        "Processor\nflags\t\t: fpu vme de pse tsc msr constant_tsc nonstop_tsc"
        for cpu in range(256)
    )
    states = [
        StateSpec("POLL", "CPUIDLE CORE POLL IDLE", 0, 0, 4294967295),
        StateSpec("C1", "ACPI FFH MWAIT 0x0", 1, 2),
        StateSpec("C2", "ACPI IOPORT 0x814", 400, 800),
    ]
    return write(
        root,
        Spec(
            arch="x86_64",
            cpuinfo=cpuinfo,
            online=range(256),
            cores=cores,
            clusters=cores,
            packages=threads(64),
            memory_kib=512 * 1024 * 1024,
            caches=[
                CacheSpec(1, "Data", "32K", cores),
                CacheSpec(1, "Instruction", "32K", cores),
                CacheSpec(2, "Unified", "512K", cores),
                CacheSpec(3, "Unified", "32768K", threads(8)),
            ],
            nodes=[NodeSpec(n, node, 64 * 1024 * 1024) for n, node in enumerate(nodes)],
            distances=[
                [10 if a == b else 12 if a // 4 == b // 4 else 32 for b in range(8)]
                for a in range(8)
            ],
            idle=dict.fromkeys(range(256), states),
            policies=[([cpu], [2000000, 1700000, 1500000]) for cpu in range(256)],
        ),
    )


def _chunks(groups: Sequence[Sequence[int]], size: int) -> list[Sequence[Sequence[int]]]:
    return [groups[start : start + size] for start in range(0, len(groups), size)]


def power9_lpar(root: Path) -> Path:
    """Return a POWER9 partition of 8 SMT4 cores with snooze and CEDE (cpuidle-pseries.c)."""
    cpus = range(32)
    states = [StateSpec("snooze", "snooze", 0, 0), StateSpec("CEDE", "CEDE", 10, 100)]
    cpuinfo = "\n\n".join(
        f"processor\t: {cpu}\ncpu\t\t: POWER9 (architected), altivec supported\n"
        "clock\t\t: 2500.000000MHz\nrevision\t: 2.2 (pvr 004e 0202)"
        for cpu in cpus
    )
    return write(
        root,
        Spec(
            arch="ppc64le",
            cpuinfo=f"{cpuinfo}\n\ntimebase\t: 512000000\nplatform\t: pSeries\n"
            "model\t\t: IBM,9008-22L\nmachine\t\t: CHRP IBM,9008-22L\nMMU\t\t: Radix",
            online=cpus,
            cores=split(cpus, 4),
            packages=[cpus],
            memory_kib=64 * 1024 * 1024,
            caches=[
                CacheSpec(1, "Data", "32K", split(cpus, 4)),
                CacheSpec(1, "Instruction", "32K", split(cpus, 4)),
                CacheSpec(2, "Unified", "512K", split(cpus, 4)),
                CacheSpec(3, "Unified", "10240K", split(cpus, 4)),
            ],
            nodes=[NodeSpec(0, cpus, 64 * 1024 * 1024)],
            distances=[[10]],
            idle=dict.fromkeys(cpus, states),
        ),
    )


def hikey960(root: Path) -> Path:
    """Return a HiKey960: 4 Cortex-A53 and 4 Cortex-A73 (hi3660.dtsi).

    The kernel adds a state's entry and exit latency (cpuidle/dt_idle_states.c).
    """
    little, big = range(4), range(4, 8)
    wfi = StateSpec("WFI", "ARM WFI", 1, 1)
    of_little = [
        wfi,
        StateSpec("cpu-sleep-0", "cpu-sleep-0", 400 + 650, 1500),
        StateSpec("cluster-sleep-0", "cluster-sleep-0", 500 + 1600, 3500),
    ]
    of_big = [
        wfi,
        StateSpec("cpu-sleep-1", "cpu-sleep-1", 400 + 550, 1500),
        StateSpec("cluster-sleep-1", "cluster-sleep-1", 800 + 2900, 3500),
    ]
    return write(
        root,
        Spec(
            arch="aarch64",
            cpuinfo=_arm_cpuinfo([("0x41", "0xd03")] * 4 + [("0x41", "0xd09")] * 4),
            online=range(8),
            cores=split(range(8), 1),
            clusters=[little, big],
            packages=[range(8)],
            memory_kib=3 * 1024 * 1024,
            caches=[
                CacheSpec(1, "Data", None, split(range(8), 1)),
                CacheSpec(1, "Instruction", None, split(range(8), 1)),
                CacheSpec(2, "Unified", None, [little, big]),
            ],
            capacity={**dict.fromkeys(little, 462), **dict.fromkeys(big, 1024)},
            idle={**dict.fromkeys(little, of_little), **dict.fromkeys(big, of_big)},
            policies=[
                (little, [533000, 999000, 1402000, 1709000, 1844000]),
                (big, [903000, 1421000, 1805000, 2112000, 2362000]),
            ],
            files={"proc/device-tree/model": "HiKey960\0"},
        ),
    )


def juno(root: Path) -> Path:
    """Return an Arm Juno r0: CPUs 1 and 2 are big (juno.dts; LKML, Dietmar Eggemann)."""
    little, big = [0, 3, 4, 5], [1, 2]
    parts = ["0xd07" if cpu in big else "0xd03" for cpu in range(6)]
    return write(
        root,
        Spec(
            arch="aarch64",
            cpuinfo=_arm_cpuinfo(("0x41", part) for part in parts),
            online=range(6),
            cores=split(range(6), 1),
            clusters=[little, big],
            packages=[range(6)],
            memory_kib=8 * 1024 * 1024,
            caches=[
                CacheSpec(1, "Data", None, split(range(6), 1)),
                CacheSpec(1, "Instruction", None, split(range(6), 1)),
                CacheSpec(2, "Unified", "1024K", [little]),
                CacheSpec(2, "Unified", "2048K", [big]),
            ],
            capacity={**dict.fromkeys(little, 446), **dict.fromkeys(big, 1024)},
            policies=[
                (little, [450000, 575000, 700000, 775000, 850000]),
                (big, [450000, 625000, 800000, 950000, 1100000]),
            ],
            files={"proc/device-tree/model": "ARM Juno development board (r0)\0"},
        ),
    )


MACHINES: dict[str, Callable[[Path], Path]] = {
    "kunpeng-920": kunpeng_920,
    "epyc-nps4": epyc_nps4,
    "power9-lpar": power9_lpar,
    "hikey960": hikey960,
    "juno": juno,
}
"""The generated machines, by name."""
