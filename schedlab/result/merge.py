"""Results of several boots made one, in which boots are compared.

A variant that takes a reboot (NUMA nodes per socket, another kernel) is run at boots of its own:
what tells it from another variant's then is also what tells any two boots apart.
"""

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from schedlab.base.errors import UsageError
from schedlab.base.validation import validate
from schedlab.plan.plan import Plan
from schedlab.result.boots import BOOT, BOOTED_FOR, Boot, boot_of
from schedlab.result.record import RunRecord
from schedlab.result.store import MERGE, CaseInfo, Store, made_whole
from schedlab.settings.kinds import boot

_THE_HOST = ("Architecture", "Processor version", "CPUs", "Node name")
"""Rows of the platform table that no reboot changes."""

_BOOTED = {"Kernel release", "Kernel version", "Kernel command line", "Kernels"}
"""Rows in which a machine differs that the lab has booted for a variant."""

_OF_THE_PLAN = {"blocks", "judging", "counters", "title", "only"}
"""Keys of a plan that may differ: the runs are of the same things all the same."""


def merge(stores: Sequence[Store], folder: Path, looks: Sequence[int], invocation: str) -> Store:
    """Put the runs of several results into a new one.

    Raises:
        UsageError: they are not of one plan on one host, or their boots are not known.
        StoreError: the folder cannot be written.
    """
    if len(stores) < 2:
        raise UsageError("merge: name the results of two boots or more.")
    stores = sorted(stores, key=lambda store: store.records()[0].started if store.records() else "")
    for store in stores:
        _check(store, stores[0])
    _check_apart(stores)
    cases, left_out = _cases(stores)
    if not cases:
        raise UsageError(
            "merge: no benchmark is the same at every boot:"
            + "".join(f"\n  {line}" for line in left_out)
        )
    labels = {case.label for case in cases}
    records: list[RunRecord] = []
    boots: list[Boot] = []
    for store in stores:
        blocks = max((record.key.block for record in records), default=-1) + 1
        for run in store.records():
            if run.key.warmup or run.key.case not in labels:
                continue
            boot = boot_of(store.boots, run)
            if not boots or boots[-1].id != boot:
                boots.append(Boot(boot, len(records)))
            records.append(_moved(run, blocks, len(records), store.folder, folder))
    with made_whole(folder) as beside:
        merged = Store.create(
            beside,
            _plan(stores[0].plan, looks),
            stores[0].machine,
            _environment(stores),
            cases,
            invocation,
            boots=boots,
            origin=MERGE,
        )
        with closing(merged):
            merged.add(*records)
            merged.note([*left_out, *_undeclared(stores), *_origins(stores)])
    return Store.open(folder)


def _check(store: Store, first: Store) -> None:
    """Refuse a result that does not go with the first."""
    if not store.boots:
        raise UsageError(
            f"{store.folder}: does not say at which boot it was made; only results of a host do."
        )
    mine, other = (s.plan.model_dump(mode="json", exclude=_OF_THE_PLAN) for s in (store, first))
    for key, value in mine.items():
        if value != other[key]:
            raise UsageError(
                f"{store.folder}: its plan is not that of {first.folder}: `{key}` differs."
                "\n  Run the same plan file at every boot; `boot` in a variant says where it fits."
            )
    for row in _THE_HOST:
        if store.environment.get(row) != first.environment.get(row):
            raise UsageError(
                f"{store.folder}: is of another host than {first.folder}: {row} is"
                f" {store.environment.get(row)}, not {first.environment.get(row)}."
                "\n  `schedlab compare` sets results of two hosts side by side."
            )


def _check_apart(stores: Sequence[Store]) -> None:
    """Refuse two results that have a run in common: one of them is the other, or a copy."""
    found: dict[tuple[object, ...], Path] = {}
    for store in stores:
        for run in store.records():
            which = (boot_of(store.boots, run), run.key, run.started)
            if (other := found.setdefault(which, store.folder)) is not store.folder:
                raise UsageError(
                    f"{store.folder}: has runs that {other} has as well, which would count twice."
                    "\n  Name each result once, and no copy of it."
                )


def _cases(stores: Sequence[Store]) -> tuple[list[CaseInfo], list[str]]:
    """Return the cases that are the same everywhere, and a line on each other one."""
    found: dict[str, CaseInfo] = {}
    left_out: dict[str, str] = {}
    for store in stores:
        for case in store.cases:
            known = found.setdefault(case.label, case)
            if (known.command, known.metrics) != (case.command, case.metrics):
                left_out[case.label] = (
                    f"{case.label} is left out: it was `{known.command}` at one boot and"
                    f" `{case.command}` at another; give its sizes as numbers"
                )
    return [case for label, case in found.items() if label not in left_out], [*left_out.values()]


def _moved(run: RunRecord, blocks: int, position: int, source: Path, folder: Path) -> RunRecord:
    """Return a run with its place in the new result; its raw output stays where it is."""
    raw = os.path.relpath(source.absolute() / run.raw, folder.absolute()) if run.raw else ""
    key = replace(run.key, block=run.key.block + blocks)
    return replace(run, key=key, position=position, raw=raw)


def _plan(plan: Plan, looks: Sequence[int]) -> Plan:
    data = plan.model_dump(mode="json", exclude_unset=True)
    data["blocks"] = data.get("blocks", {}) | {"looks": list(looks), "warmup": 0}
    data["judging"] = data.get("judging", {}) | {"unit": "boot"}
    return validate(data, Plan, "merge")


def _environment(stores: Sequence[Store]) -> dict[str, str]:
    rows = dict.fromkeys(row for store in stores for row in store.environment if row != BOOT)
    return {row: " / ".join(_values(stores, row)) for row in rows}


def _undeclared(stores: Sequence[Store]) -> list[str]:
    """Return what differs between the boots though no variant asks for it."""
    declared = {row for variant in stores[0].plan.variant for row in boot.Boot.of(variant)}
    if BOOTED_FOR in declared:
        declared |= _BOOTED
    if "Kernel release" in declared:
        declared |= {"Kernel version"}  # of another release it is another
    return [
        f"{row} was not the same at every boot ({' / '.join(values)}), and no variant says so: a"
        " difference may come from that"
        for row in stores[0].environment
        if row not in {BOOT, *declared} and len(values := _values(stores, row)) > 1
    ]


def _values(stores: Sequence[Store], row: str) -> list[str]:
    return list(dict.fromkeys(store.environment.get(row, "unknown") for store in stores))


def _origins(stores: Sequence[Store]) -> list[str]:
    return [
        f"{store.folder}: boot {', '.join(dict.fromkeys(boot.id for boot in store.boots))},"
        f" {', '.join(dict.fromkeys(run.key.variant for run in store.records()))}"
        for store in stores
    ]
