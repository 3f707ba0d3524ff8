"""`schedlab cpuidle-smt`, end to end: on an emulated host, and on this one."""

import json
from pathlib import Path
from typing import Any

import pytest

from schedlab.base.errors import HostError, KnobError
from schedlab.judging.analysis import analyse
from schedlab.kernels.native import CPUIDLE_SMT_PERFORMANCE, cpuidle_smt_performance
from schedlab.report import Report, all_shapes
from schedlab.result.store import Store
from schedlab.settings.switchboard import Switchboard
from schedlab.settings.variant import parse_variant
from tests.helpers.command_line import Cli
from tests.helpers.cpuidle_smt import needs_two_cpus
from tests.helpers.emulated import emulated_host, emulated_system

TOOLS = {CPUIDLE_SMT_PERFORMANCE: ""}


@pytest.fixture
def cli(cli: Cli) -> Cli:
    """The command line with its sub-command already named."""
    return lambda *words: cli("cpuidle-smt", *words)


def recorded(**figures: Any) -> str:
    """What the tool writes, as far as the lab reads it; the throughput is left open."""
    results = {
        "wakeup latency mean": 8.2,
        "wakeup latency p50": 7.0,
        "wakeup latency p99": 20.0,
        "sleep duration mean": 16.0,
        "wake period": 16.5,
        "missed periods": 3,
        "WFI usage": 5.0,
        "WFI time": 100.0,
        "WFI share": 40.0,
        **figures,
    }
    entries = [{"name": name, "value": value, "unit": ""} for name, value in results.items()]
    text = json.dumps({"results": [{"name": "throughput", "value": 1234.5}, *entries]})
    return text.replace("1234.5", "@VALUE@")


@pytest.fixture
def host(tmp_path: Path) -> str:
    programs = [
        {
            "match": CPUIDLE_SMT_PERFORMANCE,
            "stdout": recorded(),
            "value": 50.0,
            "effect": [
                {
                    "file": "/sys/devices/system/cpu/cpu2/cpuidle/state2/disable",
                    "holds": "1",
                    "times": 0.8,
                }
            ],
        }
    ]
    return f"emulated:{emulated_host(tmp_path / 'host', programs=programs, tools=TOOLS)}"


def test_it_chooses_cpus_and_leaves_out_the_deepest_state(
    cli: Cli, host: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    status, text, err = cli(
        *("--target", host, "--periods", "100,10,20", "--blocks", 6, "--output", out)
    )
    assert status == 0, err
    assert "note: workload on CPU 1, irritators on 2, waker on 3; no SMT" in err
    store = Store.open(out)
    assert [case.label for case in store.cases] == [
        f"cpuidle-smt-{period}-period" for period in (10, 20, 100)
    ]
    assert "--wcpu 1 --icpu 2 --acpu 3 --period 10 --timeout 5" in store.cases[0].command
    [_, deep] = store.plan.variant
    assert deep.name == "no-CLUSTER_SLEEP_0"
    [record] = [r for r in store.records() if r.key.variant == deep.name][:1]
    assert record.settings == {"cpuidle CLUSTER_SLEEP_0 disable": "1"}
    assert record.counters["cpuidle-smt:WFI:share"] == 40.0
    assert record.counters["cpuidle-smt:periods:missed"] == 3.0
    assert "throughput: worse at 10 to 100 us" in text
    assert "40.00" in all_shapes()["markdown"].render(Report(store, analyse(store)))


def test_an_interrupted_sweep_goes_on(cli: Cli, host: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("--target", host, "--periods", "10,20", "--blocks", 2, "--output", out)
    assert cli(*words)[0] == 0
    status, _, err = cli("--resume", out)
    assert status == 0, err
    status, _, err = cli("--resume", out, "--periods", 5)
    assert (status, "--resume takes its plan from DIR" in err) == (2, True)


def test_states_are_left_alone_where_there_are_none(cli: Cli, host: str) -> None:
    status, text, err = cli("--target", host, "-i", "6", "--dry-run", "--periods", 10)
    assert status == 0, err
    assert "these CPUs do not have two idle states to compare, so this is an A/A run" in err
    assert "--wcpu 1 --icpu 6 --acpu 3" in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--periods", "0"], "0 us is not a period"),
        (["--periods", "10,fast"], "write whole microseconds as 10,20,50"),
        (["--icpu", "9-"], "'9-' is not a CPU list"),
        (["--icpu", "77"], "--icpu: kunpeng-920-8-cpus has no CPU 77; it has 0-7"),
        (["--wcpu", "9999"], "--wcpu: CPU 9999 is beyond"),
        (["--wcpu", "1-2"], "one CPU is expected here"),
        (["--time", "0"], "is not a duration"),
        (["--target", "sim:nowhere"], "nowhere"),
        (["--aa", "--variant", "x: idle-governor"], "write it as"),
    ],
)
def test_what_cannot_be_is_refused(cli: Cli, host: str, words: list[str], said: str) -> None:
    target = [] if "--target" in words else ["--target", host]
    status, _, err = cli(*target, "--dry-run", *words)
    assert (status, said in err) == (2, True), err


def test_another_idle_governor_is_a_variant(tmp_path: Path) -> None:
    system = emulated_system(tmp_path / "host")
    teo = parse_variant("teo: idle-governor teo")
    with pytest.raises(KnobError, match="no cpuidle governors to choose from"):
        Switchboard(system, [teo])
    folder = system.path("/sys/devices/system/cpu/cpuidle")
    folder.mkdir(parents=True)
    (folder / "current_governor").write_text("menu\n")
    (folder / "available_governors").write_text("ladder menu teo \n")
    with Switchboard(system, [teo]).applied(teo) as settings:
        assert settings == {"cpuidle governor": "teo"}
    assert system.read("/sys/devices/system/cpu/cpuidle/current_governor") == "menu"
    with pytest.raises(KnobError, match=r"Did you mean teo.* It has: ladder, menu, teo"):
        Switchboard(system, [parse_variant("x: idle-governor teoo")])


@needs_two_cpus
def test_it_measures_on_this_host(cli: Cli, tmp_path: Path) -> None:
    try:
        cpuidle_smt_performance()
    except HostError as error:
        pytest.skip(str(error))
    out = tmp_path / "out"
    status, text, err = cli(
        *("--aa", "--periods", "50,200", "--time", "100ms", "--blocks", 2, "--warmup", 0),
        *("--no-counters", "--output", out),
    )
    assert status == 0, err
    store = Store.open(out)
    assert [r.error for r in store.records() if r.status != "ok"] == []
    assert all(r.counters["cpuidle-smt:wakes-every:us"] > 50 for r in store.records())
    assert "Wakeup period" in text


def test_one_cpu_in_two_roles_is_refused_before_any_run(cli: Cli) -> None:
    words = ("--target", "sim:smt8", "--wcpu", "0", "--icpu", "0,1")
    status, _, err = cli(*words)
    assert (status, "--icpu 0,1: the workload is on CPU 0." in err) == (2, True), err
