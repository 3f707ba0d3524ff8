"""Our workloads against the programs they follow: which process makes which calls, by strace."""

import re
import shutil
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from schedlab.base.errors import HostError
from schedlab.kernels.native import schedlab_load
from tests.helpers.patience import PATIENCE_SECONDS

CALLS = "clone,clone3,fork,vfork,socketpair,connect,accept,accept4,poll,ppoll,kill,getppid"
SENDS = ("write", "sendto")
RECEIVES = ("read", "recvfrom")

Calls = Counter[tuple[int, str]]
"""How often a process began each call."""


def _traced(folder: Path, *command: str, sizes: str = "") -> Calls:
    """Run a command; what is sent counts where strace's line of it matches `sizes`."""
    if not shutil.which("strace") or not shutil.which(command[0]):
        pytest.skip(f"strace or {command[0]} is not installed")
    out = folder / "strace"
    argv = [
        "strace",
        "-f",
        "-o",
        str(out),
        "-e",
        f"trace={CALLS},{','.join(SENDS + RECEIVES)}",
        *command,
    ]
    subprocess.run(argv, check=True, capture_output=True, timeout=PATIENCE_SECONDS)
    found: Calls = Counter()
    for line in out.read_text(errors="replace").splitlines():
        match = re.match(r"(\d+) +(\w+)\((.*)", line)
        if match and (match[2] not in SENDS or re.search(sizes, match[3])):
            found[int(match[1]), match[2]] += 1
    return found


def _program() -> str:
    try:
        return str(schedlab_load())
    except HostError as error:
        return str(pytest.skip(str(error)))


def _count(calls: Calls, *names: str) -> int:
    return sum(n for (_, name), n in calls.items() if name in names)


def _who(calls: Calls, *names: str) -> set[int]:
    return {pid for pid, name in calls if name in names}


FORKS = ("clone", "clone3", "fork", "vfork")


def test_hackbench(tmp_path: Path) -> None:
    """A group of two senders and two receivers, three rounds of 100 bytes."""
    real = _traced(tmp_path, *["hackbench", "-g", "1", "-f", "2", "-l", "3"], sizes=r", 100( <|\b)")
    command = [_program(), *["hackbench", "--groups", "1", "--fds", "2", "--loops", "3"]]
    ours = _traced(tmp_path, *command, sizes=r", 100, ")
    for calls in (real, ours):
        assert _count(calls, "socketpair") == 4
        assert _count(calls, "poll", "ppoll") == 4
        assert _count(calls, *SENDS) == 12
        senders = _who(calls, *SENDS)
        receivers = _who(calls, "poll", "ppoll") - senders
        assert (len(senders), len(receivers)) == (2, 2)
        assert all(sum(calls[pid, name] for name in RECEIVES) >= 6 for pid in receivers)
        assert len(_who(calls, *FORKS) & (senders | receivers)) == 0


def _server() -> subprocess.Popen[bytes]:
    if not shutil.which("tbench_srv"):
        pytest.skip("tbench_srv is not installed")
    return subprocess.Popen(["tbench_srv"], stdout=subprocess.DEVNULL)


def test_tbench(tmp_path: Path) -> None:
    """Each client connects in its own process, sends once and receives twice an exchange."""
    server = _server()
    try:
        time.sleep(0.5)
        real = _traced(tmp_path, *["tbench", "-t", "1", "2", "127.0.0.1"])
    finally:
        server.kill()
        server.wait()
    load = "tbench --nprocs 2 --timelimit 0.3 --warmup 0.1"
    ours = _traced(tmp_path, _program(), *load.split())
    for calls in (real, ours):
        clients = _who(calls, "connect")
        assert len(clients) == 2
        for client in clients:
            sent, received = calls[client, "sendto"], calls[client, "recvfrom"]
            assert calls[client, "connect"] == 1
            assert sent > 10
            assert received == pytest.approx(2 * sent, abs=2)
    assert _count(ours, "accept", "accept4") == 2
    assert not _who(ours, "accept", "accept4") & _who(ours, "connect")


def test_netperf_connects_twice_for_each_client(tmp_path: Path) -> None:
    """A control connection to netserver and one to the process netserver forked for it."""
    calls = _traced(tmp_path, _program(), *["netperf", "--clients", "3", "--length", "0.1"])
    connectors, acceptors = _who(calls, "connect"), _who(calls, "accept", "accept4")
    assert [calls[pid, "connect"] for pid in connectors] == [2, 2, 2]
    accepted = sorted(calls[pid, "accept"] + calls[pid, "accept4"] for pid in acceptors)
    assert accepted == [1, 1, 1, 3]
    assert not connectors & acceptors
