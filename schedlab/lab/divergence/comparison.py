"""Two variants simulated with the same seed: where they part, in what, and how often."""

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedlab.base.files import read_text
from schedlab.base.system.interrupt import stoppable
from schedlab.benchmarks import Case
from schedlab.benchmarks.recorded_file import LARGEST_WORKLOAD
from schedlab.kernels.cache import disk_errors
from schedlab.lab.divergence.runs import Side, find_divergence, window
from schedlab.lab.divergence.timeline import Timeline
from schedlab.lab.divergence.wording import Words
from schedlab.settings.kinds.scx import Scx
from schedlab.settings.variant import Variant
from schedlab.targets.sim import SimTarget
from schedlab.targets.simulated.scenario import scenario, under


@dataclass(frozen=True)
class Wanted:
    """What is to be shown of a comparison."""

    around: float | None = None
    """Seconds before and after the parting of which all events are shown; None: in short."""
    timeline: Path | None = None
    """The file for Perfetto."""


def compare_decisions(
    target: SimTarget,
    variants: tuple[Variant, Variant],
    what: Case | Path,
    seed: int = 1,
    wanted: Wanted | None = None,
    timeout: float = 600.0,
) -> Iterator[str]:
    """Yield the lines that show where two variants part, and what they decide differently.

    Args:
        target: the machine both are simulated on.
        variants: the two, of different names.
        what: a benchmark's case, or the file of a scenario.
        seed: of both runs.
        wanted: what else is shown or written.
        timeout: the longest a simulator may work, in seconds.
    """
    wanted = wanted or Wanted()
    case = what if isinstance(what, Case) else None
    names = (variants[0].name, variants[1].name)
    with (
        stoppable(),
        _written(wanted.timeline, names) as timeline,
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
                # A scheduler is loaded before the workload, where only that would be found.
                from_boot=not any(map(Scx.of, variants)),
            )
            for variant in variants
        )
        sides = (one, other)
        note = timeline.add if timeline else None
        found, began = find_divergence(sides, seed, timeout, folder, note)
        for number, time in enumerate(began):
            if timeline:
                timeline.begins(number, time)
        words = Words(found, names, began, "power-on" if one.from_boot else "its workload on")
        yield from words.lines(wanted.around is not None)
        parting = found.choice or found.anything
        if not parting or not wanted.around:
            return
        begin = max(0.0, parting.time - wanted.around)
        end = parting.time + wanted.around
        for number, side in enumerate(sides):
            since = f"{begin:.6f} to {end:.6f} s since {words.origin}"
            yield f"\n{side.name}, {since} (its workload begins at {began[number]:.6f} s):"
            yield from window(side, seed, timeout, folder / f"window{number}", begin, end)


@contextmanager
def _written(path: Path | None, names: tuple[str, str]) -> Iterator[Timeline | None]:
    """Yield the timeline that goes to a file, before anything is simulated; None without one."""
    if not path:
        yield None
        return
    with (
        disk_errors("--output", path.parent),
        path.open("w", encoding="utf-8") as file,
        Timeline(file, names) as timeline,
    ):
        yield timeline


def _scenario(what: Case | Path, variant: Variant, limit: float) -> Mapping[str, Any]:
    if isinstance(what, Case):
        model = what.model()
        assert model, "the session has refused what has no model"
        return scenario(model, variant, limit)
    given = read_scenario(what)
    assert given is not None, "the caller has seen that it is one"
    for workload in given.get("workloads", []):
        if "file" in workload:  # seen from the scenario's folder, of which a copy is read
            workload["file"] = str(what.parent.absolute() / workload["file"])
    return under(variant, given)


def read_scenario(file: Path) -> dict[str, Any] | None:
    """Return a file's scenario; None if it is something else, as a file of rt-app."""
    text = read_text(file, LARGEST_WORKLOAD)
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return None  # rt-app's files may have comments, which is not JSON
    if not isinstance(given, dict) or isinstance(given.get("tasks"), dict) or "global" in given:
        return None
    return given
