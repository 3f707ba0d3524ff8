"""Text that came from outside never acts on a terminal: no shape, no message lets it through."""

import json
import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from schedlab.report import all_shapes
from schedlab.result.store import Store
from tests.helpers.command_line import Cli
from tests.helpers.report_store import HACKBENCH, PLATFORM, TIME, make_store

HOSTILE = "a\x1b[31mb\x9b2Jc\u202ed\u2066e\x07f\x85g\x7fh"
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b-\u200f]")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    metric = replace(TIME, name=f"time {HOSTILE}", unit=HOSTILE, label=HOSTILE)
    bench = replace(
        HACKBENCH,
        label=f"Hackbench {HOSTILE}",
        command=f"hackbench {HOSTILE}",
        metric=metric,
        counters={f"sched:{HOSTILE}": 1000.0},
        failing={("NB-OFF", 2): HOSTILE},
        caveats=(HOSTILE,),
        summary=HOSTILE,
    )
    place = tmp_path / HOSTILE
    make_store(
        place,
        [bench],
        nr_blocks=7,
        notices=[HOSTILE],
        environment=PLATFORM | {HOSTILE: HOSTILE},
        invocation=HOSTILE,
    ).close()
    return place


@pytest.mark.parametrize("shape", [*all_shapes(), "overview", "compare"])
def test_no_shape_lets_it_through(cli: Cli, folder: Path, tmp_path: Path, shape: str) -> None:
    page = tmp_path / "page"
    if shape == "compare":
        status, text, err = cli("compare", folder, folder)
    elif shape == "overview":
        status, text, err = cli("overview", folder, "--output", page)
    else:
        status, text, err = cli("report", folder, "--format", shape, "--output", page)
    assert status == 0, err
    assert not ACTS.search(text + err)
    if page.is_file() and shape != "csv":
        assert not ACTS.search(page.read_text())


@pytest.mark.parametrize("shape", ["html", "markdown", "terminal", "lkml"])
def test_names_of_boots(cli: Cli, tmp_path: Path, shape: str) -> None:
    lines = [
        f"x,{variant},{boot},metric,time,{1 + boot},lower,{HOSTILE}{boot}"
        for boot in range(2)
        for variant in ("a", "b")
    ]
    path = tmp_path / "r.csv"
    path.write_text("\n".join(["benchmark,variant,block,kind,name,value,better,boot", *lines]))
    assert cli("import", path, "--output", tmp_path / "out")[0] == 0
    page = tmp_path / "page"
    assert cli("report", tmp_path / "out", "--format", shape, "--output", page)[0] == 0
    assert not ACTS.search(page.read_text())


def on_a_terminal(*words: object) -> str:
    """Run a command in a process whose output is a terminal."""
    leader, end = pty.openpty()
    command = [sys.executable, "-m", "schedlab", *map(str, words)]
    with subprocess.Popen(command, stdout=end):
        os.close(end)
        text = b""
        with suppress(OSError):  # how a terminal says that nobody writes to it any more
            while part := os.read(leader, 65536):
                text += part
    os.close(leader)
    return text.decode().replace("\r\n", "\n")


def test_csv_is_exact_in_a_pipe_and_harmless_on_a_terminal(cli: Cli, folder: Path) -> None:
    _, text, _ = cli("report", folder, "--format", "csv")
    assert HOSTILE in text
    shown = on_a_terminal("report", folder, "--format", "csv")
    assert "x1b[31m" in shown
    assert not ACTS.search(shown)


def test_json_is_exact_and_harmless(cli: Cli, folder: Path) -> None:
    _, text, _ = cli("report", folder, "--format", "json")
    assert not ACTS.search(text)
    assert HOSTILE in json.loads(text)["environment"]


@pytest.mark.parametrize(
    "content",
    [
        HOSTILE,
        f"benchmark,variant,block,kind,name,value,better\n{HOSTILE},{HOSTILE},0,metric,t,1,lower\n",
        f"benchmark,variant,block,kind,name,value,better\nx,a,0,metric,t,{HOSTILE},lower\n",
        f"## {HOSTILE}\n|Test|Time|\n|{HOSTILE}-0-0|1|\n",
        f"Test: tip patch\n{HOSTILE}: 4.99 (0.00 pct) 0 (1 pct)\n",
        json.dumps({"schema": "schedlab-report/1", "plan": {HOSTILE: HOSTILE}}),
    ],
)
def test_messages_of_import(cli: Cli, tmp_path: Path, content: str) -> None:
    path = tmp_path / HOSTILE
    path.write_text(content)
    status, text, err = cli("import", path, "--output", tmp_path / "out")
    assert status == 2
    assert "x1b[31m" in err
    assert not ACTS.search(text + err)
    assert not (tmp_path / "out").exists()


def test_other_messages(cli: Cli, folder: Path) -> None:
    Store.open(folder).close()
    for words in (
        ["report", HOSTILE],
        ["report", folder, "--format", HOSTILE],
        ["run", "--resume", HOSTILE],
        ["run", "--benchmark", HOSTILE, "--aa"],
        ["compare", HOSTILE, folder],
        [HOSTILE],
    ):
        status, text, err = cli(*words)
        assert status == 2
        assert err
        assert not ACTS.search(text + err), words
