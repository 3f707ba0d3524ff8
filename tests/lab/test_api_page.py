"""docs/manual/api.md: its examples work, and all it names is there."""

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

from schedlab.result.store import Store
from tests.helpers.emulated import emulated_host

PAGE = Path(__file__).parents[2] / "docs/manual/api.md"


def test_the_examples_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    host = emulated_host(tmp_path / "host")
    monkeypatch.chdir(tmp_path)
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL))
    assert code.count('"target": "host"') == 1
    names: dict[str, Any] = {"__name__": "page"}
    exec(code.replace('"target": "host"', f'"target": "emulated:{host}"'), names)
    hackbench, pipe = names["rows"]
    assert (hackbench["benchmark"], hackbench["variant"]) == ("HackbenchPipeThreads", "nb-off")
    assert hackbench["verdict"] == "better", "it takes 0.9 of the time on this host"
    assert hackbench["low"] < hackbench["change"] < hackbench["high"]
    assert pipe["metric"] == "time"
    assert len(names["times"]) == 6
    assert "nb-off" in names["mail"]
    assert "." * 24 in capsys.readouterr().out
    again = Store.open(tmp_path / "results" / "again")
    assert again.invocation == "notebook of 3 March"
    again.close()


def test_what_the_page_names_is_there() -> None:
    found = re.findall(r"`(schedlab(?:\.\w+)+)", PAGE.read_text())
    assert len(found) > 10
    for name in found:
        module, _, last = name.rpartition(".")
        there = hasattr(importlib.import_module(module), last)
        assert there or importlib.import_module(name), name
