"""One value in a kernel file: read, write, compare, restore."""

import re
from dataclasses import dataclass, field
from typing import Protocol

from schedlab.base.errors import KnobError, nearest
from schedlab.base.system import System
from schedlab.base.system.system import legible
from schedlab.settings.spelling import same_value

_CHOICE = re.compile(r"[\w-]+|\[[\w-]+\]|\([\w-]+\)")
_CPU = re.compile(r".*/cpu([0-9]{1,6})/.*")


class Knob(Protocol):
    """A value of the running kernel."""

    @property
    def path(self) -> str:
        """Return the file it lives in."""

    @property
    def label(self) -> str:
        """Return the name people know it by."""

    @property
    def cpu(self) -> int | None:
        """Return the CPU it belongs to, or None for the whole machine."""

    def read(self, system: System) -> str:
        """Return the present value; KnobError where it cannot be read."""

    def write(self, system: System, value: str) -> None:
        """Set the value; KnobError where the kernel refuses it."""

    def same(self, wanted: str, found: str, original: str) -> bool:
        """Return whether a value read back is the one written, judged by the first one."""


@dataclass(frozen=True)
class FileKnob:
    """A kernel file that holds one value, such as a sysctl; the file alone makes it what it is."""

    path: str
    label: str = field(compare=False)
    cpu: int | None = field(default=None, compare=False)

    def read(self, system: System) -> str:
        """Return the file's text as it is, without the newline at its end."""
        try:
            return self.value_of(system.exact(self.path).removesuffix("\n"))
        except FileNotFoundError as error:
            raise KnobError(_not_there(self, system)) from error
        except OSError as error:
            raise KnobError(_refused(self, "read", error)) from error

    def value_of(self, text: str) -> str:
        """Return the value that the file's text shows: the text itself."""
        return text

    def write(self, system: System, value: str) -> None:
        """Write the value."""
        try:
            system.write(self.path, value)
        except OSError as error:
            raise KnobError(_refused(self, f"write {value} to", error)) from error

    def same(self, wanted: str, found: str, original: str) -> bool:
        """Return whether both are one value to the kernel, however they are spelled."""
        return same_value(wanted, found, original)


class ChoiceKnob(FileKnob):
    """A kernel file that may list what to choose from: `none [voluntary] full`."""

    def value_of(self, text: str) -> str:
        """Return the chosen word, which is what is written to choose it; else the text as it is."""
        return chosen_word(text)


def chosen_word(text: str) -> str:
    """Return the word in brackets of a list to choose from; a text that is not one as it is."""
    words = text.split()
    chosen = [word[1:-1] for word in words if word[0] in "[("]
    is_list = len(chosen) == 1 and all(_CHOICE.fullmatch(word) for word in words)
    return chosen[0] if is_list else text


def cpu_of(path: str) -> int | None:
    """Return the CPU in whose folder a file is."""
    found = _CPU.fullmatch(path)
    return int(found[1]) if found else None


@dataclass(frozen=True)
class FeatureKnob:
    """A scheduler feature: the words `NAME` or `NO_NAME` in the features file."""

    path: str
    feature: str
    cpu: None = None

    @property
    def label(self) -> str:
        """Return the name of the feature."""
        return f"sched_feature {self.feature}"

    def read(self, system: System) -> str:
        """Return `NAME` or `NO_NAME`."""
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

    def same(self, wanted: str, found: str, original: str) -> bool:
        """Compare the words."""
        return wanted == found


def read_features(system: System, path: str) -> list[str]:
    """Return the words of the features file; KnobError where it cannot be read."""
    try:
        return system.read(path).split()
    except OSError as error:
        knob = FileKnob(path, "sched_features")
        raise KnobError(_refused(knob, "read", error)) from error


def feature_name(word: str) -> str:
    """Return the feature that a word of the features file is about."""
    return word.removeprefix("NO_")


def _not_there(knob: FileKnob, system: System) -> str:
    """Return the message on a knob whose file is not there."""
    folder, _, name = knob.path.rpartition("/")
    beside = [path.rpartition("/")[2] for path in system.glob(f"{folder}/*")]
    if not beside:
        why = f"there is no {folder} here: the kernel lacks it, or its file system is not mounted"
    else:
        why = f"this kernel has no {knob.path}"
    return (
        f"{knob.label}: {why}.{nearest(name, beside, knob.label.removesuffix(name))}"
        "\n  `schedlab doctor` shows what this host allows."
    )


def _refused(knob: Knob, action: str, error: OSError) -> str:
    reason = error.strerror or str(error)
    if isinstance(error, PermissionError):
        advice = "Run as root; a kernel in lockdown refuses debugfs even then."
    elif isinstance(error, FileNotFoundError):
        advice = "The kernel lacks this file, or its file system is not mounted."
    else:
        advice = "The kernel does not take this value."
    return (
        f"{knob.label}: cannot {legible(action)} {knob.path}: {reason}.\n"
        f"  {advice} `schedlab doctor` shows what this host allows."
    )
