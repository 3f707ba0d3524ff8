"""schedlab's own JSON report: all of a result but the raw output."""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from schedlab.base.validation import validate
from schedlab.importers.bounds import MOST_ELEMENTS
from schedlab.importers.publication import Publication
from schedlab.importers.source import Source
from schedlab.machine.model import Machine
from schedlab.plan.plan import Plan
from schedlab.report.as_json import SCHEMA
from schedlab.result.boots import Boot
from schedlab.result.printed import Printed
from schedlab.result.record import RunKey, RunRecord, Status
from schedlab.result.store import CaseInfo

# How a JSON object begins; a text whose title is a brace goes on otherwise.
OBJECT = re.compile(r'\s*\{\s*["}]')


class _Data(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Run(_Data):
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
    counters: Mapping[str, Annotated[float, Field(allow_inf_nan=False)]] = {}
    settings: Mapping[str, str] = {}
    caveats: tuple[str, ...] = ()
    busy_before: float | None = None
    busy_during: float | None = None
    cpu_seconds: float | None = None

    def record(self) -> RunRecord:
        return RunRecord(
            key=RunKey(self.benchmark, self.variant, self.block),
            position=self.position,
            seed=self.seed,
            command=self.command,
            status=self.status,
            error=self.error,
            started=self.started,
            seconds=self.seconds,
            exit_status=self.exit_status,
            metrics=dict(self.metrics),
            counters=dict(self.counters),
            settings=dict(self.settings),
            caveats=list(self.caveats),
            busy_before=self.busy_before,
            busy_during=self.busy_during,
            cpu_seconds=self.cpu_seconds,
        )


class _Document(_Data):
    schema_name: Literal["schedlab-report/1"] = Field(alias="schema")
    plan: Plan
    machine: Machine
    environment: dict[str, str]
    notices: tuple[str, ...] = ()
    benchmarks: tuple[CaseInfo, ...]
    boots: tuple[Boot, ...] = ()
    printed: tuple[Printed, ...] = ()
    runs: tuple[_Run, ...]


def read_own_json(source: Source) -> Publication | None:
    """Read a JSON report; None where the text is no JSON object.

    Raises:
        UsageError: it is JSON, but not whole or not ours.
    """
    if not OBJECT.match(source.text):
        return None
    if source.text.count("{") + source.text.count("[") > MOST_ELEMENTS:
        source.refuse(None, f"has more than {MOST_ELEMENTS:,} tables and lists.")
    try:
        data = json.loads(source.text)
    except (json.JSONDecodeError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        source.refuse(line, f"is not JSON: {error}.")
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        source.refuse(1, f"is JSON, but no report of schedlab; its 'schema' is not '{SCHEMA}'.")
    document = validate(data, _Document, str(source.path))
    return Publication(
        plan=document.plan,
        machine=document.machine,
        environment=document.environment,
        cases=list(document.benchmarks),
        records=[run.record() for run in document.runs],
        printed=list(document.printed),
        boots=list(document.boots),
        notices=list(document.notices),
    )
