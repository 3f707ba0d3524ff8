"""Several results told as one: the machines they are of, and what holds for all of them."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import shorten

from schedlab.base.printable import printable
from schedlab.judging.analysis import Outcome
from schedlab.judging.stats import Word
from schedlab.plan.targets import kind_of, split
from schedlab.report.content import Report, describe_variant, screening
from schedlab.report.wording import listing, plural
from schedlab.settings.kinds.kernel import Kernel
from schedlab.targets.platform import PATCHES

_PATCH = re.compile(
    r"(?P<subject>.+?) \((?P<hash>(?:sha256 )?[0-9a-f]{12})\), (?P<stat>[^;]*)(?:; |$)"
)
_TOLD: tuple[Word, ...] = ("better", "worse", "equivalent", "can't tell", "no effect")


@dataclass(frozen=True)
class Place:
    """A result, under a name that tells its machine from the others'."""

    name: str
    report: Report


@dataclass(frozen=True)
class Table:
    """One metric of one benchmark in one variant: a row for each machine and case."""

    title: str
    variant: str
    rows: tuple[tuple[str, Report, Outcome], ...]


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
    return [Place(name, report) for name, report in zip(names, reports, strict=True)]


def _machine(report: Report) -> str:
    machine = report.store.machine
    if kind_of(report.plan.target).simulated:
        return machine.name
    return machine.processor or machine.title or kind_of(report.plan.target).name


def about(place: Place, width: int) -> str:
    """Return what a machine is, in a line of so many columns: `Four CPUs, 4 CPUs, 2 nodes`."""
    machine, rows = place.report.store.machine, place.report.store.environment
    title = machine.title or machine.processor
    sizes = [
        plural(int(rows[row]), word)
        for row, word in (("CPUs", "CPU"), ("NUMA nodes", "node"))
        if rows.get(row, "").isdecimal()
    ]
    room = width - sum(len(size) + 2 for size in sizes)
    known = (
        [shorten(printable(title), room, placeholder=" ...")]
        if title and title != place.name and room > 5
        else []
    )
    return ", ".join([*known, *sizes]) or "nothing is known of it"


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
                name = place.name if several else outcome.case.label
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
        of = plural(sum(len(report.analysis.outcomes) for report in reports), "result")
        lines.append(screening(hints, of, reports[0].unit))
    return list(dict.fromkeys(lines))


def tally(reports: Sequence[Report], variant: str) -> str:
    """Count the verdicts of a variant in all results."""
    found = Counter(
        outcome.verdict.word for report in reports for outcome in report.outcomes_in(variant)
    )
    return ", ".join(f"{found[w]} {w}" for w in _TOLD if w != "no effect" or found[w])


def variants(reports: Sequence[Report]) -> dict[str, str]:
    """Return what each variant sets, by its name; what differs from result to result is listed."""
    found: dict[str, dict[str, None]] = {}
    for report in reports:
        for variant in report.plan.variant:
            found.setdefault(variant.name, {})[describe_variant(variant, report.plan)] = None
    return {name: " / ".join(texts) for name, texts in found.items()}


def patches(reports: Sequence[Report]) -> dict[str, list[str]]:
    """Return the patches of each variant's kernel: `Patch "subject" (hash), diffstat`."""
    found: dict[str, dict[str, None]] = {}
    for report in reports:
        for variant in report.plan.variant:
            value = report.store.environment.get(f"{PATCHES} {Kernel.of(variant)}", "")
            for patch in _PATCH.finditer(value):
                text = f'Patch "{patch["subject"]}" ({patch["hash"]}), {patch["stat"]}'
                found.setdefault(variant.name, {})[text] = None
    return {name: list(texts) for name, texts in found.items()}
