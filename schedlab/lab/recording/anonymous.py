"""Anonymous traces: each name of a program becomes a word without meaning, the same everywhere."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable

from schedlab.lab.recording.choice import kernels_part
from schedlab.lab.recording.unbroken import LOST

_EVENT = re.compile(
    rb"^([^\n]{16,}?)( +-?\d{1,9} +\[\d{3,6}\] +(?:[^\s\d]\S{3,8} )?\d+\.\d{9}: +)"
    rb"(?:(\w+:)(\w+)(: *)|(?=PERF_|\d+ +[\w/:-]+: *$))(.*)$"
)
"""The name of the task that runs, number to time, the event's system and name, and its text."""
_TASK = re.compile(
    rb"(comm=)(.*)( pid=-?\d+ prio=-?\d+(?: (?:target_cpu|success|group_dead)=\w+)*)"
)
_TEXTS = {
    b"sched_switch": re.compile(
        rb"(prev_comm=)(.*)( prev_pid=-?\d+ prev_prio=-?\d+ prev_state=\S+ ==> next_comm=)(.*)"
        rb"( next_pid=-?\d+ next_prio=-?\d+)"
    ),
    b"sched_waking": _TASK,
    b"sched_wakeup_new": _TASK,
    b"sched_process_exit": _TASK,
    b"sched_process_fork": re.compile(rb"(comm=)(.*)( pid=\d+ child_comm=)(.*)( child_pid=\d+)"),
    b"sched_process_exec": re.compile(rb"(filename=)(.*)( pid=\d+ old_pid=\d+)"),
    b"task_newtask": re.compile(
        rb"(pid=\d+ comm=)(.*)( clone_flags=[0-9a-fx]+(?: oom_score_adj=-?\d+)?)"
    ),
    b"irq_handler_entry": re.compile(rb"(irq=\d+ name=)(.*)()"),
}
"""Of events that have names: every second part is one."""
_NAMES = re.compile(rb"comm=|filename=|name=")
_ADDRESSES = re.compile(rb" saddr=.* daddrv6=\S*")
_PLAIN = re.compile(rb"[uH\d:]*")
"""What a kernel's name may end in and tell nothing: CPUs and numbers, as in `kworker/u8:3`."""
_NUMBER = re.compile(rb"\d+")
_UNNAMED = (b"<...>", b"<idle>")
"""What ftrace has for names."""
_LETTERS = bytes.maketrans(b"0123456789", b"ghijklmnop")
"""For digits, which would count as the numbers of a name."""
_CALL = re.compile(rb'^.*sys_enter_.*".*$', re.MULTILINE)
_DATA = re.compile(rb'"(?:[^"\\]|\\.)*(?:"|$)')


def without_data(piece: bytes) -> bytes:
    """Return whole lines without what programs read and wrote, which some kernels print."""
    if b'"' not in piece:
        return piece
    return _CALL.sub(lambda line: _DATA.sub(b"", line[0]), piece)


def anonymous(key: bytes, seen: Counter[bool] | None = None) -> Callable[[bytes], bytes]:
    """Return what replaces the names in whole lines of `perf script`.

    Of the kernel's own tasks, and of those that are called as they are, the beginning stays: it
    tells what they are. Names that differ by numbers alone, as those of a pool's tasks, become one
    word with numbers in the order in which they come. Without the key, which nobody keeps, a name
    cannot even be guessed and compared. Lines and texts that are not as expected are left out: they
    may hold a name somewhere else. `seen` counts the events that have names: True those whose text
    is as expected, False those whose text is left out.
    """
    counts = Counter[bool]() if seen is None else seen
    known: dict[bytes, bytes] = {}
    numbered: Counter[bytes] = Counter()

    def hidden(name: bytes) -> bytes:
        if name not in known:
            kept = kernels_part(name.decode(errors="replace")).encode()
            rest = name[len(kept) :]
            known[name] = name if _PLAIN.fullmatch(rest) else kept + word_of(rest)
        return known[name]

    def word_of(name: bytes) -> bytes:
        alike, numbers = _NUMBER.subn(b"*", name)
        digest = hashlib.blake2b(alike, key=key, digest_size=5).hexdigest().encode()
        word = b"t" + digest.translate(_LETTERS)
        if not numbers:
            return word
        numbered[word] += 1
        return word + str(numbered[word] - 1).encode()

    def text_of(event: bytes, text: bytes) -> bytes:
        pattern = _TEXTS.get(event)
        if pattern is None:
            return b"" if _NAMES.search(text) else _ADDRESSES.sub(b"", text)
        found = pattern.match(text)
        counts[bool(found)] += 1
        if not found:
            return b""
        parts = found.groups()
        return b"".join(hidden(part) if at % 2 else part for at, part in enumerate(parts))

    def line_of(line: bytes) -> bytes:
        found = _EVENT.match(line)
        if not found:
            return line if LOST.fullmatch(line) else b""
        name, head, system, event, colon, text = found.groups()
        own = name.strip(b" ")
        head = (own if own in _UNNAMED else hidden(own)).rjust(16) + head
        if event is None:
            return head + text
        return head + system + event + colon + text_of(event, text)

    return lambda piece: b"\n".join(map(line_of, piece.split(b"\n")))
