"""Running programs: time limits, orphans, output files; nothing survives."""

import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schedlab.base.errors import HostError, Interrupted
from schedlab.base.system import Exit, Launch, LocalSystem
from schedlab.base.system.interrupt import STOPPING, stoppable, uninterrupted
from schedlab.base.system.process import TAG, Child, end_descendants, end_tagged
from tests.helpers.patience import PATIENCE_SECONDS, wait_until
from tests.helpers.processes import is_alive

SYSTEM = LocalSystem()


@pytest.fixture(autouse=True)
def alone() -> None:
    """What an earlier test has left running is none of these tests'."""
    end_descendants()


def shell(
    tmp_path: Path, script: str, timeout: float | None = PATIENCE_SECONDS, **env: str
) -> Exit:
    return SYSTEM.execute(launch(tmp_path, script, timeout, **env))


def launch(
    tmp_path: Path, script: str, timeout: float | None = PATIENCE_SECONDS, **env: str
) -> Launch:
    out, err = tmp_path / "stdout.txt", tmp_path / "stderr.txt"
    return Launch(("sh", "-c", script), out, err, env=env, timeout=timeout)


def alive(marker: Path) -> bool:
    """Return whether the process that wrote its id into `marker` lives."""
    return is_alive(int(marker.read_text()))


def wait_for(marker: Path) -> None:
    wait_until(lambda: marker.exists() and marker.read_text().strip(), str(marker))


def test_output_status_and_environment(tmp_path: Path) -> None:
    end = shell(tmp_path, "echo out $A; echo err >&2; exit 7", A="x")
    assert (end.status, end.timed_out, end.left_behind) == (7, False, 0)
    assert (tmp_path / "stdout.txt").read_text() == "out x\n"
    assert (tmp_path / "stderr.txt").read_text() == "err\n"


def test_cpu_time_counts_grandchildren(tmp_path: Path) -> None:
    burn = f"{sys.executable} -c 'import time\nwhile time.process_time() < 0.3: pass'"
    assert shell(tmp_path, f'sh -c "{burn}"; true').cpu_seconds >= 0.3


def test_a_program_that_hangs_is_ended(tmp_path: Path) -> None:
    end = shell(tmp_path, "sleep 1000", timeout=0.2)
    assert end.timed_out
    assert end.status == -signal.SIGTERM


@pytest.mark.parametrize("timeout", [2**31 / 1000, 36_000_000.0, math.inf])
def test_a_very_long_limit_is_none(tmp_path: Path, timeout: float) -> None:
    assert shell(tmp_path, "exit 3", timeout=timeout).status == 3


def test_a_wait_is_cut_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedlab.base.system.process._LONGEST_POLL_MS", 5)
    assert shell(tmp_path, "sleep 0.3; exit 3").status == 3
    assert shell(tmp_path, "sleep 1000", timeout=0.1).timed_out


def test_a_program_that_ignores_termination_is_killed(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    # Inherited from us: its own trap might come later than the signal.
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    request.addfinalizer(lambda: signal.signal(signal.SIGTERM, before))
    end = shell(tmp_path, "while :; do sleep 0.1; done", timeout=0.3)
    assert end.timed_out
    assert end.status == -signal.SIGKILL


@pytest.mark.parametrize("escape", ["", "setsid ", "env -i setsid ", "nohup setsid -f "])
def test_no_orphan_survives(tmp_path: Path, escape: str) -> None:
    marker = tmp_path / "orphan"
    inner = tmp_path / "inner.sh"
    inner.write_text(f"echo $$ > {marker}.new; mv {marker}.new {marker}; exec sleep 1000")
    end = shell(tmp_path, f"{escape}sh {inner} & while [ ! -e {marker} ]; do sleep 0.01; done")
    assert end.status == 0
    assert end.left_behind >= 1
    assert not alive(marker)


def test_an_orphan_that_ended_by_itself_was_not_left_running(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    gone = f"grep -qs ' Z ' /proc/$(cat {pid})/stat"
    script = (
        f"(setsid sh -c 'echo $$ > {pid}' &); until [ -s {pid} ] && {gone}; do sleep 0.01; done"
    )
    end = shell(tmp_path, script)
    assert end.left_behind == 0
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.fixture
def signals() -> Iterator[None]:
    """Put the handlers back that an interrupted block leaves behind, as its process would end."""
    before = {number: signal.getsignal(number) for number in STOPPING}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("signals")
def test_an_interrupt_ends_the_program_too(tmp_path: Path) -> None:
    marker = tmp_path / "pid"
    wanted = launch(tmp_path, f"echo $$ > {marker}; sleep 1000")
    killer = subprocess.Popen(
        ["sh", "-c", f"until [ -s {marker} ]; do sleep 0.01; done; kill -TERM {os.getpid()}"]
    )
    with pytest.raises(Interrupted, match="SIGTERM"), stoppable():
        SYSTEM.execute(wanted)
    killer.wait()
    assert not alive(marker)


@pytest.mark.usefixtures("signals")
def test_a_stop_while_a_program_starts_ends_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []

    class Popen(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            started.append(self.pid)
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr("schedlab.base.system.process.subprocess.Popen", Popen)
    with pytest.raises(Interrupted, match="SIGTERM"), stoppable():
        SYSTEM.execute(launch(tmp_path, "sleep 1000"))
    beside = SYSTEM.beside(launch(tmp_path, "sleep 1000"))
    with pytest.raises(Interrupted, match="SIGTERM"), stoppable(), beside:
        pytest.fail("stopped while it started")
    assert [is_alive(pid) for pid in started] == [False, False]


def test_what_runs_beside_lives_on_until_its_block_ends(tmp_path: Path) -> None:
    system = LocalSystem()
    with system.beside(launch(tmp_path, "sleep 1000")) as server:
        assert system.execute(launch(tmp_path, "true")).left_behind == 0
        assert server.running()
    assert not server.running()


def test_tagged_processes_are_found_without_kinship(tmp_path: Path) -> None:
    marker = tmp_path / "pid"
    tag = f"test-{os.getpid()}"
    starter = (
        "import subprocess; subprocess.Popen(['setsid', '-f', 'sh', '-c',"
        f" 'echo $$ > {marker}; exec sleep 1000'])"
    )
    subprocess.run([sys.executable, "-c", starter], env={**os.environ, TAG: tag}, check=True)
    wait_for(marker)
    assert end_tagged("test-another") == []
    assert int(marker.read_text()) in end_tagged(tag)
    time.sleep(0.05)
    assert not alive(marker)


@pytest.mark.parametrize(
    "hide",
    [
        "env -i setsid -f",
        "setsid -f env -u SCHEDLAB_TAG",
        "setsid -f setpriv --reuid=65534 --clear-groups env -i",
    ],
)
def test_tagged_processes_are_found_without_their_environment(tmp_path: Path, hide: str) -> None:
    if "reuid" in hide and os.geteuid() != 0:
        pytest.skip("needs root to become another user")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        marker, tag = Path(folder) / "pid", f"test-hidden-{os.getpid()}"
        before = resource.getrlimit(resource.RLIMIT_RSS)
        if (lab := os.fork()) == 0:
            Child(launch(tmp_path, f"{hide} sh -c 'echo $$ > {marker}; sleep 1000'", **{TAG: tag}))
            wait_for(marker)
            os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(lab, 0)
        assert resource.getrlimit(resource.RLIMIT_RSS) == before
        assert alive(marker)
        assert end_tagged("test-another") == []
        assert int(marker.read_text()) in end_tagged(tag)
        assert not alive(marker)
        assert end_tagged(tag) == []


def test_a_process_that_cannot_be_ended_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tag = f"test-stuck-{os.getpid()}"
    stuck = Child(launch(tmp_path, "sleep 1000", **{TAG: tag}))
    try:
        with monkeypatch.context() as kernel:
            kernel.setattr(os, "kill", lambda pid, number: None)
            kernel.setattr("schedlab.base.system.process._DEATH_SECONDS", 0.1)
            with pytest.raises(HostError, match=f"cannot be ended: {stuck.pid}"):
                end_tagged(tag)
    finally:
        stuck.finish()


@pytest.mark.usefixtures("signals")
def test_a_signal_waits_though_another_thread_would_take_it() -> None:
    woken = threading.Event()
    other = threading.Thread(target=woken.wait)
    other.start()
    done = []
    try:
        with pytest.raises(Interrupted, match="SIGTERM"), stoppable():
            with uninterrupted():
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(0.1)
                done.append("in order")
            done.append("not reached")
    finally:
        woken.set()
        other.join()
    assert done == ["in order"]


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    missing = Launch(("no-such-program",), tmp_path / "o", tmp_path / "e")
    with pytest.raises(HostError, match="no-such-program: cannot be started: No such file"):
        SYSTEM.execute(missing)
