"""A host that ssh reaches: the system's own ssh, with the user's configuration and keys."""

import re
import resource
import shlex
import signal
import subprocess
import tempfile
import time
import uuid
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO
from urllib.parse import quote, unquote

from schedlab.base.errors import HostError, SystemLost
from schedlab.base.system import process
from schedlab.base.system.inside import inside
from schedlab.base.system.installed import need_programs
from schedlab.base.system.interrupt import uninterrupted
from schedlab.base.system.local import LocalSystem
from schedlab.base.system.lock import LOCK, busy, holder
from schedlab.base.system.remote import RemoteSystem
from schedlab.base.system.shell import Answer, Shell
from schedlab.base.system.system import ROOT_STATE, System

_CONNECT_SECONDS = 15
_ALIVE_SECONDS = 10
_ALIVE_COUNT = 3
"""A far end silent for that long, so often, is lost."""

_PATIENCE_SECONDS = 3600.0
"""How long a host may be away; the results so far are kept however long it is."""

_COPY_SECONDS = 600.0
"""What copying a program there may take."""

_MOST_WORDS = 16 << 20
"""What ssh may write to a file here: known hosts, and words, which the far end may never end."""

_LINE = "SCHEDLAB_LINE"
"""In the environment of all that came over one line."""

_PLACE = re.compile(rb"\s*([0-9]{1,6}:[0-9]{1,9})\s+([0-9]{1,20})\s*")
"""The device and the inode of a file."""

_STATE_THERE = f"""$([ $(id -u) = 0 ] && echo {ROOT_STATE} ||
	echo "${{XDG_STATE_HOME:-$HOME/.local/state}}/schedlab")"""
"""The folder of the lock there: that of a lab that runs on that host itself."""

_STAND = 'umask 077; exec 9>>"$1" && flock -n 9 && echo $$ >"$1" && kill -STOP $$'
"""What holds the lock there."""

_CACHE = '"${{XDG_CACHE_HOME:-$HOME/.cache}}/schedlab/{part}"'


class SshSystem(RemoteSystem):
    """The files and programs of a host, over one line that can be renewed."""

    def __init__(self, host: str, part: str = "remote") -> None:
        """Connect to the host; what is copied there lies in a folder named after its part in runs.

        Raises:
            HostError: there is no ssh here.
            SystemLost: the host cannot be reached.
        """
        need_programs({"ssh": "openssh-client"}, "a target on another host")
        if not host or host.startswith("-"):
            raise HostError(f"'{host}' is not a host name that ssh accepts.")
        self.name = f"ssh:{host}"
        state = inside(_states(LocalSystem()), quote(host, safe=""), "--target ssh:HOST")
        self._host = host
        self._mark = ""
        self._lost = ""
        """Why there is no line, until there is one again."""
        self._interrupted: BaseException | None = None
        shell = self._dial()
        self._folder_there = shell.run(f"printf %s {_CACHE.format(part=part)}").out.decode(
            errors="replace"
        )
        super().__init__(shell, state, f"{self._folder_there}/run")

    def run(self, script: str, seconds: float | None = None) -> Answer:
        """Run commands there.

        After an interruption the line is renewed, so that the host can be put in order; a line
        that was lost is renewed by `connect` alone.

        Raises:
            SystemLost: the line is lost, now or before.
        """
        if self._interrupted:
            self._renew(self._interrupted)
        if self._lost:
            raise SystemLost(self._lost)
        try:
            return super().run(script, seconds)
        except SystemLost:
            self._lost = f"{self.name}: the connection was lost.{self._hang_up()}"
            raise SystemLost(self._lost) from None
        except BaseException as stopped:
            # What the shell answers next is not what is asked next.
            self._hang_up()
            self._interrupted = stopped
            raise

    @property
    def alive(self) -> bool:
        """Return whether there is a line."""
        return not self._lost

    def connect(self) -> None:
        """Renew the line, and end what came over the one before.

        Raises:
            SystemLost: the host cannot be reached.
        """
        before = self._mark
        self._in_use = Path()  # what a run had there is as the line's end left it
        try:
            self._shell = self._dial()
        except SystemLost as error:
            self._lost = str(error)
            raise
        self._lost = ""
        self._end(f"{_LINE}={before}")

    def _renew(self, stopped: BaseException) -> None:
        """Renew the line after an interruption; where that fails, the interruption goes on."""
        if self._lost:
            raise stopped
        try:
            with uninterrupted():
                self._interrupted = None
                self.connect()
        except SystemLost:
            self._interrupted = stopped
            raise stopped from None

    def add_to_path(self, folder: Path) -> None:
        """Copy the programs of a local folder there, and search for programs there last."""
        for program in filter(Path.is_file, folder.iterdir()):
            linked = self.run(f"ldd {shlex.quote(self.copy_there(program))}")
            if linked.status or b"not found" in linked.out:
                raise HostError(
                    f"schedlab's {program.name} does not run there: it is built for this host's"
                    " architecture and needs the C library and libjansson."
                    "\n  Install there: apt-get install libjansson4"
                )
        self.run(f"PATH=$PATH:{shlex.quote(self._copies)}")

    def copy_there(self, file: Path) -> str:
        """Copy a local file there, until the lock is released; return its place.

        Raises:
            HostError: it cannot be copied.
        """
        place = f"{self._copies}/{file.name}"
        there = shlex.quote(place)
        folder = shlex.quote(self._copies)
        copy = f"mkdir -p {folder} && cat >{there}.new && chmod 755 {there}.new"
        script = f"sh -c {shlex.quote(f'{copy} && mv {there}.new {there}')}"
        with file.open("rb") as content, tempfile.TemporaryFile() as words:
            client = self._call(script, content, subprocess.DEVNULL, words)
            try:
                status = client.wait(_COPY_SECONDS)
            except subprocess.TimeoutExpired:
                status = -1
            finally:
                _end_client(client)
            if status:
                said = _last_words(words)
                raise HostError(f"{self._copies}: {file.name} cannot be copied:{said}")
        return place

    @property
    def _copies(self) -> str:
        return f"{self._folder_there}/bin"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock the host for this lab: a stopped process, which ends with our line, holds the lock.

        Raises:
            HostError: another lab is on the host, or there can be no lock.
        """
        self._respect_root()
        stand = f'setpriv --pdeathsig KILL sh -c {shlex.quote(_STAND)} schedlab-lab "$L"'
        state = "/proc/$!/status"
        over = f"[ ! -e {state} ] || grep -qs '^State:.[TZ]' {state}"
        answer = self.run(
            f'F={_STATE_THERE}; L="$F/{LOCK}"; mkdir -p "$F"; {stand} & until {over}; do :; done;'
            f' if grep -qs "^State:.T" {state}; then echo $!; else wait $!; cat "$L"; false; fi'
        )
        pid = answer.out.decode(errors="replace").strip()
        if answer.status and answer.err:
            raise HostError(
                f"{self._host}: cannot be locked: {answer.err.strip()}."
                "\n  The lab keeps its lock there, and needs flock and setpriv of util-linux."
            )
        if answer.status:
            raise busy(self._host, f" (process {pid})" if pid else "")
        try:
            yield
            self.run(f"rm -rf {shlex.quote(self._folder_there)}")
        finally:
            with uninterrupted(), suppress(SystemLost):
                self.run(f"kill -KILL {pid}; wait {pid}")

    def _respect_root(self) -> None:
        """Refuse to disturb a lab of root's, whose lock an ordinary user cannot open."""
        file = f"{ROOT_STATE}/{LOCK}"
        script = f"[ $(id -u) = 0 ] || {{ findmnt -nvo MAJ:MIN -T {file}; stat -c %i {file}; }}"
        found = _PLACE.fullmatch(self.run(script).out)
        if found and (
            pid := holder(self.read_or("/proc/locks", ""), found[1].decode(), int(found[2]))
        ):
            raise busy(self._host, f" (process {pid})")

    def _ssh(self) -> list[str]:
        return [
            *("ssh", "-T", "-x", "-a", "-oBatchMode=yes", f"-oConnectTimeout={_CONNECT_SECONDS}"),
            *(f"-oServerAliveInterval={_ALIVE_SECONDS}", f"-oServerAliveCountMax={_ALIVE_COUNT}"),
            *("--", self._host),
        ]

    def _call(
        self, script: str, given: IO[bytes] | int, answer: int, words: IO[bytes]
    ) -> "subprocess.Popen[bytes]":
        """Start ssh with a script for the far end."""
        client = subprocess.Popen(
            # Killed with us: the far end would keep its shell, and our lock, as long as a program.
            [*process.dying_with_us(signal.SIGKILL), *self._ssh(), script],
            stdin=given,
            stdout=answer,
            stderr=words,
            start_new_session=True,  # Ctrl-C is ours to handle
        )
        process.outlives_runs(client.pid)
        resource.prlimit(client.pid, resource.RLIMIT_FSIZE, (_MOST_WORDS, _MOST_WORDS))
        return client

    def _dial(self) -> Shell:
        """Make a line to the host."""
        mark = uuid.uuid4().hex
        # The shell ends with its line, though a program it waits for goes on.
        shell = "echo ready; exec setpriv --pdeathsig HUP sh"
        script = f"exec env LC_ALL=C {_LINE}={mark} sh -c '{shell}'"
        self._words = tempfile.TemporaryFile()  # noqa: SIM115
        self._client = self._call(script, subprocess.PIPE, subprocess.PIPE, self._words)
        weakref.finalize(self, _end_line, self._client, self._words)
        line = Shell(self._client, self.name)
        try:
            line.await_ready(2 * _CONNECT_SECONDS)
        except SystemLost:
            raise SystemLost(
                f"{self.name}: cannot be reached.{self._hang_up()}"
                f"\n  `ssh {shlex.quote(self._host)} true` has to work without a prompt; the far"
                " end needs a POSIX shell, coreutils and setpriv of util-linux."
            ) from None
        except BaseException:
            self._hang_up()
            raise
        self._mark = mark
        return line

    def _hang_up(self) -> str:
        """End the line; return the last that ssh said."""
        with suppress(subprocess.TimeoutExpired):
            self._client.wait(0.5)  # one whose line is cut is about to say why
        _end_client(self._client)
        said = _last_words(self._words)
        self._words.close()
        return said


def _last_words(words: IO[bytes]) -> str:
    words.seek(0)
    said = words.read().decode(errors="replace").split("\n")
    last = [line.strip() for line in said if line.strip()][-1:]
    return f" {last[0]}" if last else ""


def _end_line(client: subprocess.Popen[bytes], words: IO[bytes]) -> None:
    _end_client(client)
    words.close()


def _end_client(client: subprocess.Popen[bytes]) -> None:
    if client.poll() is None:
        client.send_signal(signal.SIGKILL)
        client.wait()
    process.has_ended(client.pid)
    for pipe in (client.stdin, client.stdout):
        if pipe:
            pipe.close()


def reconnect(system: SshSystem) -> None:
    """Renew a line that was lost, as soon as the host is there.

    Raises:
        SystemLost: the host did not come back.
    """
    deadline = time.monotonic() + _PATIENCE_SECONDS
    wait = 1.0
    while True:
        try:
            system.connect()
            return
        except SystemLost:
            if time.monotonic() + wait > deadline:
                raise
        time.sleep(wait)
        wait = min(2 * wait, 30.0)


def hosts_known(system: System) -> dict[str, Path]:
    """Return the hosts that a system has reached, each with what it keeps of it."""
    folder = _states(system)
    return {unquote(state.name): state for state in sorted(folder.glob("*"))}


def _states(system: System) -> Path:
    return system.state_folder() / "ssh"
