"""The data of benchmarks' servers: loaded once while a target is held, copied for each run."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from schedlab.base.errors import UsageError, writing
from schedlab.base.system import System
from schedlab.benchmarks import Command
from schedlab.benchmarks.server import ONE_MACHINE, Server, unprivileged
from schedlab.kernels.progress import Watch
from schedlab.settings.scratch import LOADED
from schedlab.targets.companion import at_port, await_end, serving
from schedlab.targets.stage import Stage, full_disk_said

_SCARCE = 64 << 20
"""Bytes in which few of a database's files fit: PostgreSQL writes its log in pieces of 16 MB."""

_WRITABLE = 'p=$1; shift; while [ ! -e "$p" ]; do p=$(dirname "$p"); done; exec "$@" test -w "$p"'
"""Whether who runs a program may write a folder, or the one it will be made in."""

Beside = Callable[[tuple[str, ...], str, str, Command, Stage], None]
"""Runs a program of a run's: its words, its name, what it is for, and where."""


class ServedData:
    """The data that are loaded, and where they lie."""

    def __init__(
        self, system: System, results: Path, env: dict[str, str], beside: Beside, watch: Watch
    ) -> None:
        """Load nothing yet; `results` is the folder of the runs."""
        self._system = system
        self._results = results
        self._folder = results / LOADED
        self._env = env
        self._beside = beside
        self._watch = watch
        self._loaded: set[str] = set()

    def check(self, server: Server) -> None:
        """Refuse a folder that is closed to a server which does not run as root."""
        wrapper = unprivileged()
        if server.argv[: len(wrapper)] != wrapper:
            return
        place = self._system.lasting(self._folder)
        if self._system.capture(("sh", "-c", _WRITABLE, "sh", place, *wrapper)).returncode:
            raise UsageError(
                f"{self._results.parent}: {server.name} does not run as root, and this folder, or"
                " one above it, belongs to somebody else. Give --output a folder of your own."
            )

    def copy(self, command: Command, stage: Stage) -> None:
        """Put a copy of a command's data into the folder of a run."""
        if command.server is None or command.server.data is None:
            return
        kept = self._system.lasting(self._folder / command.server.key())
        data = command.server.data.folder
        for name, argv in (
            # Blocks are shared where the file system can; what it copies is on disk before the run.
            ("copy", ("cp", "-a", "--reflink=auto", kept, data)),
            ("sync", ("sync", "-f", data)),
        ):
            self._beside(argv, name, "copying the data", command, stage)

    def load(self, command: Command) -> None:
        """Load a command's data, unless that is done."""
        server = command.server
        if server is None or server.data is None or (key := server.key()) in self._loaded:
            return
        if self._folder.is_symlink():
            raise UsageError(
                f"{self._folder}: is a link, below which no data are loaded; remove it."
            )
        folder = self._results / f"loading-{key}"
        shutil.rmtree(folder, ignore_errors=True)
        try:
            with (
                self._watch.task(f"{server.name}: loading data"),
                full_disk_said(self._system, self._results, _SCARCE),
            ):
                self._load(command, folder, key)
        finally:
            shutil.rmtree(folder / server.data.scratch, ignore_errors=True)
        shutil.rmtree(folder)
        self._loaded.add(key)

    def remove(self) -> None:
        """Remove all that was loaded."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _load(self, command: Command, folder: Path, key: str) -> None:
        """Load data in a folder of their own; what programs print stays there if that fails."""
        with writing(folder):
            folder.mkdir(parents=True)
        command = at_port(self._system, command, folder, ONE_MACHINE)
        server = command.server
        assert server and server.data
        for enclosure in command.enclosures:
            enclosure.put(folder)
        (folder / server.data.scratch).mkdir()

        stage = Stage(self._system, folder, folder)

        def step(argv: tuple[str, ...], name: str) -> None:
            self._beside(argv, name, "loading data", command, stage)

        for i, argv in enumerate(server.data.make):
            step(argv, f"make{i}")
        self._fill(server, folder, step)
        kept = self._system.lasting(self._folder / key)
        step(
            (
                "sh",
                "-c",
                'rm -rf "$2" && mkdir -p "${2%/*}" && mv "$1" "$2"',
                "sh",
                server.data.folder,
                kept,
            ),
            "keep",
        )

    def _fill(
        self, server: Server, folder: Path, step: Callable[[tuple[str, ...], str], None]
    ) -> None:
        assert server.data
        ending = replace(server, data=None)
        with serving(self._system, ending, folder, folder, self._env, ends=True) as child:
            for i, argv in enumerate(server.data.fill):
                step(argv, f"fill{i}")
            step(server.data.stop, "stop")
            assert child
            await_end(child, f"loading data: {server.name}", server.seconds)
