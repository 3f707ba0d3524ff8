"""Where the data that comes with schedlab is: suites, machines, patches, the engine."""

from pathlib import Path

from schedlab.base.errors import UsageError, nearest
from schedlab.base.words import first_of

_PACKAGE = Path(__file__).parents[1]


def data_folder(name: str) -> Path:
    """Return a data folder: inside an installed package, or at the top of the source tree."""
    installed = _PACKAGE / "data" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


def manual_pages() -> dict[str, Path]:
    """Return the pages of the manual by name: of docs/manual first, then of the other folders.

    A page called like one before it is named with its folder: `studies/scx`.
    """
    docs = data_folder("docs")
    folders = sorted(docs.glob("*/"), key=lambda folder: (folder.name != "manual", folder.name))
    pages: dict[str, Path] = {}
    for path in (path for folder in folders for path in sorted(folder.glob("*.md"))):
        pages[f"{path.parent.name}/{path.stem}" if path.stem in pages else path.stem] = path
    return pages


_LISTED_BY = {
    "machines": "schedlab machine list",
    "plans": "schedlab list plans",
    "suites": "schedlab list suites",
}


def known_names(folder: str) -> list[str]:
    """Return the names of the TOML files of a data folder."""
    return sorted(path.stem for path in data_folder(folder).glob("*.toml"))


def is_path(which: str, suffix: str = ".toml") -> bool:
    """Return whether a user gave a file, and not a name: it has a folder, or ends as files do."""
    return "/" in which or which.endswith(suffix)


def machine_file(which: str) -> Path:
    """Return the file of a machine that comes with schedlab, by name, or the file itself.

    Raises:
        UsageError: there is no such machine. The functions below raise it for their kinds.
    """
    return _file("machines", which, "no machine is")


def plan_file(which: str) -> Path:
    """Return the file of a plan that comes with schedlab, by name, or the file itself."""
    return _file("plans", which, "no plan is")


def suite_file(which: str) -> Path:
    """Return the file of a suite that comes with schedlab, by name, or the file itself."""
    return _file("suites", which, "no suite is")


def published_file(which: str) -> Path:
    """Return the file of published results that come with schedlab, by name, or the file itself."""
    return _file("published", which, "no published results are")


def _file(folder: str, which: str, none_is: str) -> Path:
    return Path(which) if is_path(which) else named_file(folder, which, none_is)


def named_file(folder: str, name: str, none_is: str) -> Path:
    """Return the TOML file of that name in a data folder.

    Raises:
        UsageError: there is none; `none_is` begins the sentence: `no suite is`.
    """
    known = known_names(folder)
    if name not in known:
        listed = f"There are: {first_of(known)}" if known else "None comes with this schedlab"
        command = _LISTED_BY.get(folder)
        advice = f" `{command}` says what each is for." if command else ""
        raise UsageError(
            f"{none_is} called '{name}'.{nearest(name, known)}"
            f"\n  {listed}; or give a file, PATH.toml.{advice}"
        )
    return data_folder(folder) / f"{name}.toml"
