"""Changes this host can make to a load, here and simulated: the effect of each, with its interval.

All tasks are bound to CPUs, so that a kernel that packs tasks on few CPUs decides nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import fmean, stdev
from typing import Literal

import scipy

from schedlab.lab.accuracy.markdown import percent, table_row
from schedlab.lab.accuracy.scoring import NOTICED
from schedlab.lab.accuracy.single import Options

Policy = Literal["normal", "batch", "idle", "fifo"]
BLOCKS = 6
"""Each block is one run of both sides, in an order that alternates."""
LEVEL = 0.95
NONE = 0.02
"""An effect within this, on the host, has no sign."""
Sign = Literal["right", "other", "no sign simulated", ""]


@dataclass(frozen=True)
class Group:
    """A control group with a part of the CPU time."""

    weight: int = 100
    """As in cpu.weight of version 2."""
    quota_us: int = 0
    """Of each period; 0 means no limit."""
    period_us: int = 100_000


@dataclass(frozen=True)
class Settings:
    """How a task is run."""

    cpus: str = "0"
    nice: int = 0
    policy: Policy = "normal"
    group: Group | None = None


@dataclass(frozen=True)
class Setup:
    """A workload under settings, and endless computations beside it."""

    workload: str
    options: Options
    settings: Settings = Settings()
    hogs: tuple[Settings, ...] = ()


@dataclass(frozen=True)
class Change:
    """Two setups of one workload, and the figure whose change is compared."""

    name: str
    figure: str
    base: Setup
    other: Setup

    @property
    def setups(self) -> tuple[Setup, Setup]:
        """Return both."""
        return self.base, self.other

    @property
    def arithmetic(self) -> bool:
        """Return whether all tasks only compute, on CPUs they are bound to.

        What each gets then follows from their number, weights and quotas.
        """
        return self.base.workload == "sysbench-cpu" or self.base.options.get("test") == "dhry2reg"


@dataclass(frozen=True)
class Effect:
    """The ratio of a figure under the change, less one, with its interval."""

    mean: float
    low: float
    high: float

    @property
    def sign(self) -> int:
        """Return the sign there is evidence for; 0 where there is none, or the effect is small."""
        if self.low <= 0 <= self.high or abs(self.mean) < NONE:
            return 0
        return 1 if self.mean > 0 else -1

    def holds(self, value: float) -> bool:
        """Return whether a value lies in the interval."""
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Compared:
    """A change in both worlds."""

    change: Change
    native: Effect | None = None
    simulated: Effect | None = None
    others: float = 0.0
    """The share of the host's CPUs that others had meanwhile, at most."""
    skipped: str = ""
    """Why it was not made here."""

    @property
    def sign(self) -> Sign:
        """Return how the simulated effect's sign stands to the host's; empty if that has none."""
        assert self.native and self.simulated
        if not self.native.sign:
            return ""
        if abs(self.simulated.mean) < NOTICED:
            return "no sign simulated"
        return "right" if self.native.sign * self.simulated.mean > 0 else "other"


def effect(pairs: Sequence[tuple[float, float]]) -> Effect:
    """Return the effect that pairs of figures show: base and other of each block."""
    logs = [log(other / base) for base, other in pairs]
    middle = fmean(logs)
    spread = stdev(logs) / sqrt(len(logs)) if len(logs) > 1 else 0.0
    reach = (
        float(scipy.stats.t.ppf(0.5 + LEVEL / 2, len(logs) - 1)) * spread if len(logs) > 1 else 0.0
    )
    return Effect(*(exp(x) - 1 for x in (middle, middle - reach, middle + reach)))


def order(change: Change, block: int) -> tuple[Setup, Setup]:
    """Return the order of a block's runs: it alternates, so that drift falls on both."""
    return change.setups if block % 2 == 0 else (change.other, change.base)


def table(found: Iterable[Compared]) -> str:
    """Return a Markdown table, a row for each change."""
    head = ("change", "figure", "here %", "interval", "simulated %", "interval", "sign", "holds",
            "others")  # fmt: skip
    lines = [table_row(head), table_row(["---", "---", *["---:"] * 4, "---", "---", "---:"])]
    for each in found:
        if each.native is None or each.simulated is None:
            lines.append(table_row([each.change.name, each.change.figure, *[""] * 6, each.skipped]))
            continue
        cells = [each.change.name, each.change.figure]
        for one in (each.native, each.simulated):
            cells += [percent(one.mean), f"{percent(one.low)} to {percent(one.high)}"]
        holds = "yes" if each.simulated.holds(each.native.mean) else "no"
        lines.append(table_row([*cells, each.sign, holds, f"{each.others:.0%}"]))
    return "\n".join(lines) + "\n"


def summary(found: Sequence[Compared]) -> str:
    """Return the shares of right signs, of effects held, and of effects nearly so."""
    made = [each for each in found if each.native and each.simulated]
    signs = [each for each in made if each.native and each.native.sign]
    plain = [each for each in signs if each.change.arithmetic]
    held = [e for e in made if e.native and e.simulated and e.simulated.holds(e.native.mean)]
    overlap = [each for each in made if _overlap(each)]
    near = [each for each in made if _near(each)]
    lines = [
        f"{len(made)} of {len(found)} changes were made.",
        f"Signs right: {_right(signs)} of {len(signs)} whose effect here is {NONE:.0%} or more with"
        f" evidence; a sign is simulated where the effect is {NOTICED:.0%} or more.",
        f"Of these {len(plain)} are arithmetic, shares of bound computations by number, weight and"
        f" quota: {_right(plain)} right. They say little about a change of the scheduler; of the"
        f" other {len(signs) - len(plain)}, {_right(signs) - _right(plain)} are right.",
        f"Simulated intervals that hold the host's effect: {len(held)} of {len(made)};"
        f" intervals that overlap: {len(overlap)};"
        f" ratios within 10 % of the host's: {len(near)}.",
    ]
    return "\n".join(lines) + "\n"


def _right(found: Sequence[Compared]) -> int:
    return sum(each.sign == "right" for each in found)


def _overlap(each: Compared) -> bool:
    here, there = each.native, each.simulated
    assert here and there
    return here.low <= there.high and there.low <= here.high


def _near(each: Compared) -> bool:
    assert each.native and each.simulated
    return abs(log((1 + each.simulated.mean) / (1 + each.native.mean))) <= log(1.1)


# ------------------------------------------------------------------ the changes

_DHRY: Options = {"test": "dhry2reg", "copies": 1, "duration": "300ms"}
_HOG = Settings()
_SHARED = Group()


def _dhry(settings: Settings = _HOG, *hogs: Settings) -> Setup:
    return Setup("unixbench", _DHRY, settings, hogs)


def _computing() -> Iterator[Change]:
    """One computation on CPU 0, and what it gets beside others."""

    def change(name: str, base: Setup, other: Setup) -> Change:
        return Change(f"compute: {name}", "lps", base, other)

    beside = _dhry(_HOG, _HOG)
    for count in (1, 2, 3):
        yield change(f"alone / beside {count}", _dhry(), _dhry(_HOG, *[_HOG] * count))
    for nice in (-10, -5, 1, 5, 10, 19):
        yield change(f"beside one, nice {nice}", beside, _dhry(Settings(nice=nice), _HOG))
    for nice in (5, 19):
        yield change(f"beside one of nice {nice}", beside, _dhry(_HOG, Settings(nice=nice)))
    for policy in ("batch", "idle", "fifo"):
        yield change(
            f"beside one, SCHED_{policy.upper()}", beside, _dhry(Settings(policy=policy), _HOG)
        )
    yield change("beside one of SCHED_IDLE", beside, _dhry(_HOG, Settings(policy="idle")))
    yield change("beside one on the other CPU", beside, _dhry(_HOG, Settings(cpus="1")))
    grouped = _dhry(Settings(group=_SHARED), Settings(group=_SHARED))
    for weight in (25, 50, 200, 1000):
        own = Settings(group=Group(weight=weight))
        yield change(f"groups, weight {weight}", grouped, _dhry(own, Settings(group=_SHARED)))
    yield change(
        "groups, beside one / three in a group",
        grouped,
        _dhry(Settings(group=_SHARED), *[Settings(group=_SHARED)] * 3),
    )
    free = _dhry(Settings(group=_SHARED))
    for quota, period in ((50_000, 100_000), (20_000, 100_000), (5_000, 10_000)):
        own = Settings(group=Group(quota_us=quota, period_us=period))
        yield change(f"cpu.max {quota} {period}", free, _dhry(own))


def _sleeping() -> Iterator[Change]:
    """A task that sleeps and wakes on CPU 0, and when it runs beside computations."""
    options: Options = {"processes": 1, "sleep": "1ms", "time": "300ms"}

    def setup(settings: Settings = _HOG, *hogs: Settings) -> Setup:
        return Setup("nanosleep", options, settings, hogs)

    for count in (1, 2):
        yield Change(
            f"sleep 1 ms: alone / beside {count}",
            "loops per second",
            setup(),
            setup(_HOG, *[_HOG] * count),
        )
    for name, own in (
        ("nice 10", Settings(nice=10)),
        ("nice -10", Settings(nice=-10)),
        ("SCHED_BATCH", Settings(policy="batch")),
        ("SCHED_IDLE", Settings(policy="idle")),
        ("SCHED_FIFO", Settings(policy="fifo")),
    ):
        yield Change(
            f"sleep 1 ms beside one: {name}",
            "loops per second",
            setup(_HOG, _HOG),
            setup(own, _HOG),
        )
    yield Change(
        "sleep 1 ms: one / four processes",
        "loops per second",
        setup(),
        Setup("nanosleep", {**options, "processes": 4}),
    )


def _talking() -> Iterator[Change]:
    """Tasks that wake each other on CPU 0: how many, over what, and beside what."""

    def sizes(workload: str, figure: str, base: Options, **more: object) -> Iterator[Change]:
        for key, value in more.items():
            now = "yes" if value is True else value
            yield Change(
                f"{workload}: {key} {base.get(key, 'no')} / {now}",
                figure,
                Setup(workload, base),
                Setup(workload, {**base, key: value}),
            )

    hack: Options = {"groups": 1, "fds": 5, "loops": 200, "datasize": 100}
    yield from sizes(
        "hackbench", "time", hack,
        groups=2, fds=10, loops=400, datasize=1000, pipe=True, threads=True,
    )  # fmt: skip
    yield from sizes("hackbench", "time", {**hack, "groups": 2}, groups=4)
    pipe: Options = {"loop": 5000}
    yield from sizes("sched-pipe", "ops/sec", pipe, threaded=True)
    yield Change(
        "sched-pipe: alone / beside 1",
        "ops/sec",
        Setup("sched-pipe", pipe),
        Setup("sched-pipe", pipe, _HOG, (_HOG,)),
    )
    yield Change(
        "sched-pipe: SCHED_BATCH",
        "ops/sec",
        Setup("sched-pipe", pipe),
        Setup("sched-pipe", pipe, Settings(policy="batch")),
    )
    net: Options = {"clients": 1, "length": "200ms"}
    yield from sizes("netperf", "transactions per client", net, clients=2, test="UDP_RR")
    yield from sizes("netperf", "transactions per client", {**net, "clients": 2}, clients=8)
    talk: Options = {"nprocs": 1, "timelimit": "200ms", "warmup": "10ms"}
    yield from sizes("tbench", "Throughput", talk, nprocs=2)
    yield from sizes("tbench", "Throughput", {**talk, "nprocs": 2}, nprocs=8)
    yield from sizes("futex-wake", "time", {"threads": 8, "repeat": 3}, threads=32, nwakes=8)


def _others() -> Iterator[Change]:
    """More tasks or CPUs for computing, locking and starting programs."""

    def pair(
        name: str, figure: str, workload: str, base: Options, other: Options, on: str = "0"
    ) -> Change:
        return Change(
            name, figure, Setup(workload, base), Setup(workload, other, Settings(cpus=on))
        )

    cpu: Options = {"threads": 2, "time": "300ms"}
    locks: Options = {"threads": 2, "time": "300ms"}
    yield pair("sysbench cpu: 2 / 8 threads", "events per second", "sysbench-cpu", cpu,
               {**cpu, "threads": 8})  # fmt: skip
    yield pair("sysbench cpu: CPU 0 / CPUs 0-1", "events per second", "sysbench-cpu", cpu, cpu,
               on="0-1")  # fmt: skip
    yield pair("sysbench threads: 2 / 8 threads", "events per second", "sysbench-threads", locks,
               {**locks, "threads": 8})  # fmt: skip
    mutex: Options = {"threads": 4, "mutex-num": 1, "mutex-locks": 1000, "time": 0}
    yield pair("sysbench mutex: 1 / 64 mutexes", "total time", "sysbench-mutex", mutex,
               {**mutex, "mutex-num": 64})  # fmt: skip
    for test in ("spawn", "execl", "syscall", "pipe"):
        one: Options = {"test": test, "copies": 1, "duration": "300ms"}
        yield pair(f"unixbench {test}: 1 / 2 copies", "lps", "unixbench", one,
                   {**one, "copies": 2})  # fmt: skip
    wide = Settings(cpus="0-1")
    two: Options = {**_DHRY, "copies": 2}
    yield Change("compute: 2 copies on CPU 0 / CPUs 0-1", "lps", Setup("unixbench", two),
                 Setup("unixbench", two, wide))  # fmt: skip
    yield Change("compute: 4 copies on CPU 0 / CPUs 0-1", "lps",
                 Setup("unixbench", {**_DHRY, "copies": 4}),
                 Setup("unixbench", {**_DHRY, "copies": 4}, wide))  # fmt: skip


CHANGES: tuple[Change, ...] = (*_computing(), *_sleeping(), *_talking(), *_others())
