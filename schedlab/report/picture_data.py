"""What pictures of a block show, and the sentences that say what to see in them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from schedlab.base.words import listing, plural
from schedlab.report.wording import brief_duration, share
from schedlab.result.pictures import CpuPicture, Picture, Row, Waits

OTHERS = 3
"""The group of the tasks that have no colour of their own; those with one come before."""
_KERNEL = ("kernel", "others")


@dataclass(frozen=True)
class Lane:
    """A CPU, or a core's CPUs together, bin by bin."""

    node: int
    llc: int
    core: int
    busy: Sequence[float]
    """Part of the time that was not idle or off-line."""
    shown: Sequence[int]
    """The group that had most of it."""
    waiting: Sequence[float]
    """Tasks, in the mean."""
    offline: Sequence[float]


class Film:
    """A picture with the CPUs in order: those that share a core, an LLC, a node are together."""

    def __init__(self, picture: Picture, names: Sequence[str], scale: int) -> None:
        """Merge `scale` bins into one; `names` are those of tasks that have a colour."""
        self.names = list(names)
        self.bin_ns = picture.bin_ns * scale
        self.bins = -(-picture.bins // scale)
        order = sorted(picture.cpus, key=lambda cpu: (cpu.node, cpu.llc, cpu.core, cpu.cpu))
        self.cpus = [_merged(cpu, scale) for cpu in order]

    @property
    def length(self) -> int:
        """How long it is in ns."""
        return self.bins * self.bin_ns

    @property
    def has_offline(self) -> bool:
        """Whether a CPU was off-line at any time."""
        return any(cpu.offline for cpu in self.cpus)

    def lanes(self, most: int) -> list[Lane]:
        """Return the CPUs; the cores if there are more CPUs than `most`."""
        if len(self.cpus) <= most:
            return [self._lane([cpu]) for cpu in self.cpus]
        cores: dict[tuple[int, int, int], list[CpuPicture]] = {}
        for cpu in self.cpus:
            cores.setdefault((cpu.node, cpu.llc, cpu.core), []).append(cpu)
        return [self._lane(core) for core in cores.values()]

    def _lane(self, cpus: Sequence[CpuPicture]) -> Lane:
        groups = [[0] * self.bins for _ in range(OTHERS + 1)]
        for cpu in cpus:
            for name, row in cpu.busy.items():
                group = groups[self.names.index(name) if name in self.names else OTHERS]
                for at, ns in enumerate(row):
                    group[at] += ns
        whole = self.bin_ns * len(cpus)
        columns = list(zip(*groups, strict=True))
        first = cpus[0]
        return Lane(
            first.node,
            first.llc,
            first.core,
            busy=[sum(column) / whole for column in columns],
            shown=[column.index(max(column)) for column in columns],
            waiting=[ns / self.bin_ns for ns in _total([cpu.waiting for cpu in cpus], self.bins)],
            offline=[ns / whole for ns in _total([cpu.offline for cpu in cpus], self.bins)],
        )

    @cached_property
    def busy(self) -> float:
        """Part of all CPUs' time that was busy."""
        return _busy(self.cpus)

    @cached_property
    def missed(self) -> float:
        """Part of all CPUs' time that was idle while as many tasks waited, in the same bin."""
        idle = _total([cpu.idle for cpu in self.cpus], self.bins)
        waiting = _total([cpu.waiting for cpu in self.cpus], self.bins)
        return sum(map(min, idle, waiting)) / (self.length * len(self.cpus))

    @cached_property
    def llcs(self) -> list[float]:
        """How busy each LLC's CPUs were, rising."""
        members: dict[int, list[CpuPicture]] = {}
        for cpu in self.cpus:
            members.setdefault(cpu.llc, []).append(cpu)
        return sorted(map(_busy, members.values()))


def films(pictures: Mapping[str, Picture]) -> dict[str, Film]:
    """Return the pictures of a block, by variant, in bins of one length and with one legend."""
    spent: Counter[str] = Counter()
    for picture in pictures.values():
        for cpu in picture.cpus:
            for name, row in cpu.busy.items():
                spent[name] += sum(row)
    names = [name for name, _ in spent.most_common() if name not in _KERNEL][:OTHERS]
    widest = max(picture.bin_ns for picture in pictures.values())
    return {
        variant: Film(picture, names, max(1, widest // picture.bin_ns))
        for variant, picture in pictures.items()
    }


def _merged(cpu: CpuPicture, scale: int) -> CpuPicture:
    def merged(row: Row) -> Row:
        return tuple(sum(row[at : at + scale]) for at in range(0, len(row), scale))

    if scale == 1:
        return cpu
    rows = {key: merged(getattr(cpu, key)) for key in ("waiting", "idle", "offline")}
    busy = {name: merged(row) for name, row in cpu.busy.items()}
    return cpu.model_copy(update={**rows, "busy": busy})


def _total(rows: Sequence[Row], bins: int) -> list[int]:
    filled = [row for row in rows if row]
    return [sum(column) for column in zip(*filled, strict=True)] if filled else [0] * bins


def _busy(cpus: Sequence[CpuPicture]) -> float:
    busy = sum(sum(row) for cpu in cpus for row in cpu.busy.values())
    whole = busy + sum(sum(cpu.idle) + sum(cpu.offline) for cpu in cpus)
    return busy / whole if whole else 0.0


def said_of_films(shown: Mapping[str, Film]) -> str:
    """Return what to see in heat maps of one scale."""
    parts = [
        _each("CPUs were busy", shown, lambda film: share(film.busy)),
        _each(
            "CPUs were idle, while elsewhere tasks waited,",
            shown,
            lambda film: share(film.missed),
            " of their time",
        ),
    ]
    if any(len(film.llcs) > 1 for film in shown.values()):
        parts.append(
            _each(
                "LLCs were busy from",
                shown,
                lambda film: f"{share(film.llcs[0])} to {share(film.llcs[-1])}",
            )
        )
    parts.append(
        _each("The measured part took", shown, lambda film: brief_duration(film.length / 1e9))
    )
    return " ".join(parts)


def _each(about: str, shown: Mapping[str, object], figure: object, unit: str = "") -> str:
    assert callable(figure)
    words = [f"{figure(each)}{unit} in {variant}" for variant, each in shown.items()]
    return f"{about} {listing(words)}."


@dataclass(frozen=True)
class Moves:
    """How many tasks moved from an LLC to one."""

    llcs: int
    counts: Mapping[tuple[int, int], int]
    node_of: Mapping[int, int]

    @classmethod
    def of_picture(cls, picture: Picture) -> "Moves":
        """Return those of a picture, with the LLCs in the order of their nodes."""
        node_of = {cpu.llc: cpu.node for cpu in picture.cpus}
        counts = {(a, b): n for a, b, n in picture.migrations if a in node_of and b in node_of}
        return cls(max(node_of) + 1, counts, node_of)

    def of(self, a: int, b: int) -> int:
        """Return the tasks that moved from a to b."""
        return self.counts.get((a, b), 0)

    @property
    def total(self) -> int:
        """All that moved from CPU to CPU."""
        return sum(self.counts.values())

    @property
    def leaving(self) -> float:
        """The part that left its LLC."""
        return sum(n for (a, b), n in self.counts.items() if a != b) / max(self.total, 1)

    @property
    def far(self) -> float:
        """The part that left its node."""
        far = (n for (a, b), n in self.counts.items() if self.node_of[a] != self.node_of[b])
        return sum(far) / max(self.total, 1)


def said_of_moves(shown: Mapping[str, Moves]) -> str:
    """Return what to see in matrices of migrations."""
    parts = []
    for variant, moves in shown.items():
        text = f"{variant}: {plural(moves.total, 'migration')}"
        if moves.total:
            text += f", {share(moves.leaving)} to another LLC"
            if len(set(moves.node_of.values())) > 1:
                text += f", {share(moves.far)} to another node"
            apart = {pair: n for pair, n in moves.counts.items() if pair[0] != pair[1]}
            if apart:
                (a, b), n = max(apart.items(), key=lambda item: item[1])
                text += f"; most between LLCs from {a} to {b}: {n:,}"
        parts.append(f"{text}.")
    return " ".join(parts)


def longer_than(waits: Waits) -> list[tuple[float, float]]:
    """Return for each latency in us the part of wakeups that waited at least so long."""
    left, points = waits.count, []
    for start, number in waits.buckets:
        points.append((max(start, 1) / 1e3, left / waits.count))
        left -= number
    return points


def percentile(waits: Waits, percent: float) -> float:
    """Return the seconds below which so many wakeups waited, by the start of a bucket."""
    wanted, seen = waits.count * percent / 100, 0
    for start, number in waits.buckets:
        seen += number
        if seen >= wanted:
            return start / 1e9
    return 0.0


def said_of_waits(shown: Mapping[str, Waits]) -> str:
    """Return what to see in curves of wakeup latency."""
    words = [
        f"{variant}: {plural(waits.count, 'wakeup')}, half of them ran within about"
        f" {brief_duration(percentile(waits, 50))}, one in a hundred waited longer than"
        f" {brief_duration(percentile(waits, 99))}, the longest"
        f" {brief_duration(waits.max_ns / 1e9 or percentile(waits, 100))}."
        for variant, waits in shown.items()
    ]
    return " ".join(words)
