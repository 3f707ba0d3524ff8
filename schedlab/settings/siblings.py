"""Files that change when a knob is written: one value in two units, or one for all and for each.

No list names them all, and kernels differ. So the files around a knob are read before and after it
is written, and those that the writing changed are put back with it.
"""

from collections.abc import Iterable, Mapping

from schedlab.base.system import System
from schedlab.settings.kinds import sysctl
from schedlab.settings.knob import FeatureKnob, FileKnob, Knob
from schedlab.settings.sched_debug import DEBUG_FOLDER, FEATURES, debug_knob

_LAST_PID = f"{sysctl.FOLDER}kernel/ns_last_pid"
"""Changes with every process that starts."""


class Siblings:
    """The files around some knobs that can be set, with their values before any is written."""

    def __init__(self, system: System, knobs: Iterable[Knob]) -> None:
        """Read them twice: what changes by itself is left out."""
        self._system = system
        turned = [knob for knob in knobs if not isinstance(knob, FeatureKnob)]
        self._folders = sorted({folder for knob in turned if (folder := _folder(knob.path))})
        self._left_out = {FEATURES, _LAST_PID, *(knob.path for knob in knobs)}
        first, again = self._read(), self._read()
        self.before = {path: text for path, text in first.items() if again.get(path) == text}
        self._last: Mapping[str, str] = self.before
        self._tied: dict[str, None] = {}

    def compare(self) -> None:
        """Remember what has changed since the last time."""
        now = self._read()
        changed = [path for path in self.before if now.get(path) != self._last.get(path)]
        self._tied |= dict.fromkeys(path for path in changed if path in now)
        self._last = now

    def tied(self) -> dict[str, str]:
        """Return the files that have changed, with their values of before."""
        return {path: self.before[path] for path in self._tied}

    def _read(self) -> dict[str, str]:
        return {
            path: text.removesuffix("\n")
            for folder in self._folders
            for path, text in self._system.settable(folder).items()
            if path not in self._left_out
        }


def sibling_knob(system: System, path: str) -> FileKnob:
    """Return the knob of a file around others."""
    if path.startswith(sysctl.FOLDER):
        return sysctl.knob(path.removeprefix(sysctl.FOLDER))
    return debug_knob(system, path.removeprefix(f"{DEBUG_FOLDER}/"))


def _folder(path: str) -> str | None:
    """Return the folder whose files a knob may change."""
    if path.startswith(f"{DEBUG_FOLDER}/"):
        return DEBUG_FOLDER
    if not path.startswith(sysctl.FOLDER):
        return None
    parts = path.removeprefix(sysctl.FOLDER).split("/")
    return sysctl.FOLDER + "/".join(parts[: 2 if parts[0] == "net" else 1])
