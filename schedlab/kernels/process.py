"""Long-running programs: their output line by line, and a hard end when stopped."""

import os
import signal
import subprocess
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from schedlab.kernels import KernelError

_GRACE_SECONDS = 5.0


@contextmanager
def started(argv: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program in a session of its own; it has ended, or is ended, with the block.

    Raises:
        KernelError: it cannot be started.
    """
    try:
        process = subprocess.Popen(argv, start_new_session=True, **options)
    except OSError as error:
        raise KernelError(f"{argv[0]}: cannot be started: {error.strerror}") from error
    try:
        yield process
    finally:
        if process.poll() is None:
            _end(process)


def lines(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    keep_open: Sequence[int] = (),
) -> Generator[str, None, None]:
    """Run a program and return its lines, of both outputs; the last is its exit status."""
    with started(
        argv,
        cwd=cwd,
        env=env,
        pass_fds=tuple(keep_open),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdout
        for line in process.stdout:
            yield line.decode(errors="replace").rstrip("\n")
        yield str(process.wait())


def output(argv: Sequence[str], cwd: Path | None = None) -> tuple[int, str]:
    """Run a short program; return its exit status and all it wrote."""
    *printed, status = lines(argv, cwd=cwd, env=plain_environment())
    return int(status), "\n".join(printed)


def pump(source: IO[bytes], sink: IO[bytes]) -> Iterator[int]:
    """Copy a stream, giving the bytes copied so far; ends early when the sink is closed."""
    copied = 0
    with suppress(BrokenPipeError):
        while chunk := source.read(1 << 20):
            sink.write(chunk)
            copied += len(chunk)
            yield copied
    with suppress(BrokenPipeError):
        sink.close()


def plain_environment() -> dict[str, str]:
    """Return our environment without what a surrounding make, git or locale would change."""
    ours = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("MAKE", "MFLAGS", "GNUMAKE", "GIT_"))
    }
    return {**ours, "LC_ALL": "C"}


def _end(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_SECONDS)
            return
