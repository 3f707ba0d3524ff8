"""What was set for the tasks of a recorded host: CPUs, policy, nice, clamps, cgroup; what it is."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from schedlab.base.cpulist import format_cpulist, parse_cpulist
from schedlab.base.errors import SchedlabError
from schedlab.base.system import System
from schedlab.machine.here import describe
from schedlab.machine.model import Machine
from schedlab.machine.standin import completed

_VERSION = 1
HEAD = "# schedlab recording: "
"""How the line of a trace begins that holds this, as JSON."""
NOBODY = (0,)
"""The roots of a cgroup without tasks."""
_LOOK = r"""
cd /proc || exit
echo "looks:$$"
grep -Hs -e '^Tgid:' -e '^Cpus_allowed_list:' [0-9]*/task/[0-9]*/status
grep -Hs . [0-9]*/task/[0-9]*/stat
grep -Hs '^0::' [0-9]*/cgroup
grep -Hs -e 'uclamp.min ' -e 'uclamp.max ' [0-9]*/task/[0-9]*/sched
exit 0
"""
_DESCRIPTORS = r"""
cd /proc || exit
gnu=/usr/bin/find
[ -x $gnu ] || gnu=find
$gnu [0-9]*/fd -maxdepth 1 -type l -printf 'fd %p %l\n' 2>/dev/null
grep -Hs '^flags:' [0-9]*/fdinfo/* | sed 's/^/flags /'
command -v ss >/dev/null && command -v nsenter >/dev/null || exit 0
stat -L -c '%i %n' [0-9]*/ns/net 2>/dev/null | sort -u -k1,1 | while read -r _ net; do
	nsenter --net="$net" ss -H -xan 2>/dev/null | sed 's/^/unix /'
	nsenter --net="$net" ss -H -tane 2>/dev/null | sed 's/^/tcp /'
done
exit 0
"""
"""By its place: the shell of a guest, busybox, would take its own find, which has no -printf."""
_SEEN = re.compile(r"fd (\d+)/fd/(\d+) (?:(pipe|socket):\[(\d+)\])?")
_FLAGS = re.compile(r"flags (\d+)/fdinfo/(\d+):flags:\s*0*([0-7]+)$")
_UNIX = re.compile(r"unix .*\s(\d+)\s+\S+\s+(\d+)\s*$")
_TCP = re.compile(r"tcp \S+\s+\d+\s+\d+\s+\S*:(\d+)\s+\S*:(\d+|\*)\s.*\bino:(\d+)")
_CLOSE_ON_EXEC = 0o2000000
_KERNELS_THREAD = 0x200000
"""PF_KTHREAD, of the flags in /proc/PID/stat."""
_COMMAND = "the command"
_LONGEST = 60.0
"""Seconds for looking at all tasks."""


@dataclass(frozen=True)
class TaskSetup:
    """What is set for one task."""

    process: int
    cpus: str
    """As a list, of those it may run on."""
    nice: int = 0
    policy: int = 0
    """SCHED_*"""
    priority: int = 0
    """Of a real-time task."""
    cgroup: str = ""
    uclamp: tuple[int, int] | None = None
    kernel: bool | None = None
    """Whether it is a thread of the kernel's own; None: it is not known."""


@dataclass(frozen=True)
class Descriptor:
    """What a descriptor of a process is."""

    inode: int = 0
    """Of a pipe or socket; 0: it is something else."""
    is_pipe: bool = False
    closes: bool = False
    """exec() closes it."""


Descriptors = Mapping[int, Mapping[int, Descriptor]]
"""By process and number."""


@dataclass(frozen=True)
class Setup:
    """What is set on a host."""

    kernel: str
    cpus: str
    tasks: Mapping[int, TaskSetup]
    roots: Sequence[int] = ()
    """Only these tasks, and those they start, are the workload; none: all of them."""
    restricted_to: str = ""
    """In words."""
    machine: Machine | None = None
    descriptors_before: Descriptors = field(default_factory=dict)
    descriptors_after: Descriptors = field(default_factory=dict)
    """Before and after the trace."""
    peers: Mapping[int, int] = field(default_factory=dict)
    """Of sockets of this system, by their inodes."""
    ports: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    """Of TCP sockets: the own port and the other's, 0 of one that listens."""
    inherited: Sequence[int] = ()
    """The descriptors with which the command began."""
    recorder: Sequence[int] = ()
    """The recorder's own task, with what it starts; none where its name tells."""
    came: Sequence[int] | None = None
    """Tasks that were seen only after the trace; None: it is not known which."""
    given: TaskSetup | None = None
    """What a command begins with."""

    @property
    def command(self) -> Sequence[int]:
        """Return the task of the command whose run was recorded, if one was."""
        return self.roots if self.restricted_to.startswith(_COMMAND.split()[0]) else ()

    def joined(self, later: "Setup") -> "Setup":
        """Return it with the tasks that came meanwhile, and all descriptors that were seen."""
        return replace(
            self,
            tasks={**later.tasks, **self.tasks},
            came=sorted(later.tasks.keys() - self.tasks.keys()),
            descriptors_after=later.descriptors_before,
            peers={**self.peers, **later.peers},
            ports={**self.ports, **later.ports},
        )

    def restricted(self, root: int | None, cgroup: str, members: Iterable[int] = ()) -> "Setup":
        """Return it for a workload of one task and what it starts, or of one cgroup.

        `members` are tasks which the cgroup is known to have had as the recording began.
        """
        if root is not None:
            first = {root: replace(self.given, process=root)} if self.given else {}
            came = self.came and [pid for pid in self.came if pid != root]
            tasks = {**self.tasks, **first}
            return replace(self, tasks=tasks, came=came, roots=(root,), restricted_to=_COMMAND)
        if not cgroup:
            return self
        path = cgroup_path(cgroup)
        within = [
            pid
            for pid, task in self.tasks.items()
            if task.cgroup == path or task.cgroup.startswith(f"{path.rstrip('/')}/")
        ]
        within = sorted({*within, *members})
        return replace(self, roots=within or NOBODY, restricted_to=f"cgroup {path}")

    def without_names(self) -> "Setup":
        """Return it with cgroups by numbers."""
        paths = sorted({task.cgroup for task in self.tasks.values()})
        named = {path: f"/group{at}" for at, path in enumerate(paths)}
        tasks = {pid: replace(task, cgroup=named[task.cgroup]) for pid, task in self.tasks.items()}
        words = self.restricted_to.partition(" ")[0]
        machine = self.machine and self.machine.model_copy(update={"name": "recorded", "title": ""})
        return replace(self, tasks=tasks, restricted_to=words, machine=machine)

    def document(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        machine = self.machine and self.machine.model_dump(
            mode="json", exclude_defaults=True, exclude={"ledger"}
        )
        looked = {
            name: {pid: _short(own) for pid, own in getattr(self, name).items()}
            for name in ("descriptors_before", "descriptors_after")
        }
        plain = asdict(
            replace(self, machine=None, descriptors_before={}, descriptors_after={}, given=None)
        )
        del plain["given"]
        return {"version": _VERSION, **plain, **looked, "machine": machine}


@dataclass
class _Found:
    process: int = 0
    cpus: str = ""
    stat: Sequence[str] = field(default_factory=list)
    uclamp: dict[str, int] = field(default_factory=dict)


def look(system: System) -> Setup:
    """Return what is set on a system now."""
    text = system.capture(("sh", "-c", _LOOK), timeout=_LONGEST).stdout
    found: dict[int, _Found] = {}
    cgroups: dict[int, str] = {}
    looks = 0
    for line in text.splitlines():
        place, _, rest = line.partition(":")
        parts = place.split("/")
        if place == "looks":
            looks = int(rest)
        if parts[-1] == "cgroup":
            cgroups[int(parts[0])] = rest.removeprefix("0::")
            continue
        if len(parts) != 4 or not parts[2].isdecimal():
            continue
        task = found.setdefault(int(parts[2]), _Found())
        name, _, value = rest.partition(":")
        if parts[-1] == "stat":
            task.stat = rest.rpartition(")")[2].split()
        elif name == "Tgid":
            task.process = int(value)
        elif name == "Cpus_allowed_list":
            task.cpus = value.strip()
        elif clamp := re.match(r"(?:effective )?uclamp\.(min|max)\s*:\s*(\d+)", rest):
            task.uclamp[clamp[1]] = int(clamp[2])
    tasks = {
        pid: _task(task, cgroups.get(task.process, ""))
        for pid, task in found.items()
        if task.process and task.cpus and len(task.stat) > 38
    }
    online = system.read_or("/sys/devices/system/cpu/online", "")
    seen = system.capture(("sh", "-c", _DESCRIPTORS), timeout=_LONGEST).stdout
    given = tasks.pop(looks, None)
    known = _descriptors(seen)
    release = system.kernel_release()
    return replace(known, kernel=release, cpus=online, tasks=tasks, given=given)


def _descriptors(text: str) -> Setup:
    """Return what is known of descriptors and sockets, from what was printed of them."""
    found: dict[int, dict[int, Descriptor]] = {}
    peers: dict[int, int] = {}
    ports: dict[int, tuple[int, int]] = {}
    for line in text.splitlines():
        if seen := _SEEN.match(line):
            each = Descriptor(int(seen[4] or 0), seen[3] == "pipe")
            found.setdefault(int(seen[1]), {})[int(seen[2])] = each
        elif flags := _FLAGS.match(line):
            own, fd = found.get(int(flags[1]), {}), int(flags[2])
            if fd in own and int(flags[3], 8) & _CLOSE_ON_EXEC:
                own[fd] = replace(own[fd], closes=True)
        elif (unix := _UNIX.match(line)) and int(unix[2]):
            peers[int(unix[1])] = int(unix[2])
        elif tcp := _TCP.match(line):
            ports[int(tcp[3])] = int(tcp[1]), int(tcp[2].replace("*", "0"))
    return Setup("", "", {}, descriptors_before=found, peers=peers, ports=ports)


def _short(own: Mapping[int, Descriptor]) -> dict[int, str]:
    """Return descriptors as the file has them: `p` or `s` and an inode, `x` if exec() closes it."""
    return {
        fd: ("p" if each.is_pipe else "s" if each.inode else "")
        + (str(each.inode) if each.inode else "")
        + ("x" if each.closes else "")
        for fd, each in own.items()
    }


def _long(found: Any) -> dict[int, dict[int, Descriptor]]:
    return {
        int(pid): {
            int(fd): Descriptor(int(word.strip("psx") or 0), word[:1] == "p", word[-1:] == "x")
            for fd, word in own.items()
        }
        for pid, own in found.items()
    }


def look_at_machine(system: System) -> Machine | None:
    """Return the machine of a system, ready to be simulated; None where it cannot be described."""
    try:
        return completed(describe(system)).machine
    except SchedlabError:
        return None


CGROUPS = ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")
"""Where cgroups of version 2 are: alone, or beside those of version 1."""


def cgroup_path(named: str) -> str:
    """Return a cgroup as /proc names it, with or without the folder of all."""
    return f"/{named.removeprefix(CGROUPS[0]).strip('/')}"


def _task(found: _Found, cgroup: str) -> TaskSetup:
    nice, priority, policy = (int(found.stat[at]) for at in (16, 37, 38))
    clamp = (found.uclamp["min"], found.uclamp["max"]) if len(found.uclamp) == 2 else None
    kernel = bool(int(found.stat[6]) & _KERNELS_THREAD)
    return TaskSetup(found.process, found.cpus, nice, policy, priority, cgroup, clamp, kernel)


def read_setup(document: Any) -> Setup | None:
    """Return what a trace's head holds; None where it is not one of ours."""
    try:
        if document.get("version", _VERSION) != _VERSION:
            return None
        online = format_cpulist(parse_cpulist(str(document["cpus"])))
        tasks = {int(pid): _read_task(task, online) for pid, task in document["tasks"].items()}
        roots = [int(pid) for pid in document["roots"]]
        words = str(document["restricted_to"])
        described, came = document.get("machine"), document.get("came")
        machine = None if described is None else Machine.model_validate(described)
        return Setup(
            *(str(document["kernel"]), online, tasks, roots, words, machine),
            descriptors_before=_long(document.get("descriptors_before", {})),
            descriptors_after=_long(document.get("descriptors_after", {})),
            peers={int(one): int(two) for one, two in document.get("peers", {}).items()},
            ports={
                int(inode): (int(own), int(peer))
                for inode, (own, peer) in document.get("ports", {}).items()
            },
            inherited=tuple(int(fd) for fd in document.get("inherited", ())),
            recorder=tuple(int(pid) for pid in document.get("recorder", ())),
            came=None if came is None else [int(pid) for pid in came],
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
        return None


def _read_task(task: Mapping[str, Any], online: str) -> TaskSetup:
    """Return what is set for a task; of its CPUs, which a kernel may allow for later, those online.

    Both lists are written in one way, so that they can be compared.
    """
    clamp = task["uclamp"]
    allowed = parse_cpulist(str(task["cpus"]))
    there = set(parse_cpulist(online))
    return TaskSetup(
        process=int(task["process"]),
        cpus=format_cpulist(there.intersection(allowed)) or online or format_cpulist(allowed),
        nice=int(task["nice"]),
        policy=int(task["policy"]),
        priority=int(task["priority"]),
        cgroup=str(task["cgroup"]),
        uclamp=None if clamp is None else (int(clamp[0]), int(clamp[1])),
        kernel=None if task.get("kernel") is None else bool(task["kernel"]),
    )
