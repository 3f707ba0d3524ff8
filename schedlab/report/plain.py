"""What a report in a mail has besides its tables: who, on what, how; all in 72 columns."""

from collections.abc import Iterable, Sequence

from schedlab.base.printable import printable
from schedlab.report.content import Report, describe_variant
from schedlab.report.wording import columns, fitted, is_evidence, wrapped

WIDTH = 72
_FAILURES_SHOWN = 10


class Page:
    """Lines of plain text."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __str__(self) -> str:
        """Return the text, without empty lines at its ends or doubled in it."""
        text = "\n".join(self.lines).strip("\n") + "\n"
        while "\n\n\n" in text:
            text = text.replace("\n\n\n", "\n\n")
        return text

    def say(self, text: str, first: str = "", rest: str | None = None) -> None:
        """Add a text, wrapped."""
        self.lines += wrapped(text, WIDTH, first, rest)

    def gap(self) -> None:
        """Add an empty line."""
        self.lines.append("")

    def item(self, text: str) -> None:
        """Add an item of a list."""
        self.say(text, "- ", "  ")

    def items(self, texts: Iterable[str]) -> None:
        """Add a list."""
        for text in texts:
            self.item(text)

    def heading(self, text: str) -> None:
        """Begin a part, as kernel mails do: `o Kernel Versions`."""
        self.gap()
        self.say(text, "o ", "  ")
        self.gap()

    def box(self, text: str) -> None:
        """Begin a benchmark, as kernel mails do."""
        name = fitted(printable(text), WIDTH - 4)
        rule = "~" * (columns(name) + 4)
        self.gap()
        self.lines += [rule, f"~ {name} ~", rule, ""]

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Add names and values in two columns."""
        names = [fitted(printable(name), 24) for name, _ in pairs]
        widest = max(map(columns, names), default=0)
        for name, (_, value) in zip(names, pairs, strict=True):
            label = f"{name}:{' ' * (widest - columns(name))} "
            self.say(value, label, " " * columns(label))


def open_mail(page: Page, report: Report) -> None:
    """Add what stands before the tables: the outcome in short, the system and the kernels."""
    page.say(report.title)
    page.gap()
    for banner in report.banners:
        page.say(banner, "*** ", "*** ")
        page.gap()
    page.say("tl;dr")
    page.gap()
    page.items(f"{name} against {report.baseline}: {report.tally(name)}" for name in report.others)
    for name in report.others:
        _named(page, report, name)
    page.heading("System Details")
    page.pairs(list(report.store.environment.items()))
    page.heading("Kernel Versions")
    for variant in report.plan.variant:
        kernel, sets = report.kernel_of(variant), describe_variant(variant, report.plan)
        page.item(f"{variant.name} - {kernel}, {sets}")


def close_mail(page: Page, report: Report) -> None:
    """Add what stands behind the tables: what failed, what to know, how it was measured."""
    for name in report.others:
        if trends := report.trends(name):
            page.heading(f"Trends of {name} along sweeps; a change that rises gets better")
            page.items(trends)
        checks = report.manipulation_checks(name)
        if checks:
            page.heading(f"Manipulation checks of {name}: the setting took; these are not results")
            page.items(checks)
    if report.failed:
        page.heading(f"Failed runs ({len(report.failed)})")
        shown = report.failed[:_FAILURES_SHOWN]
        page.items(
            f"{run.key.case}, {run.key.variant}, block {run.key.block}: {run.error}"
            for run in shown
        )
        if len(report.failed) > len(shown):
            page.item(f"and {len(report.failed) - len(shown):,} more")
    if notices := report.notices_and_disturbance():
        page.heading("Notices")
        page.items(notices)
    page.heading("How it was measured")
    page.items([f"{report.run_count()}.", *report.method()])
    page.gap()
    version, seed = report.store.version, report.plan.blocks.seed
    page.say(
        f"Made with schedlab {version} on kernel {report.kernel}, target {report.plan.target},"
        f" seed {seed}:"
    )
    page.say(report.store.invocation, "  ", "      ")


def _named(page: Page, report: Report, variant: str) -> None:
    for word in ("better", "worse"):
        outcomes = report.outcomes_in(variant)
        found = [o for o in outcomes if o.verdict.word == word and is_evidence(o.verdict)]
        if found:
            names = ", ".join(report.name_of(outcome) for outcome in found)
            page.item(f"{word} with {variant}: {names}")
