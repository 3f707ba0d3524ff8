"""A cgroup of its own for each benchmark's server, below the lab's or below its variant's.

What the server starts is in it, whatever that does to its session or parent; it is ended with the
group, and the limits of a variant's group hold for the server as they do for the load.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from schedlab.base.errors import HostError
from schedlab.base.system import System
from schedlab.base.system.interrupt import uninterrupted
from schedlab.doctor.cgroups import own_group
from schedlab.settings.groups import remove_group
from schedlab.settings.kinds.cgroup import folder_of
from schedlab.settings.variant import Variant

_TAG_LETTERS = 12
_ENTER = 'echo $$ > "$1/cgroup.procs" && shift && exec "$@"'
_TRY = 'echo $$ > "$1/cgroup.procs"'
_CPU = "cpu"


class ServerGroups:
    """Where the servers of a plan's variants run."""

    def __init__(self, system: System, tag: str, variants: Sequence[Variant]) -> None:
        """Find the groups above them; nothing is made yet."""
        self._system = system
        self.notices: list[str] = []
        """Why a server has no group of its own, and what one that has is subject to."""
        name = f"schedlab-{tag[:_TAG_LETTERS]}"
        self._own = own_group(system)
        above = {v.name: folder_of(v) or self._own for v in variants}
        self._places = {variant: f"{group}/{name}" for variant, group in above.items() if group}
        self.places = list(dict.fromkeys(self._places.values()))
        """The groups that may be made."""

    def check(self) -> None:
        """Try each group; where one cannot be had, servers run where the lab does."""
        refused: dict[str, str] = {}
        for place in self.places:
            try:
                with self._made(place):
                    done = self._system.capture(("sh", "-c", _TRY, "sh", place))
                    if done.returncode:
                        refused[place] = done.stderr.strip().rpartition(": ")[2] or "no entry"
            except OSError as error:
                refused[place] = error.strerror or str(error)
        for place, why in refused.items():
            self.notices.append(f"{place.rpartition('/')[0]}: servers have no cgroup there: {why}")
        self.places = [place for place in self.places if place not in refused]
        self._places = {v: place for v, place in self._places.items() if place in self.places}
        if not self._own:
            self.notices.append(
                "servers have no cgroup of their own: version 2 is not mounted here, or it does not"
                " have the lab's group"
            )
        elif _CPU in self._system.read_or(f"{self._own}/cgroup.subtree_control", "").split():
            self.notices.append(
                f"{self._own} gives its groups the controller {_CPU}: servers are scheduled as a"
                " group with a weight of its own, beside the load's tasks"
            )

    @contextmanager
    def made(self, variant: str) -> Iterator[str]:
        """Make a variant's group inside a `with` block; yield its path, or nothing for none."""
        place = self._places.get(variant, "")
        if not place:
            yield ""
            return
        try:
            with self._made(place):
                yield place
        except OSError as error:
            raise HostError(f"{place}: no cgroup for the server: {error.strerror}") from error

    @contextmanager
    def _made(self, place: str) -> Iterator[None]:
        try:
            self._system.make_folder(place)
            yield
        finally:
            with uninterrupted(), suppress(OSError):  # the journal's end tries again
                remove_group(self._system, place)


def entering(group: str, argv: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command that enters a group first, if there is one."""
    return ("sh", "-c", _ENTER, "sh", group, *argv) if group else argv
