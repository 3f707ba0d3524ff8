"""Results that are kept: a call finds again what an earlier one has run, and goes on with it."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from schedlab.lab.result import Lab, begin, prepare, reopen, run_results
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


def whole_before(results: Path, name: str, plan: Plan, lab: Lab, *about: str) -> Store | None:
    """Return the result of a plan whose runs were all made by earlier calls, if there is one."""
    target, cases = prepare(plan, lab)
    folder = kept_folder(results, name, plan, target.environment(plan, cases), *about)
    if not folder.exists():
        return None
    store = Store.open(folder)
    if is_whole(store, cases):
        return store
    store.close()
    return None


def brought_to_its_end(results: Path, name: str, plan: Plan, lab: Lab, *about: str) -> Store:
    """Run what the result of a plan owes, all of it or what earlier calls left; return it.

    Raises:
        UsageError: the plan cannot be run on its target.
        Interrupted: SIGINT or SIGTERM; the same call goes on.
    """
    target, cases = prepare(plan, lab)
    folder = kept_folder(results, name, plan, target.environment(plan, cases), *about)
    if folder.exists():
        result = reopen(folder, lab)
    else:
        results.mkdir(parents=True, exist_ok=True)
        result = begin(plan, cases, target, folder, lab)
    try:
        run_results({name: result}, lab)
    except BaseException:
        result.store.close()
        raise
    return result.store
