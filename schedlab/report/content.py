"""What every report says, whatever its shape: the runs and verdicts of a result, and its method."""

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Literal

from schedlab.base.words import listing, plural
from schedlab.benchmarks.replay import KINDS, describe_fidelity
from schedlab.counters.cpuidle import idle_counter
from schedlab.counters.meaning import CLIENT_OTHERS
from schedlab.counters.times import is_time
from schedlab.judging.analysis import Analysis, CounterOutcome, Outcome, timed_runs
from schedlab.judging.verdict import JUDGED_FROM, SCREENING_BELOW, Verdict
from schedlab.judging.wakeups import judge_wakeups
from schedlab.judging.why import TimeSpent, explain
from schedlab.plan.plan import Plan
from schedlab.plan.targets import IMPORTED, kind_of, split
from schedlab.report.wording import (
    duration,
    is_evidence,
    is_tracepoint,
    outlook,
    points,
    remark,
    share,
    tally,
    trend_line,
)
from schedlab.result.boots import BOOT, boot_of
from schedlab.result.record import RunRecord
from schedlab.result.store import PATCHES, CaseInfo, Store
from schedlab.settings.grammar import settings_written
from schedlab.settings.kinds.boot import Boot, fits
from schedlab.settings.kinds.kernel import Kernel
from schedlab.settings.variant import Variant

BannerKind = Literal["target", "brief", "screening", "result"]

DISTURBED = 0.05
"""A run is called disturbed when others took more than this part of all CPUs."""

_WORTH_SHARING = 8
"""As many results of which there is the same to say are not listed one by one."""
_NAMED = 4
"""Counters of a manipulation check that are named."""
_UNTOUCHED = "no settings: the machine as it is"
_UNKNOWN = "its settings are not known"


@dataclass(frozen=True)
class CaseReport:
    """A benchmark with its runs, in run order, and all that was judged of it."""

    info: CaseInfo
    all_runs: list[RunRecord]
    outcomes: list[Outcome]
    counters: list[CounterOutcome]

    @cached_property
    def runs(self) -> list[RunRecord]:
        """The runs that were not to warm up."""
        return [run for run in self.all_runs if not run.key.warmup]

    @property
    def has_failures(self) -> bool:
        """Return whether a run failed, a warm-up run included."""
        return any(run.status == "failed" for run in self.all_runs)

    @cached_property
    def has_repetitions(self) -> bool:
        """Whether any variant was run more than once, so that there is a course to draw."""
        runs = Counter(run.key.variant for run in self.all_runs)
        return any(times > 1 for times in runs.values())

    @cached_property
    def counter_names(self) -> list[str]:
        """Every counter of any good run, in the order they were first seen."""
        return list(dict.fromkeys(name for run in self.runs for name in run.counters))

    @cached_property
    def lively_counters(self) -> list[str]:
        """The counters that were not zero in every good run, warm-up too; without tasks' times."""
        names = dict.fromkeys(name for run in self.all_runs for name in run.counters)
        return [name for name in names if name not in self.silent_counters and not is_time(name)]

    @cached_property
    def silent_counters(self) -> list[str]:
        """The counters that were zero in every good run, warm-up too."""
        good = [run.counters for run in self.all_runs if run.status == "ok"]
        names = good[0] if good else {}
        return [name for name in names if all(counters.get(name) == 0 for counters in good)]

    @property
    def tracepoints(self) -> list[str]:
        """The counters that are kernel events."""
        return [name for name in self.counter_names if is_tracepoint(name)]

    @property
    def idle_states(self) -> list[str]:
        """The idle states that were counted, in the kernel's order."""
        found = (idle_counter(name) for name in self.counter_names)
        return list(dict.fromkeys(state for state, _ in filter(None, found)))

    def outcomes_in(self, variant: str) -> list[Outcome]:
        """Return the results of one variant."""
        return [outcome for outcome in self.outcomes if outcome.variant == variant]

    def counters_in(self, variant: str) -> list[CounterOutcome]:
        """Return the counters of one variant."""
        return [counter for counter in self.counters if counter.variant == variant]

    def moved_in(self, variant: str) -> list[CounterOutcome]:
        """Return the counters that changed in one variant, or show that the setting took."""
        mine = self.counters_in(variant)
        return [c for c in mine if has_changed(c) or c.verdict.manipulation_check]

    def changed_in(self, variant: str) -> list[CounterOutcome]:
        """Return the counters that went up or down in one variant."""
        return [counter for counter in self.counters_in(variant) if has_changed(counter)]


def has_changed(counter: CounterOutcome) -> bool:
    """Return whether there is evidence that a counter went up or down."""
    return is_evidence(counter.verdict) and counter.verdict.word != "equivalent"


@dataclass(frozen=True)
class Detail:
    """What a report has beyond its usual extent, where it is asked for."""

    counters: bool = False
    """All counters that changed, not only those that decided."""
    platform: bool = False
    """The whole platform in a mail: host names, the kernel's command line."""


class Report:
    """A result, read once, with the sentences that every shape uses."""

    def __init__(self, store: Store, analysis: Analysis, detail: Detail | None = None) -> None:
        """Read the runs of a store and sort them under their benchmarks."""
        self.detail = detail or Detail()
        self.store = store
        self.plan = store.plan
        self.design = store.design
        self.analysis = analysis
        self.records = store.records()
        self.notices = store.notices
        runs: defaultdict[str, list[RunRecord]] = defaultdict(list)
        outcomes: defaultdict[str, list[Outcome]] = defaultdict(list)
        counters: defaultdict[str, list[CounterOutcome]] = defaultdict(list)
        for record in self.records:
            runs[record.key.case].append(record)
        for outcome in analysis.outcomes:
            outcomes[outcome.case.label].append(outcome)
        for counter in analysis.counters:
            counters[counter.case.label].append(counter)
        self.cases = [
            CaseReport(case, runs[case.label], outcomes[case.label], counters[case.label])
            for case in store.cases
        ]

    @cached_property
    def times(self) -> list[TimeSpent]:
        """Where the tasks' time went, for each benchmark and variant in which it was counted."""
        return explain(self.plan, self.design, self.store.cases, timed_runs(self.store))

    @cached_property
    def wakeups(self) -> list[Outcome]:
        """What the percentiles of wakeup latency came out as, wherever they were counted."""
        return judge_wakeups(self.plan, self.design, self.store.cases, timed_runs(self.store))

    @property
    def baseline(self) -> str:
        """The name of the variant all others are compared with."""
        return self.plan.baseline.name

    @property
    def others(self) -> list[str]:
        """The names of the variants that are compared with the baseline."""
        return [variant.name for variant in self.plan.variant[1:]]

    @property
    def title(self) -> str:
        """What the plan is called, or the question it asks."""
        return self.plan.title.strip() or f"{listing(self.others)} against {self.baseline}"

    @property
    def hints(self) -> int:
        """How many results rest on too few blocks to be evidence."""
        verdicts = [outcome.verdict for outcome in self.analysis.outcomes]
        return sum(verdict.screening for verdict in verdicts if verdict.effect is not None)

    @property
    def brief_cases(self) -> list[str]:
        """Which benchmarks were measured for far less than a clock of the kernel."""
        ran = [(case, run) for case in self.cases for run in case.runs if run.status == "ok"]
        return list(dict.fromkeys(case.info.label for case, run in ran if run.brief))

    @property
    def _brief(self) -> list[str]:
        """Which benchmarks were measured for far less than a clock of the kernel, as one line."""
        found = [
            (case.info.label, run.brief)
            for case in self.cases
            for run in case.runs
            if run.status == "ok" and run.brief
        ]
        if not found:
            return []
        labels = dict.fromkeys(label for label, _ in found)
        which = f"{len(labels)} of {plural(len(self.cases), 'benchmark')}"
        return [f"Brief runs in {which}, such as {found[0][0]}: {found[0][1]}."]

    @property
    def banners(self) -> list[str]:
        """What a reader must know before any figure."""
        return [text for _, text in self.banners_by_kind()]

    def banners_by_kind(self) -> list[tuple[BannerKind, str]]:
        """Return the banners, each with what it is about."""
        lines: list[tuple[BannerKind, str]] = []
        if self.plan.aa:
            which = "both" if len(self.plan.variant) == 2 else "all"
            text = (
                f"A/A run: {which} variants are the same; any difference claimed here is a false"
                " alarm."
            )
            lines.append(("result", text))
        kind, which = split(self.plan.target)
        if kind.banner:
            text = kind.banner.format(which=which, environment=self.store.environment)
            lines.append(("target", text))
        if self.plan.cold:
            text = (
                "Every load was measured from its start on an idle machine"
                ' (load_warmup = "none"): a long run may show something else.'
            )
            lines.append(("result", text))
        if kind.simulated:
            lines += [("brief", text) for text in self._brief]
        lines += [("result", text) for text in self._replays()]
        if elsewhere := [v.name for v in self.plan.variant if not self._was_here(v)]:
            text = (
                f"This boot is none of {listing(elsewhere)}: merge its result with those of other"
                " boots (`schedlab merge`)."
            )
            lines.append(("result", text))
        if self.unit == "boot":
            text = (
                f"Merged from {plural(len({b.id for b in self.store.boots}), 'boot')}: every claim"
                " rests on boots, not on runs."
            )
            lines.append(("result", text))
        if not any(case.runs for case in self.cases):
            lines.append(("result", "No run has been measured yet."))
        if self.hints:
            of = len(self.analysis.outcomes)
            lines.append(("screening", screening(self.hints, of, self.unit)))
        return lines

    def _replays(self) -> Iterator[str]:
        """Yield, for each kind of recording that was replayed, how far such replays were off."""
        kinds: defaultdict[str, list[str]] = defaultdict(list)
        for case in self.cases:
            if case.info.replays:
                kinds[case.info.replays].append(case.info.label)
        for kind, labels in kinds.items():
            what = KINDS.get(kind, kind)
            yield f"Replays of recordings: {listing(labels)} ({what}). {describe_fidelity(kind)}"
        for case in self.cases:
            if case.info.replays and (lacks := case.info.recording.lacks()):
                yield f"The recording of {case.info.label}: {lacks}"

    @property
    def unit(self) -> str:
        """What a pair is called: `block` or `boot`."""
        return self.plan.judging.unit

    def boot(self, run: RunRecord) -> str:
        """Return the boot of a run where claims rest on boots; elsewhere nothing."""
        return boot_of(self.store.boots, run) if self.unit == "boot" else ""

    def _was_here(self, variant: Variant) -> bool:
        return self.unit == "boot" or fits(Boot.of(variant), self.store.environment)

    @property
    def kernel(self) -> str:
        """The kernel's release."""
        return self.store.environment.get("Kernel release", "unknown")

    def kernel_of(self, variant: Variant) -> str:
        """Return a variant's kernel: with how it is configured, where variants have several."""
        kernels = self.store.environment.get("Kernels", "").split("; ")
        named = f"{Kernel.of(variant)}: Linux "
        found = [each.removeprefix(named) for each in kernels if each.startswith(named)]
        if len(kernels) < 2 or not found:
            return self.kernel
        return f"{found[0].partition(', build ')[0]} (simulated)"

    @property
    def patches(self) -> list[str]:
        """What the kernels' patches are, a line a kernel."""
        rows = self.store.environment.items()
        return [f"{row}: {value}" for row, value in rows if row.startswith(f"{PATCHES} ")]

    @property
    def failed(self) -> list[RunRecord]:
        """The runs that failed, warm-up too."""
        return [record for record in self.records if record.status == "failed"]

    @property
    def disturbed(self) -> list[RunRecord]:
        """The runs during which others took CPU, the worst first."""
        hit = [record for record in self.records if (record.busy_during or 0) > DISTURBED]
        return sorted(hit, key=lambda record: -(record.busy_during or 0))

    @property
    def boot_headings(self) -> list[str]:
        """The heading of the column of boots in a table of runs, where there is one."""
        return [BOOT] if self.unit == "boot" else []

    def manipulation_checks(self, variant: str) -> list[str]:
        """Return which counters show that a setting took effect; alike ones in one sentence."""
        where: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for case in self.cases:
            for counter in case.counters:
                if counter.variant == variant and counter.verdict.manipulation_check:
                    runs = by_variant(case.runs, variant)
                    counted = any(run.counters.get(counter.counter) for run in runs)
                    silent = self.baseline if counted else variant
                    where[counter.counter, silent].append(case.info.label)
        alike: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        for (name, silent), labels in where.items():
            alike[silent, *labels].append(name)
        return [
            f"{_listed(names)}: zero in every run of {silent}, in {_some(labels, len(self.cases))}"
            for (silent, *labels), names in alike.items()
        ]

    def outcomes_in(self, variant: str) -> list[Outcome]:
        """Return all results of one variant."""
        return [outcome for case in self.cases for outcome in case.outcomes_in(variant)]

    def tally(self, variant: str) -> str:
        """Count a variant's verdicts: `2 better, 0 worse, 5 equivalent, 4 can't tell`."""
        return tally(self.outcomes_in(variant))

    def remarks(self, variant: str) -> list[str]:
        """List, for each result that is open or unusual, what would settle it and why."""
        outcomes = self.outcomes_in(variant)
        said, together = [], []
        for label, group in groupby(outcomes, lambda outcome: outcome.case.label):
            of = list(group)
            awaited = [o for o in of if (text := remark(o.verdict)) and text == outlook(o.verdict)]
            if len(awaited) > 1:
                together.append(f"{label}, {outlooks([o.verdict for o in awaited])}")
                of = [o for o in of if o not in awaited]
            alike: dict[str, list[Outcome]] = defaultdict(list)
            for outcome in of:
                alike[remark(outcome.verdict)].append(outcome)
            said += [(self._named(label, like), text, len(like)) for text, like in alike.items()]
        times_said: Counter[str] = Counter()
        for _, text, number in said:
            times_said[text] += number
        common, times = times_said.most_common(1)[0] if said else ("", 0)
        if times < _WORTH_SHARING or not common:
            common = ""
        lines = [f"{name}: {text}" for name, text, _ in said if text not in ("", common)]
        if common:
            of_all = len(outcomes)
            which = f"all {times}" if times == of_all else f"{times} other of {of_all}"
            lines.append(f"{which} results: {common}")
        return lines + together

    def trends(self, variant: str) -> list[str]:
        """List how the change goes along each sweep."""
        return [trend_line(t) for t in self.analysis.trends if t.variant == variant]

    def _named(self, label: str, outcomes: Sequence[Outcome]) -> str:
        """Return the name of results of one benchmark that have a line together."""
        if len(outcomes) == 1:
            return self.name_of(outcomes[0])
        return f"{label}, {listing([o.metric.name for o in outcomes])}"

    def name_of(self, outcome: Outcome) -> str:
        """Name a result: the benchmark, and the metric where it has several."""
        several = len(outcome.case.metrics) > 1
        return outcome.case.label + (f" {outcome.metric.name}" if several else "")

    def run_count(self) -> str:
        """Count the runs and say when they were."""
        records = self.records
        if not records:
            return "no runs"
        warmup = sum(record.key.warmup for record in records)
        text = f"{plural(len(records), 'run')} ({warmup:,} to warm up, {len(self.failed):,} failed)"
        spent = duration(sum(record.seconds for record in records))
        began = f" from {records[0].started}" if records[0].started else ""
        return f"{text}, {spent} of benchmarks{began}" if began else text

    def notices_and_disturbance(self) -> list[str]:
        """Return what a section of notices lists."""
        return [*self.notices, *filter(None, [self.disturbance()])]

    def disturbance(self) -> str:
        """Return how many runs were disturbed, and how it is known; empty of simulated runs."""
        if self.plan.simulated:
            return ""
        known = [r.busy_during for r in self.records if r.busy_during is not None]
        if not known:
            return "Other load during the runs was not recorded."
        said = (
            f"Other processes took more than {share(DISTURBED)} of all CPUs during"
            f" {len(self.disturbed):,} of {plural(len(known), 'run')}; at most {share(max(known))}."
        )
        counted = (record.counters.get(CLIENT_OTHERS) for record in self.records)
        if there := [taken for taken in counted if taken is not None]:
            hit = sum(taken > DISTURBED for taken in there)
            said += (
                f" Of the client's CPUs in {hit:,} of {plural(len(there), 'run')}; at most"
                f" {share(max(there))}."
            )
        return said

    def settings(self) -> list[tuple[str, dict[str, str]]]:
        """Return each knob with its value in each variant, as read back before the runs.

        Knobs that differ in nothing but their numbers, such as one of each CPU, share a line.
        """
        seen: dict[str, dict[str, dict[str, None]]] = {}
        for record in self.records:
            for knob, value in record.settings.items():
                seen.setdefault(knob, {}).setdefault(record.key.variant, {})[value] = None
        alike: dict[tuple[str, tuple[tuple[str, str], ...]], list[str]] = {}
        for knob, by_variant in seen.items():
            values = {variant: " / ".join(texts) for variant, texts in by_variant.items()}
            family = re.sub(r"\d+", "#", knob)
            alike.setdefault((family, tuple(sorted(values.items()))), []).append(knob)
        return [
            (
                knobs[0] if len(knobs) == 1 else f"{knobs[0]} to {knobs[-1]} ({len(knobs)} alike)",
                dict(values),
            )
            for (_, values), knobs in alike.items()
        ]

    def method_in_short(self) -> str:
        """Return the method in two lines of a mail."""
        design = self.design
        pairs = f"pairs in {self.unit}s" if self.plan.judging.paired else "runs not paired"
        looks = listing([str(look) for look in design.looks])
        rule = "Holm" if design.strict else "Benjamini-Hochberg"
        return (
            f"t tests on logs, {pairs}; looks at {looks} {self.unit}s; by {rule}, alpha"
            f" {share(design.alpha)}, margin of {share(design.margin)}, intervals widened to match."
        )

    def method(self) -> list[str]:
        """Return how the figures were gathered and judged, one sentence or two an item."""
        design, blocks = self.design, self.plan.blocks
        looks = listing([str(look) for look in design.looks])
        shuffled = (
            "The runs were imported; their order is not known, so they are not taken as pairs."
            if not self.plan.judging.paired
            else "What was measured at one boot is one value, the geometric mean of its runs. Boots"
            " are paired: a variant with the baseline at the same boot, or, where they had boots of"
            " their own, in the order of the boots."
            if self.unit == "boot"
            else "A block is one run of every variant, in balanced random order"
            f" (seed {blocks.seed})."
            f" Warm-up blocks, which are not counted: {blocks.warmup}."
        )
        tested = (
            "The runs of two variants are compared on logarithms (Welch's t test), so a mean is a"
            " geometric mean and a change is a ratio of two of them, less one."
            if not self.plan.judging.paired
            else "Boots are compared pair by pair, on logarithms (t test), so a mean is a geometric"
            " mean and a change is a ratio of two of them, less one."
            if self.unit == "boot"
            else "Runs are compared pair by pair inside their block, on logarithms (t test), so a"
            " mean is a geometric mean and a change is a ratio of two of them, less one. A failed"
            " run takes its pair with it."
        )
        low, high = -design.margin / (1 + design.margin), design.margin
        margin = (
            f"Equivalent means: shown, by two one-sided t tests, to differ by no more than the"
            f" margin of {share(design.margin)} ({points(low)} to {points(high)} %). No"
            " difference found is not the same, and is called can't tell."
        )
        m = len(self.analysis.outcomes)
        rule = (
            f"by Holm, so that the chance of even one false claim is at most {share(design.alpha)}"
            if design.strict
            else f"by Benjamini-Hochberg, so that at most {share(design.alpha)} of the claims are"
            " expected to be false"
        )
        looked = (
            f"The evidence may be looked at after {looks} {self.unit}s, and each p is multiplied by"
            f" the {plural(len(design.looks), 'look')}; then all"
            if self.plan.judging.paired
            else "All"
        )
        corrected = (
            f"{looked} {plural(m, 'result')} of this report are corrected together (alpha"
            f" {share(design.alpha)}) {rule}. Counters are a family of their own."
        )
        sweeps = (
            "A trend is tested over the changes at the points of a sweep (Mann and Kendall's test"
            f" by permutation), all {plural(len(self.analysis.trends), 'trend')} of this report"
            " corrected together; positive = better, so a change that rises gets better."
        )
        if design.ended is not None:
            corrected += (
                f" A time budget of {blocks.budget} ended the plan after"
                f" {plural(design.ended, self.unit)}, and the last look was taken there."
            )
        lines = [shuffled, tested, margin, corrected, self._intervals(m)]
        return [*lines, sweeps] if self.analysis.trends else lines

    def _intervals(self, m: int) -> str:
        levels = [outcome.verdict.level_adjusted for outcome in self.analysis.outcomes]
        level = next(filter(None, levels), None)
        if level is None:
            return f"There are no intervals: each takes {JUDGED_FROM} {self.unit}s at least."
        verdicts = [outcome.verdict for outcome in self.analysis.outcomes]
        claimed = max(1, sum(v.settled and v.word != "no effect" for v in verdicts))
        rule = (
            "alpha / (looks x m)"
            if self.design.strict
            else f"alpha x R / (looks x m), with R = {claimed} claimed"
        )
        return (
            f"Intervals are widened to a level of {100 * level:.4g} %, which is 1 - {rule} of"
            f" m = {m} results and {plural(len(self.design.looks), 'look')}: so they stay right"
            " although one reads those first that stand out, and although the data were looked at"
            " more than once."
        )

    def glossary(self) -> list[tuple[str, str]]:
        """Return what each column of the tables means."""
        return [
            ("mean", f"geometric mean over the {self.unit}s, in the metric's unit"),
            (
                "change",
                "of the variant's mean against the baseline's, in percent; positive = better,"
                " whichever way the metric counts (for a counter: positive = more)",
            ),
            ("interval", "where the true change lies, widened as the method says"),
            ("blocks", "pairs of runs that count")
            if self.unit == "block"
            else ("boots", "pairs of boots, each of as many runs as were made at it"),
            ("better, worse", "there is evidence of a difference, larger than chance"),
            ("equivalent", f"there is evidence that it is within {share(self.design.margin)}"),
            (
                "can't tell",
                f"neither is shown; with the number of {self.unit}s that should settle it",
            ),
            (
                "no effect",
                "the simulated runs are the same, decision for decision, in every block: what the"
                " setting changes was not reached in this run",
            ),
            ("up, down", "the same for a counter, which has no better side"),
            (
                "manipulation check",
                "a counter that is zero in one variant by construction: it shows that the setting"
                " took, and is not a result",
            ),
            (
                "screening",
                f"fewer than {SCREENING_BELOW} {self.unit}s: a hint of what to measure, no"
                " evidence",
            ),
            ("capped", "the benchmark stopped at a limit of its own, so it cannot show equality"),
            ("zero variance", "every pair gave the same: nothing to judge the noise by"),
            (
                "two groups",
                "the runs of a variant are apart by more than they differ within: two states of the"
                " machine, each lasting a whole run, or runs that something else disturbed",
            ),
        ]


def outlooks(verdicts: Sequence[Verdict]) -> str:
    """Return how many blocks would settle several open results of one benchmark."""
    needed = sorted(v.blocks_needed for v in verdicts if v.blocks_needed is not None)
    number, unit = len(verdicts), verdicts[0].unit
    them = "it" if number == 1 else "them"
    if not needed:
        return f"{plural(number, 'result')}: as it stands, no number of {unit}s would settle {them}"
    what = f"{unit}s" if verdicts[0].extendable else "values of each"
    amount = f"{needed[0]:,}" if needed[0] == needed[-1] else f"{needed[0]:,} to {needed[-1]:,}"
    never = number - len(needed)
    rest = f"; {never} of them no number would" if never else ""
    beyond = "; more than this plan has" if all(v.futile for v in verdicts) else ""
    return f"{plural(number, 'result')}: about {amount} {what} would settle {them}{rest}{beyond}"


def screening(hints: int, of: int, unit: str) -> str:
    """Return the banner over results that rest on few blocks."""
    return (
        f"Screening: {hints:,} of {of:,} results rest on fewer than {SCREENING_BELOW} {unit}s;"
        " such a result is a hint, not evidence."
    )


def _listed(names: Sequence[str]) -> str:
    """List names, of many the first."""
    if len(names) <= _NAMED + 1:
        return listing(names)
    return listing([*names[:_NAMED], f"{len(names) - _NAMED} others"])


def _some(labels: Sequence[str], of: int) -> str:
    return f"all {of} benchmarks" if 1 < len(labels) == of else listing(labels)


def describe_variant(variant: Variant, plan: Plan) -> str:
    """Return what a variant of a plan sets, in the words of the command line."""
    default = _UNKNOWN if kind_of(plan.target) is IMPORTED else _UNTOUCHED
    return "; ".join(settings_written(variant)) or default


def case_words(case: CaseInfo) -> str:
    """Name a case's benchmark and parameters, as words of a shell: `hackbench groups=4`."""
    return shlex.join([case.benchmark, *(f"{k}={v}" for k, v in case.params.items())])


def run_name(record: RunRecord) -> str:
    """Return a run's name as in the published reports: `Default-3-0`."""
    return f"{record.key.variant}-{record.key.block}-0"


def by_variant(runs: Sequence[RunRecord], variant: str) -> list[RunRecord]:
    """Return the runs of one variant, in run order."""
    return [run for run in runs if run.key.variant == variant]
