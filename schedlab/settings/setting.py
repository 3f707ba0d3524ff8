"""What a kind of setting is, and the registry of all kinds.

A kind is a class in a module of `kinds/`, under the decorator `setting`. All that lists kinds asks
the registry: the keys of a variant, the grammar of `--variant` with its help and errors, what a
report calls a variant, the knobs of a host, the scenario of a simulated run, what a target refuses.
"""

import shlex
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel

from schedlab.base.series import TESTED
from schedlab.base.system import System
from schedlab.settings.companion import Companion
from schedlab.settings.knob import Knob, chosen_word

PLACES = {
    "host": ("a host", "--target host or ssh:HOST"),
    "sim": ("a simulated machine", "--target sim:MACHINE"),
    "vm": ("a guest", "--target vm:KERNEL"),
}
"""Where runs happen, and how one asks for it."""

EVERYWHERE = frozenset(PLACES)
REAL = frozenset({"host", "vm"})
NO_PROGRAM = "what runs there is a model, not a program"
"""Why what is about a program means nothing in the simulator."""


def because(reason: str, *places: str) -> dict[str, str]:
    """Return why a kind means nothing in some places, for `Setting.elsewhere`."""
    return dict.fromkeys(places, reason)


Its = TypeVar("Its")
"""The type of a kind's value."""


@dataclass(frozen=True)
class Simulated:
    """One value that a setting writes into a scenario of the simulator."""

    table: str
    """The key of the scenario that holds it."""
    key: str
    value: object
    label: str
    """The name that a host's runs record it by."""
    shown: str
    """The value, as a host's runs record it."""
    place: str
    """Where the simulator's result has it as read back."""
    read_in: tuple[str, ...] = ()
    """The functions of kernel/sched that ask for it, where they are known."""

    @property
    def name(self) -> str:
        """Return what it is called in the kernel."""
        return self.label.rpartition(" ")[2]

    def read_back(self, text: str) -> str:
        """Return the value in what the simulator read back; empty where it has none."""
        return chosen_word(text)


SWITCHED = tuple(name for name, tested in TESTED.items() if tested.switched)


@dataclass(frozen=True)
class WithoutEffect:
    """A setting that simulated kernels take and that changes nothing there."""

    name: str
    reason: str
    series: tuple[str, ...] = SWITCHED
    path: str | None = None
    """The file of a knob; a sched feature has none."""

    @property
    def key(self) -> str:
        """Return its key in a scenario."""
        return self.path or self.name


@dataclass(frozen=True)
class Around:
    """What settings put around a benchmark's own command."""

    env: Mapping[str, str] = field(default_factory=dict)
    prefix: tuple[str, ...] = ()
    beside: tuple[Companion, ...] = ()

    @property
    def commands(self) -> list[tuple[str, ...]]:
        """Return the commands that have to be installed for it."""
        return [*filter(None, [self.prefix]), *(each.command for each in self.beside)]

    def and_(self, other: "Around") -> "Around":
        """Return both, the other one inside."""
        return Around(
            {**self.env, **other.env}, self.prefix + other.prefix, self.beside + other.beside
        )


class Setting(ABC, Generic[Its]):
    """A kind of setting.

    A class of this kind has in its body all that its users see; the methods say how it is
    written, and what it does in each of the places.
    """

    rank: ClassVar[int]
    """Its place among the keys of a variant, and in the order of writing knobs."""
    name: ClassVar[str]
    """What it is called, and begins with on a command line."""
    key: ClassVar[str]
    """Its key in a plan file."""
    value: ClassVar[Any]
    """The type of the key's value, for pydantic."""
    default: ClassVar[Any] = None
    """The value of a variant that does not set it; it counts as false."""
    syntax: ClassVar[str]
    example: ClassVar[str]
    toml: ClassVar[str]
    """The example as a line of a plan file."""
    help: ClassVar[str]
    where: ClassVar[frozenset[str]] = EVERYWHERE
    """The places in which it means something.

    Of a kind that means nothing on a host, a guest takes `boot_options()` alone.
    """
    elsewhere: ClassVar[Mapping[str, str]] = {}
    """Why it means nothing in each of the other places, and what does instead."""
    shared: ClassVar[bool] = True
    """Whether all variants of a plan may have it in common."""
    without_effect: ClassVar[tuple[WithoutEffect, ...]] = ()
    """Those that change nothing in the simulator."""

    @classmethod
    def of(cls, variant: BaseModel) -> Its:
        """Return a variant's value of this kind."""
        found: Its = getattr(variant, cls.key)
        return found

    @property
    def head(self) -> str:
        """Return what it begins with on a command line; empty where the value alone decides."""
        return f"{self.name} "

    def offered(self) -> Iterable[str]:
        """Return what a shell may complete a word to: the setting, or how it begins."""
        return [self.head] if self.head else []

    def begins(self, word: str) -> bool:
        """Return whether a setting that begins with a word is of this kind."""
        return word == self.name

    @abstractmethod
    def parse(self, words: Sequence[str]) -> object:
        """Return the key's value from the words behind the name; None if they are incomplete."""

    @abstractmethod
    def written(self, value: Its) -> Iterable[str]:
        """Return the words behind the name, for each setting that the key's value holds."""

    def add(self, before: Any, more: Any) -> object:
        """Return the value of two settings of one variant; ValueError if there can be one only."""
        raise ValueError(f"{self.name} is set twice")

    def over(self, shared: Any, own: Any) -> object:
        """Return the value of a variant that has its own beside the plan's, both from a file."""
        return own

    def check(self, value: Its) -> None:
        """Refuse a value that contradicts itself; ValueError says why."""

    def check_in(self, place: str, value: Its) -> None:
        """Refuse a value that means nothing in a place where others do; ValueError says why."""

    def knobs(self, system: System, value: Its) -> Iterable[tuple[Knob, str]]:
        """Return the knobs it turns on a host, in the order they are written, with their values.

        Raises:
            KnobError: this host has no such knob.
        """
        return ()

    def around(self, value: Its) -> Around:
        """Return what it puts around a benchmark's command, on a host or in a guest."""
        return Around()

    def boot_options(self, value: Its) -> str:
        """Return what it adds to a guest's kernel command line."""
        return ""

    def simulated(self, value: Its) -> Iterable[Simulated]:
        """Return what it writes into a scenario; ValueError where it cannot be simulated."""
        return ()


class TableSetting(Setting[dict[str, str]]):
    """A kind written `NAME=VALUE`: a table in a plan file."""

    default: ClassVar[Any] = {}

    def parse(self, words: Sequence[str]) -> object:
        """Take the words as one pair."""
        key, equals, value = " ".join(words).partition("=")
        return {key: value} if key and equals else None

    def written(self, value: dict[str, str]) -> Iterable[str]:
        """Write a setting for each pair."""
        return (shlex.quote(f"{key}={each}") for key, each in value.items())

    def add(self, before: Any, more: Any) -> object:
        """Put the pairs into one table."""
        if before.keys() & more.keys():
            raise ValueError(f"{self.name} {next(iter(more))} is set twice")
        return before | more

    def over(self, shared: Any, own: Any) -> object:
        """Take the plan's pairs where the variant has none of that name."""
        both = isinstance(shared, Mapping) and isinstance(own, Mapping)
        return {**shared, **own} if both else own


class ListSetting(Setting[tuple[Its, ...]]):
    """A kind of which a variant has several, in a list."""

    default = ()

    def add(self, before: Any, more: Any) -> object:
        """Join the lists."""
        return before + more

    def over(self, shared: Any, own: Any) -> object:
        """Take what the plan sets where the variant does not set the same thing."""
        if not isinstance(shared, list | tuple) or not isinstance(own, list | tuple):
            return own
        set_here = {self.thing(each) for each in own}
        return [each for each in shared if self.thing(each) not in set_here] + list(own)

    @abstractmethod
    def thing(self, entry: Any) -> object:
        """Return what an entry, as a plan file has it, sets."""


class WordSetting(Setting[str | None]):
    """A kind whose value is one word."""

    def parse(self, words: Sequence[str]) -> object:
        """Take the one word."""
        return words[0] if len(words) == 1 and words[0] else None

    def written(self, value: str | None) -> Iterable[str]:
        """Write the word as a shell has it."""
        return [shlex.quote(value or "")]


REGISTRY: dict[str, Setting[Any]] = {}
"""The kinds by their keys in a plan file."""

Kind = TypeVar("Kind", bound=Setting[Any])


def setting(kind: type[Kind]) -> type[Kind]:
    """Register a kind of setting."""
    taken = {each.rank for each in REGISTRY.values()} | {each.name for each in REGISTRY.values()}
    if kind.key in REGISTRY or taken & {kind.rank, kind.name}:
        raise ValueError(f"{kind.__qualname__}: another setting has its key, its name or its rank")
    REGISTRY[kind.key] = kind()
    return kind
