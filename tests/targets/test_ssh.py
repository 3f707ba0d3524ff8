"""A host that ssh reaches: a daemon of our own on this one."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import schedlab.base.system.ssh
from schedlab.base.errors import HostError, Interrupted, SystemLost
from schedlab.base.system import Launch, LocalSystem, SshSystem
from schedlab.base.system.lock import HostLock
from schedlab.kernels.progress import Watch
from schedlab.lab.recording.choice import Choice
from schedlab.lab.recording.inference import infer
from schedlab.lab.recording.reading import read_trace
from schedlab.lab.recording.recorder import Request
from schedlab.lab.recording.recorder import record as make_recording
from schedlab.result.store import Store
from schedlab.targets.choice import opened_system
from tests.helpers.command_line import Cli
from tests.helpers.far_host import SSHD, FarHost
from tests.helpers.patience import PATIENCE_SECONDS, wait_until

STATE_THERE = "$XDG_CACHE_HOME/state"
"""Its lock, which is not that of this host."""


@pytest.fixture
def far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FarHost]:
    if not (SSHD.exists() and shutil.which("ssh")):
        pytest.skip("no ssh or sshd here (Debian packages openssh-client and openssh-server)")
    # Labs that other tests run on this host do not disturb these.
    monkeypatch.setattr(schedlab.base.system.ssh, "_STATE_THERE", STATE_THERE)
    host = FarHost(tmp_path)
    monkeypatch.setenv("PATH", host.path)
    host.up()
    yield host
    host.down()
    shutil.rmtree(LocalSystem().state_folder() / "ssh" / host.name, ignore_errors=True)


def await_(what: Path) -> None:
    wait_until(what.exists, str(what))


def test_a_plan_runs_there_with_our_own_program_copied(
    far: FarHost, tmp_path: Path, cli: Cli
) -> None:
    options = ["--benchmark", "Nanosleep:processes=1,time=1", "--aa", "--blocks", "2"]
    words = ["--target", f"ssh:{far.name}", "--warmup", "0", "--counters", "procstat"]
    status, _, err = cli("run", *words, *options, "--output", tmp_path / "result")
    assert status == 0, err
    store = Store.open(tmp_path / "result")
    assert [record.error or record.status for record in store.records()] == ["ok"] * 4
    assert store.plan.target == f"ssh:{far.name}"
    raw = store.folder / store.records()[0].raw
    assert (raw / "stdout.txt").stat().st_size
    assert not (tmp_path / "cache/schedlab/remote").exists()


def test_a_command_of_ones_own_runs_there(far: FarHost, tmp_path: Path, cli: Cli) -> None:
    data = tmp_path / "data"
    (tmp_path / "plan.toml").write_text(
        f"target = 'ssh:{far.name}'\naa = true\ncounters = ['procstat']\n"
        f"[[benchmark]]\nname = 'own'\ncommand = 'cat {data}'\n"
        f"setup = [\"sh -c 'echo time: 2.5 >>{data}'\"]\nteardown = ['rm {data}']\n"
        "metrics = [{ name = 'time', regex = 'time: (.*)', unit = 's', better = 'lower' }]\n"
        "[[variant]]\nname = 'A1'\n[[variant]]\nname = 'A2'\n"
        "[blocks]\nlooks = [2]\nwarmup = 0\n"
    )
    status, _, err = cli("run", tmp_path / "plan.toml", "--output", tmp_path / "result")
    assert status == 0, err
    records = Store.open(tmp_path / "result").records()
    assert [(record.error, record.metrics) for record in records] == [("", {"time": 2.5})] * 4
    assert not data.exists()


def test_a_host_that_is_not_there(far: FarHost, cli: Cli) -> None:
    far.down()
    status, _, err = cli("run", "--target", f"ssh:{far.name}", "--suite", "hackbench", "--aa")
    assert status != 0
    assert f"ssh:{far.name}: cannot be reached" in err and "Connection refused" in err


def test_one_lab_a_host(far: FarHost, tmp_path: Path) -> None:
    first, second = SshSystem(far.name), SshSystem(far.name)
    with first.held(), pytest.raises(HostError, match=r"another schedlab runs .*\(process \d+\)"):
        second.held().__enter__()
    with second.held():
        pass
    with HostLock(tmp_path / "cache/state"), pytest.raises(HostError, match="another schedlab"):
        first.held().__enter__()


def test_a_line_that_is_cut_is_renewed_and_leaves_nothing(far: FarHost, tmp_path: Path) -> None:
    system = SshSystem(far.name)
    folder = tmp_path / "run"
    folder.mkdir()
    script = f"setsid sleep 1000 & echo $! >{tmp_path}/pid; touch {tmp_path}/up; wait"
    launch = Launch(("sh", "-c", script), folder / "out", folder / "err", {}, 60)
    cut = threading.Thread(target=lambda: (await_(tmp_path / "up"), far.down()))
    cut.start()
    with pytest.raises(SystemLost, match="the connection was lost"):
        system.execute(launch)
    cut.join()
    with pytest.raises(SystemLost, match="the connection was lost"):
        system.read("/proc/version")
    with pytest.raises(SystemLost, match="cannot be reached"):
        system.connect()
    far.up()
    system.connect()
    left = Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}/cmdline")
    assert not (left.exists() and left.read_text())
    assert system.read("/proc/version")


def test_a_line_that_nobody_holds_any_more_is_hung_up(far: FarHost) -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", ResourceWarning)
        client = SshSystem(far.name)._client
        gc.collect()
    assert client.poll() is not None
    assert not [str(warning.message) for warning in warned]


def test_after_an_interruption_the_host_can_be_put_in_order(far: FarHost, tmp_path: Path) -> None:
    system = SshSystem(far.name)

    def stop(*_: object) -> None:
        raise Interrupted("stopped")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(Interrupted):
            system.run(f"touch {tmp_path}/begun; sleep 1000")
    finally:
        signal.signal(signal.SIGALRM, before)
    assert system.exists(f"{tmp_path}/begun")
    far.down()


LAB = """
import sys
import schedlab.base.system.ssh, schedlab.targets.ssh
from schedlab.benchmarks.benchmark import Command, benchmark
from schedlab.cli import main
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.tool import Tool

schedlab.base.system.ssh._STATE_THERE = "$XDG_CACHE_HOME/state"
TIME = Metric("time", "s", "lower", "Time (sec)")

@benchmark("Slow", tool=Tool("sh", package="dash"), metrics=[TIME], defaults={},
           parse=lambda output: {TIME: output.number_after("Time:")})
def slow():
    '''Waits for a file while the knob is turned.'''
    script = "echo $$ >>ROOT/runs; [ $(cat ROOT/knob) = ORIGINAL ] || touch ROOT/waits;"
    script += " until [ ! -e ROOT/waits ] || [ -e ROOT/go ]; do sleep 0.1; done;"
    return Command("sh", "-c", script + " cat ROOT/knob; echo Time: 1.0")

main()
"""


KNOB = Path("/proc/sys/kernel/sched_autogroup_enabled")


def knob_values(root: Path) -> tuple[str, str]:
    """Return what the knob is and what it can be turned to."""
    if not os.access(KNOB, os.W_OK):
        pytest.skip(f"{KNOB} cannot be written")
    (root / "knob").symlink_to(KNOB)
    original = KNOB.read_text().strip()
    (root / "original").write_text(original)
    return original, "0" if original == "1" else "1"


def begin(far: FarHost, root: Path, value: str) -> list[str]:
    words = ["--benchmark", "Slow", "--target", f"ssh:{far.name}", "--blocks", "2", "--warmup", "0"]
    words += ["--variant", f"turned: sysctl kernel.sched_autogroup_enabled={value}"]
    return [*words, "--counters", "procstat", "--output", str(root / "result")]


def start_lab(root: Path, *words: str) -> "subprocess.Popen[bytes]":
    original = (root / "original").read_text()
    argv = [
        sys.executable,
        "-c",
        LAB.replace("ROOT", str(root)).replace("ORIGINAL", original),
        "run",
        *words,
    ]
    return subprocess.Popen(argv, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)


def test_a_lost_connection_pauses_a_plan(far: FarHost, tmp_path: Path) -> None:
    original, other = knob_values(tmp_path)
    with start_lab(tmp_path, *begin(far, tmp_path, other)) as lab:
        await_(tmp_path / "waits")
        far.down()
        time.sleep(0.5)
        (tmp_path / "go").touch()
        far.up()
        _, said = lab.communicate(timeout=PATIENCE_SECONDS)
    assert lab.returncode == 0, said
    assert KNOB.read_text().strip() == original
    store = Store.open(tmp_path / "result")
    records = store.records()
    assert [record.status for record in records] == ["ok"] * 4
    assert len({record.key for record in records}) == 4
    assert len((tmp_path / "runs").read_text().split()) == 5
    for record in records:
        wanted = other if record.key.variant == "turned" else original
        assert (store.folder / record.raw / "stdout.txt").read_text().startswith(wanted)
    assert any("the run was done again" in line for line in store.notices)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_plan_that_is_stopped_leaves_the_host_as_it_was(
    far: FarHost, tmp_path: Path, how: signal.Signals
) -> None:
    original, other = knob_values(tmp_path)
    with start_lab(tmp_path, *begin(far, tmp_path, other)) as lab:
        await_(tmp_path / "waits")
        assert KNOB.read_text().strip() == other
        lab.send_signal(how)
        lab.communicate(timeout=PATIENCE_SECONDS)
    if how == signal.SIGINT:
        assert KNOB.read_text().strip() == original
    (tmp_path / "go").touch()
    # Of a plan stopped in its first run nothing is kept.
    kept = (tmp_path / "result").exists()
    again = ["--resume", str(tmp_path / "result")] if kept else begin(far, tmp_path, other)
    with start_lab(tmp_path, *again) as lab:
        _, said = lab.communicate(timeout=PATIENCE_SECONDS)
    assert lab.returncode == 0, said
    assert KNOB.read_text().strip() == original
    assert [record.status for record in Store.open(tmp_path / "result").records()] == ["ok"] * 4


def test_doctor_puts_a_remote_host_in_order(far: FarHost, tmp_path: Path, cli: Cli) -> None:
    original, other = knob_values(tmp_path)
    with start_lab(tmp_path, *begin(far, tmp_path, other)) as lab:
        await_(tmp_path / "waits")
        lab.kill()
    assert KNOB.read_text().strip() == other
    _, said, _ = cli("doctor")
    assert f"a lab on ssh:{far.name} was killed, or still runs" in " ".join(said.split())
    far.down()
    status, said, errors = cli("doctor", "--restore")
    assert (status, f"ssh:{far.name}: cannot be reached" in errors) == (2, True)
    far.up()
    status, said, errors = cli("doctor", "--restore")
    assert status == 0, errors
    assert f"ssh:{far.name}: {KNOB}: {other} -> {original}" in said
    assert KNOB.read_text().strip() == original
    assert cli("doctor", "--restore")[1] == "No lab left anything changed.\n"


def test_a_host_is_recorded(far: FarHost, tmp_path: Path) -> None:
    """Its pages come here, and become the text of a recording."""
    folder, file = tmp_path / "own", tmp_path / "x.gz"
    folder.mkdir()
    asked = Request(1, ("sh", "-c", "seq 100000 | cat >/dev/null"))
    try:
        with opened_system(f"ssh:{far.name}", None, (), Watch()) as system:
            made = make_recording(system, asked, folder, file)
    except HostError as error:
        pytest.skip(str(error))
    assert (made.end.status, made.lost) == (0, 0)
    workload = infer(read_trace(file), Choice(("seq*", "cat*")), "x")
    assert {message.kind for message in workload.messages} == {"pipe"}


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[FarHost, FarHost]]:
    """Two hosts that one `ssh` knows, and labs in processes of their own that are alone here."""
    if not (SSHD.exists() and shutil.which("ssh")) or os.geteuid() != 0:
        pytest.skip("no ssh or sshd here, or no root to make hosts with processes of their own")
    hosts = FarHost(tmp_path / "one", apart=True), FarHost(tmp_path / "two", apart=True)
    (tmp_path / "one/config").write_text("".join(host.config.read_text() for host in hosts))
    monkeypatch.setenv("PATH", hosts[0].path)
    patch = f"import schedlab.base.system.ssh as ssh\nssh._STATE_THERE = '{STATE_THERE}'\n"
    (tmp_path / "sitecustomize.py").write_text(patch)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    yield hosts
    for host in hosts:
        host.down()
        shutil.rmtree(LocalSystem().state_folder() / "ssh" / host.name, ignore_errors=True)


@pytest.mark.usefixtures("pages")
def test_several_hosts_are_results_of_their_own(
    two: tuple[FarHost, FarHost], tmp_path: Path, cli: Cli
) -> None:
    first, second = two
    first.up()
    out = tmp_path / "out"
    words = ["--benchmark", "Nanosleep:processes=1,time=1", "--aa", "--blocks", "2"]
    words += ["--warmup", "0", "--counters", "procstat", "--output", str(out)]
    targets = [word for host in two for word in ("--target", f"ssh:{host.name}")]
    status, text, errors = cli("run", *targets, *words)
    assert status == 2
    assert f"1 of 2 results are incomplete: ssh-{second.name}" in errors
    assert f"ssh-{second.name}: ssh:{second.name}: cannot be reached" in errors
    assert f"ssh-{first.name}: A2 against A1:" in text
    second.up()
    status, text, errors = cli("run", "--resume", out)
    assert status == 0, errors
    for host in two:
        store = Store.open(out / f"ssh-{host.name}")
        assert [record.status for record in store.records()] == ["ok"] * 4
        assert store.plan.target == f"ssh:{host.name}"
    assert (out / "overview.html").read_text().count("report.html") == 4
