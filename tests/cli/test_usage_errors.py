"""What is wrong with a command is said before anything large is loaded."""

import json
import subprocess
import sys

import pytest

from tests.helpers.command_line import Cli

STATISTICS = ("numpy", "rich", "schedlab.targets.target", "schedlab.lab.result")
PLANS = (*STATISTICS, "schedlab.plan.plan")
MACHINES = (*PLANS, "schedlab.machine.model", "schedlab.kernels.build")
TRACE = ("trace", "smp4", "--benchmark", "SysBenchCpu", "--output", "/tmp/schedlab-trace")
AA = ("run", "--suite", "quick", "--aa")
COMMANDS = (
    (
        MACHINES,
        (
            ("run",),
            ("run", "nosuch"),
            ("run", "--suite", "nosuch", "--aa"),
            ("run", "--variant", "A: wa idle"),
            ("run", "--resume", "/nosuch"),
            ("machine", "show", "nosuch"),
            ("report", "/nosuch"),
            ("compare", "/nosuch", "/nosuch"),
            ("overview", "/nosuch", "--output", "/tmp/page"),
            ("merge", "/nosuch", "--output", "/nosuch/out"),
            ("record", "--output", "nosuch"),
            ("run", "--benchmark", "Nosuch"),
            ("run", "--benchmark", "HackbenchPipeThreads", "--variant", "x:y:z"),
            ("kernel", "build", "mine", "--base", "nosuch"),
            ("trace", "stats", "/nosuch"),
        ),
    ),
    (
        PLANS,
        (
            ("cpuidle-smt", "--wcpu", "7000"),
            ("cpuidle-smt", "--wcpu", "7000", "--target", "sim:smt8"),
        ),
    ),
    (STATISTICS, (("run", "/nosuch.toml"),)),
    (
        ("numpy",),
        ((*AA, "--dry-run", "--only", "nosuch"), (*AA, "--dry-run", "--counters", "nosuch")),
    ),
)
"""What each command must not load, those that load least first: one process runs all."""
CODE = """
import json, sys
from schedlab.cli import main

for unwanted, commands in json.loads(sys.argv[1]):
    for words in commands:
        sys.argv = ["schedlab", *words]
        try:
            main()
        except SystemExit as end:
            assert end.code == 2, words
        loaded = [name for name in unwanted if name in sys.modules]
        assert not loaded, (words, loaded)
"""


def test_mistakes_load_neither_statistics_nor_what_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE, json.dumps(COMMANDS)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("schedlab: ") == sum(len(commands) for _, commands in COMMANDS)


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--suite", "quick", "--aa", "--blocks", "0"),
        ("run", "--suite", "quick", "--aa", "--timeout", "5"),
        ("run", "--suite", "quick", "--aa", "--budget", "x"),
        ("run", "--suite", "quick", "--aa", "--margin", "nan"),
        ("run", "--suite", "quick", "--aa", "--looks", "a"),
        ("run", "--suite", "quick", "--aa", "--seed", "-1"),
        ("trace", "smp4", "--benchmark", "SysBenchCpu", "--output", "t", "--timeout", "10"),
        ("record", "--output", "x.gz", "--duration", "2h"),
        ("check", "--budget", "0s"),
        ("report", "/", "--platform"),
    ],
)
def test_a_wrong_option_is_refused_by_its_name(cli: Cli, words: tuple[str, ...]) -> None:
    status, _, err = cli(*words)
    option = [word for word in words if word.startswith("--")][-1]
    assert (status, option in err) == (2, True), err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("kernel", "bild"), "no sub-command of kernel is called 'bild'. Did you mean build?"),
        (("help", "kernel", "bild"), "Did you mean build?"),
        (("help", "run", "x"), "run has no sub-commands"),
        (("list", "machines"), "`schedlab machine list` lists the machines"),
        (("trace", "smp4", "--output", "/nosuch/x"), "'--output': there is no folder '/nosuch'"),
        (("overview", "/", "--output", "/nosuch/x"), "'--output': there is no folder '/nosuch'"),
        (("report", "/", "--format", "html", "--output", "-"), "'-' is not the name of a file"),
        (("report", "/", "--format", "csv", "--counters", "all"), "--counters changes nothing in"),
        ((*AA, "--suite", "hackbench"), "--suite is given more than once"),
        (("run", "--benchmark", "Redis", "--aa", "--client", "host"), "host is the target itself"),
        ((*TRACE, "--cpus", "2-99"), "--cpus: 4-99 is not within 0-3"),
        ((*TRACE, "--from", "5", "--to", "1"), "--to 1: the trace would end before it begins"),
        ((*TRACE, "--from", "-5"), "'--from': -5.0 is not in the range"),
    ],
)
def test_a_slip_is_named(cli: Cli, words: tuple[str, ...], message: str) -> None:
    status, _, err = cli(*words)
    assert (status, message in err) == (2, True), err


def test_a_page_of_the_manual_and_one_called_like_it(cli: Cli) -> None:
    manual = cli("docs", "scx")[1]
    assert manual == cli("docs", "docs/manual/scx.md")[1]
    assert manual != cli("docs", "studies/scx")[1] == cli("docs", "docs/studies/scx.md")[1]
    assert cli("docs", "studies/plans")[0] == 2


def test_the_help_of_a_sub_command(cli: Cli) -> None:
    assert "--base" in cli("help", "kernel", "build")[1]
    for simulating in ("series", "bisect"):
        printed = cli("help", simulating)[1]
        assert ("sim:MACHINE. With" in printed, "--client" in printed) == (True, False)
