"""A divergence in words."""

from collections.abc import Iterator, Mapping, Sequence

from schedlab.lab.divergence.decisions import Decision
from schedlab.lab.divergence.search import Divergence, Parting

_MOST_LOOKED_AT = 12
"""Groups shown of a pass; the differing ones come first."""


def describe(found: Divergence, names: tuple[str, str]) -> Iterator[str]:
    """Yield where the two runs part."""
    if not found.anything:
        yield f"No difference: all {found.compared:,} decisions are the same, to the microsecond."
        return
    if found.choice is None:
        yield (
            f"All {found.compared:,} decisions are the same; the runs differ in moments or in what"
            " was looked at only."
        )
    if found.choice != found.anything:
        yield "The first difference of any kind, which changes no decision yet:"
        yield from _parting(found.anything, names)
    if found.choice:
        yield "The first decision that differs:"
        yield from _parting(found.choice, names)


def _parting(parting: Parting, names: tuple[str, str]) -> Iterator[str]:
    first, second = parting.first, parting.second
    yield f"  after {parting.after:,} decisions, at {parting.time:.6f} s of simulated time"
    if first and second and (first.function, first.cpu) == (second.function, second.cpu):
        yield from _side_by_side(first, second, names)
        return
    for name, decision in zip(names, (first, second), strict=True):
        yield f"  {name}: {_headline(decision) if decision else 'the run has ended'}"
        if decision:
            yield from (f"    {key} {value}" for key, value in _shown(decision).items())


def _side_by_side(first: Decision, second: Decision, names: tuple[str, str]) -> Iterator[str]:
    yield f"  {_headline(first)}"
    if first.time != second.time:
        yield f"  {names[1]} comes to it {1e6 * (second.time - first.time):+.0f} us later"
    yield from _columns("decides", first.choice, second.choice, names)
    same = {key: value for key, value in first.inputs.items() if second.inputs.get(key) == value}
    if same:
        yield f"  from the same {', '.join(f'{key} {value}' for key, value in same.items())}"
    differing = [
        {key: value for key, value in side.inputs.items() if key not in same}
        for side in (first, second)
    ]
    if any(differing):
        yield from _columns("from", differing[0], differing[1], names)
    yield from _looked_at(first.looked_at, second.looked_at, names)


def _headline(decision: Decision) -> str:
    inputs = decision.inputs
    about = ""
    if decision.function == "select_task_rq":
        about = f" for {inputs.get('comm')}-{inputs.get('pid')}"
    elif "domain" in inputs:
        about = f" of {inputs['domain']} ({inputs.get('idle')}, {inputs.get('span')} CPUs)"
    return f"{decision.function}(){about} on CPU {decision.cpu}, in {decision.task}"


def _shown(decision: Decision) -> dict[str, str]:
    return {**decision.choice, **decision.inputs}


def _columns(
    what: str, first: Mapping[str, str], second: Mapping[str, str], names: tuple[str, str]
) -> Iterator[str]:
    keys = list(dict.fromkeys((*first, *second)))
    left = max(len(names[0]), *(len(first.get(key, "-")) for key in keys), 8)
    yield f"  {what:<14} {names[0]:>{left}}  {names[1]:>8}"
    for key in keys:
        one, other = first.get(key, "-"), second.get(key, "-")
        yield f"    {key:<12} {one:>{left}}  {other:>8}{'' if one == other else '  <--'}"


def _looked_at(
    first: Sequence[str], second: Sequence[str], names: tuple[str, str]
) -> Iterator[str]:
    common = [text for text in first if text in second]
    for name, side in zip(names, (first, second), strict=True):
        own = [text for text in side if text not in common]
        if own:
            yield f"  only {name} looked at, or saw so:"
            yield from (f"    {text}" for text in own[:_MOST_LOOKED_AT])
            if len(own) > _MOST_LOOKED_AT:
                yield f"    ... and {len(own) - _MOST_LOOKED_AT} more"
    if common:
        yield "  both looked at:"
        yield from (f"    {text}" for text in common[:_MOST_LOOKED_AT])
        if len(common) > _MOST_LOOKED_AT:
            yield f"    ... and {len(common) - _MOST_LOOKED_AT} more"
