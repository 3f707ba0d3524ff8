"""Names from elsewhere never lead out of their folder, whatever links the folder holds."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.base.errors import OutsideError
from schedlab.base.system.inside import followed, inside, parts

WHERE = "list.txt:7"

BAD = {
    "": "is empty",
    "/etc/passwd": "is absolute",
    "//x": "is absolute",
    "..": "has '..' in it",
    "a/../b": "has '..' in it",
    "a/..": "has '..' in it",
    ".": "is not plain",
    "./a": "is not plain",
    "a//b": "is not plain",
    "a/": "is not plain",
    "a\nb": "has a control character in it",
    "a\0b": "has a control character in it",
    "a\x1b[31m": "has a control character in it",
    "x" * 256: "is too long",
    "/".join(["x"] * 3000): "is too long",
    "\ud800": "cannot be written",
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("place", [inside, followed])
def test_names_that_are_refused(
    place: Callable[[Path, str, object], Path], name: str, tmp_path: Path
) -> None:
    with pytest.raises(OutsideError) as refused:
        place(tmp_path, name, WHERE)
    said = str(refused.value)
    assert said.startswith(f"{WHERE}: the name ") and BAD[name] in said
    assert said.isascii() and said.count("\n") == 1


@pytest.mark.parametrize("name", ["a", "a/b.c", "..a", "a..", ".a", "...", "é", "\udcff", "a b*?"])
def test_names_that_are_taken(name: str, tmp_path: Path) -> None:
    assert inside(tmp_path, name, WHERE) == followed(tmp_path, name, WHERE) == tmp_path / name


def test_links(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "real").mkdir(parents=True)
    (folder / "out").symlink_to(tmp_path)
    (folder / "in").symlink_to("real")
    (folder / "round").symlink_to("round")
    for name in ("out/x", "in/x", "round/x"):
        with pytest.raises(OutsideError, match=f"goes through the link {folder}/"):
            inside(folder, name, WHERE)
    assert inside(folder, "out", WHERE) == folder / "out", "the link itself, to be replaced"
    assert followed(folder, "in/x", WHERE) == folder / "in/x"
    for name in ("out", "out/x"):
        with pytest.raises(OutsideError, match="leads out of"):
            followed(folder, name, WHERE)


def test_the_folder_itself_may_be_reached_by_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    for place in (inside, followed):
        place(tmp_path / "link", "a/b", WHERE).parent.mkdir(exist_ok=True)
    assert (tmp_path / "real/a").is_dir()


PART = st.sampled_from(["a", "b", "c", "..", ".", "", "a\n", "~", "\0", "x" * 256])
NAME = st.one_of(st.lists(PART, max_size=5).map("/".join), st.text(max_size=8))
TARGET = st.sampled_from([".", "..", "a", "b/c", "../..", "/", "/tmp", "a/../../..", "c/../.."])
STEP = st.tuples(st.sampled_from(["file", "folder", "link"]), NAME, TARGET)


@settings(max_examples=300, deadline=None)
@given(st.lists(STEP, max_size=12))
def test_whatever_was_made_before_nothing_is_made_outside(
    steps: list[tuple[str, str, str]],
) -> None:
    """Files, folders and links, to any target, are made one after the other where `inside` says."""
    with tempfile.TemporaryDirectory() as scratch:
        top = Path(scratch)
        folder = top / "one/two/folder"
        folder.mkdir(parents=True)
        for kind, name, target in steps:
            try:
                place = inside(folder, name, WHERE)
                assert parts(name, WHERE) == list(place.relative_to(folder).parts)
                place.parent.mkdir(parents=True, exist_ok=True)
                if kind == "folder":
                    place.mkdir()
                elif kind == "link":
                    place.symlink_to(target)
                else:
                    place.unlink(missing_ok=True)
                    with place.open("x") as file:
                        file.write("hostile")
            except (OutsideError, OSError):
                pass
            try:
                read = os.path.realpath(followed(folder, name, WHERE))
                assert read == str(folder) or read.startswith(f"{folder}/")
            except OutsideError:
                pass
        outside = {path for path in top.rglob("*") if not path.is_relative_to(folder)}
        assert outside == {top / "one", top / "one/two"}
