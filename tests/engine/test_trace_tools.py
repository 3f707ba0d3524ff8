"""Traces opened by the tools they are for, where these are installed."""

from __future__ import annotations

import os
import re
import shutil
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.engine.simulator import Json, Simulator

SCENARIO: Json = {
    "duration": "60ms",
    "tasks": [
        {"name": "two words", "count": 6, "program": [{"run": "500us"}, {"sleep": "700us"}]},
        {"name": "child", "program": [{"fork": True, "body": [{"run": "1ms"}]}, {"sleep": "5ms"}]},
        # it leaves its CPU through the stopper, a thread of the kernel
        {
            "name": "moved",
            "policy": "fifo",
            "priority": 1,
            "affinity": "0",
            "program": [{"run": "100ms"}],
        },
    ],
    "actions": [{"at": "20ms", "task": "moved", "affinity": "3"}],
}
EVENTS = "sched:sched_*,schedlab:*,power:cpu_idle"


def traced(sim: Simulator, path: Path, form: str, events: str = EVENTS) -> Counter[str]:
    """A trace in a file; gives how often each event happened."""
    options = ["--trace", str(path), "--trace-format", form, "--trace-events", events]
    counters = sim("smp4", SCENARIO, *options)["counters"]
    return Counter({name.split(":")[1]: n for name, n in counters.items() if n})


def unknown_fields(message: Any) -> int:
    """Fields of a message, at any depth, that perfetto's own definition does not have."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    found = len(UnknownFieldSet(message))
    for field, value in message.ListFields():
        if field.message_type:
            found += sum(map(unknown_fields, value if field.is_repeated else [value]))
    return found


def test_perfetto_definitions_read_every_event(sim: Simulator, tmp_path: Path) -> None:
    pytest.importorskip("perfetto", reason="the package perfetto is not installed")
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2

    count = traced(sim, tmp_path / "t", "perfetto")
    trace = perfetto_trace_pb2.Trace.FromString((tmp_path / "t").read_bytes())
    assert unknown_fields(trace) == 0
    found: Counter[str] = Counter()
    running: dict[int, int] = {}
    for packet in trace.packet:
        [event] = packet.ftrace_events.event
        kind = event.WhichOneof("event")
        message = getattr(event, kind)
        found[message.event_name if kind == "generic" else kind] += 1
        if kind == "sched_switch":
            cpu = packet.ftrace_events.cpu
            assert running.get(cpu, message.prev_pid) == message.prev_pid == event.pid
            running[cpu] = message.next_pid
            assert message.next_pid >= 0 and message.next_comm
        if kind == "generic" and message.event_name == "pick_next":
            fields = {f.name: f.str_value or f.int_value for f in message.field}
            assert {"comm", "pid", "class", "nr_running"} < set(fields)
            assert fields["pid"] == 0 or isinstance(fields["comm"], str)
    for name in ("sched_switch", "sched_waking", "sched_wakeup", "sched_migrate_task"):
        assert found[name] == count[name] > 0
    assert found["sched_process_fork"] == count["sched_process_fork"] > 5
    assert found["group_stats"] == count["group_stats"] > 0
    names = {e.sched_switch.next_comm for p in trace.packet for e in p.ftrace_events.event}
    assert {"two words1", "moved", "migration/0"} <= names


@pytest.mark.parametrize("form", ["ftrace", "perfetto"])
def test_trace_processor_imports(sim: Simulator, tmp_path: Path, form: str) -> None:
    processor = os.environ.get("TRACE_PROCESSOR") or shutil.which("trace_processor_shell")
    if not processor:
        pytest.skip("no trace_processor_shell: name perfetto's in TRACE_PROCESSOR")
    api = pytest.importorskip("perfetto.trace_processor", reason="perfetto is not installed")
    count = traced(sim, tmp_path / "t", form)
    config = api.TraceProcessorConfig(bin_path=processor)
    with api.TraceProcessor(trace=str(tmp_path / "t"), config=config) as opened:
        lost = "select name, value from stats where severity in ('error', 'data_loss') and value"
        assert [(row.name, row.value) for row in opened.query(lost)] == []
        [row] = opened.query("select count(*) as n, count(distinct cpu) as cpus from sched")
        assert row.cpus == 4 and row.n == pytest.approx(count["sched_switch"], abs=4)


def test_trappy_imports_ftrace_text(sim: Simulator, tmp_path: Path) -> None:
    trappy = pytest.importorskip("trappy", reason="the package TRAPpy is not installed")
    count = traced(
        sim, tmp_path / "t.txt", "ftrace", "sched_switch,sched_wakeup,sched_migrate_task"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it would rather have trace-cmd's binary form
        opened = trappy.FTrace(str(tmp_path / "t.txt"), normalize_time=False)
    for event in ("sched_switch", "sched_wakeup", "sched_migrate_task"):
        assert len(getattr(opened, event).data_frame) == count[event] > 0
    frame = opened.sched_switch.data_frame
    assert set(frame["__cpu"]) == {0, 1, 2, 3}
    assert (frame["prev_pid"] == frame["__pid"]).all()
    assert {"two words1", "moved", "migration/0"} <= set(frame["next_comm"])


def test_text_is_as_readers_expect(sim: Simulator, tmp_path: Path) -> None:
    """What perfetto's and TRAPpy's readers have in common: pids without sign, four letters."""
    traced(sim, tmp_path / "t", "ftrace")
    text = (tmp_path / "t").read_text()
    assert text.startswith("# tracer")
    line = re.compile(r"^ *\S.*-\d+ +\[\d{3}\] [d.][N.][Hhs.][0-9a-f.] +\d+\.\d{9}: \w+: \S")
    lines = [one for one in text.splitlines() if not one.startswith("#")]
    assert len(lines) > 100 and all(map(line.match, lines))
    assert "pid=-" not in text
