"""Anonymous traces: each name of a program becomes a word without meaning, the same everywhere."""

import hashlib
import re
from collections.abc import Callable

from schedlab.lab.recording.choice import kernels_part

_NAMED = re.compile(
    rb"\b((?:prev_|next_|child_)?comm=)(.*?)"
    rb"(?= (?:prev_|next_)?pid=-?\d+ (?:prev_|next_)?prio=| pid=\d+ child_comm=| child_pid=\d+$"
    rb"| clone_flags=)"
    rb"|^( *)(\S.*?)( +\d{1,9} \[)"
    rb"|\b(name=)(.*)$"
    rb"|\b(filename=)(.*)(?= pid=\d+ old_pid=)"
    rb"|( saddr=.* daddrv6=\S*)",
    re.MULTILINE,
)

_PLAIN = re.compile(rb"[uH\d:]*")
"""What a kernel's name may end in and tell nothing: CPUs and numbers, as in `kworker/u8:3`."""
_CALL = re.compile(rb'^.*sys_enter_.*".*$', re.MULTILINE)
_DATA = re.compile(rb'"(?:[^"\\]|\\.)*(?:"|$)')


def without_data(piece: bytes) -> bytes:
    """Return whole lines without what programs read and wrote, which some kernels print."""
    if b'"' not in piece:
        return piece
    return _CALL.sub(lambda line: _DATA.sub(b"", line[0]), piece)


def anonymous(key: bytes) -> Callable[[bytes], bytes]:
    """Return what replaces the names in whole lines of `perf script`.

    Of the kernel's own tasks, and of those that are called as they are, the beginning stays: it
    tells what they are. Without the key, which nobody keeps, a name cannot even be
    guessed and compared.
    """
    known: dict[bytes, bytes] = {}

    def hidden(name: bytes) -> bytes:
        if name not in known:
            kept = kernels_part(name.decode(errors="replace")).encode()
            rest = name[len(kept) :]
            digest = hashlib.blake2b(rest, key=key, digest_size=5).hexdigest()
            known[name] = name if _PLAIN.fullmatch(rest) else kept + f"t{digest}".encode()
        return known[name]

    def replaced(found: re.Match[bytes]) -> bytes:
        if found[1] is not None:
            return found[1] + hidden(found[2])
        if found[4] is not None:
            return found[3] + hidden(found[4]) + found[5]
        if found[6] is not None:
            return found[6] + hidden(found[7])
        return found[8] + hidden(found[9]) if found[8] is not None else b""

    return lambda piece: _NAMED.sub(replaced, piece)
