"""What each part of the model does to the score of predictions: the score with it taken away.

    python benchmarks/predictions/ablation.py DOCUMENT... [--output FILE] [--results DIR] [--jobs N]

Simulates the quick plans of documents in published/ as `schedlab validate --published` does, then
again with one part of the model taken away at a time, and grades the same rows each time. Results
are kept and found again, so that the same command goes on, and the score's own are shared with
`--results results/published`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from schedlab.base.validation import read_toml
from schedlab.lab.accuracy.markdown import percent, table_row
from schedlab.lab.accuracy.published import Work, predicted, works
from schedlab.lab.accuracy.scoring import GRADES, Prediction, Score
from schedlab.lab.kept import brought_to_its_end
from schedlab.lab.result import Lab, prepare
from schedlab.machine.simulator import description
from schedlab.plan.plan import Plan, find_plan
from schedlab.targets import sim
from schedlab.targets.simulated.scenario import scenario

ROOT = Path(__file__).resolve().parents[2]
Table = dict[str, Any]
Edit = Callable[[Table], Table]


def same(table: Table) -> Table:
    return table


def without(*keys: str) -> Edit:
    """Return what leaves keys out of a table."""
    return lambda table: {key: value for key, value in table.items() if key not in keys}


def with_(**more: Any) -> Edit:
    """Return what sets keys of a table."""
    return lambda table: {**table, **more}


def ungrouped(scenario: Table) -> Table:
    """Put the benchmark's tasks into no session's group."""
    return {**scenario, "knobs": {**scenario["knobs"], **NO_GROUP}}


def queued_at_once(machine: Table) -> Table:
    """Have a woken task on its queue in the instant its CPU is chosen: the waker pays for all."""
    return {**machine, "cost": {**machine["cost"], "wakeup_queue": "0ns"}}


NO_GROUP = {"/proc/sys/kernel/sched_autogroup_enabled": "0"}


@dataclass(frozen=True)
class Part:
    """A part of the model, and how it is taken away."""

    name: str
    words: str
    plan: Edit = same
    scenario: Edit = same
    machine: Edit = same

    def concerns(self, plan: Table, machine: Table) -> bool:
        """Return whether it makes a difference to what is asked of a plan's simulator."""
        if self.scenario is not same:
            return True
        return self.plan(plan) != plan or self.machine(machine) != machine


PARTS = (
    Part("cold", "measured from the start on an idle machine", plan=with_(load_warmup="none")),
    Part("scan", "a search reads runqueues at no cost", scenario=with_(ablate=["scan"])),
    Part(
        "lines",
        "contended atomics and locks cost nothing",
        scenario=with_(ablate=["hot_lines", "locks"]),
    ),
    Part("refill", "caches keep what a task had there", scenario=with_(ablate=["refill"])),
    Part("wakeup", "a woken task is queued at once", machine=queued_at_once),
    Part("fabric", "lines' traffic does not queue", machine=without("fabric")),
    Part("session", "tasks in the root group", scenario=ungrouped, machine=without("session")),
    Part("boost", "cores at one frequency", machine=without("boost")),
    Part("setup", "idle states as the machine comes", plan=without("setup")),
    Part("background", "nothing runs beside the load", scenario=with_(background=False)),
    Part("draws", "every figure at its value (--exact)", plan=with_(exact=True)),
)
WHOLE = Part("whole", "as the score has it")


@contextmanager
def taken_away(part: Part) -> Iterator[None]:
    """Have runs simulated without a part of the model."""

    def asked(*args: Any, **more: Any) -> Table:
        return part.scenario(scenario(*args, **more))

    def described(*args: Any) -> Table:
        return part.machine(description(*args))

    with patch.object(sim, "scenario", asked), patch.object(sim, "description", described):
        yield


def changed(work: Work, part: Part, only: Sequence[str]) -> Work | None:
    """Return a plan without a part, of some of its cases; None where it has none of it."""
    path = find_plan(work.plan_name)[1]
    written = read_toml(ROOT / path)
    target = sim.SimTarget(work.plan.target.partition(":")[2])
    if not part.concerns(written, description(target.machine())):
        return None
    plan = work.plan if part.plan is same else Plan.model_validate(part.plan(written))
    labels = [case.label for case in plan.cases(target.machine())]
    if some := [label for label in labels if label in only]:
        plan = plan.model_copy(update={"only": tuple(some)})
    return Work(work.reference, work.plan_name, plan)


def graded(work: Work, part: Part, results: Path, lab: Lab) -> list[Prediction]:
    """Return a plan's rows as they come out without a part."""
    about = () if part is WHOLE else (part.name,)
    with taken_away(part):
        store = brought_to_its_end(results, work.plan_name, work.plan, lab, *about)
    with closing(store):
        return predicted(work, store, prepare(work.plan, lab)[1]).rows


def counted(rows: Sequence[Prediction]) -> Score:
    """Score settled and cold rows alike: what is cold here was made so."""
    validation = [row for row in rows if row.mark == "validation" and row.simulated is not None]
    return Score(tuple(validation))


def line(name: str, words: str, rows: Sequence[Prediction], whole: Mapping[str, Prediction]) -> str:
    """Return a row of the table; what is compared is the same rows as they are with all parts."""
    done, same_rows = counted(rows), counted([whole[row.key] for row in rows])
    other = sum(whole[row.key].grade != row.grade for row in done.rows)
    apart = [
        abs(row.simulated - before)
        for row in done.rows
        if row.simulated is not None and (before := whole[row.key].simulated) is not None
    ]
    cells = [f"{done.count(grade)} ({same_rows.count(grade)})" for grade in GRADES]
    signs, held = done.signs, done.held[0]
    right = sum(row.same_sign for row in signs)
    middle = sorted(apart)[len(apart) // 2] if apart else 0.0
    return table_row(
        [name, words, str(len(done.rows)), *cells, f"{right} of {len(signs)}", str(held),
         str(other), f"{100 * middle:.1f}"]
    )  # fmt: skip


def verdicts(name: str, rows: Sequence[Prediction], whole: Mapping[str, Prediction]) -> list[str]:
    """Return a line for each row whose grade is another one without a part."""
    return [
        table_row([name, row.key, percent(row.published), _said(whole[row.key]), _said(row)])
        for row in counted(rows).rows
        if whole[row.key].grade != row.grade
    ]


def _said(row: Prediction) -> str:
    interval = (
        "" if row.low is None or row.high is None
        else f" ({percent(row.low)} to {percent(row.high)})"
    )  # fmt: skip
    return f"{percent(row.simulated or 0.0)}{interval}: {row.grade}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("document", nargs="+", help="a file of published/")
    parser.add_argument("--output", type=Path, help="where the tables go; printed if not given")
    parser.add_argument("--results", type=Path, default=Path("results/published"))
    parser.add_argument("--jobs", type=int, help="simulated runs at a time")
    parser.add_argument("--only", default="", help="of plans that have them, these cases alone")
    parser.add_argument("--parts", default=",".join(part.name for part in PARTS))
    options = parser.parse_args()
    lab, only = Lab(jobs=options.jobs), options.only.split(",")
    asked = [work for name in options.document for work in works(name)]
    whole = {row.key: row for work in asked for row in graded(work, WHOLE, options.results, lab)}
    head = ["part", "taken away", "rows", *GRADES, "signs right", "held", "other grade", "moved"]
    lines = [table_row(head), table_row(["---"] * 2 + ["---:"] * (len(head) - 2))]
    lines.append(line("", WHOLE.words, list(whole.values()), whole))
    moved = [table_row(["part", "row", "published %", "with it", "without"])]
    moved.append(table_row(["---", "---", "---:", "---", "---"]))
    for part in (part for part in PARTS if part.name in options.parts.split(",")):
        found = [other for work in asked if (other := changed(work, part, only))]
        rows = [row for work in found for row in graded(work, part, options.results, lab)]
        lines.append(line(part.name, part.words, rows, whole))
        moved += verdicts(part.name, rows, whole)
        text = "\n".join([*lines, "", *moved]) + "\n"
        if options.output:
            options.output.write_text(text, encoding="utf-8")
    if not options.output:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
