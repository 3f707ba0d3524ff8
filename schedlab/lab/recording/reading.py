"""Traces of all kinds, read as events: by what the file begins with."""

import gzip
import re
import subprocess
import sys
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from schedlab.base.errors import UsageError, reading
from schedlab.base.files import need_regular
from schedlab.base.system.installed import need_programs
from schedlab.lab.recording.events import COUNTERS, Events
from schedlab.lab.recording.perfetto import read_perfetto
from schedlab.lab.recording.text import read_text
from schedlab.lab.recording.trace_dat import HEAD as TRACE_DAT
from schedlab.lab.recording.unbroken import unbroken

LARGEST = 10 << 30
"""bytes of text; no trace is longer."""
_PIECE = 4 << 20
_PERF = (b"PERFILE2", b"2ELIFREP")
"""As hosts write it whose lower bytes come first, and the others."""
_LITTLE, _BIG = "little", "big"
_ONE = re.compile(rb"(\] +\d+\.\d{9}: ) +1 (?= *\w+:\w+: )")
_EVENT = re.compile(rb"\[\d{3,6}\] [^\n\0]*\d\.\d{6,9}: ")
"""Of text, the CPU and time of an event: lines of zeros among such ones are damaged."""
_GZIP = b"\x1f\x8b"
_PERFETTO = b"\n"
"""The key of a trace's first packet; text that begins so has no zeros."""
LARGEST_PERFETTO = 2 << 30
"""bytes; such a trace is read into memory."""


def read_trace(path: Path) -> Events:
    """Read a trace: text of ftrace, trace-cmd or perf script, perf.data, trace.dat, or Perfetto's.

    Raises:
        UsageError: it cannot be read, is of another kind, or has no event of the scheduler.
    """
    cut: list[str] = []
    need_regular(path)
    with reading(path), path.open("rb") as file:
        head = file.read(4096)
    if head.startswith(_PERF):
        pieces = perf_text(path)
    elif head.startswith(TRACE_DAT):
        pieces = trace_cmd_text(path)
    elif head.startswith(_GZIP):
        pieces = _unpacked(path, cut)
    elif b"\0" in head and head.startswith(_PERFETTO):
        return read_perfetto(_whole(path), str(path))
    elif b"\0" in head and not _EVENT.search(head):
        raise UsageError(f"{path}: is neither text, nor perf.data, trace.dat, or Perfetto's.")
    else:
        pieces = _pieces(path)
    events = read_text(_limited(pieces, path), str(path))
    return replace(events, notes=[*events.notes, *cut])


def perf_text(path: Path) -> Iterator[bytes]:
    """Yield what perf prints of a perf.data; UsageError if perf is missing, or cannot read it."""
    counted = _has_counters(path)
    fields = "comm,tid,cpu,time,event,trace" + (",period" if counted else "")
    options = ("--ns", "--show-lost-events", "-F", fields, "-i", str(path))
    whole = unbroken(_printed(("perf", "script", *options), "linux-perf", path))
    return map(_without_ones, whole) if counted else whole


def _has_counters(path: Path) -> bool:
    """Return whether a perf.data has what a counter counted, which perf prints only if asked."""
    need_programs({"perf": "linux-perf"}, f"reading {path}", UsageError)
    named = subprocess.run(("perf", "evlist", "-i", str(path)), capture_output=True, check=False)
    return any(counter.encode() in named.stdout for counter in COUNTERS)


def _without_ones(piece: bytes) -> bytes:
    """Return whole lines without the figure before tracepoints: each counts itself."""
    return _ONE.sub(rb"\1", piece)


def trace_cmd_text(path: Path) -> Iterator[bytes]:
    """Yield what trace-cmd prints of a trace.dat; UsageError if it is missing, or cannot read it.

    Of a file that is cut off it prints no line.
    """
    argv = ("trace-cmd", "report", "-t", "-N", "-l", "-i", str(path))
    some = False
    for piece in _printed(argv, "trace-cmd", path):
        some = some or b" sched_" in piece
        yield piece
    if not some:
        order = ", or is of a host of the other byte order" if _is_foreign(path) else ""
        why = f"it is cut off, or has none{order}"
        raise UsageError(f"{path}: trace-cmd prints no event of the scheduler: {why}.")


def _whole(path: Path) -> bytes:
    with path.open("rb") as file:
        data = file.read(LARGEST_PERFETTO + 1)
    if len(data) > LARGEST_PERFETTO:
        raise UsageError(
            f"{path}: is longer than {LARGEST_PERFETTO >> 30} GiB; `traceconv text FILE` converts"
            " it into text, of which more is read."
        )
    return data


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece


def _unpacked(path: Path, cut: list[str]) -> Iterator[bytes]:
    """Yield a file's text up to where it is damaged or cut off, which is noted."""
    some = False
    try:
        with gzip.open(path) as file:
            while piece := file.read1(_PIECE):
                some = True
                yield piece
    except (OSError, EOFError, zlib.error) as error:
        if not some:
            raise UsageError(f"{path}: is incomplete: {error}.") from None
        cut.append("The file is damaged or cut off: what came before is used.")


def _limited(pieces: Iterator[bytes], path: Path) -> Iterator[bytes]:
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > LARGEST:
            raise UsageError(f"{path}: is longer than {LARGEST >> 30} GiB of text; cut it.")
        yield piece


def _is_foreign(path: Path) -> bool:
    """Return whether a perf.data or trace.dat is of a host of the other byte order."""
    with path.open("rb") as file:
        head = file.read(64)
    if head.startswith(TRACE_DAT):
        after = head[len(TRACE_DAT) :].partition(b"\0")[2]
        return after[:1] == (b"\1" if sys.byteorder == "little" else b"\0")
    return head.startswith(_PERF[sys.byteorder == "little"])


def _printed(argv: tuple[str, ...], package: str, path: Path) -> Iterator[bytes]:
    """Yield what a tool prints; it is ended when nobody reads on."""
    need_programs({argv[0]: package}, f"reading {path}", UsageError)
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tool:
        assert tool.stdout and tool.stderr
        try:
            while piece := tool.stdout.read(_PIECE):
                yield piece
        finally:
            tool.stdout.close()
            said = tool.stderr.read(4096).decode(errors="replace").splitlines()
            status = tool.wait()
    if status:
        why = [line.strip() for line in said if line.strip() and not line.endswith("Ignoring.")]
        hint = "\n  It reads whole files alone; record or copy one again that was cut off."
        if _is_foreign(path):
            hint = (
                "\n  The file is of a host of the other byte order, which not every"
                f" {argv[0]} reads: print it as text there, and import that"
                " (docs/manual/recording.md)."
            )
        reason = why[0] if why else "failed, and says nothing more"
        raise UsageError(f"{path}: {argv[0]}: {reason}{hint}")
