"""A host whose files are below a folder, while its processes are real."""

from pathlib import Path

from schedlab.base.system import LocalSystem
from tests.helpers.emulated import SMALL_SERVER
from tests.helpers.sysfs_tree import write


class RootedSystem(LocalSystem):
    """Files below a folder, the journal too; real processes."""

    def is_root(self) -> bool:
        """Return True: every file below the folder can be written."""
        return True


def small_server(root: Path) -> Path:
    """Write the files of a small server that has run for a moment."""
    write(root, SMALL_SERVER)
    (root / "proc/stat").write_text("cpu  100 0 50 1000 0 0 0 0 0 0\nctxt 1000\n")
    return root
