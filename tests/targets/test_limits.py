"""What is too large, too long or too small is answered with one message, at once."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from schedlab.base.errors import UsageError
from schedlab.benchmarks.benchmark import Command, Server
from schedlab.judging.analysis import analyse
from schedlab.lab.order import stretches
from schedlab.plan.plan import Plan
from schedlab.result.record import RunKey
from schedlab.result.store import Store
from schedlab.settings.variant import parse_variant
from schedlab.targets.notices import served
from schedlab.targets.simulated.scenario import settings
from schedlab.targets.target import folder_name
from tests.helpers.command_line import Cli
from tests.helpers.emulated import NUMA_BALANCING, PROGRAMS, emulated_host
from tests.helpers.fake_engine import FakeLab

NB_OFF = "NB-OFF: sysctl kernel.numa_balancing=0"
QUICK = ("--suite", "quick", "--aa")


@pytest.fixture
def host(tmp_path: Path) -> str:
    return f"emulated:{emulated_host(tmp_path / 'host')}"


HUGE = "9" * 5000


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (
            (*QUICK, "--blocks", 2_000_000_000),
            "'--blocks': 2000000000 is not in the range",
        ),
        ((*QUICK, "--looks", "6,2000000000"), "'--looks': 2000000000 is not in the range 1<="),
        ((*QUICK, "--blocks", 0), "'--blocks': 0 is not in the range 1<="),
        ((*QUICK, "--blocks", -1), "'--blocks': -1 is not"),
        ((*QUICK, "--blocks", HUGE), ""),
        ((*QUICK, "--looks", HUGE), "write it as 6,12,24,40"),
        (
            (*QUICK, "--looks", ",".join(map(str, range(1, 200)))),
            "the most is 100",
        ),
        ((*QUICK, "--warmup", 2_000_000_000), "'--warmup': 2000000000 is not"),
        ((*QUICK, "--warmup", -1), "'--warmup': -1 is not"),
        ((*QUICK, "--seed", -1), "'--seed': -1 is not"),
        ((*QUICK, "--seed", 2**63), "0<=x<=9223372036854775807"),
        ((*QUICK, "--timeout", "20000h"), "is too long; the most is 10000h"),
        ((*QUICK, "--timeout", "9" * 400 + "h"), "is too long"),
        ((*QUICK, "--timeout", "0s"), "'0s' is too short"),
        ((*QUICK, "--timeout", "-1s"), "is not a duration"),
        ((*QUICK, "--timeout", "٣s"), "is not a duration"),
        ((*QUICK, "--timeout", "nan"), "is not a duration"),
        ((*QUICK, "--margin", "nan"), "'nan' is not between 0 and 100 %"),
        ((*QUICK, "--margin", "inf"), "'inf' is not between"),
        ((*QUICK, "--margin", "-2"), "'-2' is not between"),
        ((*QUICK, "--counters", "cpu", "--no-counters"), "contradict each other"),
        ((*QUICK, "--jobs", 10**30), "8192"),
        (("--aa", "--benchmark", "HackbenchPipeThreads:groups=²"), "'²' is not a size"),
        (("--aa", "--benchmark", "HackbenchPipeThreads:groups=٣"), "'٣' is not a size"),
        (("--aa", "--benchmark", f"HackbenchPipeThreads:groups={'9' * 23}"), "is too large"),
        (("--aa", "--benchmark", f"HackbenchPipeThreads:groups={HUGE}"), ""),
        (("--aa", "--benchmark", "HackbenchPipeThreads:groups=0"), "at least 1"),
        (("--aa", "--benchmark", "HackbenchPipeThreads:groups=nan"), "no size is called 'nan'"),
        (("--aa", "--benchmark", "HackbenchPipeThreads:groups=1e999"), "is too large"),
        (("--aa", "--benchmark", "SysBenchCpu:time=1e9"), "is not a duration"),
        (("--aa", "--benchmark", f"SysBenchCpu:time={'9' * 30}"), "is too l"),
        (("--suite", "quick", "--variant", f"{'x' * 240}: NO_WA_IDLE"), "at most 200"),
        (("--suite", "quick", "--variant", "x: sysctl kernel.numa_balancing="), "is empty"),
    ],
)
def test_it_is_refused_at_once(
    cli: Cli, host: str, words: tuple[object, ...], why: str, tmp_path: Path
) -> None:
    before = time.process_time()
    status, _, err = cli("run", "--target", host, *words, "--output", tmp_path / "out")
    assert time.process_time() - before < 10
    assert status == 2
    assert why in err
    assert not (tmp_path / "out").exists()


def test_a_plan_of_many_blocks_begins_at_once() -> None:
    variants = [{"name": "a"}, {"name": "b"}]
    plan = Plan.model_validate(
        {"suite": "quick", "variant": variants, "blocks": {"looks": [3, 100_000], "warmup": 2}}
    )
    assert list(stretches(plan)) == [range(-2, 3), range(3, 100_000)]


def test_long_names_are_whole_in_the_result(cli: Cli, host: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    plan = tmp_path / "plan.toml"
    label, name = "ä" * 200, "v" * 200
    plan.write_text(
        f'target = "{host}"\ncounters = []\n[[benchmark]]\nname = "SysBenchCpu"\n'
        f'label = "{label}"\n[[variant]]\nname = "base"\n[[variant]]\nname = "{name}"\n'
        f'sysctl = {{ "kernel.numa_balancing" = 0 }}\n[blocks]\nlooks = [1]\nwarmup = 0\n'
    )
    status, _, err = cli("run", plan, "--output", out)
    assert status == 0, err
    store = Store.open(out)
    assert {(r.key.case, r.key.variant) for r in store.records()} == {
        (label, "base"),
        (label, name),
    }
    assert all((out / record.raw).is_dir() for record in store.records())


def test_folders_of_runs_are_short_and_apart() -> None:
    pairs = [
        *[("a/b", "x"), ("a b", "x"), ("a_b", "x"), ("a", "b-x"), ("a-b", "x")],
        *[("l" * 300 + end, variant) for end in "mn" for variant in ("x", "v" * 200)],
    ]
    names = {folder_name("b0000", RunKey(case, variant, 0)) for case, variant in pairs}
    assert len(names) == len(pairs)
    assert all(len(name.encode()) <= 255 and "/" not in name for name in names)
    assert folder_name("b0003", RunKey("pipe", "no-wa", 3)) == "b0003-pipe@no-wa"


@pytest.mark.parametrize("words", [("--blocks", 1), ("--looks", "1")])
def test_one_block_shows_figures_and_no_verdict(
    cli: Cli, host: str, tmp_path: Path, words: tuple[object, ...]
) -> None:
    out = tmp_path / "out"
    status, text, err = cli(
        *("run", "--target", host, "--benchmark", "SysBenchCpu", "--variant", NB_OFF),
        *(*words, "--warmup", 0, "--output", out),
    )
    assert status == 0, err
    [outcome] = analyse(Store.open(out)).outcomes
    assert outcome.verdict.effect is not None
    assert outcome.verdict.word == "can't tell"
    assert "no interval from 1 pair: 5 are the least for a verdict" in " ".join(text.split())


def test_three_blocks_promise_no_verdict_before_five(cli: Cli, host: str, tmp_path: Path) -> None:
    status, text, err = cli(
        *("run", "--target", host, "--benchmark", "HackbenchPipeThreads", "--variant", NB_OFF),
        *("--blocks", 3, "--output", tmp_path / "out"),
    )
    assert status == 0, err
    said = " ".join(text.split())
    assert "no interval from 3 pairs: 5 are the least for a verdict" in said
    assert not any(f"about {few} blocks would settle it" in said for few in range(1, 5))


def test_an_axis_of_one_value(cli: Cli, host: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    status, _, err = cli(
        *("run", "--target", host, "--benchmark", "HackbenchPipeThreads:groups=[4]"),
        *("--variant", NB_OFF, "--blocks", 2, "--output", out),
    )
    assert status == 0, err
    assert [case.label for case in Store.open(out).cases] == ["HackbenchPipeThreads-4-groups"]


def test_a_folder_that_was_there_stays(cli: Cli, host: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    words = ("run", "--target", host, "--benchmark", "LikwidStream", "--aa", "--output", out)
    status, _, err = cli(*words)
    assert (status, "apt-get install likwid" in err) == (2, True)
    assert list(out.iterdir()) == []
    out.rmdir()
    assert cli(*words)[0] == 2
    assert not out.exists()


def test_a_plan_whose_every_run_failed(cli: Cli, tmp_path: Path) -> None:
    programs = [{"match": "sysbench cpu", "status": 1, "stderr": "no such option"}]
    host = emulated_host(tmp_path / "host", programs=programs)
    out = tmp_path / "out"
    words = ("--benchmark", "SysBenchCpu", "--variant", NB_OFF, "--blocks", 6, "--output", out)
    status, text, err = cli("run", "--target", f"emulated:{host}", *words)
    assert status == 2
    assert "every run failed" in err
    assert "no such option" in err
    assert str(out / "raw") in err
    assert "wrote" not in text
    assert not list(out.glob("report.*"))


def test_auto_says_what_it_takes(cli: Cli, host: str) -> None:
    status, _, err = cli(
        "run", "--target", host, "--suite", "quick", "--variant", "auto", "--dry-run"
    )
    assert status == 0
    assert f"--variant auto takes '{NB_OFF}': NUMA balancing, now on, switched off" in err


def on_one_node(folder: Path) -> Path:
    host = emulated_host(folder, programs=PROGRAMS)
    nodes = host / "root/sys/devices/system/node"
    for path in sorted((nodes / "node1").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    (nodes / "node1").rmdir()
    (nodes / "node0/cpulist").write_text("0-7\n")
    (nodes / "node0/distance").write_text("10\n")
    (nodes / "online").write_text("0\n")
    return host


def without_idle_states(host: Path) -> None:
    for path in (host / "root/sys").glob("**/cpuidle/state*/*"):
        path.unlink()
    for path in (host / "root/sys").glob("**/cpuidle/state*"):
        path.rmdir()


def without_features(host: Path) -> None:
    (host / "root/sys/kernel/debug/sched/features").unlink()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ((), "--variant auto takes 'NO-CLUSTER_SLEEP_0: cpuidle CLUSTER_SLEEP_0=off'"),
        ((without_idle_states,), "--variant auto takes 'NO-WA-IDLE: NO_WA_IDLE'"),
        (
            (without_idle_states, without_features),
            "no setting here whose change would have an effect; kernel.numa_balancing: without"
            " effect"
            " on one node; cpuidle: no idle states are shown.\n  This is an A/A run, as with --aa",
        ),
    ],
)
def test_auto_takes_nothing_that_is_without_effect(
    cli: Cli, tmp_path: Path, changes: tuple[Callable[[Path], None], ...], said: str
) -> None:
    host = on_one_node(tmp_path / "host")
    assert (host / f"root{NUMA_BALANCING}").exists()
    for change in changes:
        change(host)
    words = ("--benchmark", "SysBenchCpu", "--variant", "auto", "--dry-run")
    status, _, err = cli("run", "--target", f"emulated:{host}", *words)
    assert status == 0, err
    assert said in err


def test_a_sweep_is_told_from_a_result(cli: Cli, host: str, tmp_path: Path) -> None:
    folder = tmp_path / "sweep"
    status, _, err = cli(
        *("run", "--target", host, "--benchmark", "SysBenchCpu", "--variant", NB_OFF),
        *("--blocks", 1, "--seed", 1, "--seed", 2, "--output", folder),
    )
    assert status == 0, err
    status, _, err = cli("report", folder)
    assert status == 2
    assert "--format terminal reports one result" in err
    assert f"schedlab report {folder / 'seed-1'}" in err
    assert cli("report", folder / "seed-1")[0] == 0


def test_help_as_a_word(cli: Cli) -> None:
    assert cli("help") == cli("--help")
    assert "run [OPTIONS] [PLAN]" in cli("help", "run")[1]
    status, _, err = cli("help", "rnu")
    assert (status, "Did you mean run" in err) == (2, True)


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e999"])
@pytest.mark.parametrize("option", ["--from", "--to"])
def test_options_take_finite_numbers(cli: Cli, tmp_path: Path, option: str, value: str) -> None:
    words = ("trace", "smp4", "--benchmark", "SysBenchCpu", "--output", tmp_path / "t")
    status, _, err = cli(*words, option, value)
    assert (status, "is not a finite number" in err or "range" in err) == (2, True)


def test_features_of_a_simulated_kernel(lab: FakeLab) -> None:
    assert lab.call("list", "features", "--kernel", "6.12")[1].split() == ["WA_IDLE", "WA_WEIGHT"]
    status, _, err = lab.call("list", "features", "--kernel", "6.13")
    assert (status, "6.13" in err) == (2, True)
    status, _, err = lab.call("list", "features", "--kernel", "../x")
    assert (status, err.startswith("schedlab: '../x' is not a name; use letters")) == (2, True)
    assert lab.call("list", "suites", "--kernel", "6.12")[0] == 2


def test_simulations_that_all_fail(lab: FakeLab, tmp_path: Path) -> None:
    variants = ("base: sched mode=warn", "no-wa: sched mode=warn; NO_WA_IDLE")
    words = [word for text in variants for word in ("--variant", text)]
    words += ["--target", f"sim:{lab.machine}", "--benchmark", "HackbenchPipeThreads:loops=1"]
    one, two = ((), "every run failed ("), (("--seed", 1, "--seed", 2), "seed-1: ")
    for sweep, said in (one, two):
        out = tmp_path / f"out{len(sweep)}"
        status, _, err = lab.call("run", *words, *sweep, "--blocks", 3, "--output", out)
        assert status == 2
        assert said in err
        assert "kernel WARNING" in err
        assert not list(out.rglob("report.*"))


def test_a_prefix_does_not_reach_the_server() -> None:
    commands = {"Netperf": Command("netperf", server=Server(("netserver",), 1)), "x": Command("x")}
    variants = [parse_variant(text) for text in ("base", "pinned: prefix taskset -c 0")]
    [line] = served(variants, commands)
    assert line.startswith("pinned: prefix and env go with the benchmark's own command")
    assert line.endswith("(Netperf)")
    assert not list(served(variants, {"x": Command("x")}))


def test_one_file_by_two_names_is_set_once() -> None:
    variant = parse_variant("x: sysctl kernel.a=1; sysctl kernel/a=2")
    with pytest.raises(UsageError, match="/proc/sys/kernel/a is set twice"):
        settings(variant)
