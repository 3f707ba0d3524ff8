"""Benchmarks that a plan makes of commands."""

from pathlib import Path
from typing import Any

import pytest

from schedlab.base.errors import UsageError
from schedlab.base.validation import validate
from schedlab.lab.result import Lab, begin, prepare
from schedlab.machine.model import find_machine
from schedlab.plan.plan import Plan, load_plan
from tests.helpers.command_line import Cli

METRIC = {"name": "throughput", "regex": "thr: ([0-9.]+)", "unit": "req/s", "better": "higher"}
ENTRY = {"name": "my-app", "command": "./my-app --threads 4", "metrics": [METRIC]}


def plan_with(**changes: Any) -> Plan:
    entry = {key: value for key, value in {**ENTRY, **changes}.items() if value is not None}
    data = {"benchmark": [entry], "variant": [{"name": "a"}, {"name": "b"}], "aa": True}
    return validate(data, Plan, "plan.toml")


def test_an_aa_plan_names_its_variants_itself(tmp_path: Path) -> None:
    plan = validate({"benchmark": [ENTRY], "aa": True}, Plan, "plan.toml")
    assert [variant.name for variant in plan.variant] == ["A1", "A2"]
    place = tmp_path / "plan.toml"
    place.write_text(plan.to_toml())
    assert load_plan(place) == plan
    with pytest.raises(UsageError, match="variant: is missing"):
        validate({"benchmark": [ENTRY]}, Plan, "plan.toml")


def test_a_plan_with_a_command_is_written_and_read_again(tmp_path: Path) -> None:
    plan = plan_with(setup=["make data"], teardown=["rm -r data"], timeout="5s")
    place = tmp_path / "plan.toml"
    place.write_text(plan.to_toml())
    assert load_plan(place) == plan


def test_its_command_is_split_as_a_shell_would() -> None:
    plan = plan_with(command="sh -c './my-app | grep \"a b\"' '*'")
    [case] = plan.cases(find_machine("hikey960"))
    assert case.commands[0].argv == ("sh", "-c", './my-app | grep "a b"', "*")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"command": "./a | b"}, "'|' is for a shell, and the command is started without one"),
        ({"command": "./a | b"}, "sh -c './a | b'"),
        ({"command": './a "$HOME"'}, "'$' is for a shell"),
        ({"command": "./a *.txt"}, "'*' is for a shell"),
        ({"command": "./a\n./b"}, r"'\n' is for a shell"),
        ({"command": "./a 'x"}, "cannot be split into words: No closing quotation"),
        ({"command": " "}, "the command is empty"),
        ({"command": "A=1 ./a"}, "write it as 'env A=1 ./a'"),
        ({"command": "./a \0"}, "NUL"),
        ({"command": None}, "benchmark[0].command: is missing"),
        ({"metrics": None}, "benchmark[0].metrics: is missing"),
        ({"metrics": []}, "benchmark[0].metrics: a list of 1 or more entries is expected"),
        ({"metrics": [METRIC, METRIC]}, "two metrics are called 'throughput'"),
        ({"metrics": [{**METRIC, "regexp": "x"}]}, "unknown key. Did you mean regex"),
        ({"name": "HackbenchForkPipes"}, "is a benchmark of schedlab's"),
        ({"timeout": "5"}, "benchmark[0].timeout: '5' is not a duration"),
        ({"setup": "make"}, "benchmark[0].setup: a list"),
        ({"setup": ["a; b"]}, "benchmark[0].setup[0]: ';' is for a shell"),
        ({"params": {}}, "benchmark[0].params: unknown key"),
    ],
)
def test_what_is_wrong_with_one_is_said(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(UsageError) as error:
        plan_with(**changes)
    assert reason in str(error.value)


def test_simulated_machines_refuse_it_and_say_what_to_do() -> None:
    plan = plan_with().model_copy(update={"target": "sim:hikey960"})
    target, cases = prepare(plan, Lab())
    with pytest.raises(UsageError) as error:
        begin(plan, cases, target, Path("nowhere"), Lab())
    assert "it simulates what they do" in str(error.value)
    assert "--workload FILE.json" in str(error.value)
    assert not Path("nowhere").exists()


def test_the_command_line_makes_one(cli: Cli) -> None:
    options = ["--metric", "thr: ([0-9.]+) req/s higher", "--aa", "--dry-run"]
    status, out, _ = cli("run", "--command", "sh -c 'echo thr: 1'", *options)
    assert (status, "sh [A1]\n  sh -c 'echo thr: 1'" in out) == (0, True)
    status, _, err = cli("run", "--command", "sh", "--aa")
    assert (status, "add --metric; say what to read" in err) == (2, True)
    status, _, err = cli("run", *options)
    assert (status, "go together: add --command." in err) == (2, True)
