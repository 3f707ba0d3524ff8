"""Messages over pipes and sockets that a trace shows: who sent, who received, how much, on which.

Where both ends of a channel are tasks of the recording, a replay sends and receives over a pipe or
socket of its own. So who waits, for room or for a message, is decided anew; and the time within
those calls, which the replay takes again, does not count as the task's work.
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from schedlab.lab.recording.causes import CAUSES, OUTSIDE, TASK
from schedlab.lab.recording.descriptors import find_moved
from schedlab.lab.recording.events import Call, Events, Flags, Kind, Numbers
from schedlab.lab.recording.pieces import Lives, Spans, find_spans, task_key
from schedlab.lab.recording.waits import Waits


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

    def and_more(self, more: "Transfers") -> "Transfers":
        """Return them, and more, of channels that follow the last one's number."""
        if not len(more):
            return self
        last = int(self.channel.max()) if len(self) else 0
        more = replace(more, channel=more.channel + last)
        pairs = ((getattr(self, c.name), getattr(more, c.name)) for c in fields(self))
        both = Transfers(*(np.concatenate(pair) for pair in pairs))
        return both.chosen(np.argsort(task_key(both.task, both.enter), kind="stable"))

    def received_after(self, task: Numbers, place: Numbers, until: Numbers) -> Numbers:
        """Return the first receive of tasks between two places each; -1: there is none."""
        receives = np.flatnonzero(~self.sends)
        keys = task_key(self.task[receives], self.enter[receives])
        at = np.searchsorted(keys, task_key(task, place), "left")
        if not len(keys):
            return np.full(len(task), -1)
        there = np.minimum(at, len(keys) - 1)
        found: Numbers = np.where(
            (at < len(keys)) & (keys[there] < task_key(task, until)), receives[there], -1
        )
        return found


def find_transfers(events: Events, lives: Lives) -> Transfers:
    """Return the calls of a trace whose beginning and end it shows."""
    calls = find_spans(events, lives, [Kind.SEND, Kind.RECEIVE], Kind.MESSAGE_DONE)
    enter = calls.enter
    found = Transfers(
        *(calls.task, enter, calls.exit, events.kind[enter] == int(Kind.SEND)),
        *(events.two[enter], events.one[enter], events.one[calls.exit]),
    )
    return found.chosen(found.bytes > 0).and_more(_of_host(events, lives))


def _of_host(events: Events, lives: Lives) -> Transfers:
    """Return the calls that read and write pipes and sockets of a host."""
    moved = find_moved(events, lives)
    calls = moved.calls
    return Transfers(
        *(calls.task, calls.enter, calls.exit, calls.what == int(Call.WRITE)),
        *(moved.channel, moved.kind, calls.result),
    )


def whole_channels(transfers: Transfers, taken: Flags) -> Transfers:
    """Return the transfers over channels whose both ends are known.

    All that is received was sent before, by tasks that are taken, and one task alone receives. So
    whatever order a replay has, all that was recorded comes to its end. What was on its way as the
    trace began is left out: as much as was received, at some moment, beyond what had been sent.
    """
    keep = np.zeros(len(transfers), bool)
    order = np.argsort(transfers.channel, kind="stable")
    _, first = np.unique(transfers.channel[order], return_index=True)
    for own in np.split(order, first[1:]) if len(order) else ():
        sends, task = transfers.sends[own], transfers.task[own]
        readers = len(np.unique(task[~sends]))
        if readers == 1 and np.any(sends) and bool(np.all(taken[task])):
            keep[own] = _sent_before(transfers.chosen(own))
    return transfers.chosen(keep)


def _sent_before(channel: Transfers) -> Flags:
    """Return all transfers of a channel but the first receives, of what is not seen to be sent."""
    sends = channel.sends
    moment = np.where(sends, channel.enter, channel.exit)
    in_order = np.argsort(moment, kind="stable")
    left = np.cumsum(np.where(sends, channel.bytes, -channel.bytes)[in_order])
    keep = np.ones(len(channel), bool)
    lack = -int(left.min())
    if lack > 0:
        receives = in_order[~sends[in_order]]
        got = np.cumsum(channel.bytes[receives])
        keep[receives[: int(np.searchsorted(got, lack)) + 1]] = False
    return keep


def arrived(waits: Waits, transfers: Transfers) -> Flags:
    """Return which waits the network's interrupt ended, before the task received a message.

    It need not run in the call that sent the message: other tasks and ksoftirqd run it too.
    """
    order = list(CAUSES)
    outside = waits.cause == order.index(OUTSIDE)
    by_network = outside | ((waits.cause == order.index(TASK)) & waits.soft)
    after = transfers.received_after(waits.task, waits.place, waits.next_place())
    found: Flags = by_network & (after >= 0)
    return found
