"""A trace.dat of either byte order, as trace-cmd writes them (version 6)."""

import re
import shutil
import struct
from pathlib import Path

import pytest

from schedlab.lab.recording.choice import Choice
from schedlab.lab.recording.inference import infer
from schedlab.lab.recording.reading import read_trace
from schedlab.lab.recording.trace_dat import write_trace_dat
from tests.helpers.event_formats import PAGE, event_format, switch_format

PAGE_BYTES = 4096
SWITCH = switch_format(300, '__print_flags(REC->prev_state, "|", { 1, "S" })')
WAKING = event_format(
    "sched_waking",
    301,
    """\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;
\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;
""",
    '"comm=%s pid=%d prio=%d target_cpu=%03d", REC->comm, REC->pid, REC->prio, REC->target_cpu',
)
EVENTS = """# compressed entry header
\ttype_len    :    5 bits
\ttime_delta  :   27 bits
\tarray       :   32 bits

\tpadding     : type == 29
\ttime_extend : type == 30
\ttime_stamp : type == 31
\tdata max type_len  == 28
"""


def event(order: str, described: str, by: int, **values: int | str) -> bytes:
    """What the kernel writes of an event, by its format."""
    fields = re.findall(r"(\w+)(?:\[16\])?;\toffset:(\d+);\tsize:(\d+)", described)
    number = re.findall(r"ID: (\d+)", described)[0]
    given = {"common_type": int(number), "common_pid": by, **values}
    written = bytearray(sum(int(size) for _, _, size in fields))
    for name, offset, size in fields:
        value, at, long = given.get(name, 0), int(offset), int(size)
        raw = (
            value.encode().ljust(long, b"\0")
            if isinstance(value, str)
            else value.to_bytes(long, "little" if order == "<" else "big", signed=True)
        )
        written[at : at + long] = raw
    return bytes(written)


def trace_dat(order: str) -> bytes:
    """A wakes B and waits; B works, wakes A and waits; ten times, on one CPU."""

    def switch(before: tuple[str, int], after: tuple[str, int]) -> bytes:
        one = {"prev_comm": before[0], "prev_pid": before[1], "prev_prio": 120, "prev_state": 1}
        other = {"next_comm": after[0], "next_pid": after[1], "next_prio": 120}
        return event(order, SWITCH, before[1], **one, **other)

    def waking(by: tuple[str, int], whom: tuple[str, int]) -> bytes:
        return event(order, WAKING, by[1], comm=whom[0], pid=whom[1], prio=120, target_cpu=0)

    def counted(text: str) -> bytes:
        return struct.pack(f"{order}Q", len(text)) + text.encode()

    a, b = ("a", 10), ("b", 11)
    rounds = [
        (5000, waking(a, b)),
        (1000, switch(a, b)),
        (7000, waking(b, a)),
        (1000, switch(b, a)),
    ]
    data = b""
    for delta, raw in rounds * 10:
        long = len(raw) // 4
        head = delta << 5 | long if order == "<" else long << 27 | delta
        data += struct.pack(f"{order}I", head) + raw
    page = struct.pack(f"{order}QQ", 1_000_000_000, len(data)) + data
    out = b"\x17\x08\x44tracing6\0" + struct.pack(f"{order}BBI", order == ">", 8, PAGE_BYTES)
    out += b"header_page\0" + counted(PAGE) + b"header_event\0" + counted(EVENTS)
    out += struct.pack(f"{order}II", 0, 1) + b"sched\0" + struct.pack(f"{order}I", 2)
    out += counted(SWITCH) + counted(WAKING)
    out += struct.pack(f"{order}IIQI", 0, 0, 0, 1) + b"options  \0" + struct.pack(f"{order}H", 0)
    out += b"flyrecord\0"
    begin = -(-(len(out) + 16) // PAGE_BYTES) * PAGE_BYTES
    out += struct.pack(f"{order}QQ", begin, PAGE_BYTES)
    return out.ljust(begin, b"\0") + page.ljust(PAGE_BYTES, b"\0")


@pytest.mark.skipif(shutil.which("trace-cmd") is None, reason="trace-cmd is not installed")
@pytest.mark.parametrize("order", ["<", ">"])
def test_a_trace_dat_of_either_byte_order_is_read(order: str, tmp_path: Path) -> None:
    file = tmp_path / "trace.dat"
    file.write_bytes(trace_dat(order))
    made = infer(read_trace(file), Choice(), "x")
    words = {task.key: task.words for task in made.tasks}
    assert words["b-11"] == " ".join(["w 7000 >10 1000"] * 10)
    assert words["a-10"].count("5000 >11 1000 w") == 9


def test_half_a_page_at_the_end_is_left_out(tmp_path: Path) -> None:
    described = f"== header_page\n{PAGE}== header_event\n{EVENTS}== sched/sched_switch\n{SWITCH}"
    whole, cut = (tmp_path / name for name in ("whole.raw", "cut.raw"))
    page = bytes(range(256)) * (PAGE_BYTES // 256)
    whole.write_bytes(page)
    cut.write_bytes(page + b"half a page")
    for buffer in (whole, cut):
        write_trace_dat(described.encode(), [buffer], buffer.with_suffix(".dat"))
    assert cut.with_suffix(".dat").read_bytes() == whole.with_suffix(".dat").read_bytes()
    assert not whole.exists() and not cut.exists()
