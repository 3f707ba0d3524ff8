"""Operations of a sched_ext scheduler and the kfuncs they call, in a guest and simulated.

Both run the same slow script. What is compared are the steps of each of its tasks: an operation
with its arguments and answer, and the calls that it makes with theirs. Pointers other than tasks
are left out, and what depends on how long something took.
"""

import json
import re
import shlex
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path

from schedlab.base.data import data_folder
from schedlab.base.errors import IncompleteRun
from schedlab.kernels.scx_programs import RECORDER, clang
from schedlab.lab.ftrace import Event, events
from schedlab.settings.kinds.cgroup import CGROUPS, Cgroup, files_of, folder_of
from schedlab.settings.kinds.scx import Scx
from schedlab.settings.kinds.scx_sub import ScxSub
from schedlab.settings.variant import Variant
from schedlab.targets.guest.guest import Guest
from schedlab.targets.vm import VmTarget

ROUNDS = 5
MOST_FAILED = 5
"""Rounds that are repeated: a thread that runs late misses a signal, and then waits for ever."""
_SECONDS = 300.0
_READY = "ready"
_TRACING = "/sys/kernel/tracing"
_SCHEDULERS = "/sys/kernel/sched_ext"
_BEGIN = rf"""
scx_{{scheduler}} > /tmp/scx 2>&1 &
for i in $(seq 1200); do
  grep -q enabled {_SCHEDULERS}/state && break
  kill -0 $! 2> /dev/null || break
  sleep .1
done
{{below}}
cd {_TRACING}
sleep 100000 | {{recorder}} $groups > /tmp/recorder 2>&1 &
for i in $(seq 300); do grep -q '^{_READY}$' /tmp/recorder && break; sleep .1; done
cat /tmp/scx; echo; cat /tmp/recorder
for f in $(grep -o '^_*scx_bpf_[a-z0-9_]*' available_filter_functions | sort -u); do
  for with in '$arg* pid=p->pid' '$arg*' ''; do
    echo "f:k/$f $f $with" >> dynamic_events && break
  done
  echo "f:k/${{{{f}}}}__ret $f%return answer=\$retval" >> dynamic_events
done 2> /dev/null
echo 16384 > buffer_size_kb
echo 1 > events/k/enable
cd
"""
_BELOW = rf"""
mkdir -p {{folder}}
scx_{{scheduler}} -c {{folder}} >> /tmp/scx 2>&1 &
id=$(stat -c %i {{folder}})
for i in $(seq 1200); do
  [ "$(find {_SCHEDULERS} -name sub-$id)" ] && break
  kill -0 $! 2> /dev/null || break
  sleep .1
done
groups="$groups $id=/{{group}}"
"""
"""What programs of the tree's schedulers that can be sub-schedulers do with `-c`."""
_ROUND = f"""
cat > /tmp/script.json << 'END'
{{text}}
END
mkdir -p /tmp/logs
echo > {_TRACING}/trace
{{prefix}} schedlab-load rt-app --file /tmp/script.json --logdir /tmp/logs > /dev/null
status=$?
cat {_TRACING}/trace
(exit $status)
"""

_TIMED_ARGUMENTS = {"vtime", "slice", "tid", "perf"}
"""Arguments of calls that come from clocks in some schedulers, or from what ran before."""
_OTHER_ANSWERS = re.compile(r"scx_bpf_(now|tid_to_task|task_cgroup|cpu_curr|dsq_peek|get_\w+)")
"""Calls whose answers are times or pointers."""
_TIMED_OPERATIONS = {"tick", "core_sched_before", "update_idle", "dump", "dump_task", "dump_cpu"}
_PINNED_WAKEUP = "9"
"""Flags of an enqueue(): ENQUEUE_WAKEUP and ENQUEUE_NOCLOCK, and no CPU was selected."""
_WAKEUP = 1
"""ENQUEUE_WAKEUP of these flags."""
_ASLEEP = "0"
"""The argument runnable of stopping(), for a task that goes to sleep or ends."""
_SHORTEST_SLEEP = 5_000_000
"""In nanoseconds: the script's own sleeps are longer."""
_NONE = "none"
_REFUSED = re.compile(r"libbpf: (prog '\w+': failed to load: .*|.*system Kconfig.*)")
"""Where a scheduler that is not loaded says why; what comes behind says only that it is not."""
_LEGEND = re.compile(r"(\d+) (/\S+:\w+|\w+) (\S+) (\w)")
_UNSEEN = re.compile(r"unseen (\S+)")
_BEGINS = re.compile(r"scx begins (\d+) (\w+) (\w+) (\w+) (\w+)")
_ENDS = re.compile(r"scx ends (\d+) (\w+)")
_VALUE = re.compile(r"(\w+)=(\S+)")
_RETURN = "__ret"
_FLAVOUR = re.compile(r"___\w+$")
"""Behind the name of a call that a kernel has in several versions."""
_ANSWER = "answer"
_POINTER = 0xFFFF_0000_0000_0000
_BITS = {"b": 8, "d": 32, "u": 32, "D": 64, "x": 64}


@dataclass
class Step:
    """An operation for a task."""

    operation: str
    arguments: tuple[str, ...]
    at: int = 0
    answer: str = ""
    calls: list[str] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """Return the operation without the group of the sub-scheduler that has it."""
        return _kind(self.operation)

    def __str__(self) -> str:
        """Return it in a line."""
        answer = f" = {self.answer}" if self.answer else ""
        inside = f" {{{'; '.join(self.calls)}}}" if self.calls else ""
        return f"{self.operation}({', '.join(self.arguments)}){answer}{inside}"


@dataclass(frozen=True)
class Operation:
    """What a guest's numbers stand for."""

    name: str
    kinds: str
    answer: str


def _kind(operation: str) -> str:
    return operation.rpartition(":")[2]


def script() -> str:
    """Return what both run: a file of rt-app's."""
    return (data_folder("plans") / "scx" / "operations.json").read_text(encoding="utf-8")


def tasks(text: str) -> list[str]:
    """Return the names of a script's tasks."""
    return list(json.loads(text)["tasks"])


Steps = Mapping[str, Sequence[str]]
"""The steps of each task of the script, by the task's name, each in a line."""


@dataclass
class _Reader:
    """Steps in the order in which a trace has them."""

    names: Mapping[int, str]
    wanted: set[str]
    open: dict[int, Step] = field(default_factory=dict)
    unanswered: dict[int, list[tuple[str, int]]] = field(default_factory=dict)
    """Of each CPU: calls that have not returned, the innermost last, with their places."""
    steps: dict[str, list[Step]] = field(default_factory=dict)

    def task(self, pid: int) -> str:
        return self.names.get(pid, "another") if pid else _NONE

    def begins(self, cpu: int, at: int, name: str, arguments: Sequence[str]) -> None:
        self.open[cpu] = Step(name, tuple(arguments), at)
        self.unanswered[cpu] = []
        for each in arguments:
            if each in self.wanted and _kind(name) not in _TIMED_OPERATIONS:
                self.steps.setdefault(each, []).append(self.open[cpu])
                break

    def ends(self, cpu: int, answer: str) -> None:
        step = self.open.pop(cpu, None)
        if step:
            step.answer = answer

    def calls(self, cpu: int, name: str, values: Sequence[str]) -> None:
        if step := self.open.get(cpu):
            self.unanswered[cpu].append((name, len(step.calls)))
            step.calls.append(f"{_FLAVOUR.sub('', name)}({', '.join(values)})")

    def answers(self, cpu: int, name: str, answer: str) -> None:
        """Take a call's answer, and out what it called itself.

        Where a kernel's older flavour of a call calls a newer one, that one stays.
        """
        step, waiting = self.open.get(cpu), self.unanswered.get(cpu, [])
        at = next((i for i, (called, _) in enumerate(waiting) if called == name), None)
        if step is None or at is None:
            return
        _, place = waiting[at]
        del waiting[at:]
        own, inside = step.calls[place], step.calls[place + 1 :]
        plain = _FLAVOUR.sub("", name)
        step.calls[place:] = inside[:1] if inside and inside[0].startswith(f"{plain}(") else [own]
        if step.calls[place] == own and not _OTHER_ANSWERS.fullmatch(plain):
            step.calls[place] += f" = {answer}"

    def found(self) -> Steps:
        return {
            name: [str(step) for step in _settled(_without_waits(self.steps.get(name, [])))]
            for name in self.wanted
        }


def _settled(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield a task's steps from its first wakeup while it is pinned.

    Every task of the script begins with a sleep on one CPU: where it was before depends on its
    parent.
    """
    begun = False
    for step in steps:
        begun = begun or (step.kind == "enqueue" and step.arguments[-1] == _PINNED_WAKEUP)
        if begun:
            yield step


def _without_waits(steps: Iterable[Step]) -> list[Step]:
    """Return a task's steps without waits for the kernel, which are shorter than the script's.

    A task that has changed its own CPUs waits for the migration to be done, unless that is done
    before it runs again: time decides.
    """
    kept: list[Step] = []
    since: int | None = None
    for step in steps:
        if step.kind == "running" and since is not None:
            short = step.at - kept[since].at < _SHORTEST_SLEEP
            if short and any(_wakes(each) for each in kept[since:]):
                del kept[since:]
                since = None
                continue
            since = None
        elif step.kind == "stopping" and step.arguments[-1] == _ASLEEP:
            since = len(kept)
        kept.append(step)
    return kept


def _wakes(step: Step) -> bool:
    wakes = step.kind in ("runnable", "enqueue") and bool(int(step.arguments[-1]) & _WAKEUP)
    return wakes or step.kind == "select_cpu"


def _names(found: Iterable[Event]) -> dict[int, str]:
    """Return what each task calls itself, by pid; the last name counts."""
    names = {}
    for event in found:
        name, _, pid = event.task.rpartition("-")
        if not name.startswith("<"):
            names[int(pid)] = name
    return names


def _number(text: str) -> int:
    return int(text, 0)


def of_simulator(
    lines: Iterable[str], wanted: Iterable[str], without: Container[str] = ()
) -> Steps:
    """Return the steps in a trace of the simulator's events `scx_*`, without some operations."""
    found = list(events(lines))
    reader = _Reader(_names(found), set(wanted))
    for event in found:
        values = dict(_VALUE.findall(event.text))
        name = values.pop("name", "")
        answer = values.pop(_ANSWER, None)
        shown = _shown(reader, values, name if event.name == "scx_call" else "")
        if event.name == "scx_op" and name not in without:
            reader.begins(event.cpu, event.time, name, list(shown))
        elif event.name == "scx_answer":
            reader.ends(event.cpu, str(_number(answer)) if answer else "")
        elif event.name == "scx_call" and "scx_bpf_" in name:
            reader.calls(event.cpu, _kind(name), list(shown))
            if answer is not None:
                reader.answers(event.cpu, _kind(name), str(_answered(answer)))
    return reader.found()


def _answered(text: str) -> int:
    """Return what a call answered as a number: of a task its pid, 0 if there is none."""
    return 0 if text == _NONE else _number(text)


_TASKS = {"p", "prev", "from", "to", "task"}


def _shown(reader: _Reader, values: Mapping[str, str], call: str) -> Iterator[str]:
    for key, value in values.items():
        if call and key in _TIMED_ARGUMENTS:
            continue
        if key in _TASKS:
            yield _NONE if value == _NONE else reader.task(int(value))
        else:
            yield str(_number(value))


def of_guest(lines: Sequence[str], wanted: Iterable[str]) -> Steps:
    """Return the steps in what a guest printed: the recorder's list of operations, and a trace."""
    listed = {
        int(match[1]): Operation(match[2], match[3].strip("-"), match[4])
        for line in lines
        if (match := _LEGEND.fullmatch(line.strip()))
    }
    found = list(events(lines))
    reader = _Reader(_names(found), set(wanted))
    for event in found:
        if match := _BEGINS.match(event.text):
            operation = listed[int(match[1])]
            values = [int(match[i], 16) for i in range(2, 6)]
            arguments = list(_typed(reader, operation.kinds, values))
            reader.begins(event.cpu, event.time, operation.name, arguments)
        elif match := _ENDS.match(event.text):
            kind = listed[int(match[1])].answer
            reader.ends(event.cpu, "" if kind == "v" else _cut(kind, int(match[2], 16)))
        elif event.name.endswith(_RETURN):
            answer = dict(_VALUE.findall(event.text))[_ANSWER]
            reader.answers(event.cpu, event.name.removesuffix(_RETURN), str(_number(answer)))
        else:
            values_of = dict(_VALUE.findall(event.text))
            reader.calls(event.cpu, event.name, list(_called(reader, values_of)))
    return reader.found()


def _typed(reader: _Reader, kinds: str, values: Sequence[int]) -> Iterator[str]:
    for kind, value in zip(kinds, values, strict=False):
        if kind == "t":
            yield reader.task(value)
        elif kind in _BITS:
            yield _cut(kind, value)


def _cut(kind: str, value: int) -> str:
    """Return a number of which the kernel passes only some bits."""
    bits = _BITS[kind]
    value &= (1 << bits) - 1
    if kind in "dD" and value >> (bits - 1):
        value -= 1 << bits
    return str(value)


def _called(reader: _Reader, values: Mapping[str, str]) -> Iterator[str]:
    pid = values.get("pid")
    for key, value in values.items():
        if key == "pid" or key in _TIMED_ARGUMENTS:
            continue
        if key in _TASKS and pid is not None:
            yield reader.task(int(pid))
        elif _number(value) < _POINTER or key in ("dsq_id",):
            yield str(_number(value))


def unseen(lines: Iterable[str]) -> set[str]:
    """Return the operations that a guest's kernel lets nobody record."""
    return {match[1] for line in lines if (match := _UNSEEN.fullmatch(line.strip()))}


class Recorder:
    """Records what the real program of a scheduler makes a guest's kernel call."""

    def __init__(self, target: VmTarget, variant: Variant) -> None:
        """Take the guest's target, and the variant whose scheduler it is; build our program."""
        self._scheduler = Scx.of(variant) or ""
        self._variant = variant
        target.beside[f"/usr/bin/{RECORDER}"] = target.scx_programs(variant).recorder()

    def record(self, guest: Guest, text: str) -> Iterator[list[str]]:
        """Run the script some times; yield what was recorded of each.

        Raises:
            IncompleteRun: the scheduler is not loaded, or does not run the script.
        """
        begin = _BEGIN.format(scheduler=self._scheduler, recorder=RECORDER, below=self._below())
        begun = guest.run(begin, _SECONDS)
        listed = begun.out.decode().splitlines()
        if _READY not in listed:
            raise IncompleteRun(
                f"scx_{self._scheduler} cannot be recorded in the guest: {refusal(listed)}"
                f"\n  It was compiled by {Path(clang()).name}; the kernel may load what a newer one"
                " makes of it."
            )
        prefix = shlex.join(self._variant.around.prefix)
        for lines in rounds(guest, self._scheduler, text, prefix):
            yield [*listed, *lines]

    def _below(self) -> str:
        """Return what makes the variant's groups, each with the sub-scheduler it has."""
        parts = [f"echo +cpu > {CGROUPS}/cgroup.subtree_control"]
        if own := Cgroup.of(self._variant):
            folder = folder_of(self._variant)
            parts.append(f"mkdir -p {folder}")
            parts += [f"echo {shlex.quote(text)} > {folder}/{name}" for name, text in files_of(own)]
        for group, scheduler in sorted(ScxSub.of(self._variant).items()):
            values = {"scheduler": scheduler, "group": group, "folder": f"{CGROUPS}/{group}"}
            parts.append(_BELOW.format(**values))
        return "\n".join(parts)


def rounds(guest: Guest, scheduler: str, text: str, prefix: str = "") -> Iterator[list[str]]:
    """Run the script in a guest under a scheduler; yield the trace of each round that succeeds.

    `prefix` is what goes before its program, to bring it into a group.

    Raises:
        IncompleteRun: too many fail.
    """
    failed = 0
    for _ in range(ROUNDS):
        while (done := guest.run(_ROUND.format(text=text, prefix=prefix), _SECONDS)).status:
            failed += 1
            if failed > MOST_FAILED:
                said = done.err.strip().splitlines()[-3:] or ["it says nothing"]
                raise IncompleteRun(
                    f"the script failed {failed} times under scx_{scheduler} in the guest, the"
                    f" last time with: {'; '.join(said)}"
                )
        yield done.out.decode(errors="replace").splitlines()


def refusal(lines: Sequence[str]) -> str:
    """Return why a scheduler was not loaded, from what its program said."""
    refused = [match[1] for line in lines if (match := _REFUSED.search(line))]
    return "; ".join(refused or lines[-3:])


@dataclass(frozen=True)
class Agreement:
    """What of a task's steps is the same."""

    task: str
    steps: int
    differences: tuple[str, ...]
    """In the guest's nearest round."""
    rounds: int
    """How many of the guest's are identical."""


def compare(guests: Sequence[Steps], simulated: Steps) -> Iterator[Agreement]:
    """Compare each task's steps with the guest's round that is nearest to them.

    A guest has threads of its own, which now and then run where the script's tasks would.
    """
    for task, ours in simulated.items():
        found = [list(_differences(guest[task], ours)) for guest in guests]
        nearest = min(found, key=lambda differing: sum(steps for steps, _ in differing))
        yield Agreement(task, len(ours), tuple(line for _, line in nearest), found.count([]))


def _differences(theirs: Sequence[str], ours: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield each run of steps that only one of the two has, or has otherwise: how many, a line."""
    matcher = SequenceMatcher(None, theirs, ours, autojunk=False)
    for what, begin, end, ours_begin, ours_end in matcher.get_opcodes():
        if what != "equal":
            there = " ".join(theirs[begin:end]) or _NONE
            here = " ".join(ours[ours_begin:ours_end]) or _NONE
            line = f"step {ours_begin + 1}: {there} in the guest, {here} simulated"
            yield max(end - begin, ours_end - ours_begin), line
