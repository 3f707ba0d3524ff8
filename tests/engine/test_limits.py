"""Large and long scenarios, and those beyond the limits, in the plain build and under AddressSanitizer."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

import pytest
from test_build import patched_build

from tests.helpers import builds
from tests.helpers.engine.simulator import Json, Simulator, build, machine, tasks

BUSY: Json = {"run": "1ms"}
LONG = "n" * 255
HUGE_PAGE_KB = 2048
"""By which the heap of the program grows."""
KUBERNETES = [
    "/kubepods.slice",
    "/kubepods-burstable.slice",
    "/kubepods-burstable-pod01234567_89ab_cdef_0123_456789abcdef.slice",
    "/cri-containerd-" + "0123456789abcdef" * 4 + ".scope",
]


@functools.cache
def sanitizers() -> str:
    """Why the compiler cannot build with sanitizers, or nothing."""
    command = ["gcc", "-fsanitize=address,undefined", "-x", "c", "-o", "/dev/null", "-"]
    done = subprocess.run(
        command, input="int main(void) { return 0; }", capture_output=True, text=True, check=False
    )
    return done.stderr


@pytest.fixture(params=["6.12 sanitized", "6.1"])
def kind(request: pytest.FixtureRequest) -> str:
    """A build: what is ours and sanitized is nearly all the same in both series."""
    chosen: str = request.param
    return chosen.removesuffix(" sanitized") if sanitizers() else chosen


@pytest.fixture
def series(kind: str) -> str:
    return kind.split()[0]


@pytest.fixture
def sanitized(kind: str) -> bool:
    return "sanitized" in kind


@pytest.fixture
def sim(series: str, sanitized: bool, tmp_path: Path) -> Simulator:
    return Simulator(builds.sanitized(series) if sanitized else build(series), tmp_path)


# ------------------------------------------------------------------ cgroup paths


def paths_down(names: list[str]) -> list[str]:
    """The paths of nested groups."""
    return ["".join(names[: i + 1]) for i in range(len(names))]


def hog(group: str, name: str = "hog") -> Json:
    return {"name": name, "group": group, "program": [BUSY]}


def runtime(result: Json, name: str) -> float:
    """Seconds a task ran."""
    return float(tasks(result, name)[0]["runtime_ns"]) / 1e9


@pytest.mark.parametrize(
    "names",
    [KUBERNETES, ["/" + c * 255 for c in "abc"], ["/" + "x" * 255] * 15 + ["/" + "y" * 254]],
    ids=["kubernetes", "three levels of 255 bytes", "almost 4096 bytes"],
)
def test_long_cgroup_paths(sim: Simulator, names: list[str]) -> None:
    """A limit half way down holds for the deepest group: it has the right parents."""
    paths = paths_down(names)
    groups = [{"path": path} for path in paths]
    groups[len(paths) // 2]["cpu.max"] = "20000 100000"
    result = sim("smp4", {"duration": "1s", "groups": groups, "tasks": [hog(paths[-1])]})
    assert runtime(result, "hog") == pytest.approx(0.2, abs=0.03)


def test_cgroups_with_a_long_common_prefix(sim: Simulator) -> None:
    """Of groups whose paths agree in the first 127 bytes each has its own children."""
    first, second = (f"/{'p' * 126}{end}" for end in ("1", "2"))
    groups = [
        {"path": first},
        {"path": second, "cpu.max": "20000 100000"},
        {"path": f"{first}/child"},
        {"path": f"{second}/child"},
    ]
    load = [hog(f"{first}/child", "free"), hog(f"{second}/child", "limited")]
    result = sim("smp4", {"duration": "1s", "groups": groups, "tasks": load})
    assert runtime(result, "free") == pytest.approx(1, abs=0.03)
    assert runtime(result, "limited") == pytest.approx(0.2, abs=0.03)


WRONG_PATHS = [
    (["/" + "n" * 256], "a name in it is 256 bytes long; a name has at most 255"),
    (["/" + LONG] * 16, "4096 bytes long; a path has at most 4095"),
    (["/a", "//b"], "names are not empty"),
    (["/a", "/.."], "names are not empty, . or .."),
    (["/a", "/b\n"], "have no line break"),
    (["/a", "/"], "names are not empty"),
]


@pytest.mark.parametrize(("names", "message"), WRONG_PATHS)
def test_refused_cgroup_paths(sim: Simulator, names: list[str], message: str) -> None:
    groups = [{"path": path} for path in paths_down(names)]
    done = sim.start("smp4", {"duration": "1ms", "groups": groups})
    assert done.returncode == 2
    assert f"groups[{len(names) - 1}].path: " in done.stderr
    assert message in done.stderr


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        (["/a", "/a"], 'groups[1].path: "/a" is in groups twice'),
        (["/a/b", "/a"], 'groups[0].path: its parent "/a" is not in groups before it'),
    ],
)
def test_cgroups_out_of_order(sim: Simulator, paths: list[str], message: str) -> None:
    done = sim.start("smp4", {"duration": "1ms", "groups": [{"path": path} for path in paths]})
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr


def test_a_value_too_long_for_its_file(sim: Simulator) -> None:
    groups = [{"path": "/a", "cpu.weight": "100" + " " * 100 + "x"}]
    done = sim.start("smp4", {"duration": "1ms", "groups": groups})
    assert (done.returncode, "cpu.weight: Invalid argument" in done.stderr) == (2, True)


def test_ten_thousand_cgroups(sim: Simulator, sanitized: bool) -> None:
    """A container host: each group has a task; memory grows with the number of groups."""
    peak = {}
    for count in (2500, 5000, 10_000):
        groups = [{"path": f"/pod{i}"} for i in range(count)]
        load = [
            {"name": f"t{i}", "group": f"/pod{i}", "program": [{"run": "5us"}, {"sleep": "1s"}]}
            for i in range(count)
        ]
        result = sim("smp4", {"duration": "4s", "groups": groups, "tasks": load})
        assert all(task["ops"] for task in result["tasks"])
        peak[count] = result["engine"]["peak_kb"]
    assert peak[10_000] - peak[5000] < 2.5 * (peak[5000] - peak[2500])


# ------------------------------------------------------------------ CPUs going off and on


def cycles(count: int, cpus: list[int]) -> list[Json]:
    """CPUs that go off-line and come back in turn, every 40 ms."""
    actions: list[Json] = []
    for i in range(count):
        cpu = cpus[i % len(cpus)]
        actions.append({"at": f"{40 * i + 10}ms", "offline": cpu})
        actions.append({"at": f"{40 * i + 30}ms", "online": cpu})
    return actions


@pytest.mark.parametrize(
    ("name", "count", "cpus"),
    [("smp4", 10_000, [1, 2, 3]), ("hikey960", 1000, [5, 6, 7])],
    ids=["10,000 times", "with an energy model"],
)
def test_cpus_go_off_and_on(
    sim: Simulator, sanitized: bool, name: str, count: int, cpus: list[int]
) -> None:
    """Nothing of the domains that are built anew each time stays behind."""
    scenario: Json = {"duration": f"{40 * count + 100}ms", "actions": cycles(count, cpus)}
    result = sim(name, scenario)
    ended = result["counters"]["sched:sched_process_exit"]
    assert ended == 2 * count  # a cpuhp thread each time
    once = {"kind": "sched-pipe", "loop": 1}
    end = {"when": "workloads_done", "max_simulated": "1s"}
    planned = sim(name, scenario | {"workloads": [once], "end": end})
    if not sanitized:  # under AddressSanitizer freed memory is kept back for a while
        assert result["engine"]["peak_kb"] < planned["engine"]["peak_kb"] + HUGE_PAGE_KB


# ------------------------------------------------------------------ times

LONGEST = "at most 8640000s is possible"
TOO_LONG = [
    ({"duration": "40000000s"}, 'duration: "40000000s" is too much: ' + LONGEST),
    ({"duration": "1e300s"}, "duration: " + '"1e300s" is too much'),
    ({"duration": "infs"}, "is too much"),
    ({"duration": "nans"}, "is too much"),
    ({"settle": "8640001s"}, "settle: " + '"8640001s" is too much'),
    ({"end": {"max_simulated": "9e9s"}}, "end.max_simulated: "),
    ({"tasks": [{"start": "9e9s", "program": [BUSY]}]}, "tasks[0].start: "),
    ({"tasks": [{"program": [{"sleep": "9e9s"}]}]}, "tasks[0].program[0].sleep: "),
    ({"tasks": [{"program": [{"run": ["1s", "9e9s"]}]}]}, "tasks[0].program[0].run[1]: "),
    (
        {"tasks": [{"count": 1000, "stagger": "86400s", "program": [BUSY]}]},
        "tasks[0].stagger: the last of 1000 starts after more than 8640000s",
    ),
    (
        {"tasks": [{"policy": "deadline", "runtime": "1ms", "period": "9e9s", "program": [BUSY]}]},
        "tasks[0].period: ",
    ),
    ({"actions": [{"at": "9e9s", "offline": 1}]}, "actions[0].at: "),
    ({"workloads": [{"kind": "nanosleep", "start": "9e9s"}]}, "workloads[0].start: "),
    ({"workloads": [{"kind": "nanosleep", "sleep": "9e9s"}]}, "workloads[0].sleep: "),
    ({"workloads": [{"kind": "nanosleep", "sleep": "nans"}]}, "workloads[0].sleep: "),
]


@pytest.mark.parametrize(("change", "message"), TOO_LONG)
def test_times_that_are_too_long(sim: Simulator, change: Json, message: str) -> None:
    done = sim.start("smp4", {"duration": "1ms", **change})
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr


def test_rt_app_duration_that_is_too_long(sim: Simulator, tmp_path: Path) -> None:
    (tmp_path / "file.json").write_text(
        '{"tasks": {"t": {"run": 1000, "sleep": 1000}}, "global": {"duration": 2000000000}}'
    )
    load = {"kind": "rt-app", "file": "file.json"}
    done = sim.start("smp4", {"duration": "1ms", "workloads": [load]})
    assert done.returncode == 2
    assert "global.duration: 2000000000 is not within -1..86400" in done.stderr


@pytest.mark.parametrize(
    ("keys", "value"),
    [(("cost", "tick"), "5s"), (("cost", "catch_up"), "9e9s"), (("cost", "spin"), "9e9s")],
)
def test_costs_that_are_too_long(sim: Simulator, keys: tuple[str, str], value: str) -> None:
    bad = machine("smp4")
    bad[keys[0]][keys[1]] = value
    done = sim.start(bad, {"duration": "1ms"})
    assert done.returncode == 2
    assert f'{".".join(keys)}: "{value}" is too much: at most 4s is possible' in done.stderr


@pytest.mark.parametrize("option", ["--seed", "--trace-from", "--trace-to", "--trace-ring"])
@pytest.mark.parametrize("value", ["1e300", "nan", "-1"])
def test_numbers_of_options(sim: Simulator, option: str, value: str) -> None:
    done = sim.start("smp4", {"duration": "1ms"}, option, value)
    assert (done.returncode, f'{option}: "{value}" is not a number from 0 to' in done.stderr) == (
        2,
        True,
    )


def test_the_longest_times(sim: Simulator) -> None:
    """Work, sleep, start and stagger as long as they may be neither end nor begin in a second."""
    load = [
        {"name": "work", "affinity": "0", "program": [{"run": "8640000s"}]},
        {"name": "spin", "affinity": "4", "program": [{"spin": "8640000s"}]},
        {"name": "sleep", "program": [{"sleep": "8640000s"}]},
        {"name": "late", "start": "8640000s", "program": [BUSY]},
    ]
    result = sim("hikey960", {"duration": "1s", "tasks": load})
    assert [task["name"] for task in result["tasks"]] == ["work", "spin", "sleep"]
    assert [task["ops"] for task in result["tasks"]] == [0, 0, 0]
    assert runtime(result, "work") == pytest.approx(1, abs=0.01)


# ------------------------------------------------------------------ futexes


def woken(sim: Simulator, waiters: list[Json], scratch: Path, series: str) -> list[str]:
    """The names of tasks that wait one after another, in the order in which they are woken."""
    load = [
        {
            "name": waiter["name"],
            "start": f"{i + 1}ms",
            "loops": 1,
            "program": [{"wait": "f"}, {"run": "1us"}],
            **waiter,
        }
        for i, waiter in enumerate(waiters)
    ]
    waker: Json = {
        "name": "waker",
        "start": "50ms",
        "loops": len(waiters),
        "program": [{"wake": "f"}, {"sleep": "1ms"}],
    }
    trace = scratch / "trace.txt"
    sim(
        "smp4",
        {"duration": "100ms", "tasks": [*load, waker]},
        *("--trace", str(trace), "--trace-from", "0.05"),
        *("--trace-events", "sched:sched_waking", "--trace-tasks", "w[0-9]*"),
    )
    lines = [line for line in trace.read_text().splitlines() if "sched_waking: comm=w" in line]
    names = [line.split("comm=")[1].split()[0] for line in lines]
    return [name for name in names if name != "waker"]


def fifo(name: str, priority: int) -> Json:
    return {"name": name, "policy": "fifo", "priority": priority}


FUTEX_ORDERS = [
    (
        [{"name": "w0"}, {"name": "w1", "nice": -20}, {"name": "w2", "policy": "batch"}],
        ["w0", "w1", "w2"],
    ),
    ([{"name": "w0"}, fifo("w1", 1), {"name": "w2"}], ["w1", "w0", "w2"]),
    ([fifo("w0", 10), fifo("w1", 50), fifo("w2", 50), fifo("w3", 10)], ["w1", "w2", "w0", "w3"]),
    (
        [
            fifo("w0", 99),
            {"name": "w1", "policy": "deadline", "runtime": "1ms", "period": "10ms"},
            {"name": "w2"},
        ],
        ["w1", "w0", "w2"],
    ),
]


@pytest.mark.parametrize(
    ("waiters", "order"), FUTEX_ORDERS, ids=["fair", "fifo and fair", "two priorities", "deadline"]
)
def test_futex_wakes_by_priority(
    sim: Simulator, tmp_path: Path, series: str, waiters: list[Json], order: list[str]
) -> None:
    """As the kernel's plist: real-time tasks before all others, then in order of arrival."""
    assert woken(sim, waiters, tmp_path, series) == order


# ------------------------------------------------------------------ workqueues and per-CPU memory

# From CPU 1's ticks on, counted from 1 s after boot: every 4 ms.
QUEUES_WORK = r"""
#include <linux/workqueue.h>

static int inside;

static void asleep_for_100_ms(struct work_struct *work)
{
	schedule_timeout_uninterruptible(HZ / 10);
}

static void never_twice(struct work_struct *work)
{
	BUG_ON(inside++);
	schedule_timeout_uninterruptible(HZ / 10);
	inside--;
}

static void brief(struct work_struct *work)
{
}

static DECLARE_WORK(first, never_twice);
static DECLARE_WORK(second, brief);
static DECLARE_WORK(third, asleep_for_100_ms);
static DECLARE_WORK(fourth, asleep_for_100_ms);

#define MANY 2000

static void allocates_percpu(void)
{
	static char __percpu *many[MANY];
	char __percpu *small = __alloc_percpu(8, 8), __percpu *line = __alloc_percpu(24, 64);
	char __percpu *odd = __alloc_percpu(100, 16);
	int cpu, i;

	for_each_possible_cpu(cpu) {
		BUG_ON((unsigned long)per_cpu_ptr(line, cpu) % 64);
		BUG_ON((unsigned long)per_cpu_ptr(odd, cpu) % 16);
		memset(per_cpu_ptr(small, cpu), 1, 8);
		memset(per_cpu_ptr(line, cpu), 2, 24);
		memset(per_cpu_ptr(odd, cpu), 3, 100);
	}
	free_percpu(line);
	free_percpu(NULL);
	for (i = 0; i < 10000; i++) {
		line = __alloc_percpu(64, 64);
		for_each_possible_cpu(cpu) {
			BUG_ON(memchr_inv(per_cpu_ptr(line, cpu), 0, 64));
			memset(per_cpu_ptr(line, cpu), 4, 64);
			BUG_ON(memchr_inv(per_cpu_ptr(small, cpu), 1, 8));
			BUG_ON(memchr_inv(per_cpu_ptr(odd, cpu), 3, 100));
		}
		free_percpu(line);
	}
	/* Several times what is there for each CPU at boot, all at a time. */
	for (i = 0; i < MANY; i++)
		many[i] = __alloc_percpu(128, 64);
	for_each_possible_cpu(cpu)
		for (i = 0; i < MANY; i++) {
			BUG_ON((unsigned long)per_cpu_ptr(many[i], cpu) % 64);
			BUG_ON(memchr_inv(per_cpu_ptr(many[i], cpu), 0, 128));
			memset(per_cpu_ptr(many[i], cpu), 1 + i % 250, 128);
		}
	for_each_possible_cpu(cpu)
		for (i = 0; i < MANY; i++)
			BUG_ON(memchr_inv(per_cpu_ptr(many[i], cpu), 1 + i % 250, 128));
	for (i = 0; i < MANY; i++)
		free_percpu(many[i]);
	free_percpu(small);
	free_percpu(odd);
}

static void queue_works(void)
{
	static int tick, off, on, all;

	if (smp_processor_id() != 1 || hw.clk < NSEC_PER_SEC || all++ % (HZ / 250))
		return;
	tick++;
	if (tick == 1) {
		allocates_percpu();
		BUG_ON(!queue_work_on(2, system_wq, &first));
		BUG_ON(queue_work_on(2, system_wq, &first));
		queue_work_on(2, system_wq, &second);
	} else if (tick == 10) {
		queue_work_on(3, system_wq, &first);
	} else if (tick == 60) {
		schedule_work(&second);
		queue_work(system_unbound_wq, &third);
		queue_work(system_unbound_wq, &fourth);
	} else if (tick > 100 && cpu_online(2) && !off) {
		if (tick % 26 == 0)
			queue_work_on(2, system_wq, &first);
	} else if (tick > 100 && !cpu_online(2)) {
		if (off++ == 4)
			queue_work_on(2, system_wq, &second);
	} else if (off && on++ == 50) {
		queue_work_on(2, system_wq, &second);
	}
}
"""


def switches(trace: Path, name: str) -> list[tuple[str, int, float]]:
    """Each switch to a task whose name begins so: its name, the CPU and the time."""
    found = []
    for line in trace.read_text().splitlines():
        _, arrow, to = line.partition("==> next_comm=")
        if arrow and to.startswith(name):
            cpu, time = line.split("[")[1][:3], line.split(": sched_switch")[0].split()[-1]
            found.append((to.split()[0], int(cpu), float(time)))
    return found


def ran(trace: Path, name: str, begin: float, end: float) -> set[tuple[str, int]]:
    """The tasks of such a name that ran in a part of the run, with the CPUs."""
    return {(task, cpu) for task, cpu, time in switches(trace, name) if begin <= time < end}


@pytest.mark.parametrize("kind", ["6.12 sanitized"], indirect=True)  # it takes a build of its own
def test_workqueues(series: str, sanitized: bool, tmp_path: Path) -> None:
    """Works run on the CPU they are queued on, in kworkers that are bound while it is on-line."""
    binary = patched_build(
        series,
        "queues-work",
        tmp_path,
        "kernel/sched/core.c",
        r"(\nvoid (?:sched|scheduler)_tick\(void\)\n\{(?:.*\n)*?)(.*sched_clock_tick\(\);\n)",
        QUEUES_WORK.replace("\\", r"\\") + r"\1\tqueue_works();\n\2",
        sanitized,
    )
    trace = tmp_path / "trace.txt"
    scenario: Json = {
        "duration": "6s",
        "tasks": [{"name": "ticks", "affinity": "1", "program": [BUSY]}],
        "actions": [{"at": "1500ms", "offline": 2}, {"at": "3s", "online": 2}],
    }
    options = ("--trace", str(trace), "--trace-events", "sched:sched_switch")
    Simulator(binary, tmp_path)("smp4", scenario, *options)

    up = 3.0
    down = max(time for _, _, time in switches(trace, "cpuhp/2") if time < up)
    # one sleeps, so another takes the next work; what is queued again stays with the first
    assert ran(trace, "kworker/2:", 0.9, 1.2) == {("kworker/2:0", 2), ("kworker/2:1", 2)}
    assert ran(trace, "kworker/3:", 0.99, 1.05) <= {("kworker/3:0", 3)}
    assert ("kworker/1:0", 1) in ran(trace, "kworker/1:", 1.19, 1.24)
    unbound = {worker for worker, _ in ran(trace, "kworker/u", 0, 6)}
    assert unbound == {"kworker/u8:0", "kworker/u8:1"}
    # begun on the CPU before it goes off-line, and queued on it while it is
    assert {cpu for _, cpu in ran(trace, "kworker/2:", 1.3, down)} == {2}
    away = ran(trace, "kworker/2:", down + 0.01, up)
    assert away
    assert all(cpu != 2 for _, cpu in away)
    assert {cpu for _, cpu in ran(trace, "kworker/2:", up + 0.1, 6)} == {2}
