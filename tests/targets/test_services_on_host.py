"""Benchmarks that need servers, a database or a kit, with small programs in the place of theirs."""

import sys
from pathlib import Path

import pytest

from schedlab.base.system import LocalSystem
from schedlab.benchmarks import find_benchmark
from schedlab.plan.plan import Plan
from schedlab.result.record import RunKey, RunRecord
from schedlab.targets.host import HostTarget
from schedlab.targets.target import Order
from tests.helpers.emulated import SMALL_SERVER
from tests.helpers.sysfs_tree import write
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


class RootedSystem(LocalSystem):
    """Files below a folder, the journal too; real processes."""

    def is_root(self) -> bool:
        return True


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalSystem:
    root = write(tmp_path / "root", SMALL_SERVER)
    (root / "proc/stat").write_text("cpu  100 0 50 1000 0 0 0 0 0 0\nctxt 1000\n")
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return RootedSystem(root)


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
    assert record.error.endswith("ended with 4; its output is in setup0.*")
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


def test_a_tool_that_is_not_there_is_stood_in_for(system: LocalSystem, tmp_path: Path) -> None:
    install(tmp_path, netperf="#!/bin/sh\n")
    target = HostTarget(system)
    case = find_benchmark("Netperf", "test").case(target.machine(), {}, None, "test")
    assert target.command(case).tool == "schedlab-load", "there is no netserver"
    install(tmp_path, netserver="#!/bin/sh\n")
    assert target.command(case).tool == "netperf"


REDIS = f"""#!{sys.executable}
import os, pathlib, socket, sys, time
print("Ready to accept connections", flush=True)
pathlib.Path("pid").write_text(str(os.getpid()))
words = sys.argv[1:]
address = words[words.index("--bind") + 1], int(words[words.index("--port") + 1])
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
