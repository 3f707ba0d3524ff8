"""Looking at other processes."""

from pathlib import Path


def is_alive(pid: int) -> bool:
    """Return whether a process runs; a dead one may wait to be reaped."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] not in "ZX"
