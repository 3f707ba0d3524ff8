"""Recording by ftrace's ring buffers: what others trace stays, what is lost is told, no remains."""

import gzip
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from schedlab.base.errors import IncompleteRun
from schedlab.base.system import LocalSystem
from schedlab.counters.tracepoints import TRACEFS
from schedlab.lab.recording import recorder, ring
from schedlab.lab.recording.anonymous import anonymous
from schedlab.lab.recording.choice import Choice
from schedlab.lab.recording.events import Kind
from schedlab.lab.recording.ideal import IdealRun
from schedlab.lab.recording.inference import infer
from schedlab.lab.recording.reading import read_trace
from schedlab.lab.recording.recorder import Recorded, Request, record
from schedlab.lab.recording.trace_dat import write_trace_dat
from schedlab.lab.recording.unbroken import unbroken
from schedlab.lab.recording.workload import RecordedWorkload
from schedlab.settings.journal import Journal, left_behind, restore_journal
from tests.helpers.held_host import this_host
from tests.helpers.patience import wait_until
from tests.helpers.traces import check_clock_of_tasks

TRACING = next((Path(each) for each in TRACEFS if (Path(each) / "instances").is_dir()), None)
LACKS = ring.lacking(LocalSystem(), str(TRACING)) if TRACING else "tracefs is not mounted"
writable = pytest.mark.skipif(bool(LACKS), reason=LACKS or "can record")
KNOWN = Path(__file__).parents[3] / "benchmarks/recording/known.c"
READS = ("dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=20000")
SENDS = ("sh", "-c", "seq 100000 | cat >/dev/null")


def recorded(asked: Request, folder: Path) -> tuple[Recorded, Path]:
    own = folder / f"own-{len(list(folder.iterdir()))}"
    own.mkdir()
    with this_host() as system:
        made = record(system, asked, own, folder / f"{own.name}.gz")
    return made, folder / f"{own.name}.gz"


def tracing_state() -> dict[str, str]:
    """Return what a user may have set for tracing, and the instances beside those of labs."""
    assert TRACING
    files = ("tracing_on", "trace_clock", "set_event", "buffer_size_kb", "current_tracer")
    state = {name: (TRACING / name).read_text() for name in files}
    there = (each.name for each in (TRACING / "instances").iterdir())
    users = sorted(name for name in there if not name.startswith("schedlab-"))
    return {**state, "instances": " ".join(users)}


@writable
def test_what_others_trace_is_left_alone(tmp_path: Path) -> None:
    before = tracing_state()
    made, file = recorded(Request(1, SENDS, recorder="ftrace"), tmp_path)
    assert (made.by, made.end.status, made.lost) == ("ftrace", 0, 0)
    assert tracing_state() == before
    assert left_behind(LocalSystem()) is None
    workload = infer(read_trace(file), Choice(("seq*", "cat*")), "x")
    assert {message.kind for message in workload.messages} == {"pipe"}


@writable
def test_the_command_runs_where_the_lab_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "with a blank").mkdir()
    monkeypatch.chdir(tmp_path / "with a blank")
    asked = Request(1, ("sh", "-c", "pwd; env; touch here"), recorder="ftrace")
    said = recorded(asked, tmp_path)[0].printed.splitlines()
    assert said[0] == str(tmp_path / "with a blank")
    assert (tmp_path / "with a blank/here").exists()
    assert not [line for line in said if "tracing" in line]


@writable
def test_ftrace_is_taken_where_it_can_and_perf_where_it_is_named(tmp_path: Path) -> None:
    assert recorded(Request(0.1), tmp_path)[0].by == "ftrace"
    if shutil.which("perf"):
        assert recorded(Request(0.1, recorder="perf"), tmp_path)[0].by == "perf"


@writable
def test_the_recorders_own_tasks_are_not_the_workload(tmp_path: Path) -> None:
    _, file = recorded(Request(1.2, recorder="ftrace"), tmp_path)
    events = read_trace(file)
    assert events.setup and events.setup.recorder
    own = {"sleep", "awk", "dd"}
    assert own & set(events.names.values())
    started = set(events.setup.recorder)
    forks = events.of(Kind.FORK)
    pairs = zip(events.one[forks].tolist(), events.two[forks].tolist(), strict=True)
    for parent, child in pairs:
        started |= {child} if parent in started else set()
    taken = {task.id for task in infer(events, Choice(), "x").tasks}
    assert taken and not taken & started


@writable
@pytest.mark.skipif(not shutil.which("perf"), reason="perf is not installed")
def test_what_perf_counts_is_part_of_ftraces_recording(tmp_path: Path) -> None:
    """perf's own clock of tasks stands for the counters that a virtual machine lacks."""
    command = ("sh", "-c", "for i in 1 2 3 4 5; do seq 20000 | cat >/dev/null; done")
    asked = Request(1, command, counters=("task-clock",), recorder="ftrace")
    made, file = recorded(asked, tmp_path)
    assert (made.by, made.counted, made.end.status) == ("ftrace", True, 0)
    events = read_trace(file)
    assert not events.notes
    check_clock_of_tasks(events)
    made_of = infer(events, Choice(("seq*", "cat*")), "x")
    assert {message.kind for message in made_of.messages} == {"pipe"}


@writable
def test_what_does_not_fit_is_lost_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "_buffer", lambda _: 1 << 16)
    made, file = recorded(Request(1, READS, anonymous=True, recorder="ftrace"), tmp_path)
    assert made.lost > 1000
    assert any("events were lost: ftrace could not keep up" in note for note in made.notes())
    assert any("events were lost" in note for note in read_trace(file).notes)


@writable
def test_a_buffer_that_fills_is_read_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than the buffers hold comes, no faster than they are read if the host is not busy."""
    monkeypatch.setattr(recorder, "_buffer", lambda _: 1 << 20)
    burst = "n=0; while [ $n -lt 100 ]; do read -r x </proc/uptime; n=$((n+1)); done; sleep 0.3"
    load = f"i=0; while [ $i -lt 20 ]; do {burst}; i=$((i+1)); done"
    asked = Request(1, ("sh", "-c", f"({load}) & ({load}) & wait"), recorder="ftrace")
    made, _ = recorded(asked, tmp_path)
    assert made.end.status == 0
    assert made.lines > 20_000
    if made.lost:
        pytest.skip(f"{made.lost} events were lost: other work kept the buffers from being read")


@writable
def test_a_disk_that_is_full_is_named(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    small = ("mount", "-t", "tmpfs", "-o", "size=500k", "none", str(disk))
    if subprocess.run(small, capture_output=True, check=False).returncode:
        pytest.skip("no small disk can be mounted here")
    try:
        with this_host() as system, pytest.raises(IncompleteRun, match="TMPDIR") as told:
            record(system, Request(1, READS, recorder="ftrace"), disk, tmp_path / "x.gz")
        assert "ftrace's data do not fit onto the disk" in str(told.value)
        assert "--recorder perf" not in str(told.value), "it would not fit either"
    finally:
        subprocess.run(("umount", disk), check=True)
    assert not (tmp_path / "x.gz").exists()
    assert left_behind(LocalSystem()) is None


@writable
def test_an_instance_that_cannot_be_made_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ring, "_RECORD", ring._RECORD.replace("mkdir", "mkdir --no-such"))
    with pytest.raises(IncompleteRun, match="ftrace could not record: ") as told:
        recorded(Request(1, SENDS, recorder="ftrace"), tmp_path)
    assert "--recorder perf" in str(told.value)
    assert left_behind(LocalSystem()) is None


@writable
def test_a_command_that_fails_or_leaves_something_is_told(tmp_path: Path) -> None:
    script = "setsid sleep 77 >/dev/null 2>&1 & sleep 0.3; exit 3"
    made, _ = recorded(Request(1, ("sh", "-c", script), recorder="ftrace"), tmp_path)
    assert "the command ended with status 3" in made.notes()
    assert "the command left a process running; killed" in made.notes()


def started(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """Return a `schedlab record` that records, and its instance."""
    argv = (sys.executable, "-m", "schedlab", "record", "--recorder", "ftrace", "--output")
    found: list[tuple[subprocess.Popen[str], str]] = []

    def runs() -> bool:
        """Start one; another lab may come before it, and then it ends at once."""
        with this_host():
            pass
        lab = subprocess.Popen(
            (*argv, folder / "x.gz", "--", "sleep", "600"), text=True, stderr=subprocess.PIPE
        )
        wait_until(lambda: lab.poll() is not None or records_into(), "the recording")
        if lab.poll() is not None:
            return False
        found.append((lab, records_into()))
        return True

    wait_until(runs, "a recording of our own")
    return found[0]


def records_into() -> str:
    """Return the instance into which a lab records; empty: none does."""
    journal = Journal(LocalSystem())
    journal.read()
    on = ((each, Path(each) / "tracing_on") for each in journal.instances)
    return next((each for each, file in on if file.exists() and file.read_text() == "1\n"), "")


@writable
def test_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    lab, instance = started(tmp_path)
    lab.send_signal(signal.SIGINT)
    lab.communicate()
    assert lab.returncode
    assert not Path(instance).exists()
    assert not list(tmp_path.iterdir())


@writable
def test_a_killed_recorder_is_ended_by_the_next_lab(tmp_path: Path) -> None:
    lab, instance = started(tmp_path)
    lab.kill()
    lab.communicate()
    with this_host() as system:
        told = left_behind(system)
        if told is None:  # another lab was there before us
            assert not Path(instance).exists()
            return
        assert f"ftrace records into {instance}" in told
        done = restore_journal(system)
    assert any("ended" in line and "processes" in line for line in done)
    # What records is killed in no order: its shell may see its command end and remove them itself.
    removed = [line for line in done if "buffers" in line]
    assert removed in ([], [f"removed ftrace's buffers {instance}"])
    assert not Path(instance).exists()


@writable
@pytest.mark.skipif(not shutil.which("perf"), reason="perf is not installed")
@pytest.mark.parametrize("name", ["futexes", "pipes", "barrier", "timers", "server"])
def test_both_recorders_show_the_same(name: str, tmp_path: Path) -> None:
    """Programs that are known: work, and how often each word of the workload comes.

    What is inferred depends on who was preempted where; on a busy host two recordings may differ.
    """
    program = tmp_path / "known"
    flags = ("-O2", "-D_GNU_SOURCE", "-pthread")
    subprocess.run(("gcc", *flags, "-o", program, KNOWN), check=True)
    tries = [difference_of_recorders(program, name, tmp_path)]
    while tries[-1] and len(tries) < 3:
        tries.append(difference_of_recorders(program, name, tmp_path))
    assert not tries[-1], tries


def difference_of_recorders(program: Path, name: str, folder: Path) -> str:
    """Record a program by each recorder; return how the workloads differ, or nothing."""
    seen: dict[str, RecordedWorkload] = {}
    for by in ("ftrace", "perf"):
        made, file = recorded(Request(1, (str(program), name), recorder=by), folder)
        assert (made.by, made.end.status, made.lost) == (by, 0, 0)
        seen[by] = infer(read_trace(file), Choice(), name)
    ring_made, perf_made = seen["ftrace"], seen["perf"]
    if len(ring_made.tasks) != len(perf_made.tasks):
        return f"{len(ring_made.tasks)} tasks, {len(perf_made.tasks)} by perf"
    if IdealRun(ring_made).ns != pytest.approx(IdealRun(perf_made).ns, rel=0.1):
        return f"{IdealRun(ring_made).ns} ns, {IdealRun(perf_made).ns} by perf"
    ours, theirs = words_of(ring_made), words_of(perf_made)
    if ours["t"] or theirs["t"]:  # whether a sleep keeps to a clock is a question of some us
        for counts in (ours, theirs):
            counts["t"] += counts["s"]
    for word in (ours | theirs).keys() - {"@", "s"}:
        if ours[word] != pytest.approx(theirs[word], rel=0.1, abs=2):
            return f"{word}: {ours}, {theirs} by perf"
    return ""


@writable
def test_without_names_all_else_is_the_same(tmp_path: Path) -> None:
    """Tasks, their waits, items and locks; and no name of a program is left anywhere."""
    program = tmp_path / "payroll"
    flags = ("-O2", "-D_GNU_SOURCE", "-pthread")
    subprocess.run(("gcc", *flags, "-o", program, KNOWN), check=True)
    _, named = recorded(Request(1, (str(program), "busy-lock"), recorder="ftrace"), tmp_path)
    head, _, rest = gzip.decompress(named.read_bytes()).partition(b"\n")
    assert b"payroll" in rest
    hidden = anonymous(b"1")(rest)
    assert b"payroll" not in hidden and b"/usr" not in hidden
    (tmp_path / "hidden.gz").write_bytes(gzip.compress(head + b"\n" + hidden))
    one, other = (
        infer(read_trace(file), Choice(), "x") for file in (named, tmp_path / "hidden.gz")
    )
    assert [task.words for task in one.tasks] == [task.words for task in other.tasks]
    assert [item.words for item in one.items] == [item.words for item in other.items]
    assert one.barriers == other.barriers and words_of(one)["l"]


def words_of(workload: RecordedWorkload) -> Counter[str]:
    """Return how often each kind of word comes, of tasks and of items."""
    texts = [*(task.words for task in workload.tasks), *(i.words for i in workload.items)]
    words = (word for text in texts for word in text.split())
    return Counter(word[0] for word in words if not word[0].isdigit())


def test_a_line_on_lost_events_belongs_to_no_event() -> None:
    begins = b"%16s     9 [000] ..... 1.000000001: " % b"<...>"
    lines = [begins + b"sched:sched_process_exit: comm=a", b"b pid=9 prio=120"]
    lost = b"CPU:0 [LOST 17 EVENTS]"
    text = b"\n".join([*lines, lost, begins + b"irq:irq_handler_exit: irq=1", b""])
    joined = b"".join(unbroken([text])).split(b"\n")
    assert joined[1] == lost and joined[0].endswith(b"comm=a?b pid=9 prio=120")
    hidden = anonymous(b"1")(b"".join(unbroken([text]))).split(b"\n")
    assert hidden[1] == lost and hidden[2].startswith(begins)


def test_what_ftrace_needs_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system = LocalSystem(tmp_path)
    tracing = "/sys/kernel/tracing"
    monkeypatch.setattr(LocalSystem, "is_root", lambda _: True)
    assert "has no instances" in ring.lacking(system, tracing)
    (tmp_path / tracing[1:] / "instances").mkdir(parents=True)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "apt-get install trace-cmd" in ring.lacking(system, tracing)
    monkeypatch.setattr(LocalSystem, "is_root", lambda _: False)
    assert "root" in ring.lacking(system, tracing)


def test_buffers_that_are_not_described_are_refused(tmp_path: Path) -> None:
    pages = tmp_path / "cpu0.raw"
    pages.write_bytes(bytes(4096))
    with pytest.raises(IncompleteRun, match="header_page"):
        write_trace_dat(b"== header_page\nnothing\n", [pages], tmp_path / "trace.dat")
    assert pages.exists() and not (tmp_path / "trace.dat").exists()
