"""Perfetto's protobuf, written by Perfetto's own definition, read as the same trace in text is."""

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto

from schedlab.base.errors import UsageError
from schedlab.lab.recording.choice import Choice
from schedlab.lab.recording.events import Context, Kind, Stop
from schedlab.lab.recording.inference import infer
from schedlab.lab.recording.perfetto import read_perfetto
from schedlab.lab.recording.reading import read_trace
from tests.helpers.damage import damaged
from tests.helpers.traces import IDLE, TWO_TASKS, A, B, Line, read, switch

LINES = [*TWO_TASKS, switch(5_500, 1, IDLE, "R", B)]
STATES = {"R": 0, "S": 1, "D": 2, "X": 16, "R+": 0x100}
FLAGS = {".": 0, "s": 0x10, "h": 0x08}
COLUMNS = ("ns", "cpu", "kind", "current", "one", "two", "three", "context")


def trace(lines: Sequence[Line]) -> Any:
    """One bundle an event, as ftrace's own text has it."""
    made = proto.Trace()
    for line in lines:
        bundle = made.packet.add().ftrace_events
        bundle.cpu = line.cpu
        event = bundle.event.add(timestamp=line.ns, pid=line.pid)
        event.common_flags = FLAGS[line.context]
        named = dict(word.split("=", 1) for word in _words(line.text))
        body = getattr(event, line.event)
        for key, value in named.items():
            name = {"pid": "parent_pid", "comm": "parent_comm"}.get(key, key)
            name = name if line.event == "sched_process_fork" else key
            kind = body.DESCRIPTOR.fields_by_name[name].type
            number = STATES[value] if key == "prev_state" else value
            setattr(body, name, value if kind == 9 else int(number))
    return made


def _words(text: str) -> list[str]:
    """Split at the blanks before a key, since names have blanks."""
    words: list[str] = []
    for part in text.replace(" ==>", "").split(" "):
        if "=" in part:
            words.append(part)
        else:
            words[-1] += f" {part}"
    return words


def compact(lines: Sequence[Line]) -> Any:
    """The switches and wakings of one CPU in the compact form."""
    made = proto.Trace()
    bundle = made.packet.add().ftrace_events
    bundle.cpu = lines[0].cpu
    sched = bundle.compact_sched
    last = {"switch": 0, "waking": 0}
    for line in lines:
        named = dict(word.split("=", 1) for word in _words(line.text))
        kind = line.event.removeprefix("sched_")
        prefix = "next_" if kind == "switch" else ""
        comm = named[f"{prefix}comm"]
        if comm not in sched.intern_table:
            sched.intern_table.append(comm)
        at = list(sched.intern_table).index(comm)
        if kind == "switch":
            sched.switch_timestamp.append(line.ns - last[kind])
            sched.switch_prev_state.append(STATES[named["prev_state"]])
            sched.switch_next_pid.append(int(named["next_pid"]))
            sched.switch_next_prio.append(int(named["next_prio"]))
            sched.switch_next_comm_index.append(at)
        else:
            sched.waking_timestamp.append(line.ns - last[kind])
            sched.waking_pid.append(int(named["pid"]))
            sched.waking_target_cpu.append(0)
            sched.waking_prio.append(120)
            sched.waking_comm_index.append(at)
            sched.waking_common_flags.append(FLAGS[line.context])
        last[kind] = line.ns
    return made


def same_as_text(data: bytes, lines: Sequence[Line]) -> None:
    found, text = read_perfetto(data, "x"), read(lines)
    for column in COLUMNS:
        assert getattr(found, column).tolist() == getattr(text, column).tolist(), column
    assert not found.notes
    assert {pid: found.names[pid] for pid in (10, 11)} == {10: A[0], 11: B[0]}
    assert found.priorities[10] == 120


def test_as_the_text_of_ftrace(tmp_path: Path) -> None:
    data = trace(LINES).SerializeToString()
    same_as_text(data, LINES)
    file = tmp_path / "x.pftrace"
    file.write_bytes(data)
    assert infer(read_trace(file), Choice(), "x") == infer(read(LINES), Choice(), "x")


def test_the_compact_form_knows_who_ran_before() -> None:
    lines = [line for line in LINES if line.event != "sched_process_fork" and not line.cpu]
    same_as_text(compact(lines).SerializeToString(), lines)


def test_compressed_packets() -> None:
    outer = proto.Trace()
    outer.packet.add().compressed_packets = zlib.compress(trace(LINES).SerializeToString())
    same_as_text(outer.SerializeToString(), LINES)


def test_births_of_androids_traces() -> None:
    made = trace([line for line in LINES if line.event != "sched_process_fork"])
    event = made.packet.add().ftrace_events.event.add(timestamp=1_500, pid=10)
    event.task_newtask.pid, event.task_newtask.comm = 11, "b"
    found = read_perfetto(made.SerializeToString(), "x")
    born = found.of(Kind.FORK)
    assert (found.ns[born], found.one[born], found.two[born]) == (1_500, 10, 11)


def test_messages_of_the_simulator() -> None:
    made = trace(LINES)
    event = made.packet.add().ftrace_events.event.add(timestamp=6_000, pid=10)
    event.generic.event_name = "message_send"
    for key, value in (("kind", "unix"), ("object", 7), ("bytes", 100)):
        of = event.generic.field.add(name=key)
        if isinstance(value, str):
            of.str_value = value
        else:
            of.int_value = value
    found = read_perfetto(made.SerializeToString(), "x")
    last = [int(getattr(found, column)[-1]) for column in ("kind", "one", "two", "three")]
    assert last == [Kind.SEND, 2, 7, 100]


def test_states_of_tasks() -> None:
    made = trace(LINES)
    switches = [e for p in made.packet for e in p.ftrace_events.event if e.HasField("sched_switch")]
    for event, state in zip(switches, (0x80, 0x402, 4, 32, 0x200), strict=True):
        event.sched_switch.prev_state = state
    found = read_perfetto(made.SerializeToString(), "x")
    stops = found.three[found.of(Kind.SWITCH)].tolist()
    assert stops == [Stop.SLEEP, Stop.UNINTERRUPTIBLE, Stop.OTHER, Stop.DEAD, Stop.PREEMPTED]


def test_without_flags_the_context_is_not_known() -> None:
    made = trace(LINES)
    for packet in made.packet:
        packet.ftrace_events.event[0].ClearField("common_flags")
    assert set(read_perfetto(made.SerializeToString(), "x").context.tolist()) == {Context.UNKNOWN}


def test_lost_cut_and_damaged_are_told() -> None:
    made = trace(LINES)
    made.packet[2].ftrace_events.lost_events = True
    data = made.SerializeToString()
    damaged = data + proto.Trace().SerializeToString() + b"\x0a\x03\x0a\x05\x08"
    notes = " ".join(read_perfetto(damaged + data[:-4], "x").notes)
    assert "lost in 2 pieces" in notes
    assert "1 packets are damaged" in notes
    assert "ends within a packet" in notes


@pytest.mark.parametrize(
    "data", [b"", b"\x0a\x00", b"\x0a\xff\xff\xff\xff\xff\xff", b"\x0a\x02\x08\x00"]
)
def test_what_has_no_events_is_refused(data: bytes) -> None:
    with pytest.raises(UsageError, match="has no event of the scheduler"):
        read_perfetto(data, "x")


def test_what_is_no_trace_at_all(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\x7fELF\0\0")
    with pytest.raises(UsageError, match="neither text, nor perf"):
        read_trace(tmp_path / "x")


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_no_damage_ends_in_anything_but_a_message(data: st.DataObject) -> None:
    made = trace(LINES)
    made.packet.extend(compact([LINES[0], LINES[2], LINES[4]]).packet)
    whole = damaged(data, made.SerializeToString(), 6, 5)
    try:
        events = read_perfetto(whole, "x")
        infer(events, Choice(), "x")
    except UsageError:
        return
    assert len(events)
