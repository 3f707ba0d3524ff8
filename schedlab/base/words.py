"""Numbers and lists as parts of a sentence."""

from collections.abc import Sequence


def plural(n: int, word: str) -> str:
    """Count things: `1 block`, `12 blocks`."""
    return f"{n:,} {word}{'' if n == 1 else 's'}"


def first_of(names: Sequence[str], most: int = 12) -> str:
    """List names of which there may be many: `a, b, c and 31 more`."""
    rest = len(names) - most
    return f"{', '.join(names[:most])} and {rest} more" if rest > 0 else ", ".join(names)


def listing(items: Sequence[str]) -> str:
    """Join items as in a sentence: `a, b and c`."""
    return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))
