"""Boots: what was measured at one boot is one value of each variant, and boots are paired.

Memory lies differently after every boot, caches and firmware too, so runs of one boot have in
common what another boot's have not. Where variants were measured at different boots, the boot is
what the evidence counts.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from schedlab.result.record import RunKey, RunRecord

BOOT = "Boot"
"""The row of the platform table that tells one boot from another."""

BOOTED_FOR = "Booted for"
"""The row that names the variant for which the lab has booted a machine."""


@dataclass(frozen=True)
class Boot:
    """A boot of the host, from some run on."""

    id: str
    """The kernel's boot_id."""
    position: int
    """The first run at it."""


def boot_of(boots: Sequence[Boot], record: RunRecord) -> str:
    """Return the id of the boot at which a run was made; empty where that is not known."""
    at = bisect_right(boots, record.position, key=lambda boot: boot.position)
    return boots[at - 1].id if at else ""


def boots_of(ids: Iterable[str]) -> list[Boot]:
    """Return the boots, from that of each run in run order."""
    found: list[Boot] = []
    for position, boot in enumerate(ids):
        if not found or found[-1].id != boot:
            found.append(Boot(boot, position))
    return found


def rounds(runs_at: Sequence[tuple[str, str]], variants: Iterable[str]) -> dict[str, int]:
    """Return each boot's round, from (boot, variant) in run order.

    A round has each variant at one boot, be it the same or one of its own: a boot joins the first
    round in which none of its variants has been. Whole rounds come first.
    """
    there: dict[str, set[str]] = {}
    for boot, variant in runs_at:
        there.setdefault(boot, set()).add(variant)
    filled: list[set[str]] = []
    found: dict[str, int] = {}
    for boot, present in there.items():
        place = next((i for i, taken in enumerate(filled) if not taken & present), len(filled))
        if place == len(filled):
            filled.append(set())
        filled[place] |= present
        found[boot] = place
    wanted = set(variants)
    order = sorted(range(len(filled)), key=lambda place: not wanted <= filled[place])
    return {boot: order.index(place) for boot, place in found.items()}


def by_boot(
    records: Sequence[RunRecord], boots: Sequence[Boot], variants: Sequence[str]
) -> list[RunRecord]:
    """Make one record of all runs of a benchmark in a variant at one boot; its block is the round.

    Metrics are geometric means, counters arithmetic ones. Failed runs do not count, unless all
    failed.
    """
    counted = [record for record in records if not record.key.warmup]
    round_of = rounds([(boot_of(boots, r), r.key.variant) for r in counted], variants)
    together: dict[RunKey, list[RunRecord]] = {}
    for record in counted:
        block = round_of[boot_of(boots, record)]
        key = RunKey(record.key.case, record.key.variant, block)
        together.setdefault(key, []).append(record)
    return [_mean(key, runs) for key, runs in together.items()]


def share_boots(records: Sequence[RunRecord], boots: Sequence[Boot], one: str, other: str) -> bool:
    """Return whether any boot has runs of both variants."""
    first, second = (
        {boot_of(boots, r) for r in records if r.key.variant == name} for name in (one, other)
    )
    return bool(first & second)


def _mean(key: RunKey, runs: Sequence[RunRecord]) -> RunRecord:
    good = [run for run in runs if run.status == "ok"]
    if not good:
        return replace(runs[0], key=key)
    metrics = dict.fromkeys(name for run in good for name in run.metrics)
    counters = dict.fromkeys(name for run in good for name in run.counters)
    return replace(
        good[0],
        key=key,
        metrics={
            name: math.exp(fmean(math.log(r.metrics[name]) for r in good if name in r.metrics))
            for name in metrics
        },
        counters={
            name: fmean(r.counters[name] for r in good if name in r.counters) for name in counters
        },
        caveats=list(dict.fromkeys(caveat for run in good for caveat in run.caveats)),
    )
