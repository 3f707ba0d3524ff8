"""Where the data that comes with schedlab is: suites, machines, patches, the engine."""

from pathlib import Path

_PACKAGE = Path(__file__).parent


def data_folder(name: str) -> Path:
    """Give a data folder: inside an installed package, or at the top of the source tree."""
    installed = _PACKAGE / "data" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name
