"""What is wrong with a command is said before anything large is loaded."""

import json
import subprocess
import sys

import pytest

from tests.helpers.command_line import Cli

STATISTICS = ("numpy", "rich", "schedlab.targets.target", "schedlab.lab.result")
PLANS = (*STATISTICS, "schedlab.plan.plan")
MACHINES = (*PLANS, "schedlab.machine.model", "schedlab.kernels.build")
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
            ("overview", "/nosuch", "--output", "/nosuch/page"),
            ("merge", "/nosuch", "--output", "/nosuch/out"),
            ("record", "--output", "nosuch"),
            ("run", "--benchmark", "Nosuch"),
            ("run", "--benchmark", "HackbenchPipeThreads", "--variant", "x:y:z"),
            ("kernel", "build", "mine", "--base", "nosuch"),
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
