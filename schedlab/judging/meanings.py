"""What every counter of a result says, wherever it is declared."""

from dataclasses import replace
from functools import cache

from schedlab.benchmarks.cpuidle_smt import MEANINGS as OF_CPUIDLE_SMT
from schedlab.counters import all_groups
from schedlab.counters.meaning import CLIENT, CLIENT_OTHERS, Meaning, Topic, find_meaning
from schedlab.counters.simulated import SIMULATED
from schedlab.counters.tracepoints import entry_of


@cache
def meaning_of(counter: str) -> Meaning:
    """Return what a counter says; one that nobody declared says its own name."""
    if counter == CLIENT_OTHERS:
        return Meaning(counter, Topic.CLIENT, "share of the client's CPUs taken by other work")
    if counter.startswith(CLIENT):
        there = meaning_of(counter.removeprefix(CLIENT))
        return replace(there, pattern=counter, topic=Topic.CLIENT, words=f"client: {there.words}")
    return find_meaning(counter, declared())


def declared() -> tuple[Meaning, ...]:
    """Return what counters say, wherever it is declared."""
    groups = (meaning for group in all_groups().values() for meaning in group.meanings)
    return (*SIMULATED, *OF_CPUIDLE_SMT, *groups)


def twins_of(counter: str) -> list[str]:
    """Return the counters that count the same thing, such as the entry of what this one leaves."""
    return [*filter(None, [meaning_of(counter).same_as]), *entry_of(counter)]
