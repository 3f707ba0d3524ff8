"""The files of checks, by name."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from schedlab.base.data import data_folder, is_path
from schedlab.base.errors import UsageError, nearest
from schedlab.base.validation import read_toml

_SCENARIOS = "scenarios"
"""The folder of the checks that come with schedlab."""


def check_files(named: Sequence[str]) -> list[Path]:
    """Return the checks of files, folders and names, each once; without any, all of schedlab's.

    Raises:
        UsageError: something is not there, or has no checks in it.
    """
    found: dict[Path, None] = {}
    for word in named or [str(data_folder(_SCENARIOS))]:
        for path in _files(word):
            found[path.resolve()] = None
    return list(found)


def known_checks() -> dict[str, Path]:
    """Return the files of the checks that come with schedlab, by name."""
    return {path.stem: path for path in _below(data_folder(_SCENARIOS))}


def _files(word: str) -> Iterable[Path]:
    path = Path(word)
    if path.is_dir():
        files = [file for file in _below(path) if not _is_machine(file)]
        if not files:
            raise UsageError(f"{path}: has no checks: no file *.toml.")
        return files
    if path.is_file():
        return [path]
    known = known_checks()
    if word in known:
        return [known[word]]
    folder = data_folder(_SCENARIOS) / word
    if folder.is_dir():
        return list(_below(folder))
    if is_path(word):
        return [path]
    raise UsageError(
        f"no check is called '{word}', and it is not a file or folder.{nearest(word, known)}"
        f"\n  `schedlab check --list` names those that come with schedlab."
    )


def _below(folder: Path) -> Iterable[Path]:
    return sorted(folder.rglob("*.toml"), key=lambda path: (path.parent, path.name))


def _is_machine(path: Path) -> bool:
    """Return whether a file beside checks is a machine's; one that cannot be read is a check."""
    try:
        keys = read_toml(path).keys()
    except UsageError:
        return False
    return "topology" in keys and not keys & {"scenario", "benchmark", "expect"}
