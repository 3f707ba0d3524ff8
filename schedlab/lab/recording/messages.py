"""Messages over pipes and sockets that a trace shows: who sent, who received, how much, on which.

Where both ends of a channel are tasks of the recording, a replay sends and receives over a pipe or
socket of its own. So who waits, for room or for a message, is decided anew; and the time within
those calls, which the replay takes again, does not count as the task's work.
"""

from dataclasses import dataclass

import numpy as np

from schedlab.lab.recording.events import Events, Flags, Kind, Numbers
from schedlab.lab.recording.pieces import Lives, Spans, task_key


@dataclass
class Transfers(Spans):
    """Calls that moved a message."""

    sends: Flags
    channel: Numbers
    kind: Numbers
    """Index into CHANNELS."""
    bytes: Numbers

    def chosen(self, which: Flags | Numbers) -> "Transfers":
        """Return those of them."""
        ends = self.enter[which], self.exit[which]
        what = self.channel[which], self.kind[which], self.bytes[which]
        return Transfers(self.task[which], *ends, self.sends[which], *what)


def find_transfers(events: Events, lives: Lives) -> Transfers:
    """Return the calls of a trace whose beginning and end it shows."""
    sides = (Kind.SEND, Kind.RECEIVE, Kind.MESSAGE_DONE)
    place = np.flatnonzero(np.isin(events.kind, np.array(sides)))
    task = lives.task(events.current[place], place)
    order = np.argsort(task_key(task, place), kind="stable")
    place, task = place[order], task[order]
    kind = events.kind[place]
    begins = kind != int(Kind.MESSAGE_DONE)
    opens = np.flatnonzero(begins[:-1] & ~begins[1:] & (task[:-1] == task[1:]) & (task[:-1] >= 0))
    enter, done = place[opens], place[opens + 1]
    found = Transfers(
        *(task[opens], enter, done, kind[opens] == int(Kind.SEND)),
        *(events.two[enter], events.one[enter], events.one[done]),
    )
    return found.chosen(found.bytes > 0)


def whole_channels(transfers: Transfers, taken: Flags) -> Transfers:
    """Return the transfers over channels whose both ends are known.

    All that is received was sent, by tasks that are taken, and one task alone receives. So whatever
    order a replay has, all that was recorded comes to its end.
    """
    keep = np.zeros(len(transfers), bool)
    order = np.argsort(transfers.channel, kind="stable")
    _, first = np.unique(transfers.channel[order], return_index=True)
    for own in np.split(order, first[1:]) if len(order) else ():
        sends, moved, task = transfers.sends[own], transfers.bytes[own], transfers.task[own]
        balanced = int(moved[sends].sum()) >= int(moved[~sends].sum())
        readers = len(np.unique(task[~sends]))
        keep[own] = readers == 1 and balanced and bool(np.all(taken[task]))
    return transfers.chosen(keep)
