"""Two variants simulated with the same seed, up to the first decision in which they part."""

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from schedlab.base.errors import UsageError
from schedlab.benchmarks import Case
from schedlab.lab.divergence.runs import Side, find_divergence, window
from schedlab.lab.divergence.wording import describe
from schedlab.settings.variant import Variant
from schedlab.simulation.scenario import scenario, under
from schedlab.system.interrupt import stoppable
from schedlab.targets.sim import SimTarget


def compare_decisions(
    target: SimTarget,
    variants: tuple[Variant, Variant],
    what: Case | Path,
    seed: int = 1,
    around: float = 50.0,
    timeout: float = 600.0,
) -> Iterator[str]:
    """Yield the lines that show where two variants part, and the events around it.

    Args:
        target: the machine both are simulated on.
        variants: the two, of different names.
        what: a benchmark's case, or the file of a scenario.
        seed: of both runs.
        around: microseconds before and after of which all events are shown; 0: none.
        timeout: the longest a simulator may work, in seconds.
    """
    case = what if isinstance(what, Case) else None
    with (
        stoppable(),
        tempfile.TemporaryDirectory() as name,
        closing(target.session([case] if case else [], variants, timeout)) as session,
    ):
        folder = Path(name)
        session.begin(variants, folder)
        one, other = (
            Side(
                variant.name,
                session.builds[variant.name].program,
                folder / "machine.json",
                _scenario(what, variant, timeout),
                model.enclosures if case and (model := case.model()) else (),
            )
            for variant in variants
        )
        found = find_divergence((one, other), seed, timeout, folder)
        yield from describe(found, (one.name, other.name))
        parting = found.choice or found.anything
        if not parting or not around:
            return
        begin, end = parting.time - around / 1e6, parting.time + around / 1e6
        for number, side in enumerate((one, other)):
            yield f"\n{side.name}, {begin:.6f} to {end:.6f} s:"
            yield from window(side, seed, timeout, folder / f"window{number}", begin, end)


def _scenario(what: Case | Path, variant: Variant, limit: float) -> Mapping[str, Any]:
    if isinstance(what, Case):
        model = what.model()
        assert model, "the session has refused what has no model"
        return scenario(model, variant, limit)
    try:
        given = json.loads(what.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{what}: no scenario: {error}") from error
    if not isinstance(given, dict):
        raise UsageError(f"{what}: a scenario is a JSON object.")
    for workload in given.get("workloads", []):
        if "file" in workload:  # seen from the scenario's folder, of which a copy is read
            workload["file"] = str(what.parent.absolute() / workload["file"])
    return under(variant, given)
