"""Files of rt-app for the tests: the examples, and random ones that always come to their end."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

EXAMPLES = sorted((Path(__file__).parents[1] / "data" / "rt-app").glob("*.json"))
ROWS = {
    "handoff": {"front-0": 7, "back-1": 6},
    "later": {
        "parent-0": 12,
        "budget-1": 5,
        "first-2": 5,
        "child-3-0000": 2,
        "child-4-0001": 2,
        "child-5-0002": 2,
    },
    "liberties": {"server-0": 4, "client-1": 4},
    "meeting": {"quick-0": 6, "quick-1": 6, "slow-2": 5},
    "mixed": {"walker-0": 14},
    "periodic": {"tick-0": 20, "grid-1": 16, "grid-2": 16, "drift-3": 15},
    "queue": {"caller-0": 7, "answer-1": 6, "pair0-2": 13, "pair1-3": 12},
}
"""Lines in each thread's log."""

_LAST_CPU = min(1, (os.cpu_count() or 1) - 1)
_NOT_EVERYWHERE = {"later", *(["mixed"] if _LAST_CPU == 0 else [])}
NATIVE = [path for path in EXAMPLES if path.stem not in _NOT_EVERYWHERE]
"""What a host runs without groups, real-time priorities and more than its CPUs."""

_us = st.integers(0, 300)
_names = st.sampled_from(["a", "b", "c"])


def _timer() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"ref": st.sampled_from(["unique", "uniqueB", "shared"]), "period": st.integers(0, 2000)},
        optional={"mode": st.sampled_from(["relative", "absolute"])},
    )


_EVENTS: st.SearchStrategy[list[tuple[str, Any]]] = st.one_of(
    st.tuples(st.sampled_from(["run", "run_a", "runtime", "sleep", "sleep7"]), _us).map(
        lambda event: [event]
    ),
    _timer().map(lambda timer: [("timer", timer)]),
    st.sampled_from(["signal", "broad", "resume"]).flatmap(
        lambda event: _names.map(lambda name: [(event, name)])
    ),
    st.tuples(_names, _us).map(lambda e: [("lock", e[0]), ("run", e[1]), ("unlock", e[0])]),
    st.just([("yield", "")]),
    st.integers(0, 100_000).map(lambda size: [("mem", size)]),
    st.integers(0, 100_000).map(lambda size: [("iorun", size)]),
)
_PROPERTIES = st.fixed_dictionaries(
    {},
    optional={
        "cpus": st.lists(st.integers(0, _LAST_CPU), min_size=1, max_size=2),
        "priority": st.integers(0, 19),
    },
)


def text_of(members: list[tuple[str, Any]]) -> str:
    """Write an object whose keys may repeat."""
    return "{" + ", ".join(f'"{key}" : {_value(value)}' for key, value in members) + "}"


def _value(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return text_of(value)
    if isinstance(value, dict):
        return text_of(list(value.items()))
    if isinstance(value, str):
        return f'"{value}"'
    return str(value)


@st.composite
def _phase(draw: st.DrawFn) -> tuple[int, list[tuple[str, Any]]]:
    """Draw a phase and how often it is gone through."""
    events = [event for part in draw(st.lists(_EVENTS, min_size=1, max_size=4)) for event in part]
    loop = draw(st.integers(1, 3))
    return loop, [("loop", loop), *draw(_PROPERTIES).items(), *events]


@st.composite
def files(draw: st.DrawFn) -> tuple[str, dict[str, int]]:
    """Draw a file's text and the lines each thread's log will have."""
    tasks, rows, index = [], {}, 0
    for number in range(draw(st.integers(1, 3))):
        phases = draw(st.lists(_phase(), min_size=1, max_size=3))
        instances, loop = draw(st.integers(1, 2)), draw(st.integers(1, 2))
        if len(phases) == 1 and draw(st.booleans()):
            loop, body = 1, phases[0][1]
        else:
            body = [
                ("loop", loop),
                ("phases", [(f"p{i}", phase) for i, (_, phase) in enumerate(phases)]),
            ]
        members = [("instance", instances), ("delay", draw(st.integers(0, 500))), *body]
        tasks.append((f"t{number}", members))
        for _ in range(instances):
            rows[f"t{number}-{index}"] = loop * sum(times for times, _ in phases)
            index += 1
    slack = draw(st.booleans())
    settings = f'"duration" : -1, "calibration" : 20, "cumulative_slack" : {str(slack).lower()}'
    return f'{{ "global" : {{ {settings} }},\n"tasks" : {text_of(tasks)} }}', rows
