"""Names of files that come from elsewhere, kept inside the folder they belong to."""

import os
from itertools import accumulate, islice
from pathlib import Path

from schedlab.base.errors import OutsideError

_LONGEST_PART = 255
_LONGEST_NAME = 4095
_SHOWN = 120


def inside(folder: Path, name: str, where: object) -> Path:
    """Return the place of a name in a folder.

    No link on the way is followed. The last part may itself be a link: whoever writes there
    replaces it.

    Args:
        folder: what the name is not to leave; it need not exist.
        name: a relative path, from another host, an archive, a patch, a stored file.
        where: what the name stands in, for the message; a file with its line, if it has one.

    Raises:
        OutsideError: the name would lead elsewhere, or is not one that a file can have.
    """
    place = folder
    *folders, last = parts(name, where)
    for part in folders:
        place /= part
        if os.path.islink(place):  # noqa: PTH114 Path.is_symlink() raises where it may not look
            raise _refusal(name, where, f"goes through the link {place}")
    return place / last


def followed(folder: Path, name: str, where: object) -> Path:
    """Return the place of a name in a folder, for reading and writing through links.

    Raises:
        OutsideError: as `inside`, or a link leads out of the folder.
    """
    found = parts(name, where)
    place = folder.joinpath(*found)
    # Without a link nothing leads out, and resolving both names takes several times as long.
    steps = accumulate(found, os.path.join, initial=os.fspath(folder))
    if not any(os.path.islink(step) for step in islice(steps, 1, None)):  # noqa: PTH114
        return place
    if not Path(os.path.realpath(place)).is_relative_to(os.path.realpath(folder)):
        raise _refusal(name, where, f"leads out of {folder} by a link")
    return place


def parts(name: str, where: object) -> list[str]:
    """Return the parts of a name, which are plain: not empty, not `.` or `..`.

    Raises:
        OutsideError: they are not.
    """
    try:
        size = len(os.fsencode(name))
    except UnicodeEncodeError:
        raise _refusal(name, where, "cannot be written as a file's name") from None
    found = name.split("/")
    longest = max(len(os.fsencode(part)) for part in found)
    problems = {
        "is empty": not name,
        "is absolute": name.startswith("/"),
        "has '..' in it": ".." in found,
        "is not plain ('.' or an empty part)": not {"", "."}.isdisjoint(found),
        "has a control character in it": any(ord(c) < 0x20 or ord(c) == 0x7F for c in name),
        "is too long for a file": size > _LONGEST_NAME or longest > _LONGEST_PART,
    }
    for problem, found_so in problems.items():
        if found_so:
            raise _refusal(name, where, problem)
    return found


def _refusal(name: str, where: object, problem: str) -> OutsideError:
    shown = ascii(name if len(name) <= _SHOWN else f"{name[:_SHOWN]}...")
    return OutsideError(
        f"{where}: the name {shown} {problem}."
        "\n  A name from there has to be a plain path that stays in its folder; nothing was"
        " written for it."
    )
