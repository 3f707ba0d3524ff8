"""What a benchmark runs that is not our own: the programs, and how one comes by them."""

from collections.abc import Iterable
from dataclasses import dataclass

from schedlab.base.system import System


@dataclass(frozen=True)
class Tool:
    """A program, or several that belong together.

    `schedlab doctor` looks for each tool, guests are given those of Debian's, and a report's
    platform table has the versions.
    """

    name: str
    package: str = ""
    """The Debian packages it comes in; none where the user builds it or sets it up."""
    version: tuple[str, ...] = ()
    """The command that prints the version, if there is one."""
    programs: tuple[str, ...] = ()
    """Those that have to be in PATH, `a|b` for one of two; that of its name if none is given."""
    folders: tuple[str, ...] = ()
    """Patterns of folders that Debian keeps them in and an ordinary user's PATH may lack."""
    files: tuple[str, ...] = ()
    """Files that the programs read by their own account."""
    in_guests: bool = True
    """Whether it runs in a guest, which has no more than programs, their libraries and `files`."""
    variable: str = ""
    """The environment variable that says where the kit or the deployment is."""
    holds: str = ""
    """A file of the kit."""
    use: str = ""
    """What it is for beside the benchmark's own command."""
    required: bool = False
    """The suites `common` and `quick` need it."""
    listed: int = 0
    """Its place among those whose versions every platform table has; 0: only where it is run."""

    @property
    def wanted(self) -> tuple[tuple[str, ...], ...]:
        """Return the programs, each with what may be there in its place."""
        return tuple(tuple(names.split("|")) for names in self.programs or (self.name,))

    def version_of(self, program: str) -> tuple[str, ...] | None:
        """Return the arguments with which a program prints its version; None if it is not ours.

        They are the same for those that may be there in each other's place.
        """
        for names in self.wanted:
            if program in names:
                return self.version[1:] if self.version and self.version[0] in names else ()
        return None


def find_programs(system: System, tools: Iterable[Tool]) -> None:
    """Let a system find tools' programs where Debian keeps them, the newest version first.

    Where several versions are installed side by side, their folders end with the version.
    """
    for tool in tools:
        for pattern in tool.folders:
            for folder in reversed(system.glob(pattern)):
                system.search(folder)
