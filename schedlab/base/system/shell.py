"""A POSIX shell at the far end of a pair of pipes: commands go there, their answers come back.

A serial line into a guest and `ssh HOST` are the same to it. The far end says `ready` in a line of
its own, then runs what it reads.
"""

import math
import os
import re
import select
import subprocess
import time
from dataclasses import dataclass

from schedlab.base.errors import HostError, SystemLost

READY = b"ready"
_ANSWER = re.compile(rb"answer (\d{1,9}) (\d{1,3}) (\d{1,18}) (\d{1,18})\r?\n")
_FOLDER = "/tmp/.schedlab-shell-XXXXXX"
_PATIENCE_SECONDS = 60.0
"""What a short command may take at a far end that is slow and busy."""

_MOST_BYTES = 128 << 20
"""The longest answer that is taken: far more than sysfs of thousands of CPUs, or a run's files."""
_MOST_LINE = 1 << 20
_LONGEST_SECONDS = 2e6
"""What poll() takes is a C int of milliseconds; a wait that is longer has no end."""


@dataclass(frozen=True)
class Answer:
    """What came of a command."""

    status: int
    out: bytes
    err: str


class Shell:
    """Runs one command after the other; what one sets, the next sees."""

    def __init__(self, process: subprocess.Popen[bytes], name: str) -> None:
        """Use the pipes of a process that is the line to the far end."""
        assert process.stdin and process.stdout
        self._process = process
        self.name = name
        self._input = process.stdin.fileno()
        self._output = process.stdout.fileno()
        self._rest = bytearray()
        self._count = 0
        os.set_blocking(self._input, False)

    def await_ready(self, seconds: float) -> None:
        """Wait until the far end is there.

        Raises:
            SystemLost: it is not within that time, or the line has ended.
        """
        deadline = time.monotonic() + seconds
        while READY not in self._line(deadline).split():
            pass
        forget = 'rm -rf "$D"'  # a shell that is hung up on may skip what it does at its exit
        traps = f"trap '{forget}' EXIT; trap '{forget}; exit 1' HUP TERM"
        self.run(f"D=$(mktemp -d {_FOLDER}); {traps}")

    def run(self, script: str, seconds: float = _PATIENCE_SECONDS) -> Answer:
        """Run commands and return their status and output.

        Raises:
            SystemLost: no answer came within that time, or the line has ended.
            HostError: the answer is too long to be taken; the line is of no more use.
        """
        self._count += 1
        framed = (
            f"{{ {script}\n}} >$D/out 2>$D/err </dev/null; S=$?;"
            f" printf 'answer {self._count} %d %d %d\\n' $S $(stat -c %s $D/out $D/err);"
            " cat $D/out $D/err\n"
        )
        if self._count == 1:  # the folder for answers is not there yet
            framed = f"{script}; printf 'answer 1 %d 0 0\\n' $?\n"
        deadline = time.monotonic() + seconds
        self._send(framed.encode(errors="surrogateescape"), deadline)
        while True:
            found = _ANSWER.fullmatch(self._line(deadline))
            if found and int(found[1]) == self._count:
                break
        status, out, err = (int(field) for field in found.groups()[1:])
        if out + err > _MOST_BYTES:
            raise HostError(
                f"{self.name}: an answer of {out + err} bytes is refused; at most {_MOST_BYTES}"
                " are accepted."
            )
        return Answer(
            status, self._take(out, deadline), self._take(err, deadline).decode(errors="replace")
        )

    def _send(self, data: bytes, deadline: float) -> None:
        while data:
            self._await(self._input, select.POLLOUT, deadline)
            try:
                data = data[os.write(self._input, data) :]
            except OSError as error:
                raise SystemLost(f"{self.name}: the connection to it broke.") from error

    def _line(self, deadline: float) -> bytes:
        while (end := self._rest.find(b"\n")) < 0:
            if len(self._rest) > _MOST_LINE:
                raise SystemLost(f"{self.name}: it sent something that is not an answer.")
            self._receive(deadline)
        return self._cut(end + 1)

    def _take(self, size: int, deadline: float) -> bytes:
        while len(self._rest) < size:
            self._receive(deadline)
        return self._cut(size)

    def _cut(self, size: int) -> bytes:
        taken = bytes(self._rest[:size])
        del self._rest[:size]
        return taken

    def _receive(self, deadline: float) -> None:
        self._await(self._output, select.POLLIN, deadline)
        chunk = os.read(self._output, 1 << 16)
        if not chunk:
            raise SystemLost(f"{self.name}: the connection to it has ended.")
        self._rest += chunk

    def _await(self, descriptor: int, event: int, deadline: float) -> None:
        poller = select.poll()
        poller.register(descriptor, event)
        left = deadline - time.monotonic()
        limit = math.ceil(left * 1000) if left < _LONGEST_SECONDS else None
        if left <= 0 or not poller.poll(limit):
            raise SystemLost(f"{self.name}: does not answer.")
