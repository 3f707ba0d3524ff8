"""trace.dat, trace-cmd's format (version 6), made of what ftrace's ring buffers held.

`man trace-cmd.dat.v6` describes it. The pages of the buffers are copied as the kernel wrote them.
"""

import os
import re
import shutil
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from schedlab.base.errors import IncompleteRun

HEAD = b"\x17\x08\x44tracing"
_VERSION = b"6\0"
_LONG = 8
"""bytes of the kernel's `long`"""
_NEXT = re.compile(rb"^== (\S+)\n", re.MULTILINE)
_DATA = re.compile(rb"char data;\s*offset:(\d{1,6});\s*size:(\d{1,7});")
_LARGEST_PAGE = 1 << 20


def write_trace_dat(described: bytes, buffers: Sequence[Path], file: Path) -> None:
    """Write what lies in files of single buffers into one; those files are removed.

    Args:
        described: the formats of a page, of an event's head, and of each event, as tracefs has
            them, each behind a line `== NAME`.
        buffers: the pages of each CPU, in the order of the CPUs.
        file: what is written.

    Raises:
        IncompleteRun: the description is not as it should be.
    """
    words = _NEXT.split(described)[1:]
    formats = dict(zip(words[::2], words[1::2], strict=True))
    pages, heads = formats.pop(b"header_page", b""), formats.pop(b"header_event", b"")
    found = _DATA.search(pages)
    size = int(found[1]) + int(found[2]) if found else 0
    if not heads or not 0 < size <= _LARGEST_PAGE:
        raise IncompleteRun("ftrace does not say how its buffers are read (events/header_page).")
    with file.open("wb") as out:
        out.write(HEAD + _VERSION + struct.pack("<BBI", 0, _LONG, size))
        out.write(b"header_page\0" + _counted(pages) + b"header_event\0" + _counted(heads))
        out.write(struct.pack("<I", 0))  # formats of ftrace's own events
        out.writelines(_by_system(formats))
        out.write(struct.pack("<IIQ", 0, 0, 0))  # no symbols, texts, or names of tasks
        out.write(struct.pack("<I", len(buffers)) + b"options  \0" + struct.pack("<H", 0))
        out.write(b"flyrecord\0")
        _write_buffers(out, buffers, size)


def _counted(text: bytes) -> bytes:
    return struct.pack("<Q", len(text)) + text


def _by_system(formats: Mapping[bytes, bytes]) -> Iterator[bytes]:
    """Yield the formats of SYSTEM/EVENT, those of one system together."""
    systems: dict[bytes, list[bytes]] = {}
    for name, text in formats.items():
        systems.setdefault(name.partition(b"/")[0], []).append(text)
    yield struct.pack("<I", len(systems))
    for system, texts in systems.items():
        yield system + b"\0" + struct.pack("<I", len(texts))
        yield from map(_counted, texts)


def _write_buffers(out: BinaryIO, buffers: Sequence[Path], page: int) -> None:
    """Write where each CPU's pages are, and the pages."""
    sizes = [buffer.stat().st_size // page * page for buffer in buffers]
    at = -(-(out.tell() + 16 * len(buffers)) // page) * page
    begin = at
    for size in sizes:
        out.write(struct.pack("<QQ", at, size))
        at += size
    out.seek(begin)
    for buffer, size in zip(buffers, sizes, strict=True):
        os.truncate(buffer, size)
        with buffer.open("rb") as pages:
            shutil.copyfileobj(pages, out, 1 << 20)
        buffer.unlink()
