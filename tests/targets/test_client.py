"""A plan whose load comes from another machine: a daemon of our own on this one."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import schedlab.base.system.ssh
import schedlab.targets.host
from schedlab.base.system import LocalSystem
from schedlab.benchmarks.benchmark import REGISTRY
from schedlab.result.store import Store
from tests.helpers.command_line import Cli
from tests.helpers.far_host import SSHD, FarHost
from tests.helpers.patience import PATIENCE_SECONDS, wait_until
from tests.helpers.served import STATE_THERE, Here, asked

ADDRESS = "127.0.0.9"
"""Of this host too: the server has to be there, and at no other."""
EXECS = "sched:sched_process_exec"


@pytest.fixture
def far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FarHost]:
    if not (SSHD.exists() and shutil.which("ssh") and shutil.which("ip")):
        pytest.skip("no ssh, sshd or ip here (openssh-client, openssh-server, iproute2)")
    monkeypatch.setattr(schedlab.base.system.ssh, "_STATE_THERE", STATE_THERE)
    monkeypatch.setattr(schedlab.targets.host, "system", lambda which="": Here(tmp_path))
    monkeypatch.setitem(REGISTRY, "Asked", asked(tmp_path))
    host = FarHost(tmp_path / "far")
    monkeypatch.setenv("PATH", host.path)
    host.up()
    yield host
    host.down()
    shutil.rmtree(LocalSystem().state_folder() / "ssh" / host.name, ignore_errors=True)


def start_lab(root: Path, *words: object) -> "subprocess.Popen[str]":
    argv = [sys.executable, "-m", "tests.helpers.served", str(root), *map(str, words)]
    return subprocess.Popen(argv, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def plan(root: Path, far: FarHost, counters: Sequence[str] = ("procstat",)) -> Path:
    file = root / "plan.toml"
    file.write_text(
        f"client = 'ssh:{far.name}'\nserver_address = '{ADDRESS}'\naa = true\n"
        f"counters = {list(counters)}\n[[benchmark]]\nname = 'Asked'\n"
        "[[variant]]\nname = 'A1'\n[[variant]]\nname = 'A2'\n"
        "[blocks]\nlooks = [2]\nwarmup = 0\nsettle = '10ms'\n"
    )
    return file


def none_left(root: Path) -> bool:
    """Return whether neither servers nor loads run; one that waits to be reaped does not."""
    lines = (Path(f"/proc/{pid}/cmdline") for pid in (root / "pids").read_text().split())
    return not any(line.exists() and line.read_text() for line in lines)


def test_the_load_comes_from_there_and_both_machines_are_recorded(
    far: FarHost, tmp_path: Path
) -> None:
    by_perf = os.geteuid() == 0 and shutil.which("perf") is not None
    counters = ["procstat", EXECS] if by_perf else ["procstat"]
    file = plan(tmp_path, far, counters)
    lab = start_lab(tmp_path, "run", file, "--output", tmp_path / "result")
    said, errors = lab.communicate(timeout=PATIENCE_SECONDS)
    assert lab.returncode == 0, errors
    store = Store.open(tmp_path / "result")
    for record in store.records():
        assert record.error == ""
        assert f" {ADDRESS} 274" in record.command
        printed = (store.folder / record.raw / "client/stdout.txt").read_text()
        assert printed.startswith("elsewhere: nobody\nanswer: yes\n")
        assert "ready" in (store.folder / record.raw / "server.stdout.txt").read_text()
        counted = record.counters
        assert not by_perf or min(counted[EXECS], counted[f"client/{EXECS}"]) >= 1
        assert (
            counted["client/context-switches"] > 0 and 0 <= counted["client/others:cpu-share"] < 1
        )
    assert store.environment["Client: Boot"] == LocalSystem().boot_id()
    assert "Of the client's CPUs in" in said
    assert "|Client: Kernel release|" in (tmp_path / "result/report.md").read_text()
    assert "client: CPU switched tasks" in (tmp_path / "result/report.html").read_text()
    assert none_left(tmp_path) and not (tmp_path / "far/cache/schedlab/client").exists()


def test_a_client_that_loses_the_network_fails_its_run_alone(far: FarHost, tmp_path: Path) -> None:
    (tmp_path / "wait").touch()
    lab = start_lab(tmp_path, "run", plan(tmp_path, far), "--output", tmp_path / "result")

    def cut() -> None:
        wait_until((tmp_path / "asked").exists, "asked")
        far.down()
        (tmp_path / "wait").unlink()
        far.up()

    cutting = threading.Thread(target=cut)
    cutting.start()
    _, errors = lab.communicate(timeout=PATIENCE_SECONDS)
    cutting.join()
    assert lab.returncode == 0, errors
    store = Store.open(tmp_path / "result")
    first, *others = store.records()
    assert first.error.startswith(f"the client was lost: ssh:{far.name}: the connection was lost")
    assert first.error.endswith("ready to answer")
    assert [record.error for record in others] == [""] * 3
    assert any("the connection was lost for" in line for line in store.notices)
    assert none_left(tmp_path)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_nothing_runs_on_either_machine_after_a_stop(
    far: FarHost, tmp_path: Path, how: signal.Signals
) -> None:
    (tmp_path / "wait").touch()
    lab = start_lab(tmp_path, "run", plan(tmp_path, far), "--output", tmp_path / "result")
    wait_until((tmp_path / "asked").exists, "asked")
    groups = json.loads((tmp_path / "state/journal.json").read_text().splitlines()[0])["groups"]
    lab.send_signal(how)
    lab.communicate(timeout=PATIENCE_SECONDS)
    if how == signal.SIGKILL:
        assert not none_left(tmp_path)
        restoring = start_lab(tmp_path, "doctor", "--restore")
        _, errors = restoring.communicate(timeout=PATIENCE_SECONDS)
        assert restoring.returncode == 0, errors
    assert none_left(tmp_path)
    assert not [group for group in groups if Path(group).exists()]


def test_a_clients_journal_that_cannot_be_read_is_named(
    far: FarHost, tmp_path: Path, cli: Cli
) -> None:
    journal = LocalSystem().state_folder() / "ssh" / far.name / "journal.json"
    journal.parent.mkdir(parents=True, exist_ok=True)
    journal.write_text("garbage")
    status, _, errors = cli("run", plan(tmp_path, far), "--output", tmp_path / "result")
    assert status == 2 and "internal error" not in errors
    assert "journal.json" in errors


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--client", "ssh:x", "--target", "sim:smp4"],
            "a load generator on ssh:x needs servers on another machine, a target host or",
        ),
        (["--client", "ssh:x", "--target", "ssh:x"], "ssh:x is the target itself"),
        (["--client", "x"], "client: x is not ssh:HOST"),
        (["--client", "ssh:"], "client: ssh: is not ssh:HOST"),
    ],
)
def test_a_client_that_cannot_be(words: list[str], said: str, cli: Cli) -> None:
    status, _, errors = cli("run", *words, "--benchmark", "Redis", "--aa")
    assert status == 2 and said in " ".join(errors.split())


def test_an_address_that_the_client_has_itself_is_refused(
    far: FarHost, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its load would measure a server of its own, as 127.0.0.1 does from another machine."""
    monkeypatch.setattr("schedlab.targets.client._network", lambda system: str(id(system)))
    status, _, errors = cli("run", plan(tmp_path, far), "--output", tmp_path / "result")
    assert status == 2, errors
    assert f"ssh:{far.name} has the address {ADDRESS} itself" in " ".join(errors.split())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("'Asked'", "'HackbenchPipeThreads'"), "HackbenchPipeThreads (hackbench) has no load"),
        ((ADDRESS, "192.0.2.1"), "sees this machine as 192.0.2.1, which is not an address of it"),
        ((ADDRESS, "0.0.0.0"), "sees this machine as 0.0.0.0, which is not an address of it"),
        ((ADDRESS, "::1"), "'::1' is not one of IPv4"),
        (("name = 'A2'", "name = 'A2'\nenv = {X = '1'}"), "prefix and env go with the load"),
        (("name = 'Asked'", "name = 'Asked'\nparams = {cpus = '0'}"), "cpus: Asked: with a client"),
    ],
)
def test_what_has_no_meaning_with_a_client_is_refused(
    change: tuple[str, str], said: str, far: FarHost, tmp_path: Path, cli: Cli
) -> None:
    file = plan(tmp_path, far)
    file.write_text(file.read_text().replace(*change))
    status, _, errors = cli("run", file, "--output", tmp_path / "result")
    assert status == 2 and said in " ".join(errors.split())
    assert not (tmp_path / "result").exists()
