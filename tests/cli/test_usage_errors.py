"""What is wrong with a command is said before anything large is loaded."""

import json
import subprocess
import sys

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
)
CODE = """
import json, sys
from schedlab.cli import main

for words in json.loads(sys.argv[1]):
    sys.argv = ["schedlab", *words]
    try:
        main()
    except SystemExit as end:
        assert end.code == 2, words
    loaded = [name for name in ("numpy", "rich", "schedlab.plan.plan") if name in sys.modules]
    assert not loaded, (words, loaded)
"""


def test_mistakes_load_neither_statistics_nor_plans() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE, json.dumps(COMMANDS)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("schedlab: ") == len(COMMANDS)
