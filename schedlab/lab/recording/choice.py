"""Which tasks of a trace are the workload."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch

import numpy as np

from schedlab.lab.recording.events import Events, Flags
from schedlab.lab.recording.families import family_of, of_kernel
from schedlab.lab.recording.pace import Speeds
from schedlab.lab.recording.pieces import Lives
from schedlab.lab.recording.showing import group_of

_KERNEL = re.compile(
    r"(swapper|kworker|ksoftirqd|migration|rcu|rcuop|rcuog|rcub|rcuc|cpuhp|irq|idle_inject|jbd2|"
    r"kcompactd|kswapd|scsi_eh|xfs|nvme|watchdog)[/_\d]|"
    r"(kthreadd|khugepaged|kdevtmpfs|kauditd|khungtaskd|oom_reaper|ksmd|kblockd|rcu_\w+|init|daemon)$"
)
"""Tasks of the kernel itself, which does in every run what they do, where nothing but the name is
known; `daemon` is what the simulator runs on a machine beside the load."""
_TOOLS = re.compile(r"(perf|trace-cmd|schedlab)$")


@dataclass(frozen=True)
class Choice:
    """Which tasks are taken, and how fast CPUs are."""

    patterns: Sequence[str] = ()
    """Of tasks' names; none: all but the kernel's own and the recorder."""
    speed: Speeds = field(default_factory=Speeds)
    costs: Mapping[str, float] = field(default_factory=dict)
    """What a replay's calls cost where it was recorded (schedlab/lab/recording/closure.py)."""
    as_written: bool = False
    """Each wake and wait for itself, of what is known to be made of such words."""

    def takes(self, name: str, kernel: bool | None) -> bool:
        """Return whether a task of that name is taken; `kernel`: whether it is the kernel's own."""
        if self.patterns:
            return any(fnmatch(name, pattern) for pattern in self.patterns)
        return not (is_kernels(name) if kernel is None else kernel) and not _TOOLS.match(name)


def is_kernels(name: str) -> bool:
    """Return whether a task of that name is the kernel's own."""
    return bool(_KERNEL.match(name))


def kernels_part(name: str) -> str:
    """Return the beginning of a name that makes it one of the kernel's tasks; empty: none does."""
    found = _KERNEL.match(name)
    return found[0] if found else ""


def chosen_tasks(events: Events, lives: Lives, choice: Choice) -> Flags:
    """Return which tasks are taken: what they are, and what was asked as it was recorded."""
    known = of_kernel(events, lives, is_kernels)
    both = zip(lives.key.tolist(), lives.known(events), strict=True)
    taken = np.array([choice.takes(name, known.get(key)) for key, (name, _) in both], bool)
    if not events.setup:
        return taken
    if not events.setup.roots:
        return taken & ~family_of(events, lives, events.setup.recorder)
    return taken & family_of(events, lives, events.setup.roots)


def left_by_name(events: Events, lives: Lives, choice: Choice) -> list[str]:
    """Return tasks that are left out for their names alone, those alike but for numbers as one."""
    known = of_kernel(events, lives, is_kernels)
    both = zip(lives.key.tolist(), lives.known(events), strict=True)
    names = [] if choice.patterns else [name for key, (name, _) in both if key not in known]
    return sorted({group_of(name) for name in names if is_kernels(name)})
