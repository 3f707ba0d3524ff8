"""What tasks of a recording waited for."""

from collections.abc import Mapping

TASK, MESSAGE, TIMER, ANSWER = "task", "message", "timer", "device"
LOCK_HELD, MEETING, ITEM = "lock", "barrier", "item"
OUTSIDE, UNSEEN = "outside", "unseen"
CAUSES: Mapping[str, str] = {
    TASK: "woken by a task of the recording",
    MESSAGE: "for a message, or for room for one",
    LOCK_HELD: "for a lock that another task held",
    MEETING: "at a barrier",
    ITEM: "for work of a pool",
    TIMER: "ended by a timer",
    ANSWER: "for a device the task had asked",
    OUTSIDE: "for what came from outside: network, tasks that are not part of it",
    UNSEEN: "not seen in the trace; replayed as sleeps",
}
