"""A perf.data as a host of a given byte order writes it: switches of two tasks on one CPU."""

import struct
from pathlib import Path

from tests.helpers.event_formats import PAGE, switch_format

_SWITCH = 77
"""The number of the tracepoint there."""
_TRACEPOINT = 2
_IP, _TID, _TIME, _CPU, _PERIOD, _RAW = 1 << 0, 1 << 1, 1 << 2, 1 << 7, 1 << 8, 1 << 10
_COMM, _SAMPLE = 3, 9
_TRACING_DATA, _HOST_NAME = 1, 3
"""Features of the file; by the second one perf finds how the bits of all are ordered."""
_ATTR_SIZE = 64
"""PERF_ATTR_SIZE_VER0"""
_FIELDS = switch_format(_SWITCH, '(REC->prev_state & 1) ? "S" : "R"')


def write_perf_data(path: Path, order: str, moves: list[tuple[int, int, int]]) -> None:
    """Write a perf.data of the byte order `>` or `<`: switches as time, task before, task after."""
    comm = b"".join(
        struct.pack(f"{order}IHHII16s", _COMM, 0, 32, pid, pid, f"t{pid}".encode())
        for pid in sorted({pid for _, *both in moves for pid in both if pid})
    )
    data = comm + b"".join(_sample(order, *move) for move in moves)
    attr = struct.pack(
        f"{order}IIQQQQQIIQ",
        *(_TRACEPOINT, _ATTR_SIZE, _SWITCH, 1),
        *(_IP | _TID | _TIME | _CPU | _PERIOD | _RAW, 0, 0, 1, 0, 0),
    )
    attr += struct.pack(f"{order}QQ", 0, 0)
    tracing = _tracing(order)
    host = struct.pack(f"{order}I4s", 4, b"far")
    begin = 104 + len(attr)
    table = begin + len(data)
    head = struct.pack(
        f"{order}QQQQQQQQQQQQQ",
        *(0x32454C4946524550, 104, len(attr), 104, len(attr), begin, len(data), 0, 0),
        *(1 << _TRACING_DATA | 1 << _HOST_NAME, 0, 0, 0),
    )
    after = table + 32
    sections = struct.pack(f"{order}QQQQ", after, len(tracing), after + len(tracing), len(host))
    path.write_bytes(head + attr + data + sections + tracing + host)


def _sample(order: str, ns: int, before: int, after: int) -> bytes:
    raw = struct.pack(
        f"{order}HBBi16siiq16sii4x",
        *(_SWITCH, 0, 0, before, f"t{before}".encode(), before, 120, 1),
        *(f"t{after}".encode(), after, 120),
    )
    fixed = struct.pack(f"{order}QIIQIIQ", 0, before, before, ns, 0, 0, 1)
    size = 8 + len(fixed) + 4 + len(raw)
    return (
        struct.pack(f"{order}IHH", _SAMPLE, 1, size)
        + fixed
        + struct.pack(f"{order}I", len(raw))
        + raw
    )


def _tracing(order: str) -> bytes:
    """Return what perf keeps of tracefs, as of a machine with words of 8 bytes."""

    def file(text: str) -> bytes:
        return struct.pack(f"{order}Q", len(text)) + text.encode()

    head = b"\x17\x08\x44tracing0.6\0" + bytes([order == ">", 8]) + struct.pack(f"{order}I", 4096)
    pages = b"header_page\0" + file(PAGE) + b"header_event\0" + file("")
    events = struct.pack(f"{order}II", 0, 1) + b"sched\0" + struct.pack(f"{order}I", 1)
    return head + pages + events + file(_FIELDS) + struct.pack(f"{order}IIQ", 0, 0, 0)
