"""The data that comes with schedlab."""

from pathlib import Path

import pytest

from schedlab.base import data


def test_pages_are_those_of_every_folder_of_docs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for page in ("manual/plans", "internals/engine", "a-new-folder/talk", "internals/plans"):
        (tmp_path / page).parent.mkdir(exist_ok=True)
        (tmp_path / f"{page}.md").touch()
    monkeypatch.setattr(data, "data_folder", {"docs": tmp_path}.__getitem__)
    assert list(data.manual_pages()) == ["plans", "talk", "engine", "internals/plans"]
