"""A lab that is stopped, or killed: nothing recorded is lost, nothing stays changed or running."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from schedlab.lab.forecast import are
from schedlab.result.store import Store
from tests.helpers.patience import PATIENCE_SECONDS, wait_until
from tests.helpers.processes import is_alive
from tests.helpers.rooted import small_server

KNOB = "proc/sys/kernel/knob"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    tree = small_server(tmp_path / "root")
    (tree / KNOB).parent.mkdir(parents=True, exist_ok=True)
    (tree / KNOB).write_text("1\n")
    (tree / "seconds").write_text("20")
    with socket.create_server(("127.0.0.1", 0)) as free:
        (tree / "port").write_text(str(free.getsockname()[1]))
    return tree


def lab(root: Path, result: Path, *more: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.helpers.lab", str(root), str(result), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_until_changed(root: Path) -> None:
    """Wait for the middle of a run in which the knob is turned."""
    wait_until((root / "running-with-0").exists, "the variant's run")


def survivors(root: Path) -> list[int]:
    """Return the benchmark's processes that still live."""
    return [pid for pid in map(int, (root / "pids").read_text().split()) if is_alive(pid)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stopped_lab_puts_everything_back_and_can_go_on(
    root: Path, tmp_path: Path, number: signal.Signals
) -> None:
    result = tmp_path / "result"
    process = lab(root, result)
    wait_until_changed(root)
    process.send_signal(number)
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 130, errors
    assert f"stopped by {number.name}" in errors
    assert "Traceback" not in errors
    assert (root / KNOB).read_text() == "1\n"
    assert survivors(root) == [], "the server is gone too"
    assert list(result.glob("raw/*")) and not list(result.glob("raw/*/data"))
    assert not (root / "var/lib/schedlab/journal.json").exists()
    if number != signal.SIGINT:
        return
    (root / "seconds").write_text("0")
    kept = len(Store.open(result).records())
    assert f"; {are(kept, 'run')} kept in" in errors
    again = lab(root, result, "--resume")
    _, errors = again.communicate(timeout=PATIENCE_SECONDS)
    assert again.returncode == 0, errors
    assert len(Store.open(result).records()) == 6


def test_after_a_kill_the_next_start_undoes_what_was_left(root: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    process = lab(root, result)
    wait_until_changed(root)
    process.kill()
    process.communicate()
    assert (root / KNOB).read_text() == "0\n", "a killed lab cannot clean up"
    left = survivors(root)
    assert left
    (root / "seconds").write_text("0")
    again = lab(root, tmp_path / "second")
    _, errors = again.communicate(timeout=PATIENCE_SECONDS)
    assert again.returncode == 0, errors
    assert (root / KNOB).read_text() == "1\n"
    assert not set(left) & set(survivors(root))
    notices = Store.open(tmp_path / "second").notices
    assert any("knob: 0 -> 1" in line for line in notices)
    assert any("processes an earlier lab left running" in line for line in notices)


def test_two_labs_at_once_are_refused(root: Path, tmp_path: Path) -> None:
    process = lab(root, tmp_path / "first")
    wait_until_changed(root)
    second = lab(root, tmp_path / "second")
    _, errors = second.communicate(timeout=PATIENCE_SECONDS)
    assert second.returncode == 2
    assert f"another schedlab runs on this host (process {process.pid})" in errors
    assert not (tmp_path / "second").exists()
    again = lab(root, tmp_path / "first", "--resume")
    _, errors = again.communicate(timeout=PATIENCE_SECONDS)
    assert again.returncode == 2
    assert f"another schedlab (process {process.pid}) is running this result" in errors
    assert process.poll() is None
    os.kill(process.pid, signal.SIGTERM)
    process.communicate(timeout=PATIENCE_SECONDS)
    assert (root / KNOB).read_text() == "1\n"


SLOW_TO_END = """
import sys, time
from schedlab.base.errors import Interrupted
from schedlab.base.system.interrupt import stoppable
try:
    try:
        with stoppable():
            try:
                print("begun", flush=True)
                time.sleep(1000)
            finally:
                print("closing", flush=True)
                sys.stdin.readline()
    finally:
        print("keeping", flush=True)
        sys.stdin.readline()
except Interrupted as error:
    sys.exit(f"{error}; 3 runs are kept")
"""


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_second_signal_waits_until_all_is_in_order(second: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_TO_END],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin and process.stdout
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    for stage in ("closing\n", "keeping\n"):
        assert process.stdout.readline() == stage
        process.send_signal(second)
        process.stdin.write("go on\n")
        process.stdin.flush()
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, errors) == (1, "stopped by SIGINT; 3 runs are kept\n")
