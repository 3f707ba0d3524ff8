"""Several results as one: the machines they are of, and what holds for all of them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from schedlab.base.printable import printable
from schedlab.base.words import listing, plural
from schedlab.judging.analysis import Outcome
from schedlab.plan.targets import kind_of, split
from schedlab.report import wording
from schedlab.report.content import Report, describe_variant, screening
from schedlab.result.store import PATCHES
from schedlab.settings.kinds.kernel import Kernel

_LONG = 12
"""Columns of a name that leave room for figures."""


@dataclass(frozen=True)
class Place:
    """A result, under a name that tells its machine from the others'."""

    name: str
    report: Report
    short: str = ""
    """The beginning of its name, where that tells it from the others and the name is long."""

    @property
    def label(self) -> str:
        """The name in a row of figures."""
        return self.short or self.name


@dataclass(frozen=True)
class Table:
    """One metric of one benchmark in one variant: a row for each machine and case."""

    title: str
    variant: str
    rows: tuple[tuple[str, Report, Outcome], ...]
    """A row's name is the machine's, of one machine the case's behind its benchmark, or empty."""


def places(reports: Sequence[Report]) -> list[Place]:
    """Name each result by its machine, where that is not enough by its kernel or folder too.

    A host is named by its processor: its own name is nobody's business.
    """
    ways: tuple[Callable[[Report], str], ...] = (
        _machine,
        lambda report: f"{_machine(report)} {report.kernel}",
        lambda report: report.store.folder.name,
        lambda report: str(report.store.folder),
    )
    for way in ways:
        names = [printable(way(report)) for report in reports]
        if len(set(names)) == len(names):
            break
    shorts = _beginnings(names)
    return [Place(*each) for each in zip(names, reports, shorts, strict=True)]


def _beginnings(names: Sequence[str]) -> list[str]:
    """Return the first parts of names such as `epyc-7713-2p`, as many as tell all apart.

    Empty where nothing is gained: none is long, or a name begins alike up to its last part.
    """
    if len(names) < 2 or max(map(len, names)) <= _LONG:
        return [""] * len(names)
    parts = [name.split("-") for name in names]
    for number in range(1, max(map(len, parts))):
        shorts = ["-".join(each[:number]) for each in parts]
        if len(set(shorts)) == len(shorts):
            return [
                "" if short == name else short for short, name in zip(shorts, names, strict=True)
            ]
    return [""] * len(names)


def _machine(report: Report) -> str:
    machine = report.store.machine
    if kind_of(report.plan.target).simulated:
        return machine.name
    return machine.processor or machine.title or kind_of(report.plan.target).name


def about(place: Place, width: int) -> str:
    """Return what a machine is, in so many columns if it can be: `A test machine, 4 CPUs`."""
    machine, rows = place.report.store.machine, place.report.store.environment
    title = machine.title or machine.processor
    sizes = [
        plural(int(rows[row]), word)
        for row, word in (("CPUs", "CPU"), ("NUMA nodes", "node"))
        if rows.get(row, "").isdecimal()
    ]
    room = max(width - sum(len(size) + 2 for size in sizes), 0)
    known = [_fitting(printable(title), room)] if title and title != place.name else []
    return ", ".join(filter(None, [*known, *sizes])) or "nothing is known of it"


def _fitting(title: str, room: int) -> str:
    """Return a title, or as many clauses of it as there is room for; the first at least.

    What follows a colon is a list, which would be false if it were cut.
    """
    if len(title) <= room:
        return title
    clauses = title.partition(": ")[0].split(", ")
    for number in range(len(clauses), 1, -1):
        text = ", ".join(clauses[:number])
        if len(text) <= room:
            return text
    return clauses[0]


def tables(found: Sequence[Place]) -> Iterator[tuple[str, list[Table]]]:
    """Yield each benchmark with its tables; those of several machines have a benchmark a case."""
    several = len(found) > 1
    rows: dict[str, dict[tuple[str, str], list[tuple[str, Report, Outcome]]]] = {}
    for place in found:
        for case in place.report.cases:
            heading = case.info.label if several else case.info.benchmark
            for outcome in case.outcomes:
                of = rows.setdefault(heading, {})
                title = outcome.metric.name
                name = place.label if several else wording.row_name(case.info.label, heading)
                of.setdefault((title, outcome.variant), []).append((name, place.report, outcome))
    for heading, of in rows.items():
        yield heading, [Table(title, variant, tuple(r)) for (title, variant), r in of.items()]


def title(reports: Sequence[Report]) -> str:
    """Return the question that all results ask."""
    asked = dict.fromkeys(report.title for report in reports)
    return "; ".join(asked)


def banners(reports: Sequence[Report]) -> list[str]:
    """Return what a reader must know before any figure, what holds for several said once."""
    if len(reports) == 1:
        return reports[0].banners
    by_kind = [banner for report in reports for banner in report.banners_by_kind()]
    lines = [text for kind, text in by_kind if kind == "result"]
    simulated = [split(report.plan.target) for report in reports if report.plan.simulated]
    if simulated:
        names = dict.fromkeys(which for _, which in simulated)
        lines.append(simulated[0][0].banner.format(which=listing([*names])))
    for report in reports:
        if not report.plan.simulated:
            lines += [text for kind, text in report.banners_by_kind() if kind == "target"]
    total = sum(len(report.cases) for report in reports)
    if brief := sum(len(report.brief_cases) for report in reports):
        lines.append(f"{brief} of {total} benchmarks ran briefly: how a load starts decides there.")
    if hints := sum(report.hints for report in reports):
        of = sum(len(report.analysis.outcomes) for report in reports)
        lines.append(screening(hints, of, reports[0].unit))
    return list(dict.fromkeys(lines))


def tally(reports: Sequence[Report], variant: str) -> str:
    """Count the verdicts of a variant in all results."""
    return wording.tally(each for report in reports for each in report.outcomes_in(variant))


def variants(reports: Sequence[Report]) -> dict[str, str]:
    """Return what each variant sets, by its name; what differs from result to result is listed."""
    found: dict[str, dict[str, None]] = {}
    for report in reports:
        for variant in report.plan.variant:
            found.setdefault(variant.name, {})[describe_variant(variant, report.plan)] = None
    return {name: " / ".join(texts) for name, texts in found.items()}


def kernels(reports: Sequence[Report], name: str) -> str:
    """Return the kernels that a variant has in the results."""
    variants = [(report, each) for report in reports for each in report.plan.variant]
    found = [report.kernel_of(each) for report, each in variants if each.name == name]
    return listing(list(dict.fromkeys(found)))


def patches(reports: Sequence[Report]) -> list[tuple[str, str]]:
    """Return the patches of each kernel, as the platform table has them, and its variants."""
    found: dict[str, dict[str, None]] = {}
    for report in reports:
        for variant in report.plan.variant:
            if text := report.store.environment.get(f"{PATCHES} {Kernel.of(variant)}"):
                found.setdefault(text, {})[variant.name] = None
    return [(listing(list(names)), text) for text, names in found.items()]
