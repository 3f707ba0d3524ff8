"""Results that are kept: a call finds again what an earlier one has run, and goes on with it."""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from schedlab.benchmarks import Case
from schedlab.lab.result import Lab, Result, begin, prepare, reopen, run_results
from schedlab.lab.runner import is_whole
from schedlab.plan.plan import Plan
from schedlab.result.boots import BOOT
from schedlab.result.store import Store
from schedlab.targets.platform import MEMORY


def kept_folder(
    results: Path, name: str, plan: Plan, platform: Mapping[str, str], *about: str
) -> Path:
    """Name the folder of a result: another one for another plan, platform or `about`.

    So results of today and of last week stand side by side, and one is only ever gone on with by
    what began it.
    """
    lasting = {row: value for row, value in platform.items() if row not in (BOOT, MEMORY)}
    identity = json.dumps([plan.to_toml(), lasting, *about], sort_keys=True)
    return results / f"{name}-{hashlib.sha256(identity.encode()).hexdigest()[:8]}"


def kept_before(
    results: Path, name: str, plan: Plan, lab: Lab, *about: str
) -> tuple[Store, list[Case]] | None:
    """Return the result of a plan that earlier calls began, and its cases; None if none did."""
    target, cases = prepare(plan, lab)
    folder = kept_folder(results, name, plan, target.environment(plan, cases), *about)
    return (Store.open(folder), cases) if folder.exists() else None


def brought_to_its_end(results: Path, name: str, plan: Plan, lab: Lab, *about: str) -> Store:
    """Run what the result of a plan owes, all of it or what earlier calls left; return it.

    Raises:
        UsageError: the plan cannot be run on its target.
        Interrupted: SIGINT or SIGTERM; the same call goes on.
    """
    result = _begun(results, name, plan, lab, *about)
    try:
        run_results({name: result}, lab)
    except BaseException:
        result.store.close()
        raise
    return result.store


def case_by_case(
    results: Path, name: str, plan: Plan, lab: Lab, labels: Collection[str]
) -> Iterator[Result]:
    """Run what the result of a plan owes of some cases, all blocks of one before the next one's.

    The result is yielded after each case, and closed at the end. Simulated runs do not depend on
    their order, so this is for them alone.

    Raises:
        UsageError: the plan cannot be run on its target.
        Interrupted: SIGINT or SIGTERM; the same call goes on.
    """
    result = _begun(results, name, plan, lab)
    with closing(result.store):
        for case in result.cases:
            if case.label not in labels:
                continue
            if not is_whole(result.store, [case]):
                run_results({name: replace(result, cases=[case])}, lab)
            yield result


def _begun(results: Path, name: str, plan: Plan, lab: Lab, *about: str) -> Result:
    """Return the result of a plan to go on with: one that earlier calls began, or a new one."""
    target, cases = prepare(plan, lab)
    folder = kept_folder(results, name, plan, target.environment(plan, cases), *about)
    if folder.exists():
        return reopen(folder, lab)
    results.mkdir(parents=True, exist_ok=True)
    return begin(plan, cases, target, folder, lab)
