"""What is wrong with a command is said before anything large is loaded."""

import json
import subprocess
import sys

ALWAYS = ("numpy", "rich", "schedlab.plan.plan", "schedlab.targets.target")
MODELS = ("schedlab.machine.model", "schedlab.kernels.build")
COMMANDS = (
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
    ("run", "--benchmark", "Nosuch"),
    ("run", "--benchmark", "HackbenchPipeThreads", "--variant", "x:y:z"),
    ("kernel", "build", "mine", "--base", "nosuch"),
    ("cpuidle-smt", "--wcpu", "7000"),
    ("cpuidle-smt", "--wcpu", "7000", "--target", "sim:smt8"),
)
"""Those that need neither the model of a machine nor what builds kernels come first."""
DESCRIBED = 2
"""The last ones look at a machine."""
CODE = """
import json, sys
from schedlab.cli import main

commands, always, models, described = json.loads(sys.argv[1])
for number, words in enumerate(commands):
    sys.argv = ["schedlab", *words]
    try:
        main()
    except SystemExit as end:
        assert end.code == 2, words
    unwanted = always if number >= len(commands) - described else always + models
    loaded = [name for name in unwanted if name in sys.modules]
    assert not loaded, (words, loaded)
"""


def test_mistakes_load_neither_statistics_nor_what_runs() -> None:
    asked = (COMMANDS, ALWAYS, MODELS, DESCRIBED)
    done = subprocess.run(
        [sys.executable, "-c", CODE, json.dumps(asked)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("schedlab: ") == len(COMMANDS)
