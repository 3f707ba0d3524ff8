"""Running programs: time limits, orphans, output files; nothing survives."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from schedlab.errors import HostError, Interrupted
from schedlab.interrupt import stoppable
from schedlab.system import Exit, Launch, LocalSystem
from schedlab.system.process import TAG, end_tagged
from tests.processes import is_alive

SYSTEM = LocalSystem()


def shell(tmp_path: Path, script: str, timeout: float | None = 30, **env: str) -> Exit:
    return SYSTEM.execute(launch(tmp_path, script, timeout, **env))


def launch(tmp_path: Path, script: str, timeout: float | None = 30, **env: str) -> Launch:
    out, err = tmp_path / "stdout.txt", tmp_path / "stderr.txt"
    return Launch(("sh", "-c", script), out, err, env=env, timeout=timeout)


def alive(marker: Path) -> bool:
    """Tell whether the process that wrote its id into `marker` lives."""
    return is_alive(int(marker.read_text()))


def wait_for(marker: Path) -> None:
    for _ in range(500):
        if marker.exists() and marker.read_text().strip():
            return
        time.sleep(0.01)
    raise AssertionError(f"{marker} never came")


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


def test_a_program_that_ignores_termination_is_killed(tmp_path: Path) -> None:
    end = shell(tmp_path, "trap '' TERM; while :; do sleep 0.1; done", timeout=0.3)
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
    end = shell(tmp_path, "(setsid sh -c 'exit 0' &) ; sleep 0.2")
    assert end.left_behind == 0
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_an_interrupt_ends_the_program_too(tmp_path: Path) -> None:
    marker = tmp_path / "pid"
    wanted = launch(tmp_path, f"echo $$ > {marker}; sleep 1000")
    killer = subprocess.Popen(["sh", "-c", f"sleep 0.5; kill -TERM {os.getpid()}"])
    with pytest.raises(Interrupted, match="SIGTERM"), stoppable():
        SYSTEM.execute(wanted)
    killer.wait()
    assert not alive(marker)


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


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    missing = Launch(("no-such-program",), tmp_path / "o", tmp_path / "e")
    with pytest.raises(HostError, match="no-such-program: cannot be started: No such file"):
        SYSTEM.execute(missing)
