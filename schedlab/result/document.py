"""A result as one document: what JSON reports hold beside their verdicts, and others carry.

Everything of a result folder is in it but what the runs wrote below `raw/`.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import FailFast, Field

from schedlab.base.validation import KeptData
from schedlab.machine.model import Machine
from schedlab.plan.plan import Plan
from schedlab.result.boots import Boot
from schedlab.result.later import validate_known
from schedlab.result.printed import Printed
from schedlab.result.record import Fit, RunKey, RunRecord, Status
from schedlab.result.store import CaseInfo, Store

SCHEMA = "schedlab-report/1"

_Finite = Annotated[float, Field(allow_inf_nan=False)]


class DocumentRun(KeptData):
    """One run of a document."""

    position: int
    benchmark: str
    variant: str
    block: int
    status: Status = "ok"
    error: str = ""
    command: str = ""
    seed: int = 0
    started: str = ""
    seconds: float = 0.0
    exit_status: int | None = None
    metrics: Mapping[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]]
    counters: Mapping[str, _Finite] = {}
    settings: Mapping[str, str] = {}
    draws: Mapping[str, _Finite] = {}
    trace: str = ""
    caveats: tuple[str, ...] = ()
    busy_before: float | None = None
    busy_during: float | None = None
    cpu_seconds: float | None = None

    def record(self) -> RunRecord:
        """Return the run as a store keeps it; its raw output is not there."""
        same = self.model_dump(exclude={"benchmark", "variant", "block"})
        key = RunKey(self.benchmark, self.variant, self.block)
        return RunRecord(key=key, **same | {"caveats": list(self.caveats)})


class Document(KeptData):
    """A result read back; keys that later versions add to runs are ignored."""

    schema_name: Literal["schedlab-report/1"] = Field(alias="schema")
    plan: Plan
    machine: Machine
    environment: dict[str, str]
    notices: tuple[str, ...] = ()
    invocation: str = ""
    benchmarks: tuple[CaseInfo, ...]
    fits: dict[str, Fit] = {}
    ended: int | None = None
    boots: tuple[Boot, ...] = ()
    # Of the long ones only the first wrong entry is looked into: each error takes memory.
    printed: Annotated[tuple[Printed, ...], FailFast()] = ()
    runs: Annotated[tuple[DocumentRun, ...], FailFast()]


def to_document(store: Store) -> dict[str, Any]:
    """Return a result as tables and lists that JSON can hold."""
    return {
        "schema": SCHEMA,
        "version": store.version,
        "invocation": store.invocation,
        "environment": store.environment,
        "machine": store.machine.model_dump(mode="json"),
        "plan": store.plan.model_dump(mode="json"),
        "notices": store.notices,
        "benchmarks": [asdict(case) for case in store.cases],
        "fits": {label: asdict(fit) for label, fit in store.fits.items()},
        "ended": store.ended,
        "boots": [asdict(boot) for boot in store.boots],
        "printed": [asdict(each) for each in store.printed],
        "runs": [_run(record) for record in store.records()],
    }


def from_document(data: dict[str, Any], where: str) -> Document:
    """Read a result from tables and lists; UsageError naming `where` and the key that is wrong.

    What a later schedlab wrote and this one does not know is left out, with a notice.
    """
    document, unknown = validate_known(data, Document, where)
    return document.model_copy(update={"notices": (*unknown, *document.notices)})


def _run(record: RunRecord) -> dict[str, Any]:
    fields = {name: finite(value) for name, value in vars(record).items() if name != "key"}
    key = record.key
    return {
        "benchmark": key.case,
        "variant": key.variant,
        "block": key.block,
        "warmup": key.warmup,
        **fields,
    }


def finite(value: Any) -> Any:
    """Return a value as JSON can hold it: null for what is infinite or not a number."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    return [finite(each) for each in value] if isinstance(value, tuple) else value
