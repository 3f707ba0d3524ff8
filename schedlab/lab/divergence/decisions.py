"""The scheduler's decisions, read out of the text of a trace."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from schedlab.lab.ftrace import events

EVENTS = (
    "schedlab:*,sched:sched_migrate_task"
    ",sched:sched_move_numa,sched:sched_stick_numa,sched:sched_swap_numa"
)
"""The tracepoints decisions are read from (docs/internals/engine.md)."""

WAKEUP = "wakeup placement"
FORK = "fork and exec placement"
NEWIDLE = "newidle balancing"
BALANCE = "periodic balancing"
PICK = "choice of the next task"
IDLE = "choice of the idle state"
FREQUENCY = "choice of the frequency"
PREFERRED = "choice of the preferred node"
NUMA_TASK = "NUMA placement of tasks"
NUMA_PAGE = "NUMA placement of pages"

_FORK_OR_EXEC = 0x06
"""WF_EXEC and WF_FORK of kernel/sched/sched.h."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision: who made it, about what, from what, and what it was."""

    time: float
    """Simulated seconds."""
    cpu: int
    task: str
    """What ran on the CPU, as `comm-pid`."""
    function: str
    subject: str
    """Whom it is about: the same subject's n-th decisions of two runs are compared."""
    choice: tuple[str, ...]
    """What was decided, in parts; equal choices are the same decision."""
    did: str
    """The choice in words that follow a name: `pulled hackbench-12 from CPU 3`."""
    outcome: str
    """The kind of choice, to be counted."""
    inputs: Mapping[str, str]
    """What it was made from, with units."""
    looked_at: tuple[str, ...] = ()
    """Groups of a balance pass, with their figures."""
    place: int = 0
    """Its number in its run. A CPU's clock may lag behind another's, so that a task is picked at an
    earlier time than it is woken, but a cause has a lower number than its effect."""

    def decides_as(self, other: "Decision") -> bool:
        """Return whether the other is the same decision with the same outcome."""
        return (self.function, self.subject, self.choice) == (
            other.function,
            other.subject,
            other.choice,
        )


@dataclass
class _Begun:
    """What a CPU has looked at and moved in the passes it has begun."""

    groups: list[str] = field(default_factory=list)
    moved: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)
    """Tasks that migrated, with the fields of their events."""
    entry: Mapping[str, str] | None = None
    """Of the newidle pass that is under way."""
    reached: list[Mapping[str, str]] = field(default_factory=list)
    drawn: dict[str, str] = field(default_factory=dict)
    """Random numbers, by the domains they were drawn for."""
    scanned: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    pulled: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Event:
    time: float
    cpu: int
    task: str
    fields: Mapping[str, str]
    place: int
    """Decisions that came before it."""

    def decision(
        self,
        function: str,
        subject: str,
        choice: tuple[str, ...],
        did: str,
        outcome: str,
        inputs: Mapping[str, str],
        looked_at: tuple[str, ...] = (),
    ) -> Decision:
        return Decision(
            self.time,
            self.cpu,
            self.task,
            function,
            subject,
            choice,
            did,
            outcome,
            inputs,
            looked_at,
            place=self.place,
        )


def decisions(lines: Iterable[str]) -> Iterator[Decision]:
    """Yield the decisions of a trace, in their order; other events are passed over."""
    begun: dict[int, _Begun] = defaultdict(_Begun)
    place = 0
    for each in events(lines):
        here = begun[each.cpu]
        if each.name == "group_stats":
            here.groups.append(each.text)
        elif each.name in _READERS:
            fields = defaultdict(str, each.fields)
            event = _Event(each.time / 1e9, each.cpu, each.task, fields, place)
            if decision := _READERS[each.name](event, here):
                yield decision
                place += 1


def _placement(event: _Event, here: _Begun) -> Decision:
    fields = event.fields
    cpu, prev, this = fields["cpu"], fields["prev_cpu"], fields["this_cpu"]
    task = f"{fields['comm']}-{fields['pid']}"
    flags = fields["flags"]
    if re.fullmatch("0x[0-9a-f]+", flags) and int(flags, 16) & _FORK_OR_EXEC:
        function = FORK
        outcome = "the same CPU" if cpu == this else "another CPU"
        place = ", where it was called" if cpu == this else ""
    else:
        function = WAKEUP
        outcome = {this: "waker's CPU", prev: "previous CPU"}.get(cpu, "another CPU")
        place = {this: ", the waker's", prev: ", where it ran before"}.get(cpu, "")
    here.moved.clear()  # what follows is this task's migration, not a balance pass's
    return event.decision(
        function,
        task,
        (cpu,),
        f"put {task} on CPU {cpu}{place}",
        outcome,
        {
            "from CPU": prev,
            "by CPU": this,
            "util": fields["util"],
            f"tasks on CPU {prev}": fields["prev_running"],
            f"tasks on CPU {this}": fields["this_running"],
            f"idle CPUs in the LLC of CPU {prev}": fields["idle_cpus"],
            "flags": flags,
        },
    )


def _migration(event: _Event, here: _Begun) -> None:
    here.moved.append((f"{event.fields['comm']}-{event.fields['pid']}", event.fields))


def _domain(fields: Mapping[str, str]) -> str:
    """Return a domain's name; the kernel calls all levels of nodes the same."""
    name = fields["domain"]
    return f"{name} {fields['level']}" if name == "NUMA" else name


def _taken(here: _Begun, cpu: str) -> list[str]:
    """Return the tasks that have migrated to a CPU since the last pass, as words."""
    moved = [
        f"{name} from CPU {fields['orig_cpu']}"
        for name, fields in here.moved
        if fields["dest_cpu"] == cpu
    ]
    here.moved.clear()
    return moved


def _balance(event: _Event, here: _Begun) -> Decision | None:
    fields = event.fields
    looked_at, here.groups = tuple(here.groups), []
    tasks = _taken(here, fields["cpu"])
    if here.entry is not None:  # a part of the newidle pass that is under way
        here.scanned.append(_domain(fields))
        here.seen += looked_at
        here.pulled += tasks
        return None
    queue, group = fields["queue"], fields["group"]
    if fields["pulled"] not in ("0", ""):
        did, outcome = f"pulled {_listed(tasks) or fields['pulled'] + ' tasks'}", "pulled"
    elif fields["active"] == "1":
        did, outcome = f"had CPU {queue} push its running task", "pushed"
    elif fields["ours"] == "0":
        did, outcome = "left it to another CPU of the group", "left to another CPU"
    elif group == "-1":
        did, outcome = "found no busier group", "balanced"
    elif queue == "-1":
        did, outcome = f"found no busier queue in the group of CPU {group}", "balanced"
    else:
        did, outcome = f"pulled nothing from CPU {queue}", "pulled nothing"
    return event.decision(
        BALANCE,
        f"CPU {fields['cpu']}, {_domain(fields)}, {fields['idle']}",
        (fields["ours"], group, queue, *tasks, fields["active"], str(len(looked_at))),
        did if fields["ours"] == "0" else f"looked at {_counted(len(looked_at), 'group')}, {did}",
        outcome,
        {
            "imbalance": fields["imbalance"],
            "migration type": fields["migration"],
            "failed before": fields["failed_before"],
        },
        looked_at,
    )


def _newidle_entry(event: _Event, here: _Begun) -> None:
    here.entry = event.fields
    here.reached, here.scanned, here.seen, here.pulled = [], [], [], []
    here.drawn = {}
    here.groups.clear()
    here.moved.clear()


def _newidle_domain(event: _Event, here: _Begun) -> None:
    here.reached.append(event.fields)


def _newidle_draw(event: _Event, here: _Begun) -> None:
    if here.reached:
        here.drawn[_domain(here.reached[-1])] = event.fields["d1k"]


def _newidle_exit(event: _Event, here: _Begun) -> Decision | None:
    entry, here.entry = here.entry, None
    if entry is None:
        return None
    pulled = event.fields["pulled"]
    scanned = ", ".join(here.scanned)
    if here.pulled:
        did, outcome = f"scanned {scanned} and pulled {_listed(here.pulled)}", "pulled"
    elif pulled.startswith("-"):
        did, outcome = f"scanned {scanned or 'nothing'}; a task of a higher class came", "overtaken"
    elif pulled not in ("0", ""):
        did, outcome = f"scanned {scanned or 'nothing'}; a task had come by itself", "overtaken"
    elif here.scanned:
        did, outcome = f"scanned {scanned} and found nothing", "found nothing"
    else:
        did = f"scanned nothing{_condition(entry, here.reached, here.drawn)}"
        outcome = "scanned nothing"
    inputs = {
        "avg_idle": _duration(entry["avg_idle"]),
        "max_newidle_lb_cost": _duration(entry["max_newidle_lb_cost"]),
        "overloaded": entry["overloaded"],
        "pending wakeup": entry["pending"],
    }
    for each in here.reached[1:]:
        inputs[f"{_domain(each)}'s max_newidle_lb_cost"] = _duration(each["max_newidle_lb_cost"])
    for domain, drawn in here.drawn.items():
        inputs[f"{domain}'s random d1k"] = drawn
    return event.decision(
        NEWIDLE,
        f"CPU {event.fields['cpu']}",
        choice=(*here.scanned, *here.pulled, pulled),
        did=did,
        outcome=outcome,
        inputs=inputs,
        looked_at=tuple(here.seen),
    )


def _condition(
    entry: Mapping[str, str], reached: list[Mapping[str, str]], drawn: Mapping[str, str]
) -> str:
    """Return which of the conditions that unpatched kernels leave by is true."""
    if entry["pending"] == "1":
        return " (a wakeup is pending)"
    if entry["overloaded"] == "0":
        return " (no runqueue is overloaded)"
    for each in reached or [entry]:
        idle, cost = each["avg_idle"], each["max_newidle_lb_cost"]
        if idle.isdecimal() and cost.isdecimal() and int(idle) < int(cost):
            return f" (avg_idle {_duration(idle)} < max_newidle_lb_cost {_duration(cost)})"
    if drawn:
        return f" (passed over {', '.join(drawn)} by random draw)"
    if len(reached) == 1:
        first = _domain(reached[0])
        return f" (left before {first}; no condition of an unpatched kernel says so)"
    return f" (reached {', '.join(map(_domain, reached))})" if reached else ""


def _pick(event: _Event, here: _Begun) -> Decision:
    fields = event.fields
    idle = fields["class"] == "idle"
    task = f"{fields['comm']}-{fields['pid']}"
    return event.decision(
        PICK,
        f"CPU {event.cpu}",
        ("idle" if idle else task,),
        "went idle" if idle else f"picked {task}",
        "idle" if idle else "a task",
        {"class": fields["class"], "runnable tasks": fields["nr_running"]},
    )


def _idle(event: _Event, here: _Begun) -> Decision:
    fields = event.fields
    state = fields["state"]
    tick = "stopped the tick" if fields["stop_tick"] == "1" else "kept the tick"
    limit = fields["latency_limit"]
    unlimited = limit.isdecimal() and int(limit) >= _NO_LIMIT
    inputs = {
        "latency limit": "none" if unlimited else _duration(limit),
        "next timer in": _duration(fields["next_timer"]),
        "typical interval": _typical(fields["typical_us"]),
    }
    return event.decision(
        IDLE,
        f"CPU {fields['cpu']}",
        (state, tick),
        f"chose {state}, {tick}",
        state,
        {name: value for name, value in inputs.items() if value},
    )


def _frequency(event: _Event, here: _Begun) -> Decision:
    fields = event.fields
    asked = _megahertz(fields["next_khz"])
    return event.decision(
        FREQUENCY,
        f"CPU {fields['policy']}'s policy",
        (asked,),
        f"asked for {asked}",
        asked,
        {
            "util": fields["util"],
            "max": fields["max"],
            "current": _megahertz(fields["current_khz"]),
        },
    )


def _preferred(event: _Event, here: _Begun) -> Decision:
    fields = event.fields
    task, before, node = f"{fields['comm']}-{fields['pid']}", fields["before"], fields["node"]
    had = "none" if before == "-1" else f"node {before}"
    if node == before:
        did, outcome = f"left node {node} preferred", "the same node"
    else:
        outcome = "the first" if before == "-1" else "another node"
        did = f"made node {node} the preferred one, after {had}"
    inputs = {f"faults on node {node}": fields["faults"], "scan period": _ms(fields["scan_period"])}
    if before not in (node, "-1"):
        inputs[f"faults on node {before}"] = fields["faults_before"]
    return event.decision(
        PREFERRED, task, (node,), did, outcome, {"preferred before": had, **inputs}
    )


def _numa_move(event: _Event, here: _Begun) -> Decision:
    fields = event.fields
    to = f"CPU {fields['dst_cpu']} of node {fields['dst_nid']}"
    return _numa_task(event, "", ("moved", fields["dst_cpu"]), f"chose {to}", "moved")


def _numa_swap(event: _Event, here: _Begun) -> Decision:
    fields = event.fields
    whom = f"task {fields['dst_pid']} on CPU {fields['dst_cpu']} of node {fields['dst_nid']}"
    choice = ("swapped", fields["dst_cpu"], fields["dst_pid"])
    return _numa_task(event, "src_", choice, f"changed places with {whom}", "swapped")


def _numa_stick(event: _Event, here: _Begun) -> Decision:
    fields = event.fields
    if fields["dst_cpu"] == "-1":
        return _numa_task(event, "src_", ("stayed",), "found no better CPU", "found none")
    did = f"chose CPU {fields['dst_cpu']} of node {fields['dst_nid']}, but could not move there"
    return _numa_task(event, "src_", ("failed", fields["dst_cpu"]), did, "could not move")


def _numa_task(
    event: _Event, side: str, choice: tuple[str, ...], did: str, outcome: str
) -> Decision:
    fields = event.fields
    at = {"on CPU": fields["src_cpu"], "on node": fields["src_nid"]}
    group = fields[f"{side}ngid"]
    inputs = {**at, "NUMA group": "none" if group == "0" else group}
    return event.decision(NUMA_TASK, event.task, choice, did, outcome, inputs)


def _numa_fault(event: _Event, here: _Begun) -> Decision:
    fields = event.fields
    node, at = fields["node"], fields["here"]
    if fields["moved"] == "1":
        did, outcome = f"moved a page from node {node} to node {at}", "moved"
    elif fields["wanted"] == "1":
        did, outcome = f"found no room on node {at} for a page of node {node}", "no room"
    elif node == at:
        did, outcome = f"touched a page of node {node}, its own", "local"
    else:
        did, outcome = f"left a page on node {node}, touched from node {at}", "left"
    last = fields["last"]
    inputs = {
        "touched before from node": "none" if last == "-1" else last,
        "shared": "yes" if fields["shared"] == "1" else "no",
    }
    return event.decision(NUMA_PAGE, event.task, (outcome, node, at), did, outcome, inputs)


_READERS: Mapping[str, Callable[[_Event, _Begun], Decision | None]] = {
    "select_task_rq": _placement,
    "sched_migrate_task": _migration,
    "load_balance": _balance,
    "newidle_entry": _newidle_entry,
    "newidle_domain": _newidle_domain,
    "newidle_draw": _newidle_draw,
    "newidle_exit": _newidle_exit,
    "pick_next": _pick,
    "idle_choice": _idle,
    "next_freq": _frequency,
    "numa_prefer": _preferred,
    "sched_move_numa": _numa_move,
    "sched_swap_numa": _numa_swap,
    "sched_stick_numa": _numa_stick,
    "numa_fault": _numa_fault,
}

_NO_LIMIT = 2_000 * 10**9
"""PM_QOS_CPU_LATENCY_DEFAULT_VALUE in nanoseconds, which stands for no limit."""


def _duration(nanoseconds: str) -> str:
    """Return `41.2 us` or `3.20 ms`; nothing for what was not asked."""
    if not nanoseconds.isdecimal():
        return ""
    value = int(nanoseconds)
    return f"{value / 1e6:.2f} ms" if value >= 1_000_000 else f"{value / 1e3:.1f} us"


def _ms(milliseconds: str) -> str:
    return f"{milliseconds} ms"


def _typical(microseconds: str) -> str:
    """Return menu's typical interval; it answers the largest number where there is none."""
    if not microseconds.isdecimal():
        return ""
    return "none" if int(microseconds) >= 2**31 - 1 else _duration(f"{microseconds}000")


def _megahertz(kilohertz: str) -> str:
    return f"{int(kilohertz) / 1000:.0f} MHz" if kilohertz.isdecimal() else kilohertz


def _listed(words: list[str]) -> str:
    return f"{', '.join(words[:2])}{f' and {len(words) - 2} more' if len(words) > 2 else ''}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
