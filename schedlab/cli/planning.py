"""Making a plan of what the command line says, and carrying it out."""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from schedlab.base.errors import UsageError
from schedlab.base.validation import validate
from schedlab.benchmarks import Case, find_benchmark
from schedlab.benchmarks.own_metric import EXAMPLE, parse_metric
from schedlab.cli.echo import echo
from schedlab.cli.how import How, given_options
from schedlab.cli.variants import AUTO, NO_VARIANT
from schedlab.machine.model import Machine
from schedlab.plan.plan import BenchmarkEntry, Plan, find_plan
from schedlab.plan.sweep import points
from schedlab.plan.targets import known
from schedlab.result.folder import is_sweep
from schedlab.settings.variant import Variant, parse_variant


def carry_out(make: Callable[[], Plan], how: How) -> None:
    """Make the result of a plan, or the results of its sweep, or go on with what there is."""
    plan = None if how.resume else make()

    # Only here: a mistake in the plan is reported at once, without loading what runs it.
    if how.resume and is_sweep(how.resume):
        from schedlab.lab.sweep import plan_of_sweep

        plan = plan_of_sweep(how.resume)
    if not plan:
        from schedlab.cli.result import go_on

        go_on(how)
        return
    first, *others = points(plan).values()
    if others or how.resume:
        from schedlab.cli.sweep import carry_out_sweep

        carry_out_sweep(plan, how)
    else:
        from schedlab.cli.result import make_result

        make_result(first.plan, how)


def plan_of(plan_name: str | None, options: Mapping[str, Any]) -> Plan:
    """Return the plan that is named, changed by the options; or the one they make."""
    given, where = find_plan(plan_name) if plan_name else (None, "command line")
    data = given.model_dump(exclude_unset=True) if given else {}
    if options["benchmarks"]:
        data["benchmark"] = [benchmark_entry(text) for text in options["benchmarks"]]
    if options.get("command") is not None or options.get("metrics"):
        entries = data.get("benchmark", ()) if options["benchmarks"] else ()
        data["benchmark"] = [
            *entries,
            own_entry(options.get("command"), options.get("metrics", ())),
        ]
    if options["workloads"]:
        data["workload"] = options["workloads"]
    return make_plan(data, options, where)


def make_plan(data: dict[str, Any], options: Mapping[str, Any], where: str) -> Plan:
    """Change a plan's data by the options given, and make the plan of it."""
    given = given_options(options)
    for key in ("suite", "only", "aa", "exact", "client"):
        if key in given:
            data[key] = given[key]
    blocks = {**data.get("blocks", {}), **{k: given[k] for k in _BLOCKS if k in given}}
    sweep = dict(data.get("sweep", {}))
    for key, place in {"target": data, "machine": data, "kernel": {}, "seed": blocks}.items():
        if key in given:
            place.pop(key, None)
            sweep[key] = given[key]
    if sweep:
        data["sweep"] = sweep
    if "looks" in given or "blocks" in given:
        blocks["looks"] = _looks(given)
    if blocks:
        data["blocks"] = blocks
    judging = dict(data.get("judging", {}))
    if "margin" in given:
        judging["margin"] = given["margin"]
    if "strict" in given:
        judging["strict"] = True
    if judging:
        data["judging"] = judging
    if "no_counters" in given and "counters" in given:
        raise UsageError("--counters and --no-counters contradict each other; give one.")
    if "no_counters" in given:
        data["counters"] = ()
    elif "counters" in given:
        data["counters"] = [name.strip() for name in given["counters"].split(",")]
    _add_variants(data, given.get("variants", ()))
    plan = validate(data, Plan, where)
    plan.design()
    return plan


_BLOCKS = ("warmup", "timeout", "budget")
_BASE = "base"
"""What the host as it is is called beside a single variant."""


_NOT_WITH_AA = (
    "--aa compares the host with itself: give no --variant with it, or two that set the same."
)


def _add_variants(data: dict[str, Any], texts: Sequence[str]) -> None:
    """Add the variants to the plan: those named, `auto`, or the two equal ones of an A/A run."""
    if AUTO in texts:
        if len(texts) > 1:
            raise UsageError("--variant auto cannot be combined with other variants.")
        if data.get("aa"):
            raise UsageError(_NOT_WITH_AA)
        [target, *_] = data.get("sweep", {}).get("target") or [data.get("target", "host")]
        if known(target)[0].created:
            raise UsageError(
                f"--variant auto: {target} is created for each run, so there is nothing to switch"
                " on it.\n  Name the settings in --variant."
            )
        from schedlab.settings.switchable import switchable, without_effect
        from schedlab.targets.choice import find_system

        system = find_system(target)
        if offers := switchable(system):
            [(text, words), *_] = offers
            texts = (text,)
            echo(f"note: --variant auto takes {shlex.quote(text)}: {words}", err=True)
        else:
            data["aa"] = True
            data.pop("variant", None)
            texts = ()
            echo(
                "note: --variant auto finds no setting here whose change would have an effect"
                f"{''.join(f'; {reason}' for reason in without_effect(system))}."
                "\n  This is an A/A run, as with --aa: it measures the noise of the method here.",
                err=True,
            )
    if texts:
        variants = [parse_variant(text) for text in texts]
        if len(variants) == 1 and data.get("aa"):
            raise UsageError(_NOT_WITH_AA)
        if len(variants) == 1:
            if variants[0].name == _BASE:
                raise UsageError(
                    f"--variant {_BASE}: a single variant is compared with the host as it is, which"
                    f" is called {_BASE}; give another variant, or another name."
                )
            variants = [Variant(name=_BASE), *variants]
        data["variant"] = variants
    elif "variant" not in data and not data.get("aa"):
        raise UsageError(NO_VARIANT)


def benchmark_entry(text: str) -> dict[str, Any]:
    """Read `NAME:key=value,key=[value,value]`; a list is the axis of a sweep."""
    name, _, rest = text.partition(":")
    params: dict[str, int | str] = {}
    axis: dict[str, list[int | str]] = {}
    pairs = list(filter(None, re.split(r",(?![^\[]*\])", rest)))
    for pair in pairs:
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not equals:
            raise UsageError(f"--benchmark '{text}': write it as NAME:KEY=VALUE,KEY=[VALUE,VALUE]")
        if key in params or key in axis:
            raise UsageError(f"--benchmark '{text}': {key} is given twice")
        if value.startswith("[") and value.endswith("]"):
            axis[key] = [_value(each.strip()) for each in value[1:-1].split(",")]
        else:
            params[key] = _value(value)
    entry: dict[str, Any] = {"name": name, "params": params, "axis": axis}
    shown = ",".join(pair for pair in pairs if pair.partition("=")[0].strip() not in axis)
    if shown:
        entry["label"] = f"{name}:{shown}"
    return entry


def own_entry(command: str | None, metrics: Sequence[str]) -> dict[str, Any]:
    """Return the benchmark that a command and its metrics make, called as its program is."""
    if command is None or not metrics:
        missing = f"--metric; say what to read of its output: {EXAMPLE}" if command else "--command"
        raise UsageError(f"--command and --metric go together: add {missing}.")
    entry = {"command": command, "metrics": [parse_metric(text) for text in metrics]}
    program = next(iter(command.split()), "")
    return {"name": Path(program).name or "command", **entry}


def single_case(text: str, machine: Machine) -> Case:
    """Return the one case that `NAME:key=value,...` describes."""
    entry = validate(benchmark_entry(text), BenchmarkEntry, "--benchmark")
    if entry.axis:
        raise UsageError(
            f"--benchmark '{text}': one run is expected here, so give no list of values."
        )
    return find_benchmark(entry.name, "--benchmark").case(
        machine, entry.params, entry.label, "--benchmark"
    )


def _value(text: str) -> int | str:
    return int(text) if re.fullmatch("[0-9]{1,18}", text) else text


def _looks(given: dict[str, Any]) -> list[int]:
    if "blocks" in given:
        if "looks" in given:
            raise UsageError("--blocks and --looks both say how many blocks; give one.")
        return [given["blocks"]]
    numbers: list[int] = given["looks"]
    return numbers
