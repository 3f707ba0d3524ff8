"""What a suite costs on a simulated machine: each case once, one variant, its CPU seconds.

    python benchmarks/workloads/suite_cost.py [--suite epyc] [--machine epyc-7713-2p-nps1]
        [--kernel 6.1] [--only LABEL,...] [--load-warmup none] [--jobs 1] --output FOLDER

What has been run is in FOLDER and not run again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from schedlab.benchmarks import Case
from schedlab.plan.plan import Plan
from schedlab.result.record import RunKey, RunRecord
from schedlab.settings.variant import Variant
from schedlab.targets.sim import SimTarget
from schedlab.targets.simulators import LocalSimulators
from schedlab.targets.target import Order

LIMIT_SECONDS = 7200.0
SEED = 1


def records(plan: Plan, cases: list[Case], folder: Path, jobs: int) -> Iterator[RunRecord]:
    """Run the baseline of every case."""
    variant = plan.baseline
    target = SimTarget(plan.target.removeprefix("sim:"))
    orders = [
        Order(RunKey(case.label, variant.name, 0), case, variant, SEED, place)
        for place, case in enumerate(cases)
    ]
    with closing(
        target.session(cases, [variant], LIMIT_SECONDS, warm_up=plan.load_warmup)
    ) as session:
        session.begin([variant], folder)
        with closing(LocalSimulators(jobs)) as simulators:
            for record in session.run_many(orders, folder, simulators):
                if isinstance(record, RunRecord):
                    yield record
                else:
                    record.result()


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--suite", default="epyc")
    options.add_argument("--machine", default="epyc-7713-2p-nps1")
    options.add_argument("--kernel", default="6.1")
    options.add_argument("--only", default="")
    options.add_argument("--load-warmup", default="none")
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--output", type=Path, required=True)
    given = options.parse_args()
    base = Variant(name="base", kernel=given.kernel)
    plan = Plan(
        suite=given.suite,
        target=f"sim:{given.machine}",
        variant=(base, base.model_copy(update={"name": "another"})),
        load_warmup=given.load_warmup,
        only=tuple(filter(None, given.only.split(","))),
    )
    folder = given.output / "raw"
    folder.mkdir(parents=True, exist_ok=True)
    cases = plan.cases(SimTarget(given.machine).machine())
    simulated = cpu = events = 0.0
    print("| case | simulated s | CPU s | M events/s |\n| --- | ---: | ---: | ---: |")
    for record in records(plan, cases, folder, given.jobs):
        if record.error:
            print(f"| {record.key.case} | {record.error} | | |", flush=True)
            continue
        result = json.loads((given.output / record.raw / "result.json").read_text())
        engine = result["engine"]
        print(
            f"| {record.key.case} | {result['simulated_s']:.3g} | {engine['cpu_s']:.2f} |"
            f" {engine['events_per_cpu_s'] / 1e6:.1f} |",
            flush=True,
        )
        simulated += result["simulated_s"]
        cpu += engine["cpu_s"]
        events += engine["cpu_s"] * engine["events_per_cpu_s"]
    print(f"| all | {simulated:.3g} | {cpu:.1f} | {events / cpu / 1e6:.1f} |")


if __name__ == "__main__":
    main()
