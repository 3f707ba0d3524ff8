"""Descriptors of a host's trace: which calls move messages, over which pipe or socket."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from schedlab.lab.recording.choice import Choice
from schedlab.lab.recording.ideal import IdealRun
from schedlab.lab.recording.inference import infer
from schedlab.lab.recording.setup import Descriptor, Setup, TaskSetup
from schedlab.lab.recording.text import read_text
from schedlab.lab.recording.workload import RecordedWorkload
from tests.helpers.traces import (
    Line,
    fork,
    futex,
    futex_done,
    perf_script,
    read,
    switch,
    syscall,
    trace_cmd,
    waking,
)

IDLE, A, B = ("swapper/0", 0), ("a", 10), ("b", 11)
CLOSES, THREAD = 0x80000, 0x10F00
"""O_CLOEXEC, and the flags of a thread's clone()."""
RUN = [switch(0, 0, IDLE, "R", A), switch(0, 1, IDLE, "R", B)]
END = [switch(90_000, 0, A, "S", IDLE), switch(90_000, 1, B, "S", IDLE)]
SENT = {"a-10": "m1", "b-11": "r1"}
Call = list[Line]


def write(fd: int, ns: int = 20_000, size: int = 100) -> Call:
    return syscall(ns, ns + 1_000, 0, A, "write", f"fd={fd} buf=9 count={size}", size)


def receive(fd: int, ns: int = 30_000, size: int = 100, name: str = "read") -> Call:
    return syscall(ns, ns + 1_000, 1, B, name, f"fd={fd} buf=9 count=999 flags=0", size)


def two_processes(**more: object) -> Setup:
    tasks = {10: TaskSetup(10, "0-1"), 11: TaskSetup(11, "0-1")}
    return replace(Setup("6.12", "0-1", tasks), **more)  # type: ignore[arg-type]


def made_of(setup: Setup, *calls: Sequence[Line]) -> RecordedWorkload:
    lines = [*RUN, *(line for call in calls for line in call), *END]
    events = read(sorted(lines, key=lambda line: line.ns), perf_script)
    return infer(replace(events, setup=setup), Choice(), "x")


def moved(made: RecordedWorkload) -> dict[str, str]:
    """Return the words of tasks that are about messages."""
    return {
        task.key: " ".join(word for word in task.words.split() if word[0] in "mr")
        for task in made.tasks
    }


def sockets(one: int, two: int) -> dict[int, dict[int, Descriptor]]:
    """Descriptor 5 of one process and 6 of the other."""
    return {10: {5: Descriptor(one)}, 11: {6: Descriptor(two)}}


def test_a_pipe_and_a_socket_pair_that_were_there_before() -> None:
    pipe = {pid: {fd: Descriptor(77, is_pipe=True)} for pid, fd in ((10, 5), (11, 6))}
    made = made_of(two_processes(descriptors_before=pipe), write(5), receive(6))
    assert moved(made) == SENT and made.messages[0].kind == "pipe"
    known = two_processes(descriptors_before=sockets(7, 8), peers={7: 8, 8: 7})
    made = made_of(known, write(5), receive(6, name="recvfrom"))
    assert moved(made) == SENT and made.messages[0].kind == "unix"


def test_tcp_sockets_are_one_connection_by_their_ports() -> None:
    ports = {7: (6379, 40_000), 8: (40_000, 6379)}
    known = two_processes(descriptors_before=sockets(7, 8), ports=ports)
    made = made_of(known, write(5), receive(6, name="recvmsg"))
    assert moved(made) == SENT and made.messages[0].kind == "tcp"
    other = two_processes(descriptors_before=sockets(7, 8), ports={**ports, 8: (40_001, 6379)})
    assert not made_of(other, write(5), receive(6)).messages


def test_what_is_not_known_of_descriptors_is_noted() -> None:
    known = two_processes(descriptors_before=sockets(7, 8), peers={7: 8, 8: 7})
    for setup, missing in (
        (known, ""),
        (replace(known, peers={}), "ss (iproute2) or nsenter was missing"),
        (two_processes(), "which pipe or socket each descriptor was"),
    ):
        notes = " ".join(made_of(setup, write(5)).recorded["notes"])
        assert missing in notes
        assert missing or ("descriptor" not in notes and "ss (" not in notes)


def test_what_is_peeked_at_is_not_received() -> None:
    known = two_processes(descriptors_before=sockets(7, 8), peers={7: 8, 8: 7})
    peek = syscall(25_000, 26_000, 1, B, "recvfrom", "fd=6 ubuf=9 size=999 flags=2", 100)
    assert moved(made_of(known, write(5), peek, receive(6))) == SENT


def test_descriptors_are_copied_and_closed() -> None:
    known = two_processes(descriptors_before=sockets(7, 8), peers={7: 8, 8: 7})
    copy = syscall(10_000, 10_500, 0, A, "dup2", "oldfd=5 newfd=1", 1)
    closed = syscall(11_000, 11_500, 0, A, "close", "fd=5")
    assert moved(made_of(known, copy, closed, write(1), receive(6))) == SENT
    assert not made_of(known, copy, closed, write(5), receive(6)).messages


def born(*before: Sequence[Line], flags: int = 0, pipe: str = "flags=0") -> list[Line]:
    """A makes a pipe, and then B."""
    return [
        RUN[0],
        *(line for call in before for line in call),
        *syscall(4_000, 4_500, 0, A, "pipe2", f"fildes=9 {pipe}"),
        Line(5_000, 0, *A, "task_newtask", f"pid=11 comm=a clone_flags={flags:x} oom_score_adj=0"),
        fork(5_001, 0, A, B),
        switch(5_500, 1, IDLE, "R", B),
    ]


def made_by(lines: Sequence[Line], *calls: Sequence[Line]) -> RecordedWorkload:
    every = [*lines, *(line for call in calls for line in call), *END]
    events = read(sorted(every, key=lambda line: line.ns), perf_script)
    tasks = {10: TaskSetup(10, "0-1")}
    setup = Setup("6.12", "0-1", tasks, roots=(10,), inherited=(0, 1, 2))
    return infer(replace(events, setup=setup), Choice(), "x")


@pytest.mark.parametrize("flags", [0, THREAD])
def test_a_pipe_takes_the_lowest_free_numbers_and_a_child_has_it_too(flags: int) -> None:
    lines = born(flags=flags)
    assert moved(made_by(lines, write(4), receive(3))) == SENT
    opened = syscall(1_000, 1_500, 0, A, "openat", "dfd=9 filename=9 flags=0 mode=0", 3)
    assert moved(made_by(born(opened), write(5), receive(4))) == SENT


def test_who_reads_the_end_for_writing_is_mistaken_by_us() -> None:
    assert not made_by(born(), write(3), receive(4)).messages


def test_a_threads_close_is_its_process_close() -> None:
    closed = syscall(10_000, 10_500, 1, B, "close", "fd=4")
    assert moved(made_by(born(), closed, write(4), receive(3))) == SENT
    assert not made_by(born(flags=THREAD), closed, write(4), receive(3)).messages


def test_exec_closes_what_it_is_told_to() -> None:
    """The next pipe of the program has the number that it closed."""
    exec_ = [Line(10_000, 1, *B, "sched_process_exec", "filename=/bin/a b pid=11 old_pid=11")]
    assert moved(made_by(born(), exec_, write(4), receive(3))) == SENT
    lines = born(pipe=f"flags={CLOSES}")
    assert not made_by(lines, exec_, write(4), receive(3)).messages
    flagged = syscall(6_000, 6_500, 1, B, "fcntl", "fd=3 cmd=2 arg=1")
    assert not made_by(born(), flagged, exec_, write(4), receive(3)).messages


def test_a_connection_that_is_made_and_accepted() -> None:
    def state(ns: int, own: int, peer: int, before: str, after: str) -> list[Line]:
        text = (
            f"family=AF_INET protocol=IPPROTO_TCP sport={own} dport={peer} saddr=127.0.0.1"
            f" daddr=127.0.0.1 oldstate=TCP_{before} newstate=TCP_{after}"
        )
        return [Line(ns, 0, *A, "inet_sock_set_state", text)]

    known = two_processes(descriptors_before=sockets(7, 8), ports={8: (80, 0)})
    made = made_of(
        known,
        syscall(10_000, 12_000, 0, A, "connect", "fd=5 uservaddr=9 addrlen=16"),
        state(10_500, 40_000, 80, "SYN_SENT", "ESTABLISHED"),
        state(10_600, 80, 40_000, "SYN_RECV", "ESTABLISHED"),
        syscall(13_000, 13_500, 1, B, "accept4", "fd=6 upeer=9 flags=0", 9),
        write(5),
        receive(9),
    )
    assert moved(made) == SENT and made.messages[0].kind == "tcp"


def test_a_socket_that_is_still_open_at_the_end_is_known() -> None:
    after = {10: {5: Descriptor(7)}, 11: {6: Descriptor(8), 9: Descriptor(9)}}
    known = two_processes(descriptors_after=after, peers={7: 9, 9: 7})
    accepted = syscall(13_000, 13_500, 1, B, "accept4", "fd=6 upeer=9 flags=0", 9)
    assert moved(made_of(known, accepted, write(5), receive(9))) == SENT


@pytest.mark.parametrize(
    "text",
    [
        "a-10 [000] d..1. 0.000001000: sys_read(fd: 5, buf: 7f00, count: 64)\n"
        "a-10 [000] d..1. 0.000002000: sys_read -> 0x64\n",
        "a-10 [000] d..1. 0.000001000: sys_enter_read: fd: 0x00000005, buf: 0x7f, count: 0x64\n"
        "a-10 [000] d..1. 0.000002000: sys_exit_read: 0x64\n",
        "a-10 [000] 0.000001000: sys_enter_read: fd=5 buf=0x7f count=100\n"
        "a-10 [000] 0.000002000: sys_exit_read: ret=100\n",
    ],
)
def test_calls_as_each_tool_prints_them(text: str) -> None:
    events = read_text([text.encode()], "x")
    assert list(zip(events.kind, events.one, events.two, strict=True)) == [(22, 1, 5), (23, 1, 100)]


def test_events_of_other_tools_are_read_too() -> None:
    lines = [*RUN, *write(5), *receive(6), *END]
    assert len(read(lines, trace_cmd)) == len(lines)


# ------------------------------------------------------------------ event loops

SERVER, X, Y = ("server", 20), ("x", 21), ("y", 22)
ROUNDS = 6


def loop_lines(within: bool = False) -> list[Line]:
    """A server with a connection to each of two clients: it waits outside receive(), or within."""
    lines = [switch(0, cpu, IDLE, "R", task) for cpu, task in enumerate((SERVER, X, Y))]
    lines.append(switch(500, 0, SERVER, "S", IDLE))
    entered = 400
    for number in range(ROUNDS):
        client, cpu, fd = (X, 1, 5) if number % 2 else (Y, 2, 6)
        at = 100_000 * (number + 1)
        lines += [
            *(line for line in syscall(at, at + 2_000, cpu, client, "write", "fd=3", 10)),
            waking(at + 1_000, cpu, client, SERVER),
            switch(at + 3_000, cpu, client, "S", IDLE),
            switch(at + 4_000, 0, IDLE, "R", SERVER),
            *syscall(
                entered if within else at + 5_000, at + 6_000, 0, SERVER, "read", f"fd={fd}", 10
            ),
            *syscall(at + 16_000, at + 18_000, 0, SERVER, "write", f"fd={fd}", 20),
            waking(at + 17_000, 0, SERVER, client),
            switch(at + 20_000, 0, SERVER, "S", IDLE),
            switch(at + 21_000, cpu, IDLE, "R", client),
            *syscall(at + 22_000, at + 23_000, cpu, client, "read", "fd=3", 20),
        ]
        entered = at + 19_000
    lines += [switch(9_000_000, cpu, task, "S", IDLE) for cpu, task in ((1, X), (2, Y))]
    return sorted(lines, key=lambda line: line.ns)


LOOP = Setup(
    *("6.12", "0-2", {pid: TaskSetup(pid, "0-2") for pid in (20, 21, 22)}),
    descriptors_before={
        20: {5: Descriptor(101), 6: Descriptor(102)},
        21: {3: Descriptor(201)},
        22: {3: Descriptor(202)},
    },
    peers={101: 201, 201: 101, 102: 202, 202: 102},
)


def test_a_task_that_waits_for_several_channels_takes_what_comes_first() -> None:
    made = infer(replace(read(loop_lines()), setup=LOOP), Choice(), "x")
    words = {task.name: task.words.split() for task in made.tasks}
    assert words["server"] == ["500", "q1"]
    assert len(made.items) == ROUNDS
    assert all(item.words.split()[1][0] == "m" for item in made.items)
    for client in ("x", "y"):
        puts = [word for word in words[client] if word[0] == "p"]
        answers = [word for word in words[client] if word[0] == "r"]
        assert len(puts) == len(answers) == ROUNDS // 2


def test_a_loop_that_never_slept_before_starts_its_clients_itself() -> None:
    """It is busy until the first message comes: its start is not work for that message."""
    lines = [line for line in loop_lines() if line.ns not in (0, 500, 104_000)]
    lines += [switch(0, 0, IDLE, "R", SERVER)]
    for ns, cpu, task in ((100, 1, X), (300, 2, Y)):
        lines += [fork(ns, 0, SERVER, task), switch(ns + 100, cpu, IDLE, "R", task)]
    lines = [line for line in lines if line.ns != 101_000]
    lines.sort(key=lambda line: line.ns)
    made = infer(replace(read(lines), setup=LOOP), Choice(), "x")
    words = next(task.words for task in made.tasks if task.name == "server")
    assert words == "100 +21 200 +22 104700 q1" and len(made.items) == ROUNDS
    assert not list(IdealRun(made).stuck())


def test_what_a_loop_does_when_all_is_served_is_its_own() -> None:
    """It waits for another task's end at a futex, as a thread that joins others does."""
    at = 100_000 * (ROUNDS + 1)
    more = [
        futex(at, 0, SERVER, "wait", 0x100, 21),
        waking(at + 9_000, 1, X, SERVER),
        switch(at + 10_000, 0, IDLE, "R", SERVER),
        futex_done(at + 10_500, 0, SERVER),
        switch(at + 17_000, 0, SERVER, "S", IDLE),
    ]
    lines = loop_lines()
    stop = max(line.ns for line in lines if line.pid == SERVER[1])
    lines = [line for line in lines if line.ns != stop]
    lines.append(switch(at + 500, 0, SERVER, "S", IDLE))
    lines = sorted([*lines, *more], key=lambda line: line.ns)
    made = infer(replace(read(lines), setup=LOOP), Choice(), "x")
    words = next(task.words for task in made.tasks if task.name == "server")
    assert words == "500 q1 w 7000" and len(made.items) == ROUNDS
    assert not list(IdealRun(made).stuck())


def test_a_task_that_blocks_in_one_receive_after_another_keeps_the_order() -> None:
    made = infer(replace(read(loop_lines(within=True)), setup=LOOP), Choice(), "x")
    assert not made.items
    assert {task.name: task.words.count("r") for task in made.tasks} == {
        "server": ROUNDS,
        "x": ROUNDS // 2,
        "y": ROUNDS // 2,
    }


def test_a_message_that_an_interrupt_brings_is_waited_for_too() -> None:
    """Where ksoftirqd or an idle CPU takes it in, another one than the sender wakes the server."""
    lines = [
        line._replace(context="s", task="swapper/3", pid=0, cpu=3)
        if line.event == "sched_waking"
        else line
        for line in loop_lines()
    ]
    made = infer(replace(read(lines), setup=LOOP), Choice(), "x")
    assert len(made.items) == ROUNDS
    assert not any("@" in words for words in made.all_words())


def test_a_wake_without_a_message_is_work_of_the_loop_too() -> None:
    """As by an eventfd: the loop does it when its turn comes. A wake for nothing is left out."""
    at = 100_000 * (ROUNDS + 1)
    lines = [
        *loop_lines()[:-2],
        waking(at, 1, X, SERVER),
        switch(at + 1_000, 0, IDLE, "R", SERVER),
        switch(at + 8_000, 0, SERVER, "S", IDLE),
        waking(at + 20_000, 1, X, SERVER, "s"),
        switch(at + 21_000, 0, IDLE, "R", SERVER),
        switch(at + 22_000, 0, SERVER, "S", IDLE),
        *loop_lines()[-2:],
    ]
    made = infer(replace(read(lines), setup=LOOP), Choice(), "x")
    assert len(made.items) == ROUNDS + 1
    assert made.items[-1].words == "8000"
    assert next(task for task in made.tasks if task.name == "server").words == "500 q1"
