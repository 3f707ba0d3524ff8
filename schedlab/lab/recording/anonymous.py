"""Anonymous traces: each name of a program becomes a word without meaning, the same everywhere."""

import hashlib
import re
from collections.abc import Callable

from schedlab.lab.recording.inference import is_kernels

_NAMED = re.compile(
    rb"\b((?:prev_|next_|child_)?comm=)(.*?)(?= (?:prev_|next_|child_)?pid=)"
    rb"|^( *)(\S.*?)( +\d{1,9} \[)"
    rb"|\b(name=)(\S+)",
    re.MULTILINE,
)


def anonymous(key: bytes) -> Callable[[bytes], bytes]:
    """Return what replaces the names in whole lines of `perf script`.

    The kernel's own tasks keep theirs. Without the key, which nobody keeps, a name cannot even be
    guessed and compared.
    """
    known: dict[bytes, bytes] = {}

    def hidden(name: bytes) -> bytes:
        if name not in known:
            own = is_kernels(name.decode(errors="replace"))
            digest = hashlib.blake2b(name, key=key, digest_size=5).hexdigest()
            known[name] = name if own else f"t{digest}".encode()
        return known[name]

    def replaced(found: re.Match[bytes]) -> bytes:
        if found[1] is not None:
            return found[1] + hidden(found[2])
        if found[4] is not None:
            return found[3] + hidden(found[4]) + found[5]
        return found[6] + hidden(found[7])

    return lambda piece: _NAMED.sub(replaced, piece)
