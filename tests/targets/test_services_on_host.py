"""Benchmarks that need servers, a database or a kit, with small programs in the place of theirs."""

import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from schedlab.base.errors import UsageError
from schedlab.base.system import LocalSystem
from schedlab.benchmarks import find_benchmark
from schedlab.benchmarks.server import unprivileged, without_wrapper
from schedlab.plan.plan import Plan
from schedlab.result.record import RunKey, RunRecord
from schedlab.targets.host import HostTarget
from schedlab.targets.target import Order
from tests.helpers.rooted import RootedSystem, small_server
from tests.helpers.tool_output import TOOLS

MONGOD = f"""#!{sys.executable}
import argparse, pathlib, socket, time
given = argparse.ArgumentParser()
for name in ("dbpath", "port", "bind_ip"):
    given.add_argument(f"--{{name}}")
options = given.parse_args()
pathlib.Path(options.dbpath, "WiredTiger").write_text("data")
with socket.create_server((options.bind_ip, int(options.port))):
    time.sleep(1000)
"""
YCSB = """#!/bin/sh
[ -e db/WiredTiger ] || exit 9
case "$1" in
load) touch db/loaded; exit ${LOADED:-0} ;;
run) [ -e db/loaded ] && sed '1,/--- stdout/d;/--- stderr/,$d' RECORDED ;;
esac
"""
WRK = """#!/bin/sh
cat PIN && sed '1,/--- stdout/d;/--- stderr/,$d' RECORDED
"""
JAVA = """#!/bin/sh
[ -d config ] || exit 3
case "$*" in
-version) echo 'openjdk version "17.0.15"' >&2 ;;
*MULTICONTROLLER*) while [ $(ls *.joined | wc -l) -lt 4 ]; do sleep 0.02; done; cat RECORDED ;;
*) touch "$$.joined"; exec sleep 1000 ;;
esac
"""


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalSystem:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return RootedSystem(small_server(tmp_path / "root"))


def install(tmp_path: Path, **programs: str) -> None:
    for name, text in programs.items():
        path = tmp_path / "bin" / name.replace("_sh", ".sh")
        path.write_text(text)
        path.chmod(0o755)


def one_run(system: LocalSystem, tmp_path: Path, name: str, **params: int | str) -> RunRecord:
    plan = Plan.model_validate(
        {
            "benchmark": [{"name": name, "params": params}],
            "variant": [{"name": "base"}, {"name": "changed", "env": {"X": "1"}}],
            "blocks": {"settle": "10ms", "timeout": "10min"},
            "counters": [],
        }
    )
    target = HostTarget(system)
    [case] = plan.cases(target.machine())
    order = Order(RunKey(case.label, "changed", 0), case, plan.variant[1], seed=1, position=0)
    with target.open(plan, [case], tmp_path) as session:
        return session.run(order, tmp_path / "raw")


def test_a_database_is_made_loaded_and_removed(system: LocalSystem, tmp_path: Path) -> None:
    ycsb = YCSB.replace("RECORDED", str(TOOLS / "ycsb-run.txt"))
    install(tmp_path, mongod=MONGOD, ycsb_sh=ycsb)
    record = one_run(system, tmp_path, "YcsbMongodb")
    assert (record.error, record.caveats) == ("", [])
    assert record.metrics == {"throughput": 1156.0693641618498, "read_p99": 28303.0}
    assert not (tmp_path / record.raw / "db").exists()
    assert (tmp_path / record.raw / "setup0.stdout.txt").exists()


def test_a_load_phase_that_fails_fails_the_run(
    system: LocalSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, mongod=MONGOD, ycsb_sh=YCSB)
    monkeypatch.setenv("LOADED", "4")
    record = one_run(system, tmp_path, "YcsbMongodb")
    assert record.error.startswith("setting up: ycsb.sh load mongodb -p mongodb.url=")
    assert record.error.endswith(f"ended with 4; its output is in {record.raw}/setup0.*")
    assert not (tmp_path / record.raw / "db").exists()


def test_services_are_pinned_before_the_load(
    system: LocalSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin = tmp_path / "pinned"
    wrk = WRK.replace("PIN", str(pin)).replace("RECORDED", str(TOOLS / "wrk.txt"))
    install(tmp_path, wrk=wrk)
    monkeypatch.setenv("DEATHSTARBENCH_URL", "http://127.0.0.1:8080/wrk2-api/post/compose")
    monkeypatch.setenv("DEATHSTARBENCH_PIN", f'echo "$CCDS" > {pin}')
    record = one_run(system, tmp_path, "DeathStarBench", ccds=2)
    assert record.error == ""
    assert record.metrics == {"throughput": 623.06, "latency_p99": 16730.0}
    assert pin.read_text() == "2\n"


def test_a_kit_is_run_in_as_many_jvms_as_it_takes(
    system: LocalSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit = tmp_path / "kit"
    (kit / "config").mkdir(parents=True)
    install(tmp_path, java=JAVA.replace("RECORDED", str(TOOLS / "specjbb2015.txt")))
    monkeypatch.setenv("SPECJBB_HOME", str(kit))
    monkeypatch.setenv("JAVA_OPTS_BE", "-Xmx2g")
    record = one_run(system, tmp_path, "Specjbb2015MultiJvm", groups=2)
    assert record.error == ""
    assert record.metrics == {"max_jops": 18489.0, "critical_jops": 7698.0}
    assert record.command.startswith(f"X=1 env JAVA_OPTS_BE=-Xmx2g sh multijvm.sh {kit} 2 -Dspec")
    assert record.caveats == [], "no JVM outlives the run"
    assert not (tmp_path / record.raw / "jbb").exists()


def test_a_tool_that_is_not_there_is_stood_in_for(
    system: LocalSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))  # this host may have both
    install(tmp_path, netperf="#!/bin/sh\n")
    target = HostTarget(system)
    case = find_benchmark("Netperf", "test").case(target.machine(), {}, None, "test")
    assert target.command(case).tool == "schedlab-load", "there is no netserver"
    install(tmp_path, netserver="#!/bin/sh\n")
    assert target.command(case).tool == "netperf"


REDIS = f"""#!{sys.executable}
import os, pathlib, socket, sys, time
print("Ready to accept connections", flush=True)
words = sys.argv[1:]
if "--version" in words:
    sys.exit()
address = words[words.index("--bind") + 1], int(words[words.index("--port") + 1])
pathlib.Path("pid").write_text(str(os.getpid()))
with socket.create_server(address):
    while not pathlib.Path("full").exists():
        time.sleep(0.01)
print("Can't save in background: No space left on device", file=sys.stderr, flush=True)
os._exit(1)
"""
REDIS_BENCHMARK = """#!/bin/sh
case "$*" in
*-q | --version) exit 0 ;;
esac
BEFORE
sed '1,/--- stdout/d;/--- stderr/,$d' RECORDED
"""


def redis(before: str) -> dict[str, str]:
    load = REDIS_BENCHMARK.replace("RECORDED", str(TOOLS / "redis-benchmark.txt"))
    return {"redis-server": REDIS, "redis-benchmark": load.replace("BEFORE", before)}


def test_a_server_is_ended_with_its_run(system: LocalSystem, tmp_path: Path) -> None:
    install(tmp_path, **redis(":"))
    record = one_run(system, tmp_path, "Redis")
    assert (record.error, record.caveats) == ("", [])
    assert record.metrics["throughput"] == 53908.36
    assert not system.listens(16379)
    assert not (tmp_path / record.raw / "db").exists()


def test_a_run_whose_server_ended_fails_with_its_last_words(
    system: LocalSystem, tmp_path: Path
) -> None:
    """The load's result is whole; it does not count."""
    install(
        tmp_path,
        **redis("touch full; until grep -q ') Z' /proc/$(cat pid)/stat; do sleep 0.02; done"),
    )
    record = one_run(system, tmp_path, "Redis")
    assert record.status == "failed"
    assert record.error == (
        "the server redis-server ended before the run did; the last words of redis-server:"
        " Can't save in background: No space left on device"
    )
    assert record.metrics == {}


def test_a_load_that_fails_is_told_with_the_servers_last_words(
    system: LocalSystem, tmp_path: Path
) -> None:
    install(tmp_path, **redis("exit 3"))
    record = one_run(system, tmp_path, "Redis")
    assert record.error == (
        "exit status 3; the last words of redis-server: Ready to accept connections"
    )


MARIADBD = f"""#!{sys.executable}
import os, pathlib, signal, socket, sys
given = dict(word[2:].split("=", 1) for word in sys.argv[1:] if "=" in word)
data = pathlib.Path(given["datadir"])

def end(*_: object) -> None:
    print("shutting down\\nwriting the last pages\\nbye", file=sys.stderr, flush=True)
    os._exit(0)

signal.signal(signal.SIGTERM, end)
with socket.create_server((given["bind-address"], int(given["port"]))) as listening:
    (data / "pid").write_text(str(os.getpid()))
    print("ready for connections", file=sys.stderr, flush=True)
    while True:
        HANDLE
"""
SERVES = "listening.accept()[0].close()"
INSTALL = """#!/bin/sh
for word; do case $word in --datadir=*) mkdir "${word#--datadir=}" ;; esac; done
"""
ASK = """#!/bin/sh
case "$*" in *SHUTDOWN*) kill $(cat db/data/pid) ;; esac
"""
OLTP = """#!/bin/sh
case "$*" in
*prepare) LOAD && echo rows >>db/data/rows && echo $$ >>LOADED ;;
*"--time=1 run") echo changed >>db/data/rows ;;
*) [ "$(cat db/data/rows)" = "rows
changed" ] || exit 9; RUN; sed '1,/--- stdout/d;/--- stderr/,$d' RECORDED ;;
esac
"""


def mariadb(
    tmp_path: Path, handle: str = SERVES, load: str = ":", run: str = ":"
) -> dict[str, str]:
    """Return stand-ins for MariaDB and its client, and for sysbench."""
    oltp = OLTP.replace("LOADED", str(tmp_path / "loaded"))
    oltp = oltp.replace("RECORDED", str(TOOLS / "sysbench-oltp.txt"))
    return {
        "mariadbd": MARIADBD.replace("HANDLE", handle),
        "mariadb-install-db": INSTALL,
        "mariadb": ASK,
        "sysbench": oltp.replace("LOAD", load).replace("RUN", run),
    }


def runs(
    system: LocalSystem, tmp_path: Path, count: int, timeout: str = "10min"
) -> list[RunRecord]:
    plan = Plan.model_validate(
        {
            "benchmark": [{"name": "MariaDB"}],
            "variant": [{"name": "base"}, {"name": "changed", "env": {"X": "1"}}],
            "blocks": {"settle": "10ms", "timeout": timeout},
            "counters": [],
        }
    )
    target = HostTarget(system)
    [case] = plan.cases(target.machine())
    with target.open(plan, [case], tmp_path / "raw") as session:
        return [
            session.run(
                Order(RunKey(case.label, "base", i), case, plan.variant[0], seed=1, position=i),
                tmp_path / "raw",
            )
            for i in range(count)
        ]


def test_a_servers_shared_memory_is_its_own_and_goes_with_it() -> None:
    """A killed PostgreSQL leaves a segment, which only the end of its namespace removes."""
    if subprocess.run(("unshare", "--user", "--ipc", "true"), capture_output=True).returncode:
        pytest.skip("no namespace can be made here")
    where = ("readlink", "/proc/self/ns/ipc")
    ours, its = (
        subprocess.run(argv, capture_output=True, text=True, check=True).stdout
        for argv in (where, unprivileged(*where))
    )
    assert its.startswith("ipc:")
    assert its != ours


def test_a_program_is_named_as_it_is_called() -> None:
    assert without_wrapper(unprivileged("initdb", "-D", "x")) == ("initdb", "-D", "x")
    assert without_wrapper(("sh", "-c", "true")) == ("sh", "-c", "true")


def test_data_are_loaded_once_and_every_run_has_a_copy(system: LocalSystem, tmp_path: Path) -> None:
    """The stand-in refuses data that an earlier run has changed."""
    install(tmp_path, **mariadb(tmp_path))
    records = runs(system, tmp_path, 2)
    assert [record.error for record in records] == ["", ""]
    assert records[0].metrics["throughput"] == 2924.39
    assert len((tmp_path / "loaded").read_text().split()) == 1
    assert not (tmp_path / "raw/data").exists()
    assert not list((tmp_path / "raw").glob("*/db"))


def test_no_data_are_loaded_through_a_link(system: LocalSystem, tmp_path: Path) -> None:
    install(tmp_path, **mariadb(tmp_path))
    (tmp_path / "precious").mkdir()
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw/data").symlink_to(tmp_path / "precious")
    with pytest.raises(UsageError, match="raw/data: is a link"):
        runs(system, tmp_path, 1)
    assert not list((tmp_path / "precious").iterdir())


def test_loading_that_fails_fails_the_run_and_keeps_what_was_said(
    system: LocalSystem, tmp_path: Path
) -> None:
    install(tmp_path, **mariadb(tmp_path, load="echo 'no such table' >&2 && exit 7"))
    [record] = runs(system, tmp_path, 1)
    assert record.status == "failed"
    assert record.error.startswith("loading data: sysbench oltp_read_only")
    said = re.search(r"ended with 7: no such table; its output is in (\S+)\.\*;", record.error)
    assert said
    assert (tmp_path / f"{said[1]}.stderr.txt").read_text() == "no such table\n"
    assert not (tmp_path / said[1]).with_name("db").exists(), "the data themselves do not stay"
    assert record.error.endswith("the last words of mariadbd: ready for connections")
    assert not system.listens(23306)


@contextmanager
def small_disk(at: Path, megabytes: int) -> Iterator[None]:
    at.mkdir()
    mount = ("mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "schedlab-test", str(at))
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small file system cannot be mounted here")
    try:
        yield
    finally:
        subprocess.run(("umount", str(at)), check=True)


def test_a_disk_that_is_full_while_data_are_loaded_is_told(
    tmp_path: Path, system: LocalSystem
) -> None:
    with small_disk(tmp_path / "raw", 1):
        load = "{ dd if=/dev/zero of=db/data/big bs=1k count=1200 status=none || exit 5; }"
        install(tmp_path, **mariadb(tmp_path, load=load))
        [record] = runs(system, tmp_path, 1)
    assert "loading data: sysbench" in record.error
    assert record.error.endswith(f"the file system of {tmp_path / 'raw'} is full")


def test_a_disk_that_is_full_in_mid_load_fails_the_run(tmp_path: Path, system: LocalSystem) -> None:
    """A file system of 2 MB: the data fit once, their copy does not."""
    with small_disk(tmp_path / "raw", 2):
        load = "dd if=/dev/zero of=db/data/big bs=1k count=1200 status=none"
        install(tmp_path, **mariadb(tmp_path, load=load))
        first, second = runs(system, tmp_path, 2)
    for record in (first, second):
        assert record.status == "failed"
        assert "copying the data: cp -a" in record.error
        assert record.error.endswith("MariaDB@base is full")
    assert not system.listens(23306)


def test_a_server_whose_disk_is_full_under_load_fails_the_run(
    tmp_path: Path, system: LocalSystem
) -> None:
    """The copy of the data fits, and what the server writes while it is asked does not."""
    ask = (
        'python3 -c \'import socket; there = socket.create_connection(("127.0.0.1", 23306));'
        ' there.send(b"w"); there.recv(1)[0]\''
    )
    asked = "kept = listening.accept()[0]; kept.recv(1) and "
    writes = asked + "open(data / 'log', 'wb').write(bytes(4 << 20))"
    with small_disk(tmp_path / "raw", 2):
        install(tmp_path, **mariadb(tmp_path, handle=writes, run=ask))
        [record] = runs(system, tmp_path, 1)
    assert record.status == "failed"
    assert "No space left on device" in record.error
    assert record.error.endswith("MariaDB@base is full")
    assert not system.listens(23306)


def test_a_server_that_hangs_under_load_fails_the_run(system: LocalSystem, tmp_path: Path) -> None:
    ask = "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 23306)).recv(1)'"
    hangs = "kept = listening.accept(); print('stuck', file=sys.stderr, flush=True); signal.pause()"
    programs = mariadb(tmp_path, handle=hangs, run=ask)
    install(tmp_path, **programs)
    [record] = runs(system, tmp_path, 1, timeout="5s")
    assert record.error == (
        "did not end within 5s; it and all it started were killed; the last words of mariadbd:"
        " ready for connections | stuck"
    )
    assert not system.listens(23306)


def test_a_client_that_is_killed_fails_the_run(system: LocalSystem, tmp_path: Path) -> None:
    install(tmp_path, **mariadb(tmp_path, run="kill -9 $$"))
    [record] = runs(system, tmp_path, 1)
    assert record.error == ("signal 9 ended it; the last words of mariadbd: ready for connections")
    assert not system.listens(23306)


def test_a_port_that_is_taken_is_left_to_who_has_it(
    system: LocalSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, **mariadb(tmp_path))
    with socket.create_server(("127.0.0.1", 23306)):
        [record] = runs(system, tmp_path, 1)
        assert record.error == ""
        assert "--mysql-port=23307" in record.command
        monkeypatch.setattr("schedlab.targets.companion._PORTS", 1)
        [record] = runs(system, tmp_path, 1)
        assert record.error == (
            "ports 23306 to 23306 are in use, so mariadbd cannot listen on any;"
            " `ss -ltnp` shows who uses them"
        )
        assert system.listens(23306), "it is somebody else's"


def test_a_port_that_is_taken_while_the_server_starts_is_not_asked(
    system: LocalSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was free when it was chosen: the data would be loaded into another's server."""
    install(tmp_path, **mariadb(tmp_path))
    listens, asked = LocalSystem.listens, iter([False])
    monkeypatch.setattr(
        LocalSystem, "listens", lambda *where: next(asked, None) is None and listens(*where)
    )
    with socket.create_server(("127.0.0.1", 23306)):
        [record] = runs(system, tmp_path, 1)
    assert "mariadbd ended at once" in record.error
    assert "Address already in use" in record.error
    assert not (tmp_path / "loaded").exists()


@pytest.mark.skipif(not LocalSystem().is_root(), reason="an ordinary user needs no other")
def test_a_program_that_refuses_root_runs_as_nobody(system: LocalSystem, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o700)
    argv = unprivileged("sh", "-c", 'id -un; echo "$1" >closed/file', "sh", "mine")
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "nobody\n"
    assert (tmp_path / "closed/file").read_text() == "mine\n"
    assert (tmp_path / "closed/file").owner() == "root"


@pytest.mark.skipif(not LocalSystem().is_root(), reason="an ordinary user needs no other")
def test_a_folder_that_is_closed_to_a_server_is_refused(
    system: LocalSystem, tmp_path: Path
) -> None:
    install(tmp_path, **mariadb(tmp_path))
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o700)
    shutil.chown(theirs, 1)
    with pytest.raises(UsageError, match="Give --output a folder of your own"):
        runs(system, theirs / "result", 1)
    assert not list(theirs.iterdir())
