"""Messages over pipes and sockets that a trace shows: who sent, who received, how much, on which.

Where both ends of a channel are tasks of the recording, a replay sends and receives over a pipe or
socket of its own. So who waits, for room or for a message, is decided anew; and the time within
those calls, which the replay takes again, does not count as the task's work.
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from schedlab.lab.recording.causes import CAUSES, OUTSIDE, TASK
from schedlab.lab.recording.descriptors import find_moved
from schedlab.lab.recording.events import CHANNELS, Call, Events, Flags, Kind, Numbers
from schedlab.lab.recording.pieces import Lives, Spans, find_spans, task_key
from schedlab.lab.recording.waits import Waits

_AT_ONCE = tuple(map(CHANNELS.index, ("pipe", "packets", "unix")))
"""Kinds of channels whose messages are there as the call that sends them ends."""


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


def whole_channels(
    transfers: Transfers, seen: Flags, slept: Numbers, taken: Flags
) -> tuple[Transfers, int]:
    """Return the transfers over channels whose both ends are known, and how many are left out.

    All that is received was sent before, by tasks that are taken, and one task alone receives. So
    whatever order a replay has, all that was recorded comes to its end. Left out are those of which
    it is not seen who ran, with the other end of what they moved, and what was received beyond
    what had been sent until then: it was on its way as the trace began, or its sending was lost.

    Args:
        transfers: those of all channels.
        seen: those of which it is known that their task ran.
        slept: the places where tasks fell asleep in them; -1: nowhere.
        taken: the tasks that are.
    """
    keep = np.zeros(len(transfers), bool)
    left = 0
    order = np.argsort(transfers.channel, kind="stable")
    _, first = np.unique(transfers.channel[order], return_index=True)
    for own in np.split(order, first[1:]) if len(order) else ():
        sends, task = transfers.sends[own], transfers.task[own]
        there = seen[own]
        readers = len(np.unique(task[~sends & there]))
        if readers == 1 and np.any(sends & there) and bool(np.all(taken[task[there]])):
            keep[own] = _in_pairs(transfers.chosen(own), there, slept[own])
            left += int(np.count_nonzero(~keep[own]))
    return transfers.chosen(keep), left


def _in_pairs(channel: Transfers, seen: Flags, slept: Numbers) -> Flags:
    """Return the transfers of a channel that are seen and of which the other end is, too."""
    sends = channel.sends
    moment = np.where(sends, channel.enter, channel.exit)
    in_order = np.argsort(moment, kind="stable")
    keep = _covered(channel, in_order, np.ones(len(channel), bool))
    lost = np.flatnonzero(keep & ~sends & ~seen)
    if len(lost):
        sent = in_order[sends[in_order]]
        got = in_order[~sends[in_order] & keep[in_order]]
        ends = np.cumsum(channel.bytes[got])
        at = np.searchsorted(np.cumsum(channel.bytes[sent]), ends[np.isin(got, lost)], "left")
        keep[sent[np.minimum(at, len(sent) - 1)]] = False
    keep &= seen
    if int(channel.kind[0]) in _AT_ONCE:
        _leave_unread(channel, keep, slept)
    return _covered(channel, in_order, keep)


def _leave_unread(channel: Transfers, keep: Flags, slept: Numbers) -> None:
    """Leave out sends whose receiving was lost: the reader sleeps though they are there."""
    sends = np.flatnonzero(keep & channel.sends)
    sends = sends[np.argsort(channel.exit[sends], kind="stable")]
    got = np.flatnonzero(keep & ~channel.sends)
    waits = got[slept[got] >= 0]
    came = np.concatenate([[0], np.cumsum(channel.bytes[sends])])
    went = np.concatenate([[0], np.cumsum(channel.bytes[got])])
    until = np.searchsorted(channel.exit[sends], slept[waits], "left")
    there = came[until] - went[np.searchsorted(channel.exit[got], slept[waits], "left")]
    dropped = 0
    for number, last, under_way in zip(*(c.tolist() for c in (waits, until, there)), strict=True):
        unread = under_way - dropped
        at = last - 1
        while at >= 0 and unread >= max(int(channel.bytes[number]), int(channel.bytes[sends[at]])):
            if keep[sends[at]]:
                keep[sends[at]] = False
                unread -= int(channel.bytes[sends[at]])
                dropped += int(channel.bytes[sends[at]])
            at -= 1


def _covered(channel: Transfers, in_order: Numbers, keep: Flags) -> Flags:
    """Return of the transfers that are kept those which, in order, never receive what is not sent.

    A receive is left out at the moment at which it is too much, so that a message that is lost in
    the middle does not bring all that follow one out of step.
    """
    found = keep.copy()
    signed = np.where(channel.sends, channel.bytes, -channel.bytes)[in_order]
    signed[~keep[in_order]] = 0
    if not len(signed) or int(np.cumsum(signed).min()) >= 0:
        return found
    under_way = 0
    for number, moved in zip(in_order.tolist(), signed.tolist(), strict=True):
        if under_way + moved < 0:
            found[number] = False
        else:
            under_way += moved
    return found


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
