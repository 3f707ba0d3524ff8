"""How long runs took in earlier results: kept in the cache, so that a plan can be estimated."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from statistics import fmean

from schedlab.base.errors import Interrupted, SchedlabError
from schedlab.benchmarks import Case
from schedlab.benchmarks.benchmark import Span
from schedlab.kernels.cache import cache_folder, write_whole
from schedlab.plan.plan import Plan
from schedlab.result.store import CaseInfo, Store

_MOST_KEPT = 5_000
"""Benchmarks whose speed is kept; those not run for longest go first."""


def expected(
    plan: Plan, platform: Mapping[str, str], cases: Sequence[Case], infos: Sequence[CaseInfo]
) -> dict[str, float]:
    """Return the seconds a run of each benchmark is likely to take, where anything is known.

    Known is what it took last time, on this target and kernel; or what the plan says it takes, on a
    host; or what the plan says of its simulated runs.
    """
    kept = _read()
    found = {}
    for case, info in zip(cases, infos, strict=True):
        given = plan.run_seconds if plan.simulated else case.seconds or _own_seconds(case)
        seconds = kept.get(_key(plan, platform, info), given)
        if seconds is not None:
            found[case.label] = seconds
    return found


def keep(store: Store) -> None:
    """Keep the speed of a result's runs for the estimates of later ones."""
    kept = _read()
    for case in store.cases:
        taken = [r.seconds for r in store.records() if r.key.case == case.label and not r.error]
        if taken:
            key = _key(store.plan, store.environment, case)
            kept.pop(key, None)
            kept[key] = round(fmean(taken), 4)
    try:
        write_whole(_file(), json.dumps(dict(list(kept.items())[-_MOST_KEPT:]), indent=0))
    except Interrupted:
        raise
    except (OSError, SchedlabError):
        return  # the next plan has one estimate less


def _own_seconds(case: Case) -> float | None:
    """Return the duration among a case's parameters."""
    return next((value.seconds for value in case.params.values() if isinstance(value, Span)), None)


def _key(plan: Plan, platform: Mapping[str, str], case: CaseInfo) -> str:
    where = [plan.target, plan.machine or "", platform.get("Kernel release", "")]
    return sha256(json.dumps([*where, case.command]).encode()).hexdigest()[:16]


def _file() -> Path:
    return cache_folder() / "run-seconds.json"


def _read() -> dict[str, float]:
    try:
        return {str(key): float(value) for key, value in json.loads(_file().read_text()).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
