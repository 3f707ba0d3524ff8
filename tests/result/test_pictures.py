"""Pictures of runs as they are read back: whole ones, and files that are wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from schedlab.base.errors import UsageError
from schedlab.result.pictures import pictured
from schedlab.result.record import RunKey, RunRecord


def whole() -> dict[str, Any]:
    cpu = {"cpu": 0, "core": 0, "llc": 0, "node": 0, "idle": "4 10", "busy": {"hog": "6 0"}}
    return {
        "picture": {"bin_ns": 10, "bins": 2, "cpus": [cpu], "migrations": [[0, 0, 3]]},
        "wakeup_latency": {"count": 3, "buckets": [[1, 1], [8, 2]]},
    }


def run(folder: Path, text: str, raw: str = "raw/r") -> RunRecord:
    (folder / "raw/r").mkdir(parents=True, exist_ok=True)
    (folder / "raw/r/result.json").write_text(text)
    return RunRecord(key=RunKey("b", "base", 0), position=0, seed=1, command="", raw=raw)


def test_a_picture_is_read(tmp_path: Path) -> None:
    found = pictured(tmp_path, run(tmp_path, json.dumps(whole())))
    assert found
    assert found.picture.cpus[0].busy == {"hog": (6, 0)}


def test_nothing_is_read_outside_of_the_result(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    run(tmp_path, json.dumps(whole()))
    assert pictured(tmp_path / "in", run(tmp_path / "in", "{}", "../raw/r")) is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("idle", "4"),
        ("idle", "5 10"),
        ("idle", "1e9 x"),
        ("idle", "9" * 5000),
        ("llc", 1 << 40),
        ("busy", {str(n): "0 0" for n in range(99)}),
    ],
)
def test_wrong_rows_are_refused(tmp_path: Path, key: str, value: Any) -> None:
    data = whole()
    data["picture"]["cpus"][0][key] = value
    with pytest.raises(UsageError, match=r"result\.json"):
        pictured(tmp_path, run(tmp_path, json.dumps(data)))


def test_what_is_not_json_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not JSON"):
        pictured(tmp_path, run(tmp_path, '{"picture": ' + "[" * 100_000))
