"""Each check of the doctor, on trees made for it."""

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from schedlab.base.errors import KnobError
from schedlab.base.system import LocalSystem
from schedlab.benchmarks import all_tools, find_benchmark
from schedlab.counters.perf_stat import TRACEPOINTS
from schedlab.doctor import (
    Finding,
    container,
    kernel,
    leftover,
    limits,
    load,
    permissions,
    power,
    tools,
    tracing,
    virtual,
)
from schedlab.plan.plan import find_suite
from tests.helpers.sysfs_tree import CPU, NODE, Tree

FULL = "000001ffffffffff"
DEBUGFS = "none /sys/kernel/debug debugfs rw 0 0"
TRACEFS = "tracefs /sys/kernel/tracing tracefs rw 0 0"
FEATURES = "sys/kernel/debug/sched/features"


class Host(LocalSystem):
    """A host made of files, with programs that answer as scripted."""

    def __init__(self, root: Path, answers: Mapping[str, str], root_user: bool) -> None:
        super().__init__(root)
        self.answers = answers
        self.root_user = root_user
        self.refused: dict[str, int] = {}

    def exact(self, path: str) -> str:
        if path in self.refused:
            raise OSError(self.refused[path], "refused")
        return super().exact(path)

    def writable(self, path: str) -> bool:
        return path not in self.refused and super().writable(path)

    def which(self, tool: str) -> str | None:
        return f"/usr/bin/{tool}" if tool in self.answers else None

    def capture(
        self, argv: tuple[str, ...], env: Mapping[str, str] | None = None, timeout: float = 20
    ) -> subprocess.CompletedProcess[str]:
        answer = self.answers[argv[0]]
        if answer == "hangs":
            raise subprocess.TimeoutExpired(argv, timeout)
        return subprocess.CompletedProcess(argv, 0, answer, "")

    def is_root(self) -> bool:
        return self.root_user


Make = Callable[..., Host]


@pytest.fixture
def host(tmp_path: Path) -> Make:
    def make(
        files: Mapping[str, object] | None = None,
        answers: Mapping[str, str] | None = None,
        root_user: bool = True,
    ) -> Host:
        tree = Tree(tmp_path)
        for path, text in (files or {}).items():
            tree.put(path, text)
        return Host(tmp_path, answers or {}, root_user)

    return make


def only(findings: list[Finding], check: str) -> Finding:
    [found] = [finding for finding in findings if finding.check == check]
    return found


# tools


def test_tools_tell_version_or_package(host: Make) -> None:
    found = list(
        tools.check(
            host(
                answers={
                    "perf": "perf version 6.1.192",
                    "hackbench": "hackbench V 2.40\nUsage:",
                    "sysbench": "hangs",
                    "taskset": "taskset from util-linux 2.38.1",
                    "tbench": "WARNING: tbench not found for this kernel",
                }
            )
        )
    )
    assert only(found, "perf").found == "perf 6.1.192"
    assert only(found, "hackbench").level == "ok"
    assert only(found, "sysbench").level == "missing"
    assert "timed out" in only(found, "sysbench").found
    assert only(found, "sysbench").remedy == "apt-get install sysbench"
    assert "SysBenchMutex" in only(found, "sysbench").why
    assert only(found, "tbench").level == "note"
    assert "does not print its version: WARNING" in only(found, "tbench").found
    assert only(found, "numactl").level == "note"
    assert "our own program stands in" in only(found, "stress-ng").why
    assert "our own program stands in" not in only(found, "redis-benchmark").why


def test_tools_of_ones_own_tell_where_they_are_or_what_stands_in(
    host: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = {
        "netperf": "Netperf version 2.7.0",
        "netserver": "",
        "stream": "",
        "wrk": "wrk 4.1.0",
    }
    monkeypatch.delenv("DEATHSTARBENCH_URL", raising=False)
    monkeypatch.setenv("SPECJBB_HOME", "/opt/specjbb")
    found = list(tools.check(host(answers=answers | {"java": "openjdk 17.0.2"})))
    netperf, stream = only(found, "netperf"), only(found, "STREAM")
    assert netperf.level == stream.level == "ok"
    assert netperf.found.endswith("/usr/bin/netperf, /usr/bin/netserver, version 2.7.0")
    assert "/usr/bin/stream, which prints no version" in stream.found
    schbench = only(found, "schbench")
    assert (schbench.level, schbench.found) == ("note", "schbench: not in PATH: schbench")
    assert "stands in for it in Schbench" in schbench.why
    assert "docs/manual/benchmarks.md" in schbench.remedy
    assert "not in PATH: ycsb.sh, mongod" in only(found, "YCSB on MongoDB").found
    assert "pipe, context1, spawn, execl" in only(found, "UnixBench").found
    assert only(found, "DeathStarBench").found.endswith("DEATHSTARBENCH_URL is not set")
    assert "has no specjbb2015.jar" in only(found, "SPECjbb2015").found


def test_what_the_common_suite_needs_is_required() -> None:
    suite, where = find_suite("common")
    needed = {find_benchmark(entry.name, where).tool.name for entry in suite.benchmark}
    assert needed == {tool.name for tool in all_tools() if tool.required}


# permissions


def test_root_with_all_capabilities_is_well(host: Make) -> None:
    files = {"proc/self/status": f"Name:\tx\nCapEff:\t{FULL}", PARANOID: "3"}
    assert {f.level for f in permissions.check(host(files))} == {"ok"}


PARANOID = "proc/sys/kernel/perf_event_paranoid"


def test_an_ordinary_user_is_told_what_remains(host: Make) -> None:
    files = {"proc/self/status": "CapEff:\t0000000000000000", PARANOID: "2"}
    found = list(permissions.check(host(files, root_user=False)))
    assert only(found, "user").level == "warning"
    assert "CAP_PERFMON" in only(found, "user").found
    assert only(found, "perf_event_paranoid").remedy.endswith("=-1")


def test_perfmon_is_enough_to_count(host: Make) -> None:
    files = {"proc/self/status": f"CapEff:\t{1 << 38:016x}", PARANOID: "2"}
    found = list(permissions.check(host(files, root_user=False)))
    assert only(found, "perf_event_paranoid").level == "ok"


def test_root_of_a_container_lacks_capabilities(host: Make) -> None:
    found = list(permissions.check(host({"proc/self/status": "CapEff:\t00000000a80425fb"})))
    assert "root without CAP_SYS_ADMIN" in only(found, "user").found
    assert "no /proc/sys" in only(found, "perf_event_paranoid").found


# tracing


def tracing_files(*mounts: str, **more: object) -> dict[str, object]:
    events = {
        f"sys/kernel/tracing/events/{event.replace(':', '/')}/id": 300 for event in TRACEPOINTS
    }
    return {"proc/self/mounts": "\n".join(mounts), **events, **more}


def test_everything_mounted_and_open(host: Make) -> None:
    files = tracing_files(TRACEFS, DEBUGFS, **{FEATURES: "GENTLE_FAIR_SLEEPERS NO_HRTICK"})
    found = list(tracing.check(host(files)))
    assert {finding.level for finding in found} == {"ok"}
    assert "2 features, readable and writable" in only(found, "features").found


def test_features_before_5_13(host: Make) -> None:
    files = tracing_files(DEBUGFS, **{"sys/kernel/debug/sched_features": "A B C"})
    found = only(list(tracing.check(host(files))), "features")
    assert (found.level, found.found.split(":")[0]) == ("ok", "/sys/kernel/debug/sched_features")


def test_nothing_mounted(host: Make) -> None:
    files = {"proc/self/mounts": "proc /proc proc rw 0 0", "proc/filesystems": "nodev\tdebugfs"}
    found = list(tracing.check(host(files)))
    assert only(found, "tracefs").remedy == "mount -t tracefs nodev /sys/kernel/tracing"
    assert only(found, "debugfs").remedy == "mount -t debugfs none /sys/kernel/debug"
    assert only(found, "features").level == "note"


def test_a_kernel_without_debugfs(host: Make) -> None:
    found = only(list(tracing.check(host({"proc/filesystems": "nodev\ttracefs"}))), "debugfs")
    assert found.found == "this kernel has no debugfs"


def test_lockdown_refuses_even_root(host: Make) -> None:
    lockdown = {"sys/kernel/security/lockdown": "none [integrity] confidentiality"}
    locked = host(tracing_files(TRACEFS, DEBUGFS, **{FEATURES: "X", **lockdown}))
    locked.refused[f"/{FEATURES}"] = 1
    found = list(tracing.check(locked))
    assert "EPERM" in only(found, "features").found
    assert "Secure Boot" in only(found, "features").remedy
    assert only(found, "lockdown").found == "the kernel is locked down: integrity"


def test_features_that_are_not_for_this_user(host: Make) -> None:
    refusing = host(tracing_files(DEBUGFS, **{FEATURES: "X"}), root_user=False)
    refusing.refused[f"/{FEATURES}"] = 13
    found = only(list(tracing.check(refusing)), "features")
    assert ("EACCES" in found.found, found.remedy) == (True, "run as root")


@pytest.mark.parametrize(
    ("files", "level"),
    [
        ({"proc/filesystems": "nodev\tsecurityfs"}, "note"),
        ({"sys/kernel/security/lockdown": "[none] integrity confidentiality"}, "ok"),
        ({}, "ok"),
    ],
)
def test_lockdown_seen_or_not(host: Make, files: dict[str, object], level: str) -> None:
    assert only(list(tracing.check(host(files))), "lockdown").level == level


def test_a_kernel_without_scheduler_debugging(host: Make) -> None:
    found = only(list(tracing.check(host(tracing_files(DEBUGFS)))), "features")
    assert "CONFIG_SCHED_DEBUG" in found.remedy


def test_tracefs_that_is_not_for_us(host: Make) -> None:
    refusing = host(tracing_files(TRACEFS))
    refusing.refused["/sys/kernel/tracing/events/sched/sched_migrate_task/id"] = 13
    assert "does not let us read" in only(list(tracing.check(refusing)), "tracefs").found


def test_tracepoints_this_kernel_lacks(host: Make) -> None:
    files = {"proc/self/mounts": TRACEFS, "sys/kernel/tracing/events/sched/x/id": 1}
    found = only(list(tracing.check(host(files))), "tracefs")
    assert (found.level, "sched:sched_move_numa" in found.found) == ("note", True)


# kernel


def test_kernel_settings_as_they_should_be(host: Make) -> None:
    files = {
        "proc/sys/kernel/osrelease": "6.12.9",
        "proc/sys/kernel/sched_autogroup_enabled": 0,
        "proc/sys/kernel/sched_schedstats": 1,
        "proc/sys/kernel/numa_balancing": 0,
        "proc/schedstat": "version 17\ntimestamp 1",
        "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
        CLOCK: "tsc",
        f"{CPU}/isolated": "",
        f"{CPU}/nohz_full": "  (null)",
        f"{NODE}/node0/cpulist": "0",
        f"{NODE}/node1/cpulist": "1",
    }
    found = list(kernel.check(host(files)))
    assert {finding.level for finding in found} == {"ok"}
    assert only(found, "release").found == "Linux 6.12.9"
    assert only(found, "schedstat").found == "/proc/schedstat version 17"


def test_a_kernel_with_a_scheduler_of_its_own(host: Make) -> None:
    line = "quiet sched_verbose sched_vcpu_pack=15 mitigations=auto -- sched_init=1"
    found = only(list(kernel.check(host({"proc/cmdline": line}))), "scheduler")
    assert found.level == "warning"
    assert found.found == "booted with sched_vcpu_pack=15, which mainline Linux does not know"


CLOCK = "sys/devices/system/clocksource/clocksource0/current_clocksource"


def test_kernel_settings_that_colour_results(host: Make) -> None:
    files = {
        "proc/sys/kernel/sched_autogroup_enabled": 1,
        "proc/sys/kernel/sched_schedstats": 0,
        "proc/sys/kernel/numa_balancing": 1,
        "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never",
        CLOCK: "hpet",
        f"{CPU}/isolated": "2-3",
        f"{CPU}/nohz_full": "3",
        f"{NODE}/node0/cpulist": "0-1",
        f"{NODE}/node1/cpulist": "2-3",
    }
    found = {finding.check: finding for finding in kernel.check(host(files))}
    notes = {"autogroup", "schedstats", "schedstat", "numa_balancing", "thp"}
    assert {name for name in found if found[name].level == "note"} == notes
    assert {name for name in found if found[name].level == "warning"} == {
        "clocksource",
        "isolated",
        "nohz_full",
    }
    assert found["nohz_full"].found == "CPUs 3 are nohz_full"


# power


def test_a_machine_set_up_for_measuring(host: Make) -> None:
    files = {
        f"{CPU}/online": "0-1",
        f"{CPU}/present": "0-1",
        f"{CPU}/cpufreq/policy0/scaling_governor": "performance",
        f"{CPU}/intel_pstate/no_turbo": 1,
        f"{CPU}/smt/control": "on",
        f"{CPU}/cpuidle/current_driver": "intel_idle",
        f"{CPU}/cpuidle/current_governor_ro": "menu",
        f"{CPU}/cpu0/cpuidle/state0/name": "POLL",
        f"{CPU}/cpu0/cpuidle/state0/disable": 0,
    }
    found = list(power.check(host(files)))
    assert {finding.level for finding in found} == {"ok"}
    assert only(found, "cpuidle").found == "cpuidle intel_idle, governor menu, 1 states"


def test_power_settings_that_move_results(host: Make) -> None:
    files = {
        f"{CPU}/online": "0-1",
        f"{CPU}/present": "0-3",
        f"{CPU}/cpufreq/policy0/scaling_governor": "schedutil",
        f"{CPU}/cpufreq/policy1/scaling_governor": "performance",
        f"{CPU}/cpufreq/boost": 1,
        f"{CPU}/smt/control": "off",
        f"{CPU}/cpu0/cpuidle/state1/name": "C6",
        f"{CPU}/cpu0/cpuidle/state1/disable": 1,
        f"{CPU}/cpu1/cpuidle/state1/name": "C6",
        f"{CPU}/cpu1/cpuidle/state1/disable": 1,
    }
    found = list(power.check(host(files)))
    assert "schedutil on 1, performance on 1" in only(found, "governor").found
    assert only(found, "turbo").remedy == f"echo 0 > /{CPU}/cpufreq/boost"
    assert "C6 disabled on CPUs 0-1" in only(found, "cpuidle").found
    assert only(found, "smt").level == "note"
    assert only(found, "cpus").found == "CPUs 2-3 are offline"


def test_intel_turbo_and_no_sysfs(host: Make) -> None:
    found = list(power.check(host({f"{CPU}/intel_pstate/no_turbo": 0})))
    assert only(found, "turbo").level == "warning"
    assert only(found, "cpus").level == "missing"


# limits and container


def limit_files(**more: object) -> dict[str, object]:
    limits_text = (
        "Limit                     Soft Limit           Hard Limit           Units     \n"
        "Max processes             1000                 2000                 processes \n"
        "Max open files            1024                 4096                 files     "
    )
    return {
        f"{CPU}/online": "0-3",
        "proc/self/limits": limits_text,
        "proc/self/status": "CapEff:\t0000000000000000\nCpus_allowed_list:\t0-3",
        "proc/meminfo": "MemTotal: 8000000 kB\nMemAvailable:  4000000 kB",
        **more,
    }


def test_enough_of_everything(host: Make) -> None:
    found = list(limits.check(host(limit_files(), root_user=False)))
    assert {finding.level for finding in found} == {"ok"}
    assert only(found, "tasks").found == "room for 1000 more tasks (ulimit -u); 400 are needed"
    assert "25 groups" in only(found, "files").found


def test_a_big_machine_needs_more_tasks(host: Make) -> None:
    files = limit_files(**{f"{CPU}/online": "0-255"})
    found = only(list(limits.check(host(files, root_user=False))), "tasks")
    assert found.found == "ulimit -u leaves room for 1000 tasks; suite common needs 20480"
    assert found.remedy == "ulimit -u 40960"


CGROUP2 = "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0"


def test_pids_limit_of_a_cgroup_above_ours(host: Make) -> None:
    files = limit_files(
        **{
            "proc/self/cgroup": "0::/box/inner",
            "proc/self/mounts": CGROUP2,
            "sys/fs/cgroup/box/pids.max": 300,
            "sys/fs/cgroup/box/pids.current": 50,
            "sys/fs/cgroup/box/inner/pids.max": "max",
            "proc/sys/kernel/pid_max": 32768,
        }
    )
    found = only(list(limits.check(host(files))), "tasks")
    assert found.level == "warning"
    assert found.found.startswith("/sys/fs/cgroup/box/pids.max leaves room for 250 tasks")


def test_few_files_and_little_memory(host: Make) -> None:
    files = limit_files(
        **{
            "proc/self/limits": "Max open files            256                  4096   files",
            "proc/meminfo": "MemAvailable:  400000 kB",
            "proc/sys/kernel/threads-max": 100,
        }
    )
    found = list(limits.check(host(files)))
    assert "6 groups" in only(found, "files").found
    assert only(found, "memory").found == "390 MiB of memory available"
    assert only(found, "tasks").remedy == "sysctl -w kernel.threads-max=800"


def test_unlimited_means_no_limit(host: Make) -> None:
    files = {
        "proc/self/limits": "Max processes  unlimited unlimited processes\n"
        "Max open files  unlimited unlimited files"
    }
    found = list(limits.check(host(files, root_user=False)))
    assert only(found, "tasks").found == "no limit on processes and threads"
    assert only(found, "files").found == "no limit on open files"
    assert only(found, "memory").level == "note"


def test_quota_in_both_versions_of_cgroups(host: Make) -> None:
    second = host(
        {
            "proc/self/cgroup": "0::/",
            "proc/self/mounts": CGROUP2,
            "sys/fs/cgroup/cpu.max": "150000 100000",
        }
    )
    assert "1.5 CPUs' time" in only(list(container.check(second)), "cpu quota").found


def test_quota_in_version_1_with_a_path_from_outside(host: Make) -> None:
    first = host(
        {
            "proc/self/cgroup": "4:cpu,cpuacct:/docker/abc\n0::/",
            "proc/self/mounts": "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "50000",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000",
        }
    )
    found = only(list(container.check(first)), "cpu quota")
    assert "0.5 CPUs' time" in found.found
    assert found.remedy == "echo -1 > /sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us"


def test_no_limits_no_container(host: Make) -> None:
    found = list(container.check(host(limit_files())))
    assert {finding.level for finding in found} == {"ok"}


def test_a_cpuset_smaller_than_the_machine(host: Make) -> None:
    files = limit_files(
        **{"proc/self/status": "Cpus_allowed_list:\t1-2", ".dockerenv": "", f"{CPU}/online": "0-7"}
    )
    found = list(container.check(host(files)))
    assert only(found, "cpuset").found == "schedlab may run on CPUs 1-2 of 0-7"
    assert only(found, "container").found == "inside a container (Docker)"


# virtual


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"proc/cpuinfo": "flags\t\t: fpu hypervisor lahf_lm"}, "CPU flag hypervisor"),
        ({"sys/class/dmi/id/sys_vendor": "QEMU"}, "QEMU"),
        (
            {
                "sys/class/dmi/id/sys_vendor": "Microsoft Corporation",
                "sys/class/dmi/id/product_name": "Virtual Machine",
            },
            "Hyper-V",
        ),
        ({"sys/hypervisor/type": "xen"}, "xen"),
        ({"proc/device-tree/hypervisor/compatible": "linux,kvm\0"}, "linux,kvm"),
        ({"proc/cpuinfo": "platform\t: pSeries"}, "a PowerVM or KVM partition"),
        ({"proc/cpuinfo": "flags\t\t: fpu"}, None),
        ({"sys/class/dmi/id/sys_vendor": "Microsoft Corporation"}, None),
    ],
)
def test_hypervisors(host: Make, files: dict[str, object], name: str | None) -> None:
    assert virtual.hypervisor(host(files)) == name


def test_systemd_knows_better(host: Make) -> None:
    assert virtual.hypervisor(host(answers={"systemd-detect-virt": "bhyve\n"})) == "bhyve"
    assert virtual.hypervisor(host(answers={"systemd-detect-virt": "none\n"})) is None
    assert virtual.hypervisor(host(answers={"systemd-detect-virt": "hangs"})) is None


@pytest.mark.parametrize(
    ("stat", "level"),
    [
        ("cpu  900 0 0 9000 0 0 0 100 0 0", "warning"),
        ("cpu  9990 0 0 9000 0 0 0 10 0 0", "ok"),
    ],
)
def test_stolen_time(host: Make, stat: str, level: str) -> None:
    assert only(list(virtual.check(host({"proc/stat": stat}))), "steal").level == level


def test_no_stolen_time_says_nothing(host: Make) -> None:
    found = list(virtual.check(host({"proc/stat": "cpu  9 0 0 9 0 0 0 0 0 0"})))
    assert [finding.check for finding in found] == ["hypervisor"]


# load


def busy(host: Make, monkeypatch: pytest.MonkeyPatch, before: int, after: int) -> list[Finding]:
    """Let time pass from one record of /proc to another: user ticks of 1000, two processes."""
    stat = "{pid} (a (b) c) S 1 1 1 0 -1 0 0 0 0 0 {ticks} 0 0 0"

    def files(user: int, total: int) -> dict[str, object]:
        return {
            "proc/stat": f"cpu  {user} 0 0 {total - user} 0 0 0 0 0 0",
            "proc/77/stat": stat.format(pid=77, ticks=user),
            "proc/78/stat": stat.format(pid=78, ticks=5),
            "proc/loadavg": "0.50 0.40 0.30 1/100 4242",
        }

    system = host(files(before, 1000))
    monkeypatch.setattr(load.time, "sleep", lambda _: host(files(after, 2000)))
    return list(load.check(system))


def test_an_idle_machine(host: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    found = busy(host, monkeypatch, 100, 110)
    assert only(found, "other load").found == "the CPUs are 1.0% busy"
    assert only(found, "pressure").found == "load average 0.50 0.40 0.30"


def test_other_work_is_named(host: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    found = only(busy(host, monkeypatch, 100, 500), "other load")
    assert found.level == "warning"
    assert found.found == "the CPUs are 40.0% busy with other work: a (b) c (77) 40.0%"


def test_pressure_and_a_stat_that_stands_still(host: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load.time, "sleep", lambda _: None)
    files = {"proc/stat": "cpu  1 2 3 4 5 6 7 8", "proc/pressure/cpu": "some avg10=42.00 avg60=1"}
    found = list(load.check(host(files)))
    assert only(found, "other load").level == "note"
    assert "waited in the last 10 s for cpu 42 %" in only(found, "pressure").found


# left over


@pytest.mark.parametrize(
    ("answer", "level"), [(None, "ok"), ("kernel.numa_balancing is 0, was 1", "warning")]
)
def test_a_journal_left_behind(
    host: Make, monkeypatch: pytest.MonkeyPatch, answer: str | None, level: str
) -> None:
    monkeypatch.setattr(leftover, "left_behind", lambda system: answer)
    [found] = leftover.check(host())
    assert found.level == level


def test_a_journal_that_cannot_be_read_is_told(host: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(system: LocalSystem) -> None:
        raise KnobError("journal.json: is damaged")

    monkeypatch.setattr(leftover, "left_behind", broken)
    [found] = leftover.check(host())
    assert "is damaged" in found.found
