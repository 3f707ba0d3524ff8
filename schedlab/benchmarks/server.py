"""A benchmark's server: the program, the port it listens at, and the data it serves."""

import hashlib
from dataclasses import dataclass, replace

PORT = "@PORT@"
"""Stands in a command, its server and its files for the port, which is chosen for each run."""
FOLDER = "@FOLDER@"
"""Stands in a server's arguments for the folder of its run, for programs that want a full path."""
ADDRESS = "@ADDRESS@"
"""Stands for the only address the server listens at."""
CLIENT = "@CLIENT@"
"""Stands for the address the load comes from."""
PASSWORD = "@PASSWORD@"
"""Stands for a password that is made for each run."""

LOOPBACK = "127.0.0.1"

Argv = tuple[str, ...]

LOAD_USER = "load"
"""Whom the load on a database connects as: the owner of the data. A superuser of the database could
read and write the files of whoever runs the server, so nobody may connect as one."""

_AS_NOBODY = (
    'own="--map-user=65534 --map-group=65534"; [ "$(id -u)" = 0 ] || own=--map-current-user;'
    ' { [ "$(id -u)" != 0 ] && ! unshare --user --ipc $own true 2>/dev/null; } ||'
    ' set -- unshare --user --ipc $own -- "$@"; exec "$@"'
)


def unprivileged(*argv: str) -> Argv:
    """Return a program that refuses root as root may run it: as nobody in a user namespace.

    To the files root owns it is their owner there, wherever they lie; it has no other right of
    root's. An ordinary user runs it as that user. Its System V shared memory ends with it, however
    it ends; only a user who may make no namespace has it with everybody's.
    """
    return ("sh", "-c", _AS_NOBODY, "sh", *argv)


def without_wrapper(argv: Argv) -> Argv:
    """Return a program as it is called, for a message: without what `unprivileged` puts before."""
    before = unprivileged()
    return argv[len(before) :] if argv[: len(before)] == before else argv


@dataclass(frozen=True)
class Ends:
    """The addresses that the machines at both ends of a benchmark's connections have."""

    server: str = LOOPBACK
    client: str = LOOPBACK


ONE_MACHINE = Ends()


@dataclass(frozen=True)
class Place:
    """Where the server of a run is: what the marks in a command and its files stand for."""

    port: int
    folder: str = "."
    ends: Ends = ONE_MACHINE
    password: str = "PASSWORD"

    def filled(self, argv: Argv) -> Argv:
        """Return arguments with all marks replaced."""
        return tuple(map(self.fill, argv))

    def fill(self, text: str) -> str:
        """Return a text with all marks replaced."""
        for mark, value in (
            (PORT, str(self.port)),
            (FOLDER, self.folder),
            (ADDRESS, self.ends.server),
            (CLIENT, self.ends.client),
            (PASSWORD, self.password),
        ):
            text = text.replace(mark, value)
        return text


@dataclass(frozen=True)
class Data:
    """A folder of data that is loaded once for all runs, of which each run gets a copy."""

    scratch: str
    """The folder of the run's, removed after it, that the data are in."""
    make: tuple[Argv, ...]
    """Programs that make an empty database, before the server is started."""
    fill: tuple[Argv, ...]
    """Programs that load it through the server."""
    stop: Argv
    """Ends the server so that what it has written is whole."""

    @property
    def folder(self) -> str:
        """Return the place of the data in the folder of a run."""
        return f"{self.scratch}/data"


@dataclass(frozen=True)
class Server:
    """A program that must serve before the benchmark starts."""

    argv: Argv
    port: int
    """The port it listens at; with PORT among the arguments the first that is tried."""
    seconds: float = 5.0
    """How long it may take until it listens."""
    program: str = ""
    """Its name, where the first word is another's."""
    data: Data | None = None
    address: str = LOOPBACK
    """An address it listens at."""
    configured: bool = False
    """A file of the command has PORT."""

    @property
    def name(self) -> str:
        """Return the program's name."""
        return self.program or self.argv[0]

    @property
    def movable(self) -> bool:
        """Return whether it listens at its port."""
        return self.configured or any(PORT in word for word in self.argv)

    @property
    def programs(self) -> Argv:
        """Return all that must be at hand for it."""
        data = self.data
        around = (argv[0] for argv in (*data.make, *data.fill, data.stop)) if data else ()
        return (self.name, self.argv[0], *around)

    def key(self) -> str:
        """Return an identifier of its data, by how they are made."""
        made = repr((self.argv, self.data)).encode()
        return f"{self.name}-{hashlib.sha256(made).hexdigest()[:8]}"

    def bound(self, before: Argv) -> "Server":
        """Return the same server with words before its command."""
        return replace(self, argv=(*before, *self.argv), program=self.name)

    def at(self, place: Place) -> "Server":
        """Return the server of a run, at its place."""
        data = self.data and replace(
            self.data,
            make=tuple(map(place.filled, self.data.make)),
            fill=tuple(map(place.filled, self.data.fill)),
            stop=place.filled(self.data.stop),
        )
        return replace(
            self,
            argv=place.filled(self.argv),
            port=place.port,
            data=data,
            address=place.ends.server,
        )
