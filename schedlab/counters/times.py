"""Names of the counters of where tasks' time went: `time:STATE:ns`, `time:ROLE:STATE:ns`.

A role is the tasks of one name. The counters of all states together are the time of all tasks; they
are judged as parts of it (`schedlab/judging/why.py`), not one by one.
"""

from collections.abc import Mapping

_FIRST, _LAST = "time:", ":ns"

MEASURED = f"{_FIRST}measured{_LAST}"
"""How long was measured: what the states of one task add up to if it was there all the time."""


GONE = "gone"
"""The state of a task of the run that had not been started yet, or had ended already."""


def time_counter(state: str, role: str = "") -> str:
    """Return the counter of a state of all tasks, or of those of one role."""
    return f"{_FIRST}{role}{':' if role else ''}{state}{_LAST}"


def is_time(counter: str) -> bool:
    """Return whether a counter is one of these."""
    return counter.startswith(_FIRST)


def times(counters: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Return the ns by state of each role, of all tasks under an empty name; none without any."""
    found: dict[str, dict[str, float]] = {}
    for counter, ns in counters.items():
        if is_time(counter) and counter != MEASURED:
            name = counter.removeprefix(_FIRST).removesuffix(_LAST)
            role, _, state = name.rpartition(":")
            found.setdefault(role, {})[state] = ns
    return found
