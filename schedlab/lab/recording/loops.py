"""Event loops: tasks that receive over several channels, whichever has something first.

Replayed as receptions in the recorded order, such a task would wait for one client while others
have sent. Its set of channels is a queue instead: each message that it received is an item, which
the sender puts and which holds what the task did for it. So it takes messages in the order in which
they come.
"""

from collections import deque
from collections.abc import Collection, Iterator

import numpy as np

from schedlab.lab.recording.causes import CAUSES, TASK
from schedlab.lab.recording.events import Flags, Numbers
from schedlab.lab.recording.messages import Transfers, arrived
from schedlab.lab.recording.pieces import Spans
from schedlab.lab.recording.services import Row, Service
from schedlab.lab.recording.waits import Waits
from schedlab.lab.recording.worked import Worked
from schedlab.lab.recording.workload import PUT, TAKE


class Loops:
    """The event loops of a recording, and the transfers that are none of theirs."""

    def __init__(
        self,
        work: Worked,
        waits: Waits,
        transfers: Transfers,
        futexes: Spans,
        left: Collection[int],
    ) -> None:
        """Find them, but for tasks that are left out."""
        self._work, self._waits, self._futexes = work, waits, futexes
        self._transfers = transfers
        self._reader = _readers(transfers)
        loops = set(self._find()) - set(left)
        reads_loop = np.isin(self._reader[transfers.channel], np.array(sorted(loops), np.int64))
        self.services = [self._service(task) for task in sorted(loops)]
        self.others = transfers.chosen(~reads_loop)

    def _find(self) -> Iterator[int]:
        """Yield the tasks that receive over several channels and wait outside those calls."""
        t = self._transfers
        receives = ~t.sends
        pairs = np.unique(np.stack([t.task[receives], t.channel[receives]]), axis=1)
        tasks, channels = np.unique(pairs[0], return_counts=True)
        within = t.around(self._waits.task, self._waits.place)
        reads = (within >= 0) & receives[np.maximum(within, 0)] if len(t) else within >= 0
        for task in tasks[channels > 1].tolist():
            own = self._waits.task == task
            inside = int(np.count_nonzero(own & reads))
            if inside < np.count_nonzero(own & ~reads & self._for_message(task)):
                yield task

    def _by_message(self, task: int) -> Flags:
        """Return which waits ended as a message was sent to a task."""
        t, waits = self._transfers, self._waits
        by = self._work.pieces.task[np.maximum(waits.waker, 0)]
        call = t.around(by, np.maximum(waits.waking, 0))
        there = np.maximum(call, 0)
        sent = (waits.waker >= 0) & (call >= 0) & t.sends[there]
        found: Flags = sent & (self._reader[t.channel[there]] == task) & (waits.task == task)
        return found

    def _for_message(self, task: int) -> Flags:
        """Return which waits a message ended, also one that the network's interrupt brought."""
        own = self._waits.task == task
        found: Flags = self._by_message(task) | (own & arrived(self._waits, self._transfers))
        return found

    def _service(self, task: int) -> Service:
        """Return what a loop does, and what those do that send to it."""
        t, work = self._transfers, self._work
        found = Service(task)
        put_by = self._messages(task)
        mine = np.flatnonzero(t.task == task)
        begins = work.block_begins(t.task[mine], t.enter[mine])
        begins = work.after_forks(t.task[mine], begins, t.enter[mine])
        place = np.zeros(len(mine), np.int64)
        item_of = np.full(len(mine), -1)
        unanswered: dict[int, deque[int]] = {}
        current = number = -1
        over, answers = 0, False
        for at, (call, begun) in enumerate(zip(mine.tolist(), begins.tolist(), strict=True)):
            item = current
            if call in put_by:
                number += 1
                item = number
                unanswered.setdefault(int(t.task[put_by[call]]), deque()).append(item)
            elif t.sends[call]:
                asked = unanswered.get(int(self._reader[t.channel[call]]))
                item = asked.popleft() if asked else current
            # After a wait, and between two answers, the work before a call is for it.
            place[at] = begun if begun > over else over if answers else t.enter[call]
            answers = bool(t.sends[call])
            if item != current:
                item_of[at] = current = item
            over = int(t.exit[call]) + 1
        takes = np.flatnonzero(item_of >= 0)
        worked = work.worked(t.task[mine[takes]], place[takes])
        rows = zip(place[takes].tolist(), worked.tolist(), item_of[takes].tolist(), strict=True)
        found.rows += [(task, *row[:2], TAKE, row[2]) for row in rows]
        sends = np.array(list(put_by.values()), np.int64)
        found.rows += self._puts(sends)
        found.count = len(sends)
        self._fill_asked(found, task, sends)
        self._hand_over(found, task)
        return found

    def _hand_over(self, found: Service, task: int) -> None:
        """Make items of what other tasks wake a loop for without a message, as by an eventfd."""
        waits, work = self._waits, self._work
        own = (waits.task == task) & (waits.cause == list(CAUSES).index(TASK))
        own &= ~(waits.soft | waits.joins)
        own[np.array(found.asked, np.int64)] = False
        own &= self._futexes.around(waits.task, waits.place) < 0
        for wait in np.flatnonzero(own).tolist():
            waker, place = waits.waker[wait : wait + 1], waits.waking[wait : wait + 1]
            worked = int(work.offset(waker, place)[0])
            by = int(work.pieces.task[waker[0]])
            found.rows.append((by, int(place[0]), worked, PUT, found.count))
            stopped = int(waits.place[wait]), int(waits.offset[wait])
            found.rows.append((task, *stopped, TAKE, found.count))
            found.asked.append(wait)
            found.count += 1

    def _messages(self, task: int) -> dict[int, int]:
        """Return for each call of a task that completes messages the call that sent the last."""
        t = self._transfers
        found: dict[int, int] = {}
        own = np.flatnonzero(self._reader[t.channel] == task)
        own = own[np.argsort(t.channel[own], kind="stable")]
        _, first = np.unique(t.channel[own], return_index=True)
        for calls in np.split(own, first[1:]):
            sends = calls[t.sends[calls]]
            sends = sends[np.argsort(t.enter[sends], kind="stable")]
            receives = calls[~t.sends[calls]]
            ends, got = np.cumsum(t.bytes[sends]), np.cumsum(t.bytes[receives])
            done = np.searchsorted(ends, got, "right")
            fresh = np.diff(done, prepend=0) > 0
            pairs = zip(receives[fresh].tolist(), sends[done[fresh] - 1].tolist(), strict=True)
            found.update(pairs)
        return dict(sorted(found.items()))

    def _puts(self, sends: Numbers) -> Iterator[Row]:
        t = self._transfers
        worked = self._work.worked(t.task[sends], t.enter[sends])
        columns = (t.task[sends], t.enter[sends], worked)
        for item, row in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
            yield (*row, PUT, item)

    def _fill_asked(self, found: Service, task: int, sends: Numbers) -> None:
        """Find the waits that messages ended, and the messages that nobody waited for."""
        waits, t = self._waits, self._transfers
        within = t.around(waits.task, waits.place)
        reads = (within >= 0) & ~t.sends[np.maximum(within, 0)]
        network = waits.soft & (waits.cause == list(CAUSES).index(TASK))
        asked = self._for_message(task) | ((waits.task == task) & (reads | network))
        found.asked = np.flatnonzero(asked).tolist()
        own = np.flatnonzero(self._by_message(task))
        by = self._work.pieces.task[waits.waker[own]]
        woke = set(t.around(by, waits.waking[own]).tolist())
        found.silent = {item for item, send in enumerate(sends.tolist()) if send not in woke}


def _readers(transfers: Transfers) -> Numbers:
    """Return the task that receives over each channel."""
    most = int(transfers.channel.max()) if len(transfers) else 0
    found = np.full(most + 1, -1)
    receives = ~transfers.sends
    found[transfers.channel[receives]] = transfers.task[receives]
    return found
