"""Recording a host: what perf is asked, what is kept of it, names out of it."""

import errno
import gzip
import json
import os
import re
import shutil
import socket
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedlab.base.errors import HostError, IncompleteRun, UsageError
from schedlab.base.system import LocalSystem
from schedlab.lab.recording import perf, recorder
from schedlab.lab.recording.anonymous import anonymous, without_data
from schedlab.lab.recording.choice import Choice
from schedlab.lab.recording.inference import infer
from schedlab.lab.recording.reading import read_trace
from schedlab.lab.recording.recorder import Recorded, Request, record
from schedlab.lab.recording.setup import (
    HEAD,
    Descriptor,
    Setup,
    TaskSetup,
    look,
    look_at_machine,
    read_setup,
)
from schedlab.lab.recording.showing import group_of
from schedlab.lab.recording.text import read_text
from schedlab.lab.recording.workload import RecordedWorkload
from schedlab.settings.journal import left_behind
from schedlab.settings.scratch import LOADED
from tests.helpers.held_host import this_host
from tests.helpers.traces import (
    TWO_TASKS,
    Line,
    check_clock_of_tasks,
    fork,
    perf_script,
    ring,
    switch,
    waking,
)

IDLE, A, B, C = ("swapper/0", 0), ("a", 10), ("web server", 11), ("kworker/0:1", 12)
LINES = [
    switch(0, 0, IDLE, "R", A),
    switch(0, 1, IDLE, "R", C),
    fork(500, 0, A, B),
    waking(1_000, 0, A, C),
    switch(2_000, 0, A, "S", B),
    switch(3_000, 0, B, "S", IDLE),
    switch(4_000, 1, C, "S", IDLE),
]
PERF = """#!/bin/sh
[ "$1" = script ] && exec cat "{text}"
[ "$1" = evlist ] && exit 0
echo "$*" > "{told}"
while [ "$1" != -- ]; do [ "$1" = -o ] && file=$2; shift; done
shift
echo x > "$file"
exec "$@"
"""
TRACEPOINTS = (
    *("sched/sched_switch", "sched/sched_waking", "irq/irq_handler_entry"),
    *("syscalls/sys_enter_read", "syscalls/sys_exit_read"),
)


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalSystem:
    """A tree with tracepoints, and a perf that says what it was told and prints a trace."""
    text = "".join(f"{perf_script(line)}\n" for line in LINES)
    (tmp_path / "text").write_text(text + "a 10 [000] 1.000000001: PERF_RECORD_LOST lost 17\n")
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "perf").write_text(PERF.format(text=tmp_path / "text", told=tmp_path / "told"))
    (tools / "perf").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    for each in TRACEPOINTS:
        place = tmp_path / "root/sys/kernel/tracing/events" / each
        place.mkdir(parents=True)
        (place / "id").write_text("1")
    return LocalSystem(tmp_path / "root")


def recorded(host: LocalSystem, asked: Request, tmp_path: Path) -> tuple[Recorded, Path]:
    folder = tmp_path / "folder"
    folder.mkdir()
    output = tmp_path / "x.gz"
    return record(host, asked, folder, output), output


def test_a_recording_has_perfs_lines_and_what_was_set(host: LocalSystem, tmp_path: Path) -> None:
    made, output = recorded(host, Request(0.01), tmp_path)
    assert (made.lines, made.lost, made.end.status) == (len(LINES) + 1, 17, 0)
    told = (tmp_path / "told").read_text()
    assert "-e {sched:sched_switch,instructions,cycles}:S -e sched:sched_waking -e irq:" in told
    assert made.counted
    assert "-e syscalls:sys_enter_read -e syscalls:sys_exit_read -o" in told
    assert told.strip().endswith("-- sleep 0.01")
    events = read_trace(output)
    assert events.setup and os.getpid() in events.setup.tasks
    assert "17 events were lost" in " ".join(events.notes)


def test_a_light_recording_has_no_reads_and_writes(host: LocalSystem, tmp_path: Path) -> None:
    recorded(host, Request(0.01, light=True), tmp_path)
    told = (tmp_path / "told").read_text()
    assert "sched_waking" in told and "syscalls" not in told


def test_of_a_command_its_tasks_are_the_workload(host: LocalSystem, tmp_path: Path) -> None:
    _, output = recorded(host, Request(1, ("sh", "-c", "exit 3")), tmp_path)
    setup = read_trace(output).setup
    assert setup and len(setup.roots) == 1 and setup.restricted_to == "the command"


def test_no_perf_no_tracepoints_no_data(
    host: LocalSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    perf = tmp_path / "bin/perf"
    perf.write_text("#!/bin/sh\necho 'Error: no permission' >&2\nexit 1\n")
    with pytest.raises(IncompleteRun, match="perf could not record: Error: no permission"):
        recorded(host, Request(0.01), tmp_path)
    with monkeypatch.context() as bare:
        bare.setenv("PATH", str(tmp_path))
        with pytest.raises(HostError, match="apt-get install linux-perf"):
            record(host, Request(0.01), tmp_path, tmp_path / "x.gz")
    shutil.rmtree(tmp_path / "root/sys/kernel/tracing/events/sched/sched_waking")
    with pytest.raises(HostError, match="no tracepoint sched:sched_waking"):
        record(host, Request(0.01), tmp_path, tmp_path / "x.gz")
    shutil.rmtree(tmp_path / "root/sys")
    with pytest.raises(HostError, match="mount -t tracefs"):
        record(host, Request(0.01), tmp_path, tmp_path / "x.gz")
    monkeypatch.setattr(LocalSystem, "is_root", lambda _: False)
    with pytest.raises(HostError, match="recording takes root") as told:
        record(host, Request(0.01), tmp_path, tmp_path / "x.gz")
    assert "gid=" in str(told.value) and "perf_event_paranoid=-1" in str(told.value)


@pytest.mark.parametrize("level", ["-1", "0", "3"])
def test_without_root_perf_records_where_it_may(
    host: LocalSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    paranoid = tmp_path / "root/proc/sys/kernel/perf_event_paranoid"
    paranoid.parent.mkdir(parents=True, exist_ok=True)
    paranoid.write_text(f"{level}\n")
    monkeypatch.setattr(LocalSystem, "is_root", lambda _: False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    if level == "-1":
        assert recorded(host, Request(0.01), tmp_path)[0].by == "perf"
        return
    with pytest.raises(HostError, match=f"perf_event_paranoid is {level}; without root"):
        recorded(host, Request(0.01), tmp_path)


def test_a_killed_recorder_leaves_its_data_to_the_next_lab(
    host: LocalSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process dies in the middle: nothing of its own cleans up."""
    partial = tmp_path / ".x.gz.partial"

    def dies(*_: object) -> None:
        partial.write_text("half of it")
        os._exit(9)

    with monkeypatch.context() as killed:
        killed.setattr(recorder, "_written", dies)
        if (pid := os.fork()) == 0:
            recorded(host, Request(0.01), tmp_path)
        os.waitpid(pid, 0)
    assert not [each for each in (tmp_path / "folder").iterdir() if each.name != LOADED]
    data = tmp_path / "folder" / LOADED
    assert (data / "perf.data").exists()
    assert str(data) in (left_behind(host) or "")
    assert str(partial) in (left_behind(host) or "")
    output = tmp_path / "y.gz"
    (tmp_path / "next").mkdir()
    made = record(host, Request(0.01), tmp_path / "next", output)
    assert any(str(data) in line for line in made.restored)
    assert not data.parent.exists() and not partial.exists()
    assert left_behind(host) is None


def test_what_a_command_leaves_running_is_killed_and_told(
    host: LocalSystem, tmp_path: Path
) -> None:
    command = ("sh", "-c", "setsid sleep 77 >/dev/null 2>&1 & sleep 0.3")
    made, _ = recorded(host, Request(1, command), tmp_path)
    assert "the command left a process running; killed" in made.notes()


@pytest.mark.parametrize("full", [True, False])
def test_a_disk_that_is_full_is_named(host: LocalSystem, tmp_path: Path, full: bool) -> None:
    perf, df = tmp_path / "bin/perf", tmp_path / "bin/df"
    fails = "echo 'the data size field is 0 which is unexpected' >&2; exit 1"
    perf.write_text(
        PERF.format(text="", told=tmp_path / "told").replace("exec cat", f"{{ {fails}; }} #")
    )
    df.write_text(f"#!/bin/sh\necho head\necho tmpfs 9999 9000 {0 if full else 999999} 90% /tmp\n")
    df.chmod(0o755)
    with pytest.raises((IncompleteRun, UsageError), match="data size field is 0") as told:
        recorded(host, Request(0.01), tmp_path)
    words = "do not fit onto the disk of " + str(tmp_path / "folder")
    assert full == (words in str(told.value)) == ("TMPDIR" in str(told.value))
    assert not (tmp_path / "x.gz").exists()


def test_a_recording_that_fails_leaves_no_file(
    host: LocalSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(data: Path) -> Iterator[bytes]:
        yield b"a line\n"
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(perf, "perf_text", full)
    (tmp_path / "x.gz").write_text("of before")
    with pytest.raises(HostError, match=r"x\.gz: cannot be written: No space left on device"):
        recorded(host, Request(0.01), tmp_path)
    assert (tmp_path / "x.gz").read_text() == "of before"
    assert not list(tmp_path.glob(".x.gz*"))
    assert left_behind(host) is None


def test_a_command_that_is_not_there_is_not_recorded(host: LocalSystem, tmp_path: Path) -> None:
    with pytest.raises(HostError, match="no-such-program: this program was not found"):
        record(host, Request(1.0, ("no-such-program",)), tmp_path, tmp_path / "x.gz")
    assert not (tmp_path / "x.gz").exists()


def test_a_file_that_is_no_program_is_called_so(host: LocalSystem, tmp_path: Path) -> None:
    (tmp_path / "timer.c").write_text("int main(void) {}")
    with pytest.raises(HostError, match=r"timer\.c: this is not a program that can be run"):
        record(host, Request(1.0, (f"{tmp_path}/timer.c",)), tmp_path, tmp_path / "x.gz")


def test_a_cgroup_that_is_not_there_is_not_recorded(host: LocalSystem, tmp_path: Path) -> None:
    with pytest.raises(HostError, match="--cgroup /nosuch: there is no such cgroup"):
        record(host, Request(1.0, cgroup="/nosuch"), tmp_path, tmp_path / "out.gz")


def test_what_is_not_a_cgroup_of_version_2_is_refused_at_once(
    host: LocalSystem, tmp_path: Path
) -> None:
    (tmp_path / "root/sys/fs/cgroup/cpu/web").mkdir(parents=True)
    for named, why in (("..", "not followed"), ("/a/../b", "not followed"), ("/cpu/web", "on 2")):
        with pytest.raises(HostError, match=f"{why}(.|\n)*after `0::`"):
            record(host, Request(1.0, cgroup=named), tmp_path, tmp_path / "out.gz")
    assert not (tmp_path / "told").exists()


def made_cgroup(tmp_path: Path, folder: str = "sys/fs/cgroup") -> None:
    (tmp_path / "root" / folder / "empty").mkdir(parents=True)
    for place in ("", "empty"):
        (tmp_path / "root" / folder / place / "cgroup.controllers").write_text("")


@pytest.mark.parametrize("folder", ["sys/fs/cgroup", "sys/fs/cgroup/unified"])
def test_a_cgroup_has_the_tasks_that_came_before_the_first_event(
    folder: str, host: LocalSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The look before does not know them, and neither does a fork in the trace."""
    monkeypatch.setattr(recorder, "look", lambda _: Setup("6.12", "0-1", {}))
    made_cgroup(tmp_path, folder)
    tool = tmp_path / "bin/find"
    tool.write_text(f'#!/bin/sh\n[ "$1" = /{folder}/empty ] && echo {A[1]}\n')
    tool.chmod(0o755)
    _, output = recorded(host, Request(0.01, cgroup="empty"), tmp_path)
    made = infer(read_trace(output), Choice(), "x")
    assert [task.key for task in made.tasks] == ["a-10", "web_server-11"]


def test_a_cgroup_without_tasks_makes_no_recording(host: LocalSystem, tmp_path: Path) -> None:
    made_cgroup(tmp_path)
    with pytest.raises(IncompleteRun, match="--cgroup empty: it had no task"):
        record(host, Request(0.01, cgroup="empty"), tmp_path, tmp_path / "out.gz")
    assert not (tmp_path / "out.gz").exists()


def test_names_are_replaced_everywhere_but_the_kernels(host: LocalSystem, tmp_path: Path) -> None:
    _, output = recorded(host, Request(0.01, anonymous=True), tmp_path)
    text = gzip.decompress(output.read_bytes()).decode()
    assert "web" not in text and "comm=a " not in text and "kworker/0:1" in text
    events = read_trace(output)
    names = {events.names[pid] for pid in (10, 11)}
    assert len(names) == 2 and all(name[0] == "t" and len(name) == 11 for name in names)
    for name in ("nvme0-payroll", "rcu_customer", "irq/99-secret", "kworker/secretfs"):
        hidden = anonymous(b"1")(perf_script(switch(0, 0, IDLE, "R", (name, 9))).encode())
        assert not re.search(rb"payroll|customer|secret", hidden)
    hidden = anonymous(b"1")(perf_script(waking(0, 0, A, ("a pid=3 se", 9))).encode())
    assert b"pid=3 se" not in hidden
    irq = Line(0, 0, *A, "irq_handler_entry", "irq=3 name=my secret-nic-0")
    assert b"secret" not in anonymous(b"1")(perf_script(irq).encode())
    made = Line(0, 0, *A, "task_newtask", "pid=3 comm=my secret clone_flags=4100 oom_score_adj=0")
    begun = Line(0, 0, *A, "sched_process_exec", "filename=/my/se cret pid=3 old_pid=3")
    address = "saddr=10.9.8.7 daddr=10.9.8.6 saddrv6=::ffff:10.9.8.7 daddrv6=::ffff:10.9.8.6"
    state = Line(0, 0, *A, "inet_sock_set_state", f"sport=1 dport=2 {address} oldstate=TCP_CLOSE")
    for line in (made, begun, state):
        assert not re.search(rb"cret|10\.9", anonymous(b"1")(perf_script(line).encode()))
    hide, again = anonymous(b"1"), anonymous(b"2")
    line = perf_script(LINES[0]).encode()
    assert hide(line) == hide(line) != again(line)


@pytest.mark.parametrize(
    ("event", "text", "left"),
    [
        ("sched_wakeup_new", "comm=secret pid=3 prio=120 target_cpu=000", "pid=3 prio=120"),
        ("sched_process_exit", "comm=my secret pid=3 prio=120 group_dead=true", "group_dead=true"),
        ("sched_process_exec", "filename=/usr/secret pid=3 old_pid=3", "pid=3 old_pid=3"),
        ("task_newtask", "pid=3 comm=secret clone_flags=1200000 oom_score_adj=0", "clone_flags=12"),
        ("irq_handler_entry", "irq=36 name=secret-req.0", "irq=36 name=t"),
        ("inet_sock_set_state", "sport=1 saddr=10.secret daddrv6=::1 newstate=X", "newstate=X"),
        ("sys_enter_read", "fd: 0x00000003, buf: 0x7f62", "fd: 0x00000003, buf: 0x7f62"),
        ("sys_exit_read", "0xfffffffffffffff5", "0xfffffffffffffff5"),
    ],
)
def test_ftraces_column_of_texts_hides_names_and_no_more(event: str, text: str, left: str) -> None:
    """ftrace pads behind the event, perf before it."""
    hidden = anonymous(b"1")(ring(Line(0, 0, *A, event, text)).encode()).decode()
    assert left in hidden and "secret" not in hidden
    assert f"{event}: " in hidden


def test_an_anonymous_recording_of_ftraces_has_the_same_tasks() -> None:
    lines = [*TWO_TASKS, Line(6_000, 0, *A, "sched_process_exit", "comm=a pid=9 prio=1")]
    text = "".join(f"{ring(line)}\n" for line in lines).encode()
    seen = Counter[bool]()
    named, hidden = read_text([text], "x"), read_text([anonymous(b"1", seen)(text)], "x")
    assert seen == {True: len(lines)}
    assert named.kind.tolist() == hidden.kind.tolist()
    assert named.two.tolist() == hidden.two.tolist()
    assert all(name[0] == "t" for pid, name in hidden.names.items() if pid)
    assert not {"my app-1", "b [x]"} & set(hidden.names.values())


def test_a_recording_without_any_event_left_is_not_written(
    host: LocalSystem, tmp_path: Path
) -> None:
    (tmp_path / "text").write_text(f"{perf_script(Line(0, 0, *A, 'sched_switch', 'a to b'))}\n")
    with pytest.raises(IncompleteRun, match="no name could be replaced"):
        recorded(host, Request(0.01, anonymous=True), tmp_path)
    assert not list(tmp_path.glob("*.gz")) and not list(tmp_path.glob(".*partial"))


def test_names_of_one_pool_stay_alike_without_their_numbers() -> None:
    """Customers' numbers become others, in the order in which they come; two words differ."""
    hide = anonymous(b"1")
    names = ["shop4711", "shop12", "shop4711", "till1", "shop", "shop-12/7", "shop-13/7"]
    texts = [perf_script(switch(0, 0, (name, 9), "R", IDLE)).encode() for name in names]
    found = [line.split()[0].decode() for line in map(hide, texts)]
    assert found[0] == found[2] and not re.search("4711|12|13|shop|till", " ".join(found))
    assert len(set(found)) == 6
    groups = [group_of(name) for name in found]
    assert groups[0] == groups[1] and groups[5] == groups[6]
    assert len({groups[0], groups[3], groups[4], groups[5]}) == 4


NASTY = [
    *("SECRETA\nSECRETB", "SECRET\n", "\nSECRET", "\n\nSECRET\n\n", " SECRET", "\tSECRET"),
    *("SECRET 5 [000]", "SECRET pid=1", "SECRET prio=1", "u SECRET 9 [0", "SECR\x01ET\r"),
    *("SECRET:5 [120]", "SECRET ==> ", "12345 SECRET", "xfs_SECRET\nSEC"),
]


@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize("hide", [False, True])
def test_a_name_with_line_breaks_is_hidden_and_loses_no_event(
    host: LocalSystem, tmp_path: Path, name: str, hide: bool
) -> None:
    own, other = (name, 10), (name, 11)
    made = Line(600, 0, *own, "task_newtask", f"pid=11 comm={name} clone_flags=0 oom_score_adj=0")
    begun = Line(700, 0, *own, "sched_process_exec", f"filename=/x/{name} pid=10 old_pid=10")
    lines = [
        switch(0, 0, IDLE, "R", own),
        fork(500, 0, own, other),
        *(made, begun, waking(1_000, 0, own, other)),
        switch(2_000, 0, own, "S", other),
        switch(3_000, 0, other, "X", IDLE)._replace(task=":-1", pid=-1),
    ]
    (tmp_path / "text").write_text("".join(f"{perf_script(line)}\n" for line in lines))
    _, output = recorded(host, Request(0.01, anonymous=hide), tmp_path)
    text = gzip.decompress(output.read_bytes()).partition(b"\n")[2]
    assert hide == (b"SEC" not in text and b"CRET" not in text)
    events = read_trace(output)
    assert len(events) == len(lines) and not events.notes
    assert events.current.tolist()[:-1] == [0, 10, 10, 10, 10, 10]


def test_what_programs_read_and_write_is_not_recorded() -> None:
    """Some kernels print it beside the address."""
    line = Line(0, 0, *A, "sys_enter_write", r'fd: 0x5, buf: 0x7f ("pay \"roll\n"), count: 0x64')
    other = perf_script(switch(0, 0, IDLE, "R", ('a "b"', 9)))
    kept = without_data(f"{perf_script(line)}\n{other}\n".encode()).decode()
    assert "pay" not in kept and "roll" not in kept and "count: 0x64" in kept and other in kept


def setup_of(**changes: object) -> Setup:
    tasks = {
        10: TaskSetup(10, "0-1", cgroup="/web/a", uclamp=(0, 512)),
        11: TaskSetup(10, "0", cgroup="/web/a"),
        12: TaskSetup(12, "0-1", cgroup="/other"),
    }
    return Setup("6.12", "0-1", tasks, **changes)  # type: ignore[arg-type]


def test_a_setup_comes_back_from_its_line() -> None:
    setup = setup_of(roots=[10], restricted_to="the command")
    seen = {10: {3: Descriptor(7, is_pipe=True), 4: Descriptor(8, closes=True), 5: Descriptor()}}
    seen[11] = {0: Descriptor(closes=True)}
    more = {"descriptors_before": seen, "descriptors_after": seen, "inherited": (0, 1)}
    more["came"] = [12]
    known = setup_of(roots=[10], peers={8: 9}, ports={7: (80, 0)}, **more)
    assert read_setup(json.loads(json.dumps(known.document()))) == known
    assert read_setup(json.loads(json.dumps(setup.document()))) == setup
    document = setup.document()
    for key in ("machine", *more, "peers", "ports"):
        del document[key]
    assert read_setup(document) == setup, "as an earlier schedlab wrote it"
    assert read_setup({**document, "machine": {"name": 3}}) is None
    assert read_setup({"tasks": {"1": {}}}) is None


def test_a_cgroup_is_what_lies_below_it() -> None:
    assert setup_of().restricted(None, "/sys/fs/cgroup/web").roots == [10, 11]
    assert setup_of().restricted(None, "/we").roots == (0,)
    assert setup_of().restricted(7, "").roots == (7,)
    hidden = setup_of().restricted(None, "/web").without_names()
    assert {task.cgroup for task in hidden.tasks.values()} == {"/group0", "/group1"}
    assert "web" not in json.dumps(hidden.document())


def test_what_a_task_starts_belongs_to_it_and_keeps_its_settings(tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    head = json.dumps(setup_of(roots=[10]).document())
    lines = "".join(f"{perf_script(line)}\n" for line in LINES)
    file.write_text(f"{HEAD}{head}\n{lines}")
    made = infer(read_trace(file), Choice(), "x")
    settings = {task.key: task.settings for task in made.tasks}
    assert settings == {
        "a-10": {"util_min": 0, "util_max": 512, "first_cpu": 0},
        "web_server-11": {"cpus": [0], "instance": 0},
    }
    assert made.recorded["kernel"] == "6.12"


def imported(tmp_path: Path, setup: Setup, lines: list[Line]) -> RecordedWorkload:
    file = tmp_path / "x.txt"
    text = "".join(f"{perf_script(line)}\n" for line in lines)
    file.write_text(f"{HEAD}{json.dumps(setup.document())}\n{text}")
    return infer(read_trace(file), Choice(), "x")


def test_a_command_begins_with_what_the_lab_has(host: LocalSystem, tmp_path: Path) -> None:
    had = os.sched_getaffinity(0)
    one = max(had)
    os.sched_setaffinity(0, {one})
    try:
        _, output = recorded(host, Request(1, ("true",)), tmp_path)
    finally:
        os.sched_setaffinity(0, had)
    setup = read_trace(output).setup
    assert setup and setup.tasks[setup.roots[0]].cpus == str(one)
    assert setup.tasks[setup.roots[0]].process == setup.roots[0]


def test_tasks_that_nobody_looked_at_have_what_their_parents_have(tmp_path: Path) -> None:
    setup = Setup("6.12", "0-1", {10: TaskSetup(10, "1", uclamp=(0, 512))}, [10], came=[])
    own = {"cpus": [1], "util_min": 0, "util_max": 512}
    made = imported(tmp_path, setup, LINES)
    assert {task.key: dict(task.settings) for task in made.tasks} == {
        "a-10": own,
        "web_server-11": {**own, "instance": 0},
    }
    assert "sched_setaffinity" not in " ".join(made.recorded["notes"])
    call = Line(700, 0, *A, "sys_enter_sched_setaffinity", "pid: 0x00000000, len: 0x00000008")
    notes = imported(tmp_path, setup, [*LINES[:3], call, *LINES[3:]]).recorded["notes"]
    assert "1 calls of sched_setaffinity()" in " ".join(notes)


def test_a_process_number_of_a_command_that_a_stranger_gets_stays_out(tmp_path: Path) -> None:
    stranger = ("stranger", 50)
    lines = [
        *LINES[:4],
        switch(2_000, 0, A, "S", B),
        switch(3_000, 0, B, "X", stranger),
        fork(3_500, 0, stranger, ("other", 11)),
        switch(4_000, 0, stranger, "S", ("other", 11)),
        switch(9_000, 0, ("other", 11), "S", IDLE),
    ]
    setup = Setup("6.12", "0-1", {10: TaskSetup(10, "0-1")}, [10], came=[])
    made = imported(tmp_path, setup, lines)
    assert {task.name for task in made.tasks} == {"a", "web_server"}


KTHREADD, KERNELS = ("kthreadd", 2), ("nf_flow", 13)
"""The latter is a thread of the kernel's own of which the name does not tell."""
LIKE_KERNELS = [
    *(switch(0, 0, IDLE, "R", A), switch(0, 1, IDLE, "R", KTHREADD)),
    *(fork(500, 0, A, ("daemon", 14)), fork(600, 1, KTHREADD, ("threaded", 15))),
    switch(1_000, 1, KTHREADD, "S", KERNELS),
    *(switch(2_000, 0, A, "S", ("daemon", 14)), switch(3_000, 0, ("daemon", 14), "S", C)),
    *(switch(4_000, 0, C, "S", ("threaded", 15)), switch(5_000, 0, ("threaded", 15), "S", IDLE)),
    switch(5_000, 1, KERNELS, "S", ("irq/9-x", 16)),
    switch(6_000, 1, ("irq/9-x", 16), "S", IDLE),
]
LEFT_BY_NAME = "Left out by their names alone"


def test_threads_of_the_kernel_are_those_that_a_host_says_are(tmp_path: Path) -> None:
    known = {10: False, 12: False, 13: True}
    tasks = {pid: TaskSetup(pid, "0-1", kernel=is_kernels) for pid, is_kernels in known.items()}
    made = imported(tmp_path, Setup("6.12", "0-1", tasks), LIKE_KERNELS)
    assert {task.name for task in made.tasks} == {"a", "daemon", "kworker_0:1"}
    notes = [note for note in made.recorded["notes"] if note.startswith(LEFT_BY_NAME)]
    assert len(notes) == 1 and ": irq/*-x, kthreadd. " in notes[0]


def test_what_a_program_starts_is_no_thread_of_the_kernel(tmp_path: Path) -> None:
    """Without a host's word, names count where it is not seen who forked a task."""
    path = tmp_path / "x.txt"
    path.write_text("".join(f"{perf_script(line)}\n" for line in LIKE_KERNELS))
    made = infer(read_trace(path), Choice(), "x")
    assert {task.name for task in made.tasks} == {"a", "daemon", "nf_flow"}
    notes = [note for note in made.recorded["notes"] if note.startswith(LEFT_BY_NAME)]
    assert len(notes) == 1 and ": irq/*-x, kthreadd, kworker/*:*. " in notes[0]


def test_a_command_may_be_called_like_a_thread_of_the_kernel(tmp_path: Path) -> None:
    """Also of a recording that does not say what each task is."""
    root = ("kworker/u8:2", 10)
    lines = [switch(0, 0, IDLE, "R", root), fork(500, 0, root, ("kworker/u8:2", 11)),
             switch(2_000, 0, root, "S", ("kworker/u8:2", 11)),
             switch(3_000, 0, ("kworker/u8:2", 11), "S", IDLE)]  # fmt: skip
    made = imported(tmp_path, setup_of(roots=[10], restricted_to="the command"), lines)
    assert [task.id for task in made.tasks] == [10, 11]


def test_a_look_knows_threads_of_the_kernel() -> None:
    """None is seen in a container; what this process is, is."""
    own = look(LocalSystem()).tasks[os.getpid()]
    assert own.kernel is False


@pytest.mark.parametrize(
    ("online", "allowed", "settings"),
    [
        ("0", "0-0", None),
        ("0-1", "0-127", None),
        ("0-1", "0,1", None),
        ("0-1,4", "1-3", [1]),
        ("0-1", "6", None),
    ],
)
def test_a_task_is_pinned_if_it_may_not_run_on_all_that_is_online(
    tmp_path: Path, online: str, allowed: str, settings: list[int] | None
) -> None:
    """However its list is written, and whatever CPUs it has that are not there."""
    made = imported(tmp_path, Setup("6.12", online, {10: TaskSetup(10, allowed)}), LINES)
    assert next(task for task in made.tasks if task.id == 10).settings.get("cpus") == settings


@pytest.mark.parametrize(
    "wrong",
    [
        "[]",
        {"version": 99, "tasks": {}, "roots": [], "restricted_to": "", "kernel": "", "cpus": "0"},
        {"tasks": {}, "roots": [], "restricted_to": "", "kernel": "", "cpus": "0-99999999"},
        '{"tasks": {"1": {"process": 1, "cpus": "0", "nice": 1e400, "uclamp": null}}, "roots": [],'
        ' "restricted_to": "", "kernel": "", "cpus": "0"}',
    ],
)
def test_a_damaged_head_is_told(tmp_path: Path, wrong: object) -> None:
    file = tmp_path / "x.txt"
    head = wrong if isinstance(wrong, str) else json.dumps(wrong)
    file.write_text(f"{HEAD}{head}\n{perf_script(LINES[0])}\n")
    with pytest.raises(
        UsageError, match="its line of what was set is not as `schedlab record` writes it"
    ):
        read_trace(file)


def test_the_machine_comes_with_it(tmp_path: Path) -> None:
    machine = look_at_machine(LocalSystem())
    assert machine and look_at_machine(LocalSystem(tmp_path)) is None
    head = json.dumps(setup_of(machine=machine).document())
    file = tmp_path / "x.txt"
    file.write_text(f"{HEAD}{head}\n" + "".join(f"{perf_script(line)}\n" for line in LINES))
    there = read_trace(file).machine
    assert there and there.groups("core") == machine.groups("core") and there.smt == machine.smt
    hidden = setup_of(machine=machine).without_names().document()["machine"]
    assert machine.name not in json.dumps(hidden) and hidden["cpus"] == machine.cpus


def test_this_system_is_looked_at() -> None:
    mine = look(LocalSystem()).tasks[os.getpid()]
    assert mine.process == os.getpid() and mine.cpus and mine.nice == os.nice(0)


@pytest.mark.skipif(not shutil.which("ss"), reason="ss (iproute2) is missing")
def test_pipes_and_sockets_of_this_system_are_known_by_both_ends() -> None:
    reads, writes = os.pipe()
    one, two = socket.socketpair()
    with one, two, socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client, server.accept()[0] as end:
            seen = look(LocalSystem())
            own = seen.descriptors_before[os.getpid()]
            os.close(reads)
            os.close(writes)
            assert own[reads].is_pipe and own[reads].inode == own[writes].inode
            assert seen.peers[own[one.fileno()].inode] == own[two.fileno()].inode
            assert seen.ports[own[server.fileno()].inode] == (port, 0)
            far = client.getsockname()[1]
            assert seen.ports[own[client.fileno()].inode] == (far, port)
            assert seen.ports[own[end.fileno()].inode] == (port, far)
            assert own[one.fileno()].closes and not own[0].closes


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("perf"), reason="perf needs root")
def test_a_command_with_a_pipe_is_recorded_as_tasks_that_send(tmp_path: Path) -> None:
    try:
        asked = Request(1, ("sh", "-c", "seq 100000 | cat >/dev/null"), recorder="perf")
        with this_host() as system:
            record(system, asked, tmp_path, tmp_path / "x.gz")
    except (HostError, IncompleteRun) as error:
        pytest.skip(str(error))
    made = infer(read_trace(tmp_path / "x.gz"), Choice(("seq*", "cat*")), "x")
    assert {message.kind for message in made.messages} == {"pipe"}
    assert any("m" in task.words for task in made.tasks if task.name == "seq")
    assert any("r" in task.words for task in made.tasks if task.name == "cat")


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("perf"), reason="perf needs root")
def test_what_perf_counts_from_switch_to_switch_is_of_the_task_that_ran(tmp_path: Path) -> None:
    """perf's own clock of tasks stands for the counters that a virtual machine lacks."""
    command = ("sh", "-c", "for i in 1 2 3 4 5; do seq 20000 | cat >/dev/null; done")
    try:
        asked = Request(1, command, anonymous=True, counters=("task-clock",), recorder="perf")
        with this_host() as system:
            made = record(system, asked, tmp_path, tmp_path / "x.gz")
    except (HostError, IncompleteRun) as error:
        pytest.skip(str(error))
    assert made.counted
    events = read_trace(tmp_path / "x.gz")
    check_clock_of_tasks(events)
    assert not infer(events, Choice(), "x").recorded.get("counted")


def test_what_this_system_cannot_count_is_not_asked(host: LocalSystem, tmp_path: Path) -> None:
    perf = tmp_path / "bin/perf"
    perf.write_text(
        perf.read_text().replace(
            "evlist ] && exit 0", "evlist ] && exit 0\ncase $* in *instructions*) exit 255; esac"
        )
    )
    made, _ = recorded(host, Request(0.01), tmp_path)
    assert not made.counted
    assert "-e sched:sched_switch -e sched:sched_waking" in (tmp_path / "told").read_text()
