"""One value in a kernel file: read, write, compare, restore."""

import re
from dataclasses import dataclass
from typing import Protocol

from schedlab.errors import KnobError, nearest
from schedlab.system import System

_CHOSEN = re.compile(r"[\[(](\w[\w-]*)[\])]")

_FLAG = {"Y": "1", "N": "0"}


class Knob(Protocol):
    """A value of the running kernel."""

    @property
    def path(self) -> str:
        """Give the file it lives in."""

    @property
    def label(self) -> str:
        """Give the name people know it by."""

    @property
    def cpu(self) -> int | None:
        """Give the CPU it belongs to, or None for the whole machine."""

    def read(self, system: System) -> str:
        """Give the present value; KnobError where it cannot be read."""

    def write(self, system: System, value: str) -> None:
        """Set the value; KnobError where the kernel refuses it."""

    def same(self, wanted: str, found: str) -> bool:
        """Tell whether a value read back is the one that was written."""


@dataclass(frozen=True)
class FileKnob:
    """A kernel file that holds one value, such as a sysctl."""

    path: str
    label: str
    cpu: int | None = None

    def read(self, system: System) -> str:
        """Give the value; of a list such as `none [voluntary] full`, the chosen word."""
        try:
            text = " ".join(system.read(self.path).split())
        except OSError as error:
            raise KnobError(_refused(self, "read", error)) from error
        return chosen_word(text)

    def write(self, system: System, value: str) -> None:
        """Write the value."""
        try:
            system.write(self.path, value)
        except OSError as error:
            raise KnobError(_refused(self, f"write {value} to", error)) from error

    def same(self, wanted: str, found: str) -> bool:
        """Compare as numbers where both are, else as words; a flag reads as a letter."""
        found = _FLAG.get(found, found)
        try:
            return int(wanted, 0) == int(found, 0)
        except ValueError:
            return wanted.split() == found.split()


def chosen_word(text: str) -> str:
    """Give what a file's text tells; of a list such as `none [voluntary] full`, the chosen word."""
    chosen = _CHOSEN.search(text)
    return chosen[1] if chosen else text


@dataclass(frozen=True)
class FeatureKnob:
    """A scheduler feature: the words `NAME` or `NO_NAME` in the features file."""

    path: str
    feature: str
    cpu: None = None

    @property
    def label(self) -> str:
        """Name the feature."""
        return f"sched_feature {self.feature}"

    def read(self, system: System) -> str:
        """Give `NAME` or `NO_NAME`."""
        words = read_features(system, self.path)
        for word in (self.feature, f"NO_{self.feature}"):
            if word in words:
                return word
        known = sorted(feature_name(word) for word in words)
        raise KnobError(
            f"{self.path}: no feature '{self.feature}' in this kernel."
            f"{nearest(self.feature, known)}\n  It has: {', '.join(known)}."
        )

    def write(self, system: System, value: str) -> None:
        """Switch the feature."""
        try:
            system.write(self.path, value)
        except OSError as error:
            raise KnobError(_refused(self, f"write {value} to", error)) from error

    def same(self, wanted: str, found: str) -> bool:
        """Compare the words."""
        return wanted == found


def read_features(system: System, path: str) -> list[str]:
    """Give the words of the features file; KnobError where it cannot be read."""
    try:
        return system.read(path).split()
    except OSError as error:
        knob = FileKnob(path, "sched_features")
        raise KnobError(_refused(knob, "read", error)) from error


def feature_name(word: str) -> str:
    """Give the feature a word of the features file speaks of."""
    return word.removeprefix("NO_")


def _refused(knob: Knob, action: str, error: OSError) -> str:
    reason = error.strerror or str(error)
    if isinstance(error, FileNotFoundError):
        advice = "This kernel has no such knob, or its file system is not mounted."
    elif isinstance(error, PermissionError):
        advice = "Run as root; a kernel in lockdown refuses debugfs even then."
    else:
        advice = "The kernel does not take this value."
    return (
        f"{knob.label}: cannot {action} {knob.path}: {reason}.\n"
        f"  {advice} `schedlab doctor` tells what this host allows."
    )
