"""The tracepoints that a recording has: those that the inference reads, and no others."""

from collections.abc import Sequence
from dataclasses import dataclass

from schedlab.base.errors import HostError
from schedlab.base.system import System
from schedlab.counters.tracepoints import TRACEFS, tracepoint_file

SWITCH = "sched:sched_switch"
_NEEDED = (SWITCH, "sched:sched_waking")
_WANTED = (
    *("sched:sched_wakeup_new", "sched:sched_process_fork", "sched:sched_process_exit"),
    *("irq:irq_handler_entry", "irq:irq_handler_exit", "irq:softirq_entry", "irq:softirq_exit"),
    *("timer:hrtimer_expire_entry", "timer:hrtimer_expire_exit", "power:cpu_frequency"),
    *("syscalls:sys_enter_futex", "syscalls:sys_exit_futex"),
    *("syscalls:sys_enter_sched_yield", "syscalls:sys_exit_sched_yield"),
    *("syscalls:sys_enter_sched_setaffinity", "syscalls:sys_enter_sched_setattr"),
    *("task:task_newtask", "sched:sched_process_exec", "sock:inet_sock_set_state"),
)
_MOVES = (
    *("read", "readv", "recvfrom", "recvmsg", "write", "writev", "sendto", "sendmsg", "sendfile64"),
)
_CALLS = (
    *("close", "close_range", "dup", "dup2", "dup3", "fcntl", "pipe", "pipe2", "socketpair"),
    *("accept", "accept4", "connect", "listen", "socket", "open", "openat", "openat2", "creat"),
    *("epoll_create", "epoll_create1", "eventfd", "eventfd2", "timerfd_create", "signalfd4"),
    *("inotify_init1", "memfd_create", "pidfd_open", "perf_event_open", "io_uring_setup"),
)
"""That read and write, and that make and close descriptors (tools/trace-text/syscalls.c)."""


@dataclass(frozen=True)
class Tracepoints:
    """What a system is asked for."""

    tracefs: str
    """The folder where the system has them."""
    events: Sequence[str]
    """SYSTEM:NAME; the first one is that of a switch."""


def find_tracepoints(system: System, light: bool = False) -> Tracepoints:
    """Return those of a recording that the system has; of a light one without reads and writes.

    Raises:
        HostError: they cannot be seen, or one that is needed is missing.
    """
    folders = (each for each in TRACEFS if system.exists(tracepoint_file(each, SWITCH)))
    tracefs = next(folders, None)
    if tracefs is None:
        raise HostError(_unseen(system))

    def there(event: str) -> bool:
        return system.exists(tracepoint_file(tracefs, event))

    missing = [event for event in _NEEDED if not there(event)]
    if missing:
        raise HostError(
            f"this kernel has no tracepoint {', '.join(missing)}; it cannot be recorded."
        )
    named = () if light else (*_MOVES, *_CALLS)
    calls = (f"syscalls:sys_{side}_{call}" for call in named for side in ("enter", "exit"))
    return Tracepoints(tracefs, [*_NEEDED, *filter(there, (*_WANTED, *calls))])


def _unseen(system: System) -> str:
    """Return why no tracepoint is seen, and what helps."""
    what = f"the tracepoints of this kernel cannot be seen below {TRACEFS[0]}"
    if system.is_root():
        return f"{what}: no tracefs is mounted.\n  Try: mount -t tracefs tracefs {TRACEFS[0]}"
    return (
        f"{what}: recording takes root.\n  Record as root (sudo schedlab record ...). Without root"
        " perf can record, if root has set this before:\n"
        f"  mount -o remount,mode=750,gid=YOUR-GROUP {TRACEFS[0]}\n"
        "  sysctl kernel.perf_event_paranoid=-1"
    )
