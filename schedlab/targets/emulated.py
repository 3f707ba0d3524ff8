"""An emulated host: recorded files for /proc and /sys, recorded outputs for the tools.

A folder with `host.toml` and `root/` (the file tree) stands for a host, so that the whole lab can
be tried as an ordinary user with no tool installed. The recorded tree is copied before use.
"""

import random
import re
import shutil
import subprocess
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import Field

from schedlab.base.system import Child, Exit, Launch, LocalSystem
from schedlab.base.validation import Data, load_toml
from schedlab.kernels.progress import Watch
from schedlab.plan.targets import EMULATED
from schedlab.settings.knob import feature_name
from schedlab.settings.variant import Variant
from schedlab.targets.host import HostTarget

_VALUE = "@VALUE@"


class Effect(Data):
    """A factor on a program's figure while a file holds a word."""

    file: str
    holds: str
    times: float


class Program(Data):
    """What a command line prints: a recorded output with one figure in the place of @VALUE@."""

    match: str
    stdout: str = ""
    stderr: str = ""
    value: float = 1.0
    digits: int = 3
    noise: float = 0.01
    effect: tuple[Effect, ...] = ()
    status: int = 0
    hangs: bool = False
    counts: dict[str, float] = {}


class EmulatedHost(Data):
    """The description of an emulated host (host.toml)."""

    title: str
    root_user: bool = True
    seed: int = 1
    tools: dict[str, str] = {}
    """Installed tools, with what they print when asked for their version."""
    stubborn: tuple[str, ...] = ()
    """Files that take a write and keep their value."""
    refused: tuple[str, ...] = ()
    """Files that refuse a write with EPERM, as under lockdown."""
    events: tuple[str, ...] = ()
    """Events that perf can count here."""
    program: tuple[Program, ...] = Field(default=())


class EmulatedSystem(LocalSystem):
    """The system of an emulated host."""

    def __init__(self, folder: Path) -> None:
        """Read the description and copy the file tree."""
        self.host = load_toml(folder / "host.toml", EmulatedHost)
        scratch = tempfile.mkdtemp(prefix="schedlab-emulated-")
        weakref.finalize(self, shutil.rmtree, scratch, ignore_errors=True)
        root = Path(scratch) / "root"
        shutil.copytree(folder / "root", root, symlinks=True)
        super().__init__(root)
        self._random = random.Random(self.host.seed)

    def write(self, path: str, text: str) -> None:
        """Write as this host's kernel would: features switch, stubborn files keep their value."""
        if path in self.host.refused:
            raise PermissionError(1, "Operation not permitted", path)
        if path in self.host.stubborn:
            return
        if path.endswith("features"):
            text = self._switched(path, text)
        super().write(path, text)

    def writable(self, path: str) -> bool:
        """Return whether the emulated kernel takes a write."""
        return path not in self.host.refused and self.exists(path)

    def which(self, tool: str) -> str | None:
        """Return a place for the tools the description lists."""
        return f"/usr/bin/{tool}" if tool in self.host.tools else None

    def search(self, folder: str) -> None:
        """Ignore programs: the description lists the tools."""

    def add_to_path(self, folder: Path) -> None:
        """Ignore programs: the description lists the tools."""

    def pause(self, seconds: float) -> None:
        """Return at once: nothing runs on a described host."""

    def is_root(self) -> bool:
        """Return what the description says."""
        return self.host.root_user

    def state_folder(self) -> Path:
        """Keep the journal in the emulated tree."""
        return self.path("/var/lib/schedlab")

    def capture(
        self, argv: tuple[str, ...], env: Mapping[str, str] | None = None, timeout: float = 20
    ) -> subprocess.CompletedProcess[str]:
        """Answer a short command: perf counting `true`, or a tool's version."""
        if argv[:2] == ("perf", "stat"):
            problem, report = self._perf_stat(argv, Program(match=""))
            return subprocess.CompletedProcess(argv, 129 if problem else 0, "", problem or report)
        return subprocess.CompletedProcess(argv, 0, self.host.tools.get(argv[0], ""), "")

    def execute(self, launch: Launch) -> Exit:
        """Write the recorded output of the program the command line matches."""
        line = " ".join(launch.argv)
        program = next((p for p in self.host.program if re.search(p.match, line)), None)
        if program is None:
            launch.stdout.write_text("")
            launch.stderr.write_text(f"{launch.argv[0]}: not recorded")
            return Exit(status=127, seconds=0.0, cpu_seconds=0.0)
        launch.stdout.write_text(program.stdout.replace(_VALUE, self._figure(program)))
        launch.stderr.write_text(program.stderr)
        if launch.argv[:2] == ("perf", "stat"):
            _, report = self._perf_stat(launch.argv, program)
            Path(launch.argv[launch.argv.index("-o") + 1]).write_text(report)
        return Exit(program.status, seconds=0.0, cpu_seconds=0.0, timed_out=program.hangs)

    @contextmanager
    def beside(self, launch: Launch) -> Iterator[Child]:
        """Run a process that only waits, in the place of a companion."""
        waiting = Launch(("sleep", "infinity"), launch.stdout, launch.stderr, launch.env)
        with super().beside(waiting) as child:
            yield child

    def _figure(self, program: Program) -> str:
        value = program.value * self._random.lognormvariate(0, program.noise)
        for effect in program.effect:
            if effect.holds in self.read_or(effect.file, "").split():
                value *= effect.times
        return f"{value:.{program.digits}f}"

    def _perf_stat(self, argv: tuple[str, ...], program: Program) -> tuple[str, str]:
        """Return perf's complaint where it cannot count an event, else its report."""
        events = argv[argv.index("-e") + 1].split(",")
        for event in events:
            if event not in self.host.events:
                return f"event syntax error: '{event}'\n", ""
        lines = ["# started on Sat Nov 21 18:52:03 2026", ""]
        for event in events:
            count = program.counts.get(event, 0.0)
            lines.append(
                f"{round(count * self._random.lognormvariate(0, 0.05))},,{event},1,100.00,,"
            )
        return "", "\n".join(lines) + "\n"

    def _switched(self, path: str, word: str) -> str:
        words = self.read(path).split()
        name = feature_name(word)
        if name not in map(feature_name, words):
            raise OSError(22, "Invalid argument", path)
        return " ".join(word if feature_name(old) == name else old for old in words)


class EmulatedTarget(HostTarget):
    """An emulated host."""

    kind = EMULATED


def system(which: str) -> EmulatedSystem:
    """Return the system that a folder stands for."""
    return EmulatedSystem(Path(which))


def named(
    which: str, machine: str | None, variants: Sequence[Variant], watch: Watch | None
) -> EmulatedTarget:
    """Return an emulated host as a target."""
    return EmulatedTarget(system(which))
