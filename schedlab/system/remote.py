"""A machine that a shell reaches: nothing of the lab's is installed there.

What runs there finds its folder below a scratch folder; when it has ended, the files it left are
brought to the run's folder here.
"""

import errno
import io
import math
import os
import shlex
import shutil
import subprocess
import tarfile
import tempfile
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from schedlab.errors import HostError, SystemLost
from schedlab.interrupt import uninterrupted
from schedlab.system.local import LocalSystem
from schedlab.system.process import TAG, Exit, Launch, stat_cpu_seconds
from schedlab.system.shell import Answer, Shell
from schedlab.system.system import System, natural

_ERRNO = {os.strerror(number): number for number in errno.errorcode}
_MARK = "SCHEDLAB_RUN"
"""In the environment of all that one launch started."""

_LISTENING = "0A"
"""The state of a socket in /proc/net/tcp."""

_GRACE_SECONDS = 2
_LINE_SECONDS = 120.0
"""How much longer than its limit the answer of a program may take."""

_KILL = """kill_marked() {
	killed=0
	while set -- $(grep -ls "$1" /proc/[0-9]*/environ) && [ $# -gt 0 ]; do
		[ $killed -gt 0 ] || killed=$#
		for file; do file=${file#/proc/}; kill -KILL ${file%/environ} 2>/dev/null; done
	done
}
"""
_TIMES = "read -r up idle </proc/uptime; echo $up; times"


class RemoteSystem(System):
    """The files and programs at the far end of a shell."""

    def __init__(self, shell: Shell, state_folder: Path, scratch: str) -> None:
        """Take the shell, a folder here for the journal and one there for runs."""
        self._shell = shell
        self._state_folder = state_folder
        self._scratch = scratch
        self._launched = 0
        self._beside: list[str] = []
        """The marks of what runs beside."""
        self._in_use = ""
        """The folder there of the run that is under way: all its programs share it."""

    def run(self, script: str, seconds: float | None = None) -> Answer:
        """Run commands of the far shell."""
        return self._shell.run(script, *(() if seconds is None else (seconds,)))

    def read(self, path: str) -> str:
        """Give a file's text without surrounding blanks."""
        answer = self.run(f"cat {shlex.quote(path)}")
        if answer.status:
            raise _refusal(answer, path)
        return answer.out.decode(errors="replace").strip()

    def write(self, path: str, text: str) -> None:
        """Write a kernel file in one call, without creating it."""
        place = shlex.quote(path)
        # Not the shell's own redirection: some shells keep the kernel's error to themselves.
        write = f"printf '%s\\n' {shlex.quote(text)} | dd of={place} bs=64k status=none"
        answer = self.run(f"ls -d {place} >/dev/null && {write}")
        if answer.status:
            raise _refusal(answer, path)

    def writable(self, path: str) -> bool:
        """Tell whether a kernel file really opens for writing."""
        place = shlex.quote(path)
        return self.run(f"[ -e {place} ] && (: >>{place})").status == 0

    def exists(self, path: str) -> bool:
        """Tell whether a file or folder is there."""
        return self.run(f"[ -e {shlex.quote(path)} ]").status == 0

    def glob(self, pattern: str) -> list[str]:
        """Give the paths that match."""
        listing = f'for path in {pattern}; do [ -e "$path" ] && printf \'%s\\n\' "$path"; done'
        return sorted(self._lines(listing), key=natural)

    def snapshot(self, paths: Sequence[str]) -> System:
        """Give copies of all small files below some paths: one command, not one for each file."""
        folder = Path(tempfile.mkdtemp(prefix="schedlab-snapshot-"))
        places = shlex.join(paths)
        texts: dict[str, list[str]] = {}
        for line in self._lines(f"grep -rs '' {places}"):
            path, _, text = line.partition(":")
            texts.setdefault(path, []).append(text)
        for path, lines in texts.items():
            (folder / path[1:]).parent.mkdir(parents=True, exist_ok=True)
            (folder / path[1:]).write_text("\n".join(lines))
        for line in self._lines(f"find {places} -type l -exec ls -ld {{}} +"):
            link, _, target = line[line.index(" /") + 1 :].partition(" -> ")
            (folder / link[1:]).parent.mkdir(parents=True, exist_ok=True)
            (folder / link[1:]).symlink_to(target)
        copied = LocalSystem(folder)
        weakref.finalize(copied, shutil.rmtree, folder, ignore_errors=True)
        return copied

    def which(self, tool: str) -> str | None:
        """Give the place of a program."""
        found = self.run(f"command -v {shlex.quote(tool)}").out.decode(errors="replace")
        return found.strip() or None

    def add_to_path(self, folder: Path) -> None:
        """Find only what is there: our folders are not."""

    def capture(
        self, argv: tuple[str, ...], env: Mapping[str, str] | None = None, timeout: float = 20
    ) -> subprocess.CompletedProcess[str]:
        """Run a short program and give its output."""
        if self.which(argv[0]) is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), argv[0])
        answer = self.run(_command(argv, env or {}, timeout), timeout + _LINE_SECONDS)
        out = answer.out.decode(errors="replace")
        return subprocess.CompletedProcess(argv, answer.status, out, answer.err)

    def execute(self, launch: Launch) -> Exit:
        """Run a program to its end or time limit; then bring what it wrote."""
        folder, mark = self._begin(launch)
        limit = launch.timeout
        before = _Times.of(self.run(_TIMES))
        start = f"({self._started(launch, folder, mark, limit)}) & wait $!"
        waiting = _LINE_SECONDS + limit if limit else math.inf
        answer = self.run(f"{start}; S=$?; {_TIMES}; (exit $S)", waiting)
        after = _Times.of(answer)
        seconds = after.up - before.up
        left = self._end(mark)
        self._bring(folder, launch.stdout.parent)
        return Exit(
            status=128 - answer.status if answer.status > 128 else answer.status,
            seconds=seconds,
            cpu_seconds=after.cpu - before.cpu,
            timed_out=limit is not None and seconds >= limit,
            left_behind=left,
        )

    @contextmanager
    def beside(self, launch: Launch) -> Iterator["RemoteProgram"]:
        """Keep a program running inside a `with` block."""
        folder, mark = self._begin(launch)
        answer = self.run(f"({self._started(launch, folder, mark, None)}) & echo $!")
        self._beside.append(mark)
        try:
            yield RemoteProgram(self, int(answer.out))
        finally:
            with uninterrupted():
                self._beside.remove(mark)
                self._end(mark)
                self._bring(folder, launch.stdout.parent)

    def beside_cpu_seconds(self) -> float:
        """Give the CPU time of all that carries the mark of what runs beside."""
        if not self._beside:
            return 0.0
        marks = shlex.join(word for mark in self._beside for word in ("-e", mark))
        listed = f"for file in $(grep -ls {marks} /proc/[0-9]*/environ)"
        told = self._lines(f"{listed}; do cat ${{file%environ}}stat 2>/dev/null; done; true")
        return sum(stat_cpu_seconds(line) for line in told)

    def place(self, file: Path) -> str:
        """Give a file of the same name in the run's folder there."""
        return f"{self._folder(file.parent)}/{file.name}"

    def pause(self, seconds: float) -> None:
        """Let the machine come to rest for a while."""
        time.sleep(seconds)

    def listens(self, port: int) -> bool:
        """Tell whether a program waits for TCP connections to a port."""
        rows = [
            row.split()
            for table in ("/proc/net/tcp", "/proc/net/tcp6")
            for row in self.read_or(table, "").splitlines()[1:]
        ]
        return any(
            row[1].endswith(f":{port:04X}") and row[3] == _LISTENING for row in rows if len(row) > 3
        )

    def clock_offset(self) -> float:
        """Give what the far wall clock is ahead of the far time since boot."""
        wall, up = self.run("date +%s.%N; cat /proc/uptime").out.split()[:2]
        return float(wall) - float(up)

    def is_root(self) -> bool:
        """Tell whether we are root there."""
        return self.run("id -u").out.strip() == b"0"

    def state_folder(self) -> Path:
        """Give the folder for what is changed there."""
        return self._state_folder

    def held(self) -> AbstractContextManager[None]:
        """Nobody else has a line like ours."""
        return nullcontext()

    def end_all(self) -> None:
        """End all that we started."""
        self._end(_MARK)

    def end_tagged(self, tag: str) -> int:
        """Kill every program that carries `tag`, and count them."""
        return self._end(f"{TAG}={tag}")

    def _lines(self, script: str) -> list[str]:
        return self.run(script).out.decode(errors="replace").splitlines()

    def _folder(self, folder: Path) -> str:
        return f"{self._scratch}/{folder.name}"

    def _begin(self, launch: Launch) -> tuple[str, str]:
        """Make a run's folder there, with what lies in the one here; name the launch's mark."""
        self._launched += 1
        here = launch.stdout.parent
        folder = self._folder(here)
        if folder != self._in_use:
            script = f"rm -rf {shlex.quote(self._scratch)} && mkdir -p {shlex.quote(folder)}"
            for file in sorted(here.iterdir()):
                place = shlex.quote(self.place(file))
                if file.is_dir():
                    script += f" && mkdir {place}"
                else:
                    content = shlex.quote(file.read_text(errors="surrogateescape"))
                    script += f" && printf %s {content} >{place}"
            answer = self.run(script)
            if answer.status:
                raise HostError(f"{folder}: cannot be made: {answer.err.strip()}")
            self._in_use = folder
        return folder, f"{_MARK}=x{self._launched}x"

    def _started(self, launch: Launch, folder: str, mark: str, limit: float | None) -> str:
        """Give the command that becomes the launch's program."""
        name, _, value = mark.partition("=")
        env = {**launch.env, name: value}
        out, err = shlex.quote(self.place(launch.stdout)), shlex.quote(self.place(launch.stderr))
        into = f"cd {shlex.quote(folder)} && " if launch.folder else ""
        return f"{into}exec {_command(launch.argv, env, limit)} >{out} 2>{err}"

    def _end(self, mark: str) -> int:
        return int(self.run(f'{_KILL}kill_marked {shlex.quote(mark)}; echo "$killed"').out)

    def _bring(self, folder: str, to: Path) -> None:
        """Bring the files of a folder there; its folders are scratch."""
        listed = f"cd {shlex.quote(folder)} && tar -czf - $(find . -maxdepth 1 -type f)"
        answer = self.run(f"({listed})", _LINE_SECONDS)
        if answer.status:
            raise HostError(f"{folder}: cannot be brought here: {answer.err.strip()}")
        with tarfile.open(fileobj=io.BytesIO(answer.out)) as archive:
            for member in archive:
                if content := archive.extractfile(member):
                    (to / Path(member.name).name).write_bytes(content.read())


class RemoteProgram:
    """A program that runs there."""

    def __init__(self, system: RemoteSystem, pid: int) -> None:
        """Take its process id."""
        self._system = system
        self._pid = pid

    def running(self) -> bool:
        """Tell whether it still runs; one that only waits to be reaped does not."""
        stat = self._system.read_or(f"/proc/{self._pid}/stat", "")
        return bool(stat) and stat.rpartition(")")[2].split()[0] not in "ZX"


class _Times:
    """The far end's time since boot, and the CPU time of what has ended there."""

    def __init__(self, up: float, cpu: float) -> None:
        self.up = up
        self.cpu = cpu

    @classmethod
    def of(cls, answer: Answer) -> "_Times":
        """Read what _TIMES prints."""
        try:
            up, _, children = answer.out.decode().splitlines()[-3:]
            return cls(float(up), sum(_seconds(word) for word in children.split()))
        except ValueError as error:
            raise SystemLost("the far shell tells no times.") from error


def _seconds(text: str) -> float:
    """Read what `times` writes: 1m2.34s."""
    minutes, _, seconds = text.rstrip("s").partition("m")
    return int(minutes) * 60 + float(seconds)


def _command(argv: tuple[str, ...], env: Mapping[str, str], limit: float | None) -> str:
    """Give a program in a session of its own, ended hard some time after its limit."""
    variables = [f"{name}={value}" for name, value in {"LC_ALL": "C", **env}.items()]
    # Whoever watches the time does not carry the mark of what it watches.
    limited = ["timeout", "-k", str(_GRACE_SECONDS), str(math.ceil(limit))] if limit else []
    return shlex.join([*limited, "env", *variables, "setsid", *argv])


def _refusal(answer: Answer, path: str) -> OSError:
    """Give the error a kernel file answered with, from the words of the far tool."""
    said = answer.err.strip().rpartition(": ")[2]
    return OSError(_ERRNO.get(said, errno.EIO), said or os.strerror(errno.EIO), path)
