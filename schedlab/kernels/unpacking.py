"""Unpacking a tree so that it is there whole or not at all."""

import json
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from schedlab.kernels import KernelError
from schedlab.kernels.cache import disk_errors, full_disk, only_one
from schedlab.kernels.process import plain_environment, pump, started
from schedlab.kernels.progress import Watch

_DONE = ".schedlab-unpacked"


def is_unpacked(folder: Path, reach: Sequence[str]) -> bool:
    """Return whether a tree is there with all the parts the engine reads."""
    try:
        there = json.loads((folder / _DONE).read_text())
    except (OSError, ValueError):
        return False
    return set(reach) <= set(there)


@contextmanager
def unpacked(folder: Path, reach: Sequence[str], watch: Watch) -> Iterator[Path | None]:
    """Return an empty folder to unpack into; at the end of the block it takes the tree's place.

    One process at a time; return None where another has unpacked the tree in the meantime.
    """

    def waiting(holder: str) -> None:
        watch.say(f"process {holder} is unpacking the same tree; waiting for it.")

    lock = folder.parent.parent / "locks" / folder.name
    with disk_errors("unpacking the tree"), only_one(lock, waiting):
        if is_unpacked(folder, reach):
            yield None
            return
        partial = folder.with_name(f"{folder.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        try:
            yield partial
            (partial / _DONE).write_text(json.dumps(list(reach)))
            shutil.rmtree(folder, ignore_errors=True)
            partial.rename(folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def pour(source: Path, pipeline: Sequence[Sequence[str]]) -> Iterator[int]:
    """Send a file through programs one behind the other; return the bytes sent so far.

    Raises:
        KernelError: one of them failed; with its words.
    """
    script = "set -o pipefail; " + " | ".join(shlex.join(argv) for argv in pipeline)
    with (
        source.open("rb") as file,
        tempfile.TemporaryFile() as words,
        started(
            ["bash", "-c", script],
            stdin=subprocess.PIPE,
            stdout=words,
            stderr=words,
            env=plain_environment(),
        ) as process,
    ):
        assert process.stdin
        yield from pump(file, process.stdin)
        if process.wait():
            words.seek(0)
            said = words.read().decode(errors="replace").strip()
            raise KernelError(
                full_disk(f"unpacking {source.name}")
                if "No space left" in said
                else f"{source}: cannot be unpacked: {(said.splitlines() or ['-'])[0]}"
            )
