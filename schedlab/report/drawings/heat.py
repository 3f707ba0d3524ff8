"""Pictures made of cells: CPUs over time, and migrations between LLCs.

The cells are a small image with transparency inside of an <svg> element: as elements of their own
they would be megabytes. Its colours are readable on a light page, a dark one and on paper.
"""

import base64
import struct
import zlib
from collections.abc import Sequence
from itertools import pairwise
from xml.sax.saxutils import escape

from markupsafe import Markup

from schedlab.base.printable import printable
from schedlab.report.picture_data import OTHERS, Film, Moves
from schedlab.report.wording import brief_duration

WIDTH = 370
"""CSS pixels: it fits a phone as it is, and two stand side by side on a desk."""
GROUPS = ("#3b8fd0", "#a566b8", "#1f9e89", "#8a8f98")
"""Of the tasks' names with most time, in this order; the last is that of all others."""
WAITING = "#e07b00"
_OFFLINE = "#5b4636"
_LEVELS = (0.35, 0.6, 0.8, 1.0)
"""How opaque a cell is that is busy up to a quarter, a half, three quarters, and beyond."""
_WAITING_LEVELS = ((0.05, 0.35), (0.5, 0.7), (2.0, 1.0))
"""From so many waiting tasks on, and how opaque."""
_IDLE = ("#8a8f98", 0.14)
_LEFT = 46
_MOST_ROWS = 320
"""With more CPUs than that each row is a core."""

_Colour = tuple[str, float]


def _palette() -> list[_Colour]:
    busy = [(colour, level) for colour in (*GROUPS, _OFFLINE) for level in _LEVELS]
    return [("#000000", 0.0), _IDLE, *busy, *((WAITING, level) for _, level in _WAITING_LEVELS)]


def heat_map(film: Film, whole_ns: int, name: str, said: str) -> Markup:
    """Draw what each CPU did; `whole_ns` is how long the axis is, so that films compare."""
    lanes = film.lanes(_MOST_ROWS)
    big, small = (8, 4) if len(lanes) <= 16 else (4, 2) if len(lanes) <= 64 else (1, 1)
    pixels: list[bytes] = []
    labels: list[tuple[int, str]] = []
    empty = bytes(film.bins)
    for before, lane in pairwise([None, *lanes]):
        assert lane
        if before is None or before.node != lane.node:
            pixels += [empty] * (4 if before else 0)
            labels.append((len(pixels), f"node {lane.node}"))
        elif before.llc != lane.llc:
            pixels += [empty] * (1 if small == 1 else 3)
        elif before.core != lane.core and small > 1:
            pixels += [empty]
        pixels += [bytes(map(_busy, lane.busy, lane.shown, lane.offline))] * big
        pixels += [bytes(map(_waiting, lane.waiting, lane.busy))] * small
    height = len(pixels)
    width = (WIDTH - _LEFT) * film.bins * film.bin_ns / whole_ns
    marks = "".join(
        f'<text x="{_LEFT - 4}" y="{max(at + 9, 9)}" text-anchor="end">{label}</text>'
        for at, label in _apart(labels)
    )
    ticks = "".join(
        f'<text x="{_LEFT + (WIDTH - _LEFT) * part:.0f}" y="{height + 14}" text-anchor="{anchor}">'
        f"{brief_duration(whole_ns * part / 1e9) if part else '0'}</text>"
        for part, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end"))
    )
    image = _image(_png(pixels, _palette()), _LEFT, 0, width, height)
    return _svg(name, said, WIDTH, height + 18, image + marks + ticks)


def _apart(labels: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return those labels that do not run into the one before."""
    kept: list[tuple[int, str]] = []
    for at, label in labels:
        if not kept or at - kept[-1][0] >= 13:
            kept.append((at, label))
    return kept


def _busy(share: float, group: int, offline: float) -> int:
    if offline > 0.5:
        return 2 + 4 * len(GROUPS) + 3
    if share < 0.02:
        return 1
    return 2 + 4 * group + min(int(4 * share), 3)


def _waiting(tasks: float, share: float) -> int:
    level = sum(tasks >= least for least, _ in _WAITING_LEVELS)
    return 1 + 4 * (len(GROUPS) + 1) + level if level else 1


_CELLS = 220
_DEPTHS = 12


def matrix(moves: Moves, most: int, name: str, said: str) -> Markup:
    """Draw how many tasks moved from each LLC (a row) to each (a column); `most` is the darkest."""
    count = moves.llcs
    step = max(_CELLS // count, 2)
    edge = step * count
    palette = [_IDLE, *((GROUPS[0], (depth + 1) / _DEPTHS) for depth in range(_DEPTHS))]
    rows = [bytes(_depth(moves.of(a, b), most) for b in range(count)) for a in range(count)]
    image = _image(_png(rows, palette), _LEFT, 14, edge, edge)
    every = max(1, -(-count * 14 // edge))
    texts = [f'<text x="{_LEFT + edge // 2}" y="10" text-anchor="middle">to LLC</text>']
    for llc in range(0, count, every):
        middle = step * llc + step // 2 + 4
        texts.append(f'<text x="{_LEFT - 4}" y="{14 + middle}" text-anchor="end">{llc}</text>')
        texts.append(
            f'<text x="{_LEFT + step * llc + step // 2}" y="{edge + 27}" text-anchor="middle">'
            f"{llc}</text>"
        )
    if step >= 44:
        texts += [
            f'<text x="{_LEFT + step * b + step // 2}" y="{14 + step * a + step // 2 + 4}"'
            f' text-anchor="middle">{moves.of(a, b):,}</text>'
            for a in range(count)
            for b in range(count)
        ]
    texts.append(f'<text x="0" y="{14 + edge // 2}">from</text>')
    return _svg(name, said, _LEFT + edge + 4, edge + 31, image + "".join(texts))


def _depth(tasks: int, most: int) -> int:
    """Return a depth of colour, in proportion to the logarithm."""
    if not tasks:
        return 0
    return 1 + round((_DEPTHS - 1) * (tasks.bit_length() - 1) / max(most.bit_length() - 1, 1))


def _image(png: bytes, x: float, y: float, width: float, height: float) -> str:
    data = base64.b64encode(png).decode()
    return (
        f'<image x="{x}" y="{y}" width="{width:.1f}" height="{height}" class="cells"'
        f' preserveAspectRatio="none" href="data:image/png;base64,{data}"/>'
    )


def _svg(name: str, said: str, width: int, height: int, inside: str) -> Markup:
    words = escape(printable(said))
    return Markup(
        f'<svg viewBox="0 0 {width} {height}" width="{width}" role="img"'
        f' aria-labelledby="{name}-words"><desc id="{name}-words">{words}</desc>{inside}</svg>'
    )


def _png(rows: Sequence[bytes], palette: Sequence[_Colour]) -> bytes:
    """Return an image of indexed colours with transparency."""
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)
    colours = b"".join(bytes.fromhex(colour[1:]) for colour, _ in palette)
    opaque = bytes(round(255 * alpha) for _, alpha in palette)
    lines = b"".join(b"\0" + row for row in rows)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", header),
            _chunk(b"PLTE", colours),
            _chunk(b"tRNS", opaque),
            _chunk(b"IDAT", zlib.compress(lines, 9)),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def legend(film: Film) -> list[tuple[str, str]]:
    """Return a colour and what it stands for."""
    kinds = [(GROUPS[which], name) for which, name in enumerate(film.names)]
    kinds.append((GROUPS[OTHERS], "the kernel's threads and other tasks"))
    return [*kinds, (_OFFLINE, "off-line")] if film.has_offline else kinds
