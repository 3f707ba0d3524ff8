"""schedlab's own kernel patches, by the sched features they add (docs/manual/patches.md).

Those in `patches/published` bring changes that others published figures of into a tree of another
age (docs/studies/accuracy.md).
"""

import re
import tomllib
from pathlib import Path

from schedlab.base.data import data_folder
from schedlab.base.errors import nearest
from schedlab.base.system.system import natural
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
    merged = _merged().get(given)
    if merged and natural(series) >= natural(merged["since"]):
        raise KernelError(
            f"{given}: Linux {series} needs no patch for it: since {merged['since']} the kernel"
            f" always does so (commit {merged['commit']})."
        )
    others = [other for other in patched_series() if given in shipped_patches(other)]
    elsewhere = f" There is one for {' and '.join(others)}." if others else ""
    raise KernelError(
        f"{given}: there is no such patch file, and no patch of schedlab's for {series} adds such"
        f" a feature.{elsewhere or nearest(given, shipped)}"
        f"\n  Features of its patches: {', '.join(shipped) or 'none'}."
    )


def _merged() -> dict[str, dict[str, str]]:
    """Return the features that later kernels have without a patch, as merged.toml lists them."""
    path = data_folder("patches") / "merged.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def patched_series() -> list[str]:
    """Return the series that there are patches for, the oldest first."""
    folders = (path.name for path in data_folder("patches").iterdir() if path.is_dir())
    return sorted((name for name in folders if re.fullmatch(r"\d+\.\d+", name)), key=natural)
