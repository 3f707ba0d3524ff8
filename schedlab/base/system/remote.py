"""A machine that a shell reaches: nothing of the lab's is installed there.

What runs there finds its folder below a scratch folder; when it has ended, the files it left are
brought to the run's folder here.
"""

import errno
import gzip
import io
import math
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
import uuid
import weakref
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from schedlab.base.errors import HostError, OutsideError
from schedlab.base.printable import printable
from schedlab.base.system.inside import inside, parts
from schedlab.base.system.interrupt import uninterrupted
from schedlab.base.system.local import LocalSystem
from schedlab.base.system.numbers import amount, field, whole
from schedlab.base.system.process import (
    LIMIT,
    TAG,
    Exit,
    Launch,
    limit_of,
    stat_cpu_seconds,
)
from schedlab.base.system.shell import Answer, Shell
from schedlab.base.system.system import System, natural

_ERRNO = {os.strerror(number): number for number in errno.errorcode}
_MARK = "SCHEDLAB_RUN"
"""In the environment of all that one launch started."""

_LISTENING = "0A"
"""The state of a socket in /proc/net/tcp."""

_CLOCK_READINGS = 5
_CLOCK_READING_SECONDS = 0.2
"""A reading of both clocks that took no longer is exact enough to see that one was set."""

_GRACE_SECONDS = 2
_LINE_SECONDS = 120.0
"""How much longer than its limit the answer of a program may take."""

_KILL_SECONDS = 5
_KILL = f"""marked() {{
	{{
		grep -ls "$mark" /proc/[0-9]*/environ
		[ -z "$limit" ] || grep -ls "^{LIMIT}  *$limit " /proc/[0-9]*/limits
	}} | while IFS=/ read -r root proc pid file; do
		case $(cat "/proc/$pid/stat" 2>/dev/null) in *') Z '*) ;; *) echo "/proc/$pid" ;; esac
	done | sort -u
}}
kill_marked() {{
	mark=$1 limit=$2 killed=0
	read -r now idle </proc/uptime
	last=$((${{now%.*}} + {_KILL_SECONDS}))
	while set -- $(marked) && [ $# -gt 0 ] || {{ sleep 0.1; set -- $(marked); [ $# -gt 0 ]; }}; do
		[ $killed -gt 0 ] || killed=$#
		for process; do kill -KILL ${{process#/proc/}} 2>/dev/null; done
		read -r now idle </proc/uptime
		[ ${{now%.*}} -lt $last ] || break
	done
	echo $killed "$@"
}}
"""
"""Kills until none is left, what was forked meanwhile too; print how many there were, and those
that do not end: a process that waits in the kernel takes no signal. One that is becoming another
program shows no environment for a moment, so it looks twice."""

_OF_SESSION = r"s/^\([0-9]*\) (.*) [A-Za-z] [0-9]* [0-9]* %d .*/\1/p"
"""For sed: the process of a line of /proc/PID/stat, if it is of that session."""

_MOST_ENTRIES = 1 << 20
"""What a snapshot may hold: files, links and folders."""

_MOST_FILES = 10_000
_MOST_FILE_BYTES = 256 << 20
"""What a run may bring here, unpacked."""

_FILE = re.compile(rb"(\d{1,18}) \./([^/]+)\n")
_LINK = re.compile(r"l\S{9}.*? (/.*?) -> (.+)")
_TIMES = "read -r up idle </proc/uptime; echo $up; times"


@dataclass(frozen=True)
class _Times:
    """The far end's time since boot, and the CPU time of what has ended there."""

    up: float
    cpu: float


class RemoteSystem(System):
    """The files and programs at the far end of a shell."""

    def __init__(self, shell: Shell, state_folder: Path, scratch: str) -> None:
        self._shell = shell
        self._state_folder = state_folder
        self._scratch = scratch
        self._launched = 0
        self._lab = uuid.uuid4().hex
        """In marks: two labs may be at one machine, as tests are."""
        self._beside: list[str] = []
        self._sessions: list[int] = []
        """The marks of what runs beside."""
        self._in_use = Path()
        """The folder of the run that is under way: all its programs share the one there."""

    def run(self, script: str, seconds: float | None = None) -> Answer:
        """Run commands of the far shell."""
        return self._shell.run(script, *(() if seconds is None else (seconds,)))

    def exact(self, path: str) -> str:
        """Return a file's text as it is."""
        answer = self.run(f"cat {shlex.quote(path)}")
        if answer.status:
            raise _refusal(answer, path)
        return answer.out.decode(errors="surrogateescape")

    def write(self, path: str, text: str) -> None:
        """Write a kernel file in one call, without creating it."""
        place = shlex.quote(path)
        # Not the shell's own redirection: some shells keep the kernel's error to themselves.
        write = f"printf '%s\\n' {shlex.quote(text)} | dd of={place} bs=64k status=none"
        self._refusing(f"ls -d {place} >/dev/null && {write}", path)

    def make_folder(self, path: str) -> None:
        """Make a folder of the kernel's."""
        self._refusing(f"mkdir {shlex.quote(path)}", path)

    def remove_folder(self, path: str) -> None:
        """Remove one."""
        self._refusing(f"rmdir {shlex.quote(path)}", path)

    def _refusing(self, script: str, path: str) -> None:
        """Run a script; OSError where it fails."""
        answer = self.run(script)
        if answer.status:
            raise _refusal(answer, path)

    def settable(self, folder: str) -> dict[str, str]:
        """Return the exact text of each file below a folder that may be read and written."""
        each = "grep -as '' /dev/null {} +"
        script = f"find {shlex.quote(folder)} -xdev -type f -perm -200 -exec {each}"
        texts: dict[str, str] = {}
        for line in self.run(script).out.decode(errors="surrogateescape").split("\n")[:-1]:
            path, _, text = line.partition(":")
            texts[path] = f"{texts.get(path, '')}{text}\n"
        return texts

    def writable(self, path: str) -> bool:
        """Return whether a kernel file really opens for writing."""
        place = shlex.quote(path)
        return self.run(f"[ -e {place} ] && (: >>{place})").status == 0

    def exists(self, path: str) -> bool:
        """Return whether a file or folder is there."""
        return self.run(f"[ -e {shlex.quote(path)} ]").status == 0

    def glob(self, pattern: str) -> list[str]:
        """Return the paths that match."""
        listing = f'for path in {pattern}; do [ -e "$path" ] && printf \'%s\\n\' "$path"; done'
        paths = self._lines(listing)
        for path in paths:  # who asked will take it apart
            if not PurePosixPath(path).match(pattern):
                found = f"(found '{printable(path[:120])}')"
                raise HostError(f"{self._shell.name}: {pattern} was asked for {found}.")
        return sorted(paths, key=natural)

    def snapshot(self, paths: Sequence[str]) -> System:
        """Return copies of all small files below some paths: one command, not one for each file.

        Raises:
            OutsideError: what the far end names is not below these paths.
            HostError: it is more than any machine has, or contradicts itself.
        """
        folder = Path(tempfile.mkdtemp(prefix="schedlab-snapshot-"))
        copied = LocalSystem(folder)
        weakref.finalize(copied, shutil.rmtree, folder, ignore_errors=True)
        try:
            self._copy(paths, folder)
        except OSError as error:
            raise HostError(
                f"{self._shell.name}: its files cannot be copied: {error.strerror}."
            ) from error
        return copied

    def _copy(self, paths: Sequence[str], folder: Path) -> None:
        what = f"{self._shell.name}: a listing of files"
        places = shlex.join(paths)
        texts: dict[str, list[str]] = {}
        entries = _Entries(what)
        for line in self._split(f"grep -ars '' {places}"):
            path, _, text = line.partition(":")
            if path not in texts:
                texts[path] = []
                entries.add(path)
            texts[path].append(text)
        links: dict[str, str] = {}
        for line in self._split(f"find {places} -type l -exec ls -ld {{}} +"):
            if not (link := _LINK.fullmatch(line)):
                raise HostError(f"{what}: {line[:120]!a} is not a link.")
            links[link[1]] = link[2]
            entries.add(link[1])
        for path, lines in texts.items():
            place = inside(folder, _below(paths, path, what), what)
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("x") as file:
                file.write("\n".join(lines))
        for path, target in links.items():
            place = inside(folder, _below(paths, path, what), what)
            leads_to = os.path.normpath(os.path.join(os.path.dirname(path), target))  # noqa: PTH118, PTH120
            if any(_is_below(leads_to, asked) for asked in paths):
                place.parent.mkdir(parents=True, exist_ok=True)
                # Through other links of the snapshot too, all of which lead to plain places in it.
                place.symlink_to(folder.joinpath(*parts(leads_to[1:], what)))

    def which(self, tool: str) -> str | None:
        """Return the place of a program."""
        found = self.run(f"command -v {shlex.quote(tool)}").out.decode(errors="replace")
        return found.strip() or None

    def search(self, folder: str) -> None:
        """Find the programs of this folder there as well, last; a line that is renewed forgets."""
        place = shlex.quote(folder)
        self.run(f"case :$PATH: in *:{place}:*) ;; *) PATH=$PATH:{place} ;; esac")

    def add_to_path(self, folder: Path) -> None:
        """Find only what is there: our folders are not."""

    def capture(
        self, argv: tuple[str, ...], env: Mapping[str, str] | None = None, timeout: float = 20
    ) -> subprocess.CompletedProcess[str]:
        """Run a short program and return its output."""
        if self.which(argv[0]) is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), argv[0])
        answer = self.run(_command(argv, env or {}, timeout), timeout + _LINE_SECONDS)
        out = answer.out.decode(errors="replace")
        return subprocess.CompletedProcess(argv, answer.status, out, answer.err)

    def execute(self, launch: Launch) -> Exit:
        """Run a program to its end or time limit; then bring what it wrote."""
        folder, mark = self._begin(launch)
        limit = launch.timeout
        before = self._times(self.run(_TIMES))
        start = f"({self._started(launch, folder, mark, limit)}) & wait $!"
        waiting = _LINE_SECONDS + limit if limit else math.inf
        answer = self.run(f"{start}; S=$?; {_TIMES}; (exit $S)", waiting)
        after = self._times(answer)
        seconds = round(after.up - before.up, 2)  # as /proc/uptime has it: 1 s is not 0.9999
        if seconds < 0 or after.cpu < before.cpu:
            raise HostError(f"{self._shell.name}: its clock went backwards.")
        left, stuck = self._end_marked(mark)
        self._bring(folder, launch.stdout.parent)
        if stuck:
            raise HostError(
                f"{self._shell.name}: process {', '.join(stuck)} of the run cannot be killed: it"
                " waits in the kernel.\n  It will disturb what runs beside it; reboot that"
                " machine, or find out what it waits for (/proc/PID/stack)."
            )
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
        self._beside.append(mark)
        session = 0
        try:
            answer = self.run(f"({self._started(launch, folder, mark, None)}) & echo $!")
            session = whole(answer.out, f"{self._shell.name}: a process id")
            self._sessions.append(session)
            yield RemoteProgram(self, session)
        finally:
            with uninterrupted():
                self._beside.remove(mark)
                self._end(mark)
                if session:
                    self._sessions.remove(session)
                    self._end_session(session)
                self._bring(folder, launch.stdout.parent)

    def _end_session(self, session: int) -> None:
        """Kill what is left of a session: programs that write their title over the mark."""
        pids = f"grep -hs . /proc/[0-9]*/stat | sed -n {shlex.quote(_OF_SESSION % session)}"
        self.run(f"for twice in 1 2; do for pid in $({pids}); do kill -KILL $pid; done; done; true")

    def beside_cpu_seconds(self) -> float:
        """Return the CPU time of all that carries the mark of what runs beside."""
        if not self._beside:
            return 0.0
        marks = shlex.join(word for mark in self._beside for word in ("-e", mark))
        listed = f"for file in $(grep -ls {marks} /proc/[0-9]*/environ)"
        script = f"{listed}; do cat ${{file%environ}}stat 2>/dev/null; done"
        for session in self._sessions:
            whole_line = (_OF_SESSION % session).replace("/\\1/p", "/&/p")
            script += f"; grep -hs . /proc/[0-9]*/stat | sed -n {shlex.quote(whole_line)}"
        lines = {line.partition(" ")[0]: line for line in self._lines(f"{script}; true")}
        return sum(stat_cpu_seconds(line) for line in lines.values())

    def place(self, file: Path) -> str:
        """Return a file of the same name in the run's folder there."""
        return f"{self._folder(file.parent)}/{file.name}"

    def lasting(self, folder: Path) -> str:
        """Return a folder there beside the runs'."""
        return f"{self._scratch}-{folder.parent.name}/{folder.name}"

    def free_bytes(self, folder: Path) -> int | None:
        """Return what is free where the folders of runs are made."""
        above = 'while [ ! -e "$p" ]; do p=$(dirname "$p"); done'
        script = f"p={shlex.quote(self._folder(folder))}; {above}; stat -f -c '%a %S' \"$p\""
        words = self.run(script).out.split()
        if len(words) != 2 or not all(word.isdigit() for word in words):
            return None
        return int(words[0]) * int(words[1])

    def pause(self, seconds: float) -> None:
        """Wait a while, so that the machine comes to rest."""
        time.sleep(seconds)

    def listens(self, port: int, address: str = "127.0.0.1") -> bool:
        """Return whether a program waits for TCP connections to a port, at whatever address."""
        rows = [
            row.split()
            for table in ("/proc/net/tcp", "/proc/net/tcp6")
            for row in self.read_or(table, "").splitlines()[1:]
        ]
        return any(
            row[1].endswith(f":{port:04X}") and row[3] == _LISTENING for row in rows if len(row) > 3
        )

    def clock_offset(self) -> float:
        """Return what the far wall clock is ahead of the far time since boot.

        A far end that is busy reads the one long after the other, so the wall clock is read before
        and after, and once more where much time went by between.
        """
        where = f"{self._shell.name}: its clocks"
        readings = []
        for _ in range(_CLOCK_READINGS):
            times = " ".join(self._lines("date +%s.%N; cat /proc/uptime; date +%s.%N")).split()
            before, up, after = (amount(field(times, at, where), where) for at in (0, 1, 3))
            readings.append((abs(after - before), (before + after) / 2 - up))
            if min(readings)[0] < _CLOCK_READING_SECONDS:
                break
        return min(readings)[1]

    def is_root(self) -> bool:
        """Return whether we are root there."""
        return self.run("id -u").out.strip() == b"0"

    def state_folder(self) -> Path:
        """Return the folder for what is changed there."""
        return self._state_folder

    def held(self) -> AbstractContextManager[None]:
        """Return at once: nobody else has a line like ours."""
        return nullcontext()

    def end_all(self) -> None:
        """End all that we started, and nothing of another lab's."""
        self._end(f"{_MARK}=x{self._lab}-")

    def end_tagged(self, tag: str) -> int:
        """Kill every program that carries `tag`, and count them."""
        return self._end(f"{TAG}={tag}", str(limit_of(tag)))

    def _split(self, script: str) -> Iterator[str]:
        """Run a script and go over its lines, which may hold any other separator."""
        text = io.StringIO(self.run(script).out.decode(errors="replace"), newline="\n")
        return (line.removesuffix("\n") for line in text)

    def _lines(self, script: str) -> list[str]:
        return self.run(script).out.decode(errors="replace").splitlines()

    def _folder(self, folder: Path) -> str:
        return f"{self._scratch}/{folder.name}"

    def _begin(self, launch: Launch) -> tuple[str, str]:
        """Make a run's folder there, with what lies in the one here; name the launch's mark."""
        self._launched += 1
        here = launch.stdout.parent
        folder = self._folder(here)
        if here != self._in_use:
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
            self._in_use = here
        return folder, f"{_MARK}=x{self._lab}-{self._launched}x"

    def _started(self, launch: Launch, folder: str, mark: str, limit: float | None) -> str:
        """Return the command that becomes the launch's program."""
        name, _, value = mark.partition("=")
        env = {**launch.env, name: value}
        out, err = shlex.quote(self.place(launch.stdout)), shlex.quote(self.place(launch.stderr))
        into = f"cd {shlex.quote(folder)} && " if launch.folder else ""
        if tag := launch.env.get(TAG):
            into += f"{{ ulimit -S -m {limit_of(tag) >> 10} 2>/dev/null || :; }} && "
        return f"{into}exec {_command(launch.argv, env, limit)} >{out} 2>{err}"

    def _end(self, mark: str, limit: str = "") -> int:
        return self._end_marked(mark, limit)[0]

    def _end_marked(self, mark: str, limit: str = "") -> tuple[int, list[str]]:
        """Kill all that carry a mark, or have a limit; count them, and list those that stay."""
        answer = self.run(f"{_KILL}kill_marked {shlex.quote(mark)} '{limit}'")
        words = answer.out.decode(errors="replace").split()
        where = f"{self._shell.name}: what it killed"
        stuck = (field(file.split("/"), 2, where) for file in words[1:])
        return whole(field(words, 0, where), where), [str(whole(pid, where)) for pid in stuck]

    def _times(self, answer: Answer) -> _Times:
        """Read what _TIMES prints."""
        where = f"{self._shell.name}: the times of its shell"
        lines = answer.out.decode(errors="replace").splitlines()[-3:]
        children = field(lines, 2, where).split()
        return _Times(
            up=amount(lines[0], where), cpu=sum(_seconds(word, where) for word in children)
        )

    def _bring(self, folder: str, to: Path) -> None:
        """Copy the files of a folder there; its folders and links are scratch."""
        # Each file follows a line with its size and name: no archive that has to be trusted.
        each = '[ -f "$file" ] && [ ! -h "$file" ] && stat -c "%s %n" "$file" && cat "$file"'
        script = f"for file in ./* ./.[!.]*; do {each}; done; true"
        answer = self.run(f"(cd {shlex.quote(folder)} && {{ {script}; }} | gzip)", _LINE_SECONDS)
        if answer.status:
            raise HostError(f"{folder}: cannot be copied here: {answer.err.strip()}")
        what = f"{self._shell.name}: {folder}"
        try:
            with gzip.open(io.BytesIO(answer.out)) as stream:
                _keep_files(stream, to, what)
        except (OSError, EOFError, zlib.error) as error:
            raise HostError(f"{what}: the copied files cannot be written here: {error}.") from error


class _Entries:
    """Counts the files and folders that a listing would make here."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._seen: set[str] = set()

    def add(self, path: str) -> None:
        """Count a file and the folders it is in; HostError where they are too many."""
        while path and path not in self._seen:
            self._seen.add(path)
            path = path.rpartition("/")[0]
        if len(self._seen) > _MOST_ENTRIES:
            raise HostError(f"{self._what}: has more than {_MOST_ENTRIES} entries; it is refused.")


def _is_below(path: str, asked: str) -> bool:
    return path == asked or path.startswith(f"{asked}/")


def _below(paths: Sequence[str], path: str, what: str) -> str:
    """Return a path's name from the root; refuse one that is not below those asked for."""
    if not any(_is_below(path, asked) for asked in paths):
        raise OutsideError(f"{what}: {path[:120]!a} was not requested; nothing was written for it.")
    return path[1:]


def _keep_files(stream: gzip.GzipFile, to: Path, what: str) -> None:
    """Write the files of a stream into a folder."""
    left = _MOST_FILE_BYTES
    for _ in range(_MOST_FILES):
        header = stream.readline(1 << 13)
        if not header:
            return
        found = _FILE.fullmatch(header)
        if not found:
            raise HostError(f"{what}: {header[:120].decode(errors='replace')!a} is not a file.")
        size, name = int(found[1]), os.fsdecode(found[2])
        left -= size
        if left < 0:
            raise HostError(
                f"{what}: the run wrote more than {_MOST_FILE_BYTES} bytes; they are not copied."
            )
        place = inside(to, name, what)
        place.unlink(missing_ok=True)
        with place.open("xb") as file:
            while size:
                chunk = stream.read(min(size, 1 << 20))
                if not chunk:
                    raise EOFError(f"{name} is cut short")
                file.write(chunk)
                size -= len(chunk)
    raise HostError(f"{what}: the run wrote more than {_MOST_FILES} files; they are not copied.")


class RemoteProgram:
    """A program that runs there."""

    def __init__(self, system: RemoteSystem, pid: int) -> None:
        self._system = system
        self.pid = pid

    def running(self) -> bool:
        """Return whether it still runs; one that only waits to be reaped does not."""
        stat = self._system.read_or(f"/proc/{self.pid}/stat", "")
        return bool(stat) and stat.rpartition(")")[2].strip()[:1] not in ("", "Z", "X")


def _seconds(text: str, where: str) -> float:
    """Read what `times` writes: 1m2.34s."""
    minutes, _, seconds = text.rstrip("s").partition("m")
    return whole(minutes, where) * 60 + amount(seconds, where)


def _command(argv: tuple[str, ...], env: Mapping[str, str], limit: float | None) -> str:
    """Return a program in a session of its own, ended hard some time after its limit."""
    variables = [f"{name}={value}" for name, value in {"LC_ALL": "C", **env}.items()]
    # Whoever watches the time does not carry the mark of what it watches.
    limited = ["timeout", "-k", str(_GRACE_SECONDS), str(math.ceil(limit))] if limit else []
    return shlex.join([*limited, "env", *variables, "setsid", *argv])


def _refusal(answer: Answer, path: str) -> OSError:
    """Return the error that a kernel file answered with, from the words of the far tool."""
    said = answer.err.strip().rpartition(": ")[2]
    return OSError(_ERRNO.get(said, errno.EIO), said or os.strerror(errno.EIO), path)
