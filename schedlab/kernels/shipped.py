"""schedlab's own kernel patches, by the sched features they add (docs/patches.md).

Those in `patches/published` bring changes that others published figures of into a tree of another
age (docs/accuracy.md).
"""

import re
from pathlib import Path

from schedlab.data import data_folder
from schedlab.errors import nearest
from schedlab.kernels import KernelError

_ADDED_FEATURE = re.compile(r"^\+SCHED_FEAT\((\w+),", re.M)


def shipped_patches(series: str) -> dict[str, Path]:
    """Return the patches for a series, by feature; one patch may add several.

    A patch that adds none, because it changes code outside the scheduler, goes by its file's name.
    """
    found = {}
    folder = data_folder("patches")
    for place in (folder / series, folder / "published" / series):
        for path in sorted(place.glob("*.patch")):
            text = path.read_text(encoding="utf-8")
            for name in _ADDED_FEATURE.findall(text) or [path.stem]:
                found[name] = path
    return found


def find_patch(given: str, series: str) -> Path:
    """Return the patch that a feature's name or a path stands for.

    Raises:
        KernelError: neither a patch of ours nor a file is called so.
    """
    shipped = shipped_patches(series)
    path = Path(given)
    if given in shipped:
        return shipped[given]
    if path.exists() or path.suffix or path.name != given:
        return path
    raise KernelError(
        f"{given}: there is no such patch file, and no patch of schedlab's for {series} adds such"
        f" a feature.{nearest(given, shipped)}\n  Features of its patches: {', '.join(shipped)}."
    )
