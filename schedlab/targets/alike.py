"""Whether variants come to the same on a target: in an A/A run they must, else they must not."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from schedlab.base.errors import UsageError

Face = TypeVar("Face")


def check_alike(aa: bool, faces: Iterable[tuple[str, Face]], shared: Callable[[Face], str]) -> None:
    """Refuse variants that are the same, or in an A/A run those that differ.

    Args:
        aa: whether the plan is an A/A run
        faces: each variant's name, and all that makes it what it is on the target
        shared: what the message says of a face that two variants share

    Raises:
        UsageError: the first two that should not go together, by name.
    """
    seen: dict[str, Face] = {}
    for name, face in faces:
        for other, earlier in seen.items():
            if face == earlier and not aa:
                raise UsageError(
                    f"variants {other} and {name} are the same{shared(face)};"
                    " there is nothing to compare."
                    "\n  Change one, or ask for an A/A run: --aa, or aa = true in the plan."
                )
            if face != earlier and aa:
                raise different(other, name)
        seen[name] = face


def different(first: str, second: str) -> UsageError:
    """Return the refusal of an A/A run with two variants that differ."""
    return UsageError(f"an A/A run needs variants that are the same; {first} and {second} differ.")
