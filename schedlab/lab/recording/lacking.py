"""What a trace lacks, for all that read it."""

import numpy as np

from schedlab.lab.recording.events import Context, Events, Kind


def lacking(events: Events, lost: int, interrupts: bool) -> list[str]:
    """Return what a trace lacks, a sentence each.

    Args:
        events: the trace.
        lost: how often a CPU leaves another task than it went to.
        interrupts: whether the trace shows any.
    """
    notes = []
    if lost:
        notes.append(
            f"{lost:,} times a CPU leaves another task than it went to: switches"
            " were lost; the work around them is a guess."
        )
    if not np.any(events.kind == Kind.WAKING):
        notes.append(
            "sched_waking is not recorded: who wakes whom is not known (no wakeups are"
            " counted), and all waits are replayed as sleeps."
        )
    if not np.any(events.kind == Kind.FORK):
        notes.append("sched_process_fork is not recorded: all tasks are there from the start.")
    if np.all(events.context == Context.UNKNOWN) and not interrupts:
        notes.append(
            "Neither flags nor interrupts are recorded: a wake by an interrupt counts as one by"
            " the task that was interrupted, one on an idle CPU as a timer's."
        )
    return notes
