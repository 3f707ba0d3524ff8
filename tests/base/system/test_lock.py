"""One lab a host and a result: the lock, who can hold it, and how it ends."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from schedlab.base.errors import HostError, StoreError
from schedlab.base.system.lock import LOCK, FileLock, HostLock, Taken, holder
from schedlab.result.store import Store
from schedlab.settings.journal import Journal, restore_left_behind
from tests.helpers.command_line import Cli
from tests.helpers.emulated import emulated_host, emulated_system

HOLD = """
import sys, time
from pathlib import Path
from schedlab.base.system.lock import HostLock
with HostLock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(1000)
"""
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@contextmanager
def held_elsewhere(folder: Path) -> Iterator[subprocess.Popen[str]]:
    argv = [sys.executable, "-c", HOLD, str(folder)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as lab:
        assert lab.stdout and lab.stdout.readline() == "held\n"
        try:
            yield lab
        finally:
            lab.kill()


def test_a_second_lab_is_refused_with_the_first_one_named(tmp_path: Path) -> None:
    with held_elsewhere(tmp_path) as lab:
        with pytest.raises(HostError, match=rf"another schedlab .* \(process {lab.pid}\)"):
            HostLock(tmp_path).__enter__()
        lab.send_signal(signal.SIGKILL)
        lab.wait()
        with HostLock(tmp_path):
            assert (tmp_path / LOCK).read_text() == f"{os.getpid()}\n"


def test_programs_we_start_do_not_hold_it(tmp_path: Path) -> None:
    with HostLock(tmp_path):
        child = subprocess.Popen(["sleep", "1000"], close_fds=False)
    with HostLock(tmp_path):
        child.kill()
    child.wait()


@needs_root
@pytest.mark.parametrize("space", ["--net", "--ipc", "--uts"])
def test_it_is_the_hosts_and_not_a_namespaces(tmp_path: Path, space: str) -> None:
    script = HOLD.replace("time.sleep(1000)", "")
    words = ["unshare", space, sys.executable, "-c", script, str(tmp_path)]
    with HostLock(tmp_path):
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert f"another schedlab runs on this host (process {os.getpid()})" in done.stderr
    assert subprocess.run(words, capture_output=True, check=False).returncode == 0


@needs_root
def test_an_ordinary_user_cannot_hold_it_against_root() -> None:
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        folder = Path(place) / "state"
        with HostLock(folder):
            pass
        drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        for how in ("-s", "-x"):
            words = [*drop, "flock", how, "-n", str(folder / LOCK), "true"]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            assert "Permission denied" in done.stderr
        assert not folder.stat().st_mode & 0o022


@needs_root
def test_a_lock_that_another_user_made_is_not_used(tmp_path: Path) -> None:
    (tmp_path / LOCK).touch()
    os.chown(tmp_path / LOCK, 65534, 65534)
    with pytest.raises(HostError, match="belongs to another user; delete it"):
        HostLock(tmp_path).__enter__()


def test_an_ordinary_user_gives_way_to_root(tmp_path: Path) -> None:
    with (
        held_elsewhere(tmp_path / "root") as lab,
        pytest.raises(HostError, match=rf"another schedlab .* \(process {lab.pid}\)"),
    ):
        HostLock(tmp_path / "user", tmp_path / "root").__enter__()
    with HostLock(tmp_path / "user", tmp_path / "root"):
        pass
    with HostLock(tmp_path / "user", tmp_path / "no such folder"):
        pass


def test_the_holder_is_found_among_other_locks() -> None:
    locks = "1: POSIX  ADVISORY  WRITE 7 fe:00:12 0 EOF\n2: FLOCK  ADVISORY  WRITE 9 fe:00:12 0 EOF"
    assert holder(locks, "254:0", 12) == 9
    assert holder(locks, "254:1", 12) is None


OVERLAY = """
mount -t tmpfs none "$1" && mkdir "$1"/low "$1"/up "$1"/work "$1"/seen &&
mount -t overlay overlay -o "lowerdir=/usr/share:$1/low,upperdir=$1/up,workdir=$1/work,xino=$2" \
	"$1"/seen && touch "$1"/seen/made || exit 77
shift 2
exec "$@"
"""
ON_OVERLAY = """
import os, sys
from pathlib import Path
from schedlab.base.errors import HostError
from schedlab.base.system.lock import HostLock
place = Path(sys.argv[1])
with HostLock(place / "seen/root"):
    try:
        HostLock(place / "user", place / "seen/root").__enter__()
    except HostError as error:
        print(f"(process {os.getpid()})" in str(error))
"""


@needs_root
@pytest.mark.parametrize("xino", ["off", "on"])
def test_the_holder_is_found_on_an_overlay(tmp_path: Path, xino: str) -> None:
    words = ["unshare", "-m", "sh", "-c", OVERLAY, "sh", tmp_path, xino]
    words += [sys.executable, "-c", ON_OVERLAY, tmp_path]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode == 77:
        pytest.skip("this kernel mounts no overlay here")
    assert done.stdout == "True\n", done.stderr


def test_a_lock_on_memory(tmp_path: Path) -> None:
    folder = Path(tempfile.mkdtemp(dir="/dev/shm"))
    try:
        with HostLock(folder), pytest.raises(Taken):
            FileLock(folder / LOCK).take()
    finally:
        shutil.rmtree(folder)


def test_where_there_can_be_no_lock(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(HostError, match=r"cannot be locked: Not a directory.*\n.*make it writable"):
        HostLock(tmp_path / "file" / "state").__enter__()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / LOCK).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HostError, match="cannot be locked"):
        HostLock(tmp_path).__enter__()
    assert not (tmp_path / "elsewhere").exists()


def test_a_second_lab_neither_restores_nor_ends_what_the_first_one_does(tmp_path: Path) -> None:
    system = emulated_system(tmp_path)
    with held_elsewhere(system.state_folder()):
        Journal(system).write("tag", [])
        with pytest.raises(HostError, match="another schedlab"):
            restore_left_behind(system)
        assert Journal(system).path.exists()


def test_a_second_resume_of_one_result_is_refused_by_name(tmp_path: Path, cli: Cli) -> None:
    out = tmp_path / "out"
    host = emulated_host(tmp_path / "host")
    words = ["--benchmark", "HackbenchPipeThreads", "--aa", "--blocks", "2", "--no-counters"]
    status, _, err = cli("run", "--target", f"emulated:{host}", *words, "--output", out)
    assert status == 0, err
    with closing(Store.open(out, readonly=False)):
        refusal = f"another schedlab (process {os.getpid()}) is running this result"
        status, _, err = cli("run", "--resume", out)
        assert status == 2 and refusal in err
        with closing(Store.open(out)) as read:
            assert len(read.records()) == 6
    assert cli("run", "--resume", out)[0] == 0


def test_a_result_that_cannot_be_read_is_not_kept_locked(tmp_path: Path) -> None:
    (tmp_path / "results.sqlite").write_text("no database")
    for _ in range(2):
        with pytest.raises(StoreError, match="is damaged"):
            Store.open(tmp_path, readonly=False)
    descriptor = os.open(tmp_path / ".lock", os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(descriptor)
