"""Programs beside a benchmark: its server, or a companion such as a sched_ext scheduler."""

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from schedlab.base.errors import HostError, IncompleteRun, SystemLost
from schedlab.base.system import Launch, Running, System
from schedlab.benchmarks import Command
from schedlab.benchmarks.server import Ends, Place, Server
from schedlab.settings.companion import Companion
from schedlab.targets.last_words import last_words
from schedlab.targets.server_group import entering

_POLL_SECONDS = 0.02
_PORTS = 100
"""How many ports are tried for a server."""
_LISTENS_ITSELF = """port=$1 program=$2
holds() {
	for process; do
		ls -l "/proc/$process/fd" 2>/dev/null | grep -qF "socket:[$inode]" && exit 0
		holds $(grep -ls "^PPid:[[:space:]]*$process$" /proc/[0-9]*/status | grep -o '[0-9]*')
	done
}
cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | {
	while read -r slot at from state queues timer again user waits inode rest; do
		case $at,$state in *:$port,0A) holds "$program" ;; esac
	done
	exit 1
}"""
_MOST_WORDS = 64 << 10
"""Bytes at the end of a server's output among which it is looked for what to quote."""
_SPEAKS_SECONDS = 0.3
"""A server learns of the end of a process of its own a moment after its clients do."""


def at_port(system: System, command: Command, folder: Path, ends: Ends) -> Command:
    """Return a run's command with the port its server is to listen at: the first that is free.

    Raises:
        HostError: none is.
    """
    server = command.server
    if server is None:
        return command
    ports = range(server.port, server.port + (_PORTS if server.movable else 1))
    for port in ports:
        if not system.listens(port, ends.server):
            there = system.place(folder / "x").removesuffix("/x")
            return command.at(Place(port, there, ends, secrets.token_hex(16)))
    if server.movable:
        raise HostError(
            f"ports {ports[0]} to {ports[-1]} are in use, so {server.name} cannot listen on any;"
            " `ss -ltnp` shows who uses them"
        )
    raise HostError(f"port {server.port} is taken: another {server.name} runs; end it first")


@contextmanager
def serving(
    system: System,
    server: Server | None,
    raw: Path,
    place: Path | None,
    env: dict[str, str],
    ends: bool = False,
    group: str = "",
) -> Iterator[Running | None]:
    """Keep a benchmark's server running inside a `with` block, in `place` if that is given.

    With `ends` the block has to end it. It runs in the cgroup `group`, if that is given.

    Raises:
        HostError: it did not start to listen, or had ended before the block did.
    """
    if server is None:
        yield None
        return
    name, launch = server.name, _launch(entering(group, server.argv), raw / "server", env, place)
    said: Mapping[Path, int] = {}
    try:
        with system.beside(launch) as child:
            await_ready(
                *(child, name, server.seconds),
                lambda: (
                    system.listens(server.port, server.address)
                    and _listens_itself(system, child, server.port)
                ),
            )
            try:
                yield child
            except IncompleteRun as error:
                system.pause(_SPEAKS_SECONDS)
                said = _printed(system, launch)  # what it says as we end it explains nothing
                if not child.running():
                    raise IncompleteRun(f"{error}; the server {name} had ended") from error
                raise
            if not child.running() and not ends:
                raise HostError(f"the server {name} ended before the run did")
    except (HostError, IncompleteRun) as error:
        if isinstance(error, SystemLost):
            raise
        raise _quoting(error, name, launch, said) from None


def _listens_itself(system: System, child: Running, port: int) -> bool:
    """Return whether what listens at a port is a program that was started, or a child of it.

    The port was free when it was chosen. Data were loaded or copied since, and another program may
    have taken it: the load would be sent to that.
    """
    argv = ("sh", "-c", _LISTENS_ITSELF, "sh", f"{port:04X}", str(child.pid))
    return system.capture(argv).returncode == 0


@contextmanager
def accompanied(
    system: System, companions: Sequence[Companion], raw: Path, env: dict[str, str]
) -> Iterator[None]:
    """Keep a variant's companions running inside a `with` block.

    Raises:
        HostError: one did not become ready, or had ended before the block did.
    """
    with ExitStack() as stack:
        for number, companion in enumerate(companions, 1):
            output = raw / ("companion" if number == 1 else f"companion-{number}")
            stack.enter_context(_beside(system, companion, output, env))
        yield


@contextmanager
def _beside(
    system: System, companion: Companion, output: Path, env: dict[str, str]
) -> Iterator[None]:
    name, launch = companion.command[0], _launch(companion.command, output, env)
    file, value = companion.ready_file, companion.ready_value
    failed = None
    with system.beside(launch) as child:
        try:
            if file is not None:
                await_ready(
                    *(child, name, companion.ready_seconds),
                    lambda: system.read_or(file, "") == value,
                )
        except SystemLost:
            raise
        except HostError as error:
            failed = error
        else:
            yield
            if not child.running():
                failed = HostError(f"companion {name} ended before the run did")
    if failed is not None:  # what it said is here when it has ended
        raise _quoting(failed, name, launch, {})


def _quoting(
    error: HostError | IncompleteRun, name: str, launch: Launch, said: Mapping[Path, int]
) -> HostError | IncompleteRun:
    """Return a failure with the last words of the program that it comes from, if it said any."""
    words = _last_words(launch, said)
    return type(error)(f"{error}; the last words of {name}: {words}") if words else error


def _printed(system: System, launch: Launch) -> dict[Path, int]:
    """Return how much a server has printed so far, as far as that can be known."""
    found = {}
    for file in (launch.stderr, launch.stdout):
        done = system.capture(("stat", "-c", "%s", system.place(file)))
        if done.returncode == 0 and done.stdout.strip().isdigit():
            found[file] = int(done.stdout)
    return found


def _last_words(launch: Launch, said: Mapping[Path, int]) -> str:
    """Return the end of what a server printed, brought here when it has ended; may be empty.

    `said` tells how much of a file counts, where that is not all of it.
    """
    for file in (launch.stderr, launch.stdout):
        with suppress(OSError), file.open("rb") as printed:
            end = said.get(file, file.stat().st_size)
            begin = max(end - _MOST_WORDS, 0)
            printed.seek(begin)
            if words := last_words(printed.read(end - begin).decode(errors="replace")):
                return words
    return ""


def _launch(
    argv: tuple[str, ...], output: Path, env: dict[str, str], place: Path | None = None
) -> Launch:
    out, err = output.with_suffix(".stdout.txt"), output.with_suffix(".stderr.txt")
    return Launch(argv, out, err, env, folder=place)


def await_ready(child: Running, name: str, limit: float, ready: Callable[[], bool]) -> None:
    """Wait until a program that was started is ready; HostError where it is not, or ended."""
    deadline = time.monotonic() + limit
    while not ready():
        if not child.running():
            raise HostError(f"{name} ended at once; its output is in the run's raw folder")
        if time.monotonic() > deadline:
            raise HostError(f"{name} was not ready after {limit:g} s")
        time.sleep(_POLL_SECONDS)


def await_end(child: Running, name: str, limit: float) -> None:
    """Wait until a program ends of its own accord; IncompleteRun where it does not."""
    deadline = time.monotonic() + limit
    while child.running():
        if time.monotonic() > deadline:
            raise IncompleteRun(f"{name} did not end within {limit:g} s")
        time.sleep(_POLL_SECONDS)
