"""A far end that answers what no honest one would: it writes nothing here, and it ends."""

import gzip
import io
import os
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import schedlab.base.system.remote
import schedlab.base.system.shell
from schedlab.base.errors import HostError, OutsideError, SchedlabError, SystemLost
from schedlab.base.system import Launch, LocalSystem, RemoteSystem, SshSystem
from schedlab.base.system.lock import holder
from schedlab.base.system.remote import RemoteProgram
from schedlab.base.system.shell import Answer, Shell
from schedlab.targets.choice import find_target

ASKED = ("/sys/devices/system/cpu", "/proc/cpuinfo")
MIB = 1 << 20


class Told(Shell):
    """A line to a far end that answers commands by what they begin with."""

    def __init__(self, **answers: bytes) -> None:
        self.name = "ssh:evil"
        self._answers = answers

    def run(self, script: str, seconds: float = 60) -> Answer:
        word = script.split()[0].strip("({")
        return Answer(0, self._answers.get(word, b""), "")


def far_end(tmp_path: Path, **answers: bytes) -> RemoteSystem:
    return RemoteSystem(Told(**answers), tmp_path / "state", "/far")


def everything(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


@pytest.mark.parametrize(
    "line",
    [
        "/pwned-absolute:owned",
        "/../..{outside}/pwned:* * * * * root id",
        "/sys/devices/system/cpu/../../../..{outside}/pwned:x",
        "/sys/devices/system/cpu//pwned:x",
        "/sys/devices/system/cpupwned:x",
        "/sys/devices/system/cpu/a\0b:x",
        "pwned:x",
        "pwned",
        ":",
    ],
)
def test_a_snapshot_takes_only_what_was_asked_for(line: str, tmp_path: Path) -> None:
    grep = f"/proc/cpuinfo:fine\n{line.format(outside=tmp_path)}\n"
    before = everything(tmp_path)
    with pytest.raises(OutsideError, match="ssh:evil: a listing of files: "):
        far_end(tmp_path, grep=grep.encode()).snapshot(ASKED)
    assert everything(tmp_path) == before


def ls(link: str, target: str) -> str:
    return f"lrwxrwxrwx 1 root root 0 Nov 23 01:40 {link} -> {target}\n"


def test_links_of_a_snapshot_stay_in_it(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    cpu = "/sys/devices/system/cpu"
    found = ls(f"{cpu}/cpu1", "cpu0") + ls(f"{cpu}/alias", f"{cpu}/cpu0")
    found += ls(f"{cpu}/out", str(tmp_path)) + ls(f"{cpu}/up", f"../../../../..{tmp_path}")
    # Each stays inside by its words; followed one after the other they would not.
    found += ls(f"{cpu}/self", ".") + ls(f"{cpu}/deep", f"self/self/self/self/../../..{tmp_path}")
    grep = f"{cpu}/cpu0/online:1\n"
    far = far_end(tmp_path, grep=grep.encode(), find=found.encode())
    copy = far.snapshot(ASKED)
    assert copy.read(f"{cpu}/cpu1/online") == copy.read(f"{cpu}/alias/online") == "1"
    for link in ("out", "up", "deep"):
        assert not copy.exists(f"{cpu}/{link}/secret")


@pytest.mark.parametrize(
    ("grep", "find", "words"),
    [
        ("", ls("/pwned", "/etc"), "was not requested"),
        ("", ls("/sys/devices/system/cpu/../x", "a"), "has '..' in it"),
        (
            "",
            ls(f"{ASKED[0]}/a", ".") + ls(f"{ASKED[0]}/a/b", "."),
            "goes through the link",
        ),
        ("", "no link at all\n", "is not a link"),
        (f"{ASKED[0]}/a:x\n{ASKED[0]}/a/b:x\n", "", "cannot be copied: File exists"),
        (f"{ASKED[0]}/a:x\n", ls(f"{ASKED[0]}/a", "."), "cannot be copied: File exists"),
    ],
)
def test_a_listing_that_contradicts_itself(
    grep: str, find: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(SchedlabError, match=words):
        far_end(tmp_path, grep=grep.encode(), find=find.encode()).snapshot(ASKED)


def test_a_snapshot_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedlab.base.system.remote, "_MOST_ENTRIES", 100)
    many = "".join(f"{ASKED[0]}/cpu{n}/online:1\n" for n in range(60))
    with pytest.raises(HostError, match="has more than 100 entries"):
        far_end(tmp_path, grep=many.encode()).snapshot(ASKED)


PIECE = st.sampled_from(
    ["/", "..", ".", "a", ":", "\n", " -> ", "l", ASKED[0], "/proc/cpuinfo", "\0", "/tmp", "x" * 9]
)
WORDS = st.lists(PIECE, max_size=12).map("".join)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(WORDS, max_size=4).map("\n".join),
    st.lists(st.one_of(WORDS, st.builds(ls, WORDS, WORDS)), max_size=4).map("".join),
)
def test_whatever_a_listing_says(grep: str, find: str) -> None:
    try:
        copy = far_end(Path("/none"), grep=grep.encode(), find=find.encode()).snapshot(ASKED)
    except SchedlabError:
        return
    assert isinstance(copy, LocalSystem)
    for path in copy.root.rglob("*"):
        assert Path(os.path.realpath(path)).is_relative_to(os.path.realpath(copy.root))


def brought(tmp_path: Path, content: bytes) -> Path:
    """Bring what a far end packed so; give the run's folder."""
    folder = tmp_path / "run"
    folder.mkdir()
    far = far_end(tmp_path, cd=gzip.compress(content))
    far._bring("/far/run", folder)
    return folder


def test_files_are_brought(tmp_path: Path) -> None:
    folder = brought(tmp_path, b"3 ./a b\none5 ./.hidden\nx\0\ny\n0 ./empty\n")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        "a b": b"one",
        ".hidden": b"x\0\ny\n",
        "empty": b"",
    }


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"1 ./../pwned\nx", "is not a file"),
        (b"1 /pwned\nx", "is not a file"),
        (b"1 ./..\nx", "has '..' in it"),
        (b"1 ./.\nx", "is not plain"),
        (b"1 ./a\0\nx", "has a control character"),
        (b"1 ./" + b"x" * 300 + b"\nx", "is too long"),
        (b"-1 ./a\nx", "is not a file"),
        (b"9" * 5000 + b" ./a\nx", "is not a file"),
        (b"9 ./a\nx", "a is cut short"),
        (b"300000000 ./a\nx", "wrote more than 268435456 bytes"),
        (b"1 ./folder\nx", "cannot be written"),
        (b"0 ./a\n" * 10_001, "wrote more than 10000 files"),
    ],
)
def test_what_is_not_brought(content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("before")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "folder").mkdir()
    far = far_end(tmp_path, cd=gzip.compress(content))
    with pytest.raises(SchedlabError, match=words):
        far._bring("/far/run", folder)
    assert {path.name for path in tmp_path.iterdir()} == {"victim", "run"}


CUT = gzip.compress(b"1 ./a\nx")[:-9]


@pytest.mark.parametrize("packed", [b"", b"no gzip", CUT], ids=["empty", "no gzip", "cut"])
def test_what_is_brought_damaged(packed: bytes, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    far = far_end(tmp_path, cd=packed)
    if packed:
        with pytest.raises(HostError, match="cannot be written"):
            far._bring("/far/run", tmp_path / "run")
    else:
        far._bring("/far/run", tmp_path / "run")


def test_a_file_is_brought_over_a_link_without_following_it(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("before")
    (tmp_path / "run").mkdir()
    (tmp_path / "run/stdout.txt").symlink_to(tmp_path / "victim")
    far = far_end(tmp_path, cd=gzip.compress(b"1 ./stdout.txt\nx"))
    far._bring("/far/run", tmp_path / "run")
    assert (tmp_path / "run/stdout.txt").read_text() == "x"
    assert (tmp_path / "victim").read_text() == "before"


def test_what_unpacks_to_gigabytes_is_not_unpacked(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with gzip.open(packed, "wb", compresslevel=1) as stream:
        stream.write(f"{250 * MIB} ./a\n".encode())
        for _ in range(300):
            stream.write(bytes(MIB))
    (tmp_path / "run").mkdir()
    far = far_end(tmp_path, cd=packed.getvalue())
    with pytest.raises(HostError, match="is not a file"):
        far._bring("/far/run", tmp_path / "run")
    assert (tmp_path / "run/a").stat().st_size == 250 * MIB


@contextmanager
def line_to(script: str) -> Iterator[Shell]:
    with subprocess.Popen(
        ["sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        yield Shell(process, "ssh:evil")
        process.kill()


def test_an_answer_of_gigabytes_is_not_awaited() -> None:
    script = "echo ready; read a; echo answer 1 0 0 0; read a; echo answer 2 0 9999999999 0; cat"
    with line_to(f"{script} </dev/zero") as shell:
        shell.await_ready(30)
        with pytest.raises(HostError, match="an answer of 9999999999 bytes is refused; at most"):
            shell.run("true", 30)


def test_a_line_without_an_end_is_not_kept() -> None:
    with line_to("exec cat /dev/zero") as shell, pytest.raises(SystemLost, match="not an answer"):
        shell.await_ready(30)
    many = "9" * 5000
    with (
        line_to(f"echo answer {many} 0 0 0; sleep 30") as shell,
        pytest.raises(SystemLost, match="does not answer"),
    ):
        shell.run("true", 0.5)


def test_what_cannot_be_killed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell whose `kill` does nothing stands for processes that wait in the kernel."""
    kill = schedlab.base.system.remote._KILL
    soon = kill.replace(f"+ {schedlab.base.system.remote._KILL_SECONDS}))", "+ 1))")
    assert soon != kill
    monkeypatch.setattr(schedlab.base.system.remote, "_KILL", f"kill() {{ :; }}; {soon}")
    with line_to("echo ready; exec sh") as shell:
        shell.await_ready(30)
        far = RemoteSystem(shell, tmp_path / "state", str(tmp_path / "far"))
        folder = tmp_path / "run"
        folder.mkdir()
        script = f"setsid sleep 1000 & echo $! >{shlex.quote(str(tmp_path / 'pid'))}"
        try:
            with pytest.raises(
                HostError, match=r"process \d+ of the run cannot be killed"
            ) as raised:
                far.execute(Launch(("sh", "-c", script), folder / "out", folder / "err"))
            pid = (tmp_path / "pid").read_text().strip()
            assert f"process {pid} of" in str(raised.value)
        finally:
            monkeypatch.setattr(schedlab.base.system.remote, "_KILL", kill)
            far.end_all()
        assert (folder / "out").exists(), "its files were brought all the same"


def test_a_lab_at_the_same_machine_keeps_its_programs(tmp_path: Path) -> None:
    with line_to("echo ready; exec sh") as one, line_to("echo ready; exec sh") as other:
        labs = []
        for name, shell in (("one", one), ("other", other)):
            shell.await_ready(30)
            (tmp_path / name).mkdir()
            labs.append(RemoteSystem(shell, tmp_path / "state", str(tmp_path / f"far-{name}")))
        launch = Launch(("sleep", "1000"), tmp_path / "one/out", tmp_path / "one/err")
        with labs[0].beside(launch) as program:
            labs[1].end_all()
            assert program.running()
            labs[0].end_all()
            assert not program.running()


def test_all_that_is_forked_while_it_is_killed_is_killed_too(tmp_path: Path) -> None:
    with line_to("echo ready; exec sh") as shell:
        shell.await_ready(30)
        far = RemoteSystem(shell, tmp_path / "state", str(tmp_path / "far"))
        # The second process begins when the first is killed.
        script = "sh -c 'echo up; cat; exec sleep 1000' <fifo & exec 3>fifo; exec sleep 1000 3>&3"
        folder = tmp_path / "run"
        folder.mkdir()
        launch = Launch(("sh", "-c", f"mkfifo fifo; {script}"), folder / "out", folder / "err")
        with far.beside(Launch(launch.argv, launch.stdout, launch.stderr, folder=folder)):
            while b"up" not in far.run(f"cat {tmp_path}/far/run/out").out:
                pass
        assert far.end_tagged("x") == 0
        marked = far.run("grep -ls SCHEDLAB_RUN=x1x /proc/[0-9]*/environ").out
        assert marked == b""


@pytest.mark.parametrize("host", [".", "..", "x" * 300])
def test_a_host_whose_journal_would_lie_elsewhere(host: str) -> None:
    with pytest.raises(OutsideError, match="--target ssh:HOST: the name"):
        SshSystem(host)


def test_a_plan_for_a_hostile_host_writes_nothing_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An `ssh` in whose answers a hostile `grep` has added lines: even --dry-run reads them."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tmp_path / "here").mkdir()
    (tools / "grep").write_text(
        f'#!/bin/sh\ncase "$1" in -ars) echo "/..{tmp_path}/pwned:x";; esac\nexec /bin/grep "$@"\n'
    )
    # What it is called with comes last, for the far shell.
    (tools / "ssh").write_text('#!/bin/sh\nfor script; do :; done\nexec sh -c "$script"\n')
    for tool in tools.iterdir():
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin:/usr/sbin:/sbin")
    before = everything(tmp_path)
    with pytest.raises(OutsideError, match=r"ssh:evil: a listing of files: '/\.\."):
        find_target("ssh:evil", None, ()).machine()
    assert everything(tmp_path) == before


def test_the_words_of_ssh_do_not_fill_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ssh").write_text("#!/bin/sh\nexec cat /dev/zero >&2\n")
    (tmp_path / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(SystemLost, match="ssh:evil: cannot be reached"):
        SshSystem("evil")


ODD = [
    b"",
    b"abc\n",
    b"-1\n",
    b"9" * 5000,
    b"nan",
    b"\x1b]0;pwn\x07 x: y\n",
    b"1 2 3\n",
    b"\0\xff\n",
]


@pytest.mark.parametrize("answer", ODD)
def test_numbers_that_are_none(tmp_path: Path, answer: bytes) -> None:
    launch = Launch(("true",), stdout=tmp_path / "run/out", stderr=tmp_path / "run/err")
    launch.stdout.parent.mkdir()

    def beside(far: RemoteSystem) -> None:
        with far.beside(launch):
            pass

    asked = {
        "date": lambda far: far.clock_offset(),
        "cat": lambda far: RemoteProgram(far, 1).running(),
        "kill_marked": lambda far: far.end_tagged("x"),
        "read": lambda far: far.execute(launch),
        "for": lambda far: (
            far.glob("/sys/devices/system/cpu/cpu[0-9]*/cpufreq"),
            far.beside_cpu_seconds(),
        ),
        "cd": beside,
    }
    for word, ask in asked.items():
        far = far_end(tmp_path, **{word: answer})
        try:
            ask(far)
        except HostError as error:
            assert str(error).isprintable() and len(str(error)) < 250


def test_where_a_number_was_missing_is_said(tmp_path: Path) -> None:
    with pytest.raises(
        HostError, match=r"^ssh:evil: its clocks: a number is expected \(found 'a'\)"
    ):
        far_end(tmp_path, date=b"a b").clock_offset()
    pattern = "/sys/devices/system/cpu/cpu[0-9]*"
    with pytest.raises(HostError, match=r"found '/sys/x'"):
        far_end(tmp_path, **{"for": b"/sys/x\n"}).glob(pattern)


def test_a_lock_that_is_told_wrong_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    far = object.__new__(SshSystem)
    far.name, far._host = "ssh:evil", "evil"
    for out in (b"abc 1", b"1", b"0:1 -2", b"0:1 " + b"9" * 5000):
        monkeypatch.setattr(SshSystem, "run", lambda *_, out=out: Answer(0, out, ""))
        far._respect_root()


@pytest.mark.parametrize("locks", ["", "1: FLOCK", "1: FLOCK ADVISORY WRITE x 00:01:7 0 EOF", "\n"])
def test_locks_that_are_told_wrong(locks: str) -> None:
    try:
        assert holder(locks, "0:1", 7) is None
    except HostError as error:
        assert "/proc/locks: a whole number is expected (found 'x')" in str(error)
