"""What is asked of each commit, and how its answer comes about: by verdict, or by a check."""

from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from schedlab.base.errors import UsageError, nearest
from schedlab.base.words import plural
from schedlab.judging.analysis import Outcome, analyse, judge_steps
from schedlab.judging.why import explain_steps
from schedlab.lab.bisecting.record import Asked
from schedlab.lab.bisecting.search import Answer
from schedlab.lab.checks.check import Named
from schedlab.lab.checks.checking import Checking, Options
from schedlab.lab.result import Lab, prepare, resume_plan, run_plan
from schedlab.plan.plan import Plan
from schedlab.plan.sweep import points as points_of
from schedlab.plan.targets import SIM, kind_of
from schedlab.report import write_reports
from schedlab.report.why import sentence
from schedlab.report.wording import interval, points
from schedlab.result.folder import DATABASE
from schedlab.result.store import Store
from schedlab.settings.kinds.kernel import Kernel

_DIFFERS = ("worse", "up", "down")
_SAME = ("equivalent", "no effect", "better")


@dataclass(frozen=True)
class Answered:
    """An answer, and what it rests on."""

    answer: Answer
    why: str
    effect: float | None = None
    """The change of the metric, as a ratio - 1."""


@dataclass(frozen=True)
class Explained:
    """What each kernel does beside the one before it."""

    text: str
    runs: int
    confirmed: bool = True
    """Whether the first is good and the second bad, where that is asked again."""


class Question(Protocol):
    """Asks kernels, beside the one that is known to be good."""

    def ask(self, kernels: Mapping[str, str], folder: Path) -> tuple[dict[str, Answered], int]:
        """Return the answer of each kernel but the first, which is good, and the runs made.

        Args:
            kernels: by name in the folder's result; what was recorded there is not run again.
            folder: for what is run.
        """

    def explain(self, kernels: Mapping[str, str], folder: Path) -> Explained:
        """Return in full what each kernel does beside the one before it."""


class PlanQuestion:
    """Asks whether a metric of a plan is worse than at the good end, or any decision another."""

    def __init__(self, asked: Asked, lab: Lab) -> None:
        assert asked.plan
        self._asked, self._plan, self._lab = asked, asked.plan, lab

    def ask(self, kernels: Mapping[str, str], folder: Path) -> tuple[dict[str, Answered], int]:
        """Run the benchmark on all, until there is a verdict or the plan ends."""
        stricter = {
            key: value
            for key in ("alpha", "margin")
            if (value := getattr(self._asked, key)) is not None
        }
        judging = self._plan.judging.model_copy(update=stricter)
        only = (self._asked.case,) if self._asked.case else self._plan.only
        plan = self._plan.model_copy(update={"judging": judging, "only": only})
        if not self._asked.metric:  # equal runs are equal in every block
            few = plan.blocks.model_copy(update={"looks": plan.blocks.looks[:1]})
            plan = plan.model_copy(update={"blocks": few})
        good, *others = kernels.items()
        with closing(self._run(plan, kernels, folder)) as store:
            outcomes, records = analyse(store).outcomes, store.records()
        failed = {each.key.variant: each.error for each in records if each.status != "ok"}
        if failed and len(others) > 1:
            # A benchmark that keeps failing in one kernel is left out in all of them.
            found: dict[str, Answered] = {}
            runs = len(records)
            for one in others:
                answer, more = self.ask(dict([good, one]), folder / "alone" / one[0])
                found |= answer
                runs += more
            return found, runs
        answers = {
            name: Answered("can't tell", f"a run failed: {failed[name]}")
            if name in failed
            else self._answered(name, outcomes)
            for name, _ in others
        }
        return answers, len(records)

    def explain(self, kernels: Mapping[str, str], folder: Path) -> Explained:
        """Run the whole plan on the kernels; leave its reports in the folder."""
        with closing(self._run(self._plan, kernels, folder)) as store:
            write_reports(store)
            reasons = {(each.case.label, each.variant): each for each in explain_steps(store)}
            lines: list[str] = []
            for name in list(kernels)[1:]:
                others: Counter[str] = Counter()
                shown = len(lines)
                for outcome in (each for each in judge_steps(store) if each.variant == name):
                    claimed = outcome.verdict.word in ("better", "worse")
                    if not claimed and not self._is_asked(outcome):
                        others[outcome.verdict.name] += 1
                        continue
                    lines.append(f"{name}: {outcome.case.label} {_words(outcome)}")
                    # Below its first claim: the time is the benchmark's, not the metric's.
                    spent = reasons.pop((outcome.case.label, name), None) if claimed else None
                    if spent:
                        lines.append(f"    {sentence(spent)}")
                if others:
                    counts = ", ".join(f"{count} {word}" for word, count in others.items())
                    which = "the other" if len(lines) > shown else "all"
                    lines.append(f"{name}: {which} results: {counts}")
            return Explained("\n".join(lines), len(store.records()))

    def _run(self, plan: Plan, kernels: Mapping[str, str], folder: Path) -> Store:
        if (folder / DATABASE).exists():
            return resume_plan(folder, self._lab)
        variants = tuple(
            plan.baseline.model_copy(update={"name": name, Kernel.key: kernel})
            for name, kernel in kernels.items()
        )
        return run_plan(
            plan.model_copy(update={"variant": variants, "kernel": ()}), folder, self._lab
        )

    def _is_asked(self, outcome: Outcome) -> bool:
        found = (outcome.case.label, outcome.metric.name)
        return found == (self._asked.case, self._asked.metric)

    def _answered(self, name: str, outcomes: list[Outcome]) -> Answered:
        mine = [outcome for outcome in outcomes if outcome.variant == name]
        if not self._asked.metric:
            return _decided(mine)
        [asked] = [each for each in mine if self._is_asked(each)]
        word = asked.verdict.word
        answer: Answer = "can't tell"
        if not asked.verdict.withheld:
            answer = "bad" if word in _DIFFERS else "good" if word in _SAME else answer
        return Answered(answer, _words(asked), asked.verdict.effect_better)


def _decided(outcomes: list[Outcome]) -> Answered:
    same = [outcome for outcome in outcomes if outcome.verdict.word == "no effect"]
    if outcomes and len(same) == len(outcomes):
        return Answered("good", outcomes[0].verdict.note)
    other = [outcome.case.label for outcome in outcomes if outcome not in same]
    return Answered("bad", f"other decisions in {', '.join(dict.fromkeys(other))}")


def _words(outcome: Outcome) -> str:
    verdict = outcome.verdict
    return (
        f"{outcome.metric.name} {points(verdict.effect_better)} %"
        f" {interval(verdict.interval_adjusted_better)}, {verdict.name},"
        f" {plural(verdict.blocks_done, 'block')}"
    )


class CheckQuestion:
    """Asks whether a check fails."""

    def __init__(self, asked: Asked, lab: Lab) -> None:
        self._named = Named(Path(asked.scenario))
        if asked.content and self._named.content() != asked.content:
            raise UsageError(
                f"{asked.scenario}: the check, or a file that it names, has changed since the"
                " bisection began, so its answers would not fit together."
                "\n  Undo the change, or begin a new bisection."
            )
        self._machines = (asked.machine,) if asked.machine else ()
        self._lab = lab

    def ask(self, kernels: Mapping[str, str], folder: Path) -> tuple[dict[str, Answered], int]:
        """Run the check on all but the good kernel, which has passed it.

        Raises:
            UsageError: the check cannot be run.
        """
        asked = dict(list(kernels.items())[1:])
        options = Options(
            tuple(dict.fromkeys(asked.values())),
            self._machines,
            jobs=self._lab.simulated_at_a_time,
            output=folder,
        )
        checking = Checking([self._named], options, self._lab.watcher)
        verdicts = sorted(checking.run(), key=lambda verdict: (verdict.machine, verdict.seed))
        failed: dict[str, str] = {}
        for verdict in verdicts:
            if verdict.word == "refused":
                raise UsageError(f"{verdict.place}: {'; '.join(verdict.shown)}")
            if verdict.word == "failed":
                where = f"{verdict.machine}, seed {verdict.seed}"
                failed.setdefault(verdict.kernel, f"{where}: {'; '.join(verdict.shown)}")
        answers = {
            name: Answered("bad", failed[kernel])
            if kernel in failed
            else Answered("good", "passed")
            for name, kernel in asked.items()
        }
        return answers, len(verdicts)

    def explain(self, kernels: Mapping[str, str], folder: Path) -> Explained:
        """Return the check's own words on each kernel."""
        parent, culprit, *_ = kernels
        answers, runs = self.ask({"": kernels[parent], **kernels}, folder)
        lines = [f"{name}: {each.answer}: {each.why}" for name, each in answers.items()]
        confirmed = (answers[parent].answer, answers[culprit].answer) == ("good", "bad")
        return Explained("\n".join(lines), runs, confirmed)


def question_of(asked: Asked, lab: Lab) -> Question:
    """Return what asks a question."""
    return CheckQuestion(asked, lab) if asked.scenario else PlanQuestion(asked, lab)


def asked_on_machines(plan: Plan, metric: str | None, lab: Lab) -> dict[str, Asked]:
    """Return a question about a plan for each of its machines, by a name that a folder can have.

    Raises:
        UsageError: as asked_of_plan, or the plan is a sweep over something else.
    """
    found = points_of(plan)
    if {key for point in found.values() for key in point.values} <= {"target"}:
        return {name: asked_of_plan(point.plan, metric, lab) for name, point in found.items()}
    if len(found) > 1:
        raise UsageError(
            f"a bisection asks one plan on machines; this is a sweep of {len(found)} plans."
            "\n  Bisect with each of them: what is built for one is there for the next."
        )
    [point] = found.values()
    return {"": asked_of_plan(point.plan, metric, lab)}


def asked_of_plan(plan: Plan, metric: str | None, lab: Lab) -> Asked:
    """Return a question about a plan: of a metric, or of the decisions if none is named.

    Raises:
        UsageError: the plan is not one for a simulated machine, or the metric is not one of one
            benchmark.
    """
    if not kind_of(plan.target).simulated:
        raise UsageError(
            f"commits are tried on simulated machines; {plan.target} is not {SIM.syntax}."
        )
    if metric is None:
        return Asked(plan=plan)
    _, cases = prepare(plan, lab)
    having = [case.label for case in cases if metric in {each.name for each in case.metrics}]
    if not having:
        known = dict.fromkeys(each.name for case in cases for each in case.metrics)
        raise UsageError(
            f"--metric '{metric}': no benchmark of the plan has it.{nearest(metric, known)}"
            f" There are: {', '.join(known)}."
        )
    if len(having) > 1:
        raise UsageError(
            f"--metric {metric}: {', '.join(having)} have it; choose one with --only NAME."
        )
    return Asked(plan=plan, metric=metric, case=having[0])
