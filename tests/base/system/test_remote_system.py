"""A system that a shell reaches, tried with a shell of this host."""

import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from schedlab.base.errors import SystemLost
from schedlab.base.system import Launch, LocalSystem, RemoteSystem
from schedlab.base.system.process import TAG
from schedlab.base.system.shell import Shell
from tests.helpers.patience import PATIENCE_SECONDS


@pytest.fixture
def far(tmp_path: Path) -> Iterator[RemoteSystem]:
    with subprocess.Popen(
        ["sh", "-c", "echo ready; exec sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        shell = Shell(process, "the far end")
        shell.await_ready(10)
        yield RemoteSystem(shell, tmp_path / "state", str(tmp_path / "far"))
        process.terminate()


def launch(
    folder: Path, script: str, timeout: float = PATIENCE_SECONDS, into: bool = False, name: str = ""
) -> Launch:
    folder.mkdir(exist_ok=True)
    return Launch(
        ("sh", "-c", script),
        folder / f"{name}stdout.txt",
        folder / f"{name}stderr.txt",
        {"GREETING": "hello 'you'"},
        timeout,
        folder if into else None,
    )


def test_a_line_may_have_any_descriptor() -> None:
    """A lab with many files open has descriptors that select() does not take, above 1,023."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    many = 1100
    if hard < many:
        pytest.skip(f"at most {hard} files can be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, many), hard))
    with ExitStack() as open_files:
        open_files.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        while open_files.enter_context(Path(os.devnull).open()).fileno() < 1024:
            pass
        process = open_files.enter_context(
            subprocess.Popen(
                ["sh", "-c", "echo ready; exec sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        )
        shell = Shell(process, "the far end")
        shell.await_ready(PATIENCE_SECONDS)
        assert shell.run("echo hello").out == b"hello\n"
        process.terminate()


def test_files_are_read_and_written_as_the_kernel_says(far: RemoteSystem, tmp_path: Path) -> None:
    knob = tmp_path / "knob"
    knob.write_text("before\n")
    assert far.read(str(knob)) == "before"
    far.write(str(knob), "it's after")
    assert knob.read_text() == "it's after\n"
    assert far.writable(str(knob)) and far.exists(str(knob))
    missing = str(tmp_path / "no such file")
    with pytest.raises(FileNotFoundError):
        far.read(missing)
    with pytest.raises(FileNotFoundError):
        far.write(missing, "1")
    assert not far.exists(missing) and not far.writable(missing)
    assert far.read_or(missing, "none") == "none"
    with pytest.raises(OSError, match="No space left on device"):
        far.write("/dev/full", "1")


def test_paths_come_in_natural_order(far: RemoteSystem, tmp_path: Path) -> None:
    for number in (10, 9, 1):
        (tmp_path / f"cpu{number}").mkdir()
    assert far.glob(f"{tmp_path}/cpu[0-9]*") == [f"{tmp_path}/cpu{n}" for n in (1, 9, 10)]


def test_what_can_be_set_is_the_same_from_afar(far: RemoteSystem, tmp_path: Path) -> None:
    for name, text in {
        "a": b"1\n",
        "b/c": b"x  y\t\n",
        "b/d": b"two\n\nlines\n",
        "e": b"\xff\n",
    }.items():
        (tmp_path / "vm" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "vm" / name).write_bytes(text)
    (tmp_path / "vm/fixed").write_text("7\n")
    (tmp_path / "vm/fixed").chmod(0o444)
    found = far.settable(f"{tmp_path}/vm")
    assert found == LocalSystem().settable(f"{tmp_path}/vm")
    assert len(found) == 4


def test_a_snapshot_reads_as_the_system_does(far: RemoteSystem, tmp_path: Path) -> None:
    tree = tmp_path / "sys"
    (tree / "a").mkdir(parents=True)
    (tree / "a" / "file").write_text("one: two\nthree\n")
    (tree / "link").symlink_to("a")
    copy = far.snapshot((str(tree), "/proc/version"))
    assert copy.read(f"{tree}/link/file") == "one: two\nthree"
    assert copy.read("/proc/version") == LocalSystem().read("/proc/version")


def test_a_program_runs_and_its_files_come_back(far: RemoteSystem, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "input").write_text("given\n")
    script = 'cat input; echo "$GREETING" >&2; echo more >made; exit 3'
    done = far.execute(launch(folder, script, into=True))
    assert done.status == 3
    assert not done.timed_out and done.left_behind == 0
    assert (folder / "stdout.txt").read_text() == "given\n"
    assert (folder / "stderr.txt").read_text() == "hello 'you'\n"
    assert (folder / "made").read_text() == "more\n"


def test_the_programs_of_a_run_share_its_folder(far: RemoteSystem, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    (folder / "data").mkdir(parents=True)
    serve = "echo made >data/file; exec sleep 1000"
    with far.beside(launch(folder, serve, into=True, name="server.")):
        setup = Launch(("sh", "-c", "echo set up >too"), folder / "a", folder / "b", folder=folder)
        assert far.execute(setup).status == 0
        done = far.execute(launch(folder, "cat data/file too", into=True))
    assert done.status == 0
    assert (folder / "stdout.txt").read_text() == "made\nset up\n"
    assert not any((folder / "data").iterdir())
    far.execute(launch(tmp_path / "next", "true"))
    assert [path.name for path in (tmp_path / "far").iterdir()] == ["next"]


def test_its_time_is_measured_and_limited(far: RemoteSystem, tmp_path: Path) -> None:
    done = far.execute(launch(tmp_path / "run", "while :; do :; done", timeout=1))
    assert done.timed_out
    assert done.status != 0
    assert done.cpu_seconds > 0


def test_what_is_left_running_is_killed_and_counted(far: RemoteSystem, tmp_path: Path) -> None:
    done = far.execute(launch(tmp_path / "run", "setsid sleep 1000 & exit 0"))
    assert (done.status, done.left_behind) == (0, 1)
    assert far.end_tagged("nobody's") == 0


def test_what_runs_beside_lives_until_its_block_ends(far: RemoteSystem, tmp_path: Path) -> None:
    script = "echo up; i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; exec sleep 1000"
    with far.beside(launch(tmp_path / "run", script, name="server.")) as server:
        assert far.execute(launch(tmp_path / "run", "true")).left_behind == 0
        assert server.running()
        while far.beside_cpu_seconds() < 0.01:
            pass
    assert not server.running()
    assert far.beside_cpu_seconds() == 0.0
    assert (tmp_path / "run" / "server.stdout.txt").read_text() == "up\n"


def test_a_server_that_overwrites_its_environment_is_ended(
    far: RemoteSystem, tmp_path: Path
) -> None:
    """As Redis and nginx do, which write their titles there; their children too."""
    burns = "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; echo $$ >pid; exec sleep 1000"
    script = f"env -i sh -c '{burns}' & exec env -i sleep 1000"
    with far.beside(launch(tmp_path / "run", script, into=True, name="server.")) as server:
        while not (pid := far.read_or(far.place(tmp_path / "run/pid"), "").strip()):
            pass
        assert far.beside_cpu_seconds() > 0.005
    assert not server.running()
    assert not far.exists(f"/proc/{pid}/exe") or far.read(f"/proc/{pid}/stat").split()[2] == "Z"


def test_a_server_that_overwrote_its_environment_is_ended_by_the_next_lab(
    far: RemoteSystem, tmp_path: Path
) -> None:
    """After a kill -9 of the lab that started it, nobody knows its session any more."""
    left = launch(tmp_path / "run", "exec env -i sh -c 'echo $$ >pid; exec sleep 1000'", into=True)
    left = replace(left, env={TAG: "an earlier lab's"})
    far.run(f"({far._started(left, *far._begin(left), None)}) &")
    while not (pid := far.read_or(far.place(tmp_path / "run/pid"), "").strip()):
        pass
    assert far.end_tagged("another lab's") == 0
    assert far.end_tagged("an earlier lab's") == 1
    assert not far.exists(f"/proc/{pid}/exe") or far.read(f"/proc/{pid}/stat").split()[2] == "Z"


def test_what_is_free_where_runs_are_written(far: RemoteSystem, tmp_path: Path) -> None:
    """Also before the folder of the first run is made, and after it is removed."""
    there = os.statvfs(tmp_path)
    free = far.free_bytes(tmp_path / "run")
    assert free is not None
    assert free == pytest.approx(there.f_bavail * there.f_frsize, rel=0.2)
    assert LocalSystem().free_bytes(tmp_path / "not there") is None


def test_a_captured_program(far: RemoteSystem) -> None:
    assert far.capture(("echo", "a b")).stdout == "a b\n"
    assert far.capture(("sh", "-c", "exit 7")).returncode == 7
    with pytest.raises(FileNotFoundError):
        far.capture(("no-such-program",))


def test_a_far_end_that_is_gone_or_silent_is_lost(far: RemoteSystem) -> None:
    with pytest.raises(SystemLost, match="the far end: does not answer"):
        far.run("sleep 5", 0.2)
    with pytest.raises(SystemLost, match="the far end"):
        far.run("kill -KILL $$")


def test_a_far_end_that_is_busy_between_two_clocks_has_not_set_one(
    far: RemoteSystem, tmp_path: Path
) -> None:
    """The first time, a second goes by until the time since boot is read."""
    exact = far.clock_offset()
    slept = tmp_path / "slept"
    far.run(
        f'cat() {{ [ "$1" != /proc/uptime ] || [ -e {slept} ] || {{ sleep 1; : >{slept}; }};'
        ' command cat "$@"; }'
    )
    assert abs(far.clock_offset() - exact) < 0.4
