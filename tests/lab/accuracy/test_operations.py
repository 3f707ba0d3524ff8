"""Operations of a sched_ext scheduler, in a guest and simulated, read and compared."""

import re
from typing import cast

import pytest

from schedlab.base.errors import IncompleteRun
from schedlab.base.system.shell import Answer
from schedlab.lab.accuracy.operations import (
    MOST_FAILED,
    ROUNDS,
    Agreement,
    compare,
    of_guest,
    of_simulator,
    refusal,
    rounds,
    unseen,
)
from schedlab.targets.guest.guest import Guest

GUEST = """
0 select_cpu tdx d
1 enqueue tx v
3 dispatch dt v
6 running t v
7 stopping tb v
ready
# tracer: nop
          <idle>-0       [001] d..32    58.531000: bpf_trace_printk: scx begins 1 97 9 0 0
          <idle>-0       [001] d..32    58.531001: bpf_trace_printk: scx ends 1 0
          <idle>-0       [001] dN.32    58.531500: bpf_trace_printk: scx begins 6 97 0 0 0
          <idle>-0       [001] dN.32    58.531501: bpf_trace_printk: scx ends 6 1
          pinned-151     [001] d..32    58.531577: bpf_trace_printk: scx begins 7 97 0 0 0
          pinned-151     [001] d..32    58.531578: bpf_trace_printk: scx ends 7 1
          pinned-151     [001] d..32    58.531608: bpf_trace_printk: scx begins 3 1 97 0 0
          pinned-151     [001] d..41    58.531627: scx_bpf_dsq_move_to_local___v2: (scx_bpf+0x4/0x130) dsq_id=0 enq_flags=0
          pinned-151     [001] d..31    58.531669: scx_bpf_dsq_move_to_local___v2__ret: (bpf_prog_6d_simple_dispatch+0x2e/0x31 <- scx_bpf_dsq_move_to_local___v2) answer=0
          pinned-151     [001] d..32    58.531679: bpf_trace_printk: scx ends 3 0
     rcu_preempt-15      [002] d..22    58.590000: bpf_trace_printk: scx begins 0 97 1 8 0
     rcu_preempt-15      [002] d..31    58.590001: scx_bpf_select_cpu_dfl: (scx_bpf_select_cpu_dfl+0x4/0xd0) p=0xffff8e1b83894f80 prev_cpu=1 wake_flags=8 is_idle=0xffffd0fa4047f9fb pid=151
     rcu_preempt-15      [002] d..21    58.590002: scx_bpf_select_cpu_dfl__ret: (bpf_prog_e1_simple_select_cpu+0x4c/0xed <- scx_bpf_select_cpu_dfl) answer=1
     rcu_preempt-15      [002] d..31    58.590003: scx_bpf_dsq_insert___v2: (scx_bpf_dsq_insert___v2+0x4/0xd0) p=0xffff8e1b83894f80 dsq_id=9223372036854775810 slice=20000000 enq_flags=0 pid=151
     rcu_preempt-15      [002] d..21    58.590004: scx_bpf_dsq_insert___v2__ret: (bpf_prog_e1_simple_select_cpu+0xe2/0xed <- scx_bpf_dsq_insert___v2) answer=1
     rcu_preempt-15      [002] d..22    58.590005: bpf_trace_printk: scx ends 0 ffffffff00000001
"""  # noqa: E501

SIMULATED = """
     swapper-0     [001] d..3.     0.000000100: scx_op: name=enqueue p=7 enq_flags=0x9
     swapper-0     [001] d..3.     0.000001000: scx_op: name=running p=7
     swapper-0     [001] d..3.     0.000002000: scx_answer: name=running
      pinned-7     [001] d..3.     0.000100000: scx_op: name=stopping p=7 runnable=0
      pinned-7     [001] d..3.     0.000100000: scx_answer: name=stopping
      pinned-7     [001] d..3.     0.000101000: scx_op: name=dispatch cpu=1 prev=7
      pinned-7     [001] d..3.     0.000102000: scx_call: name=scx_bpf_dsq_move_to_local___v2 dsq_id=0 enq_flags=0 answer=0
      pinned-7     [001] d..3.     0.000103000: scx_answer: name=dispatch
     swapper-0     [001] d..3.     0.060000000: scx_op: name=select_cpu p=7 prev_cpu=1 wake_flags=0x8
     swapper-0     [001] d..3.     0.060001000: scx_call: name=scx_bpf_select_cpu_dfl p=7 prev_cpu=1 wake_flags=0x8 answer=1
     swapper-0     [001] d..3.     0.060002000: scx_call: name=bpf_map_lookup_elem answer=1
     swapper-0     [001] d..3.     0.060003000: scx_call: name=scx_bpf_dsq_insert___v2 p=7 dsq_id=0x8000000000000002 slice=0x1312d00 enq_flags=0 answer=1
     swapper-0     [001] d..3.     0.060004000: scx_answer: name=select_cpu answer=1
"""  # noqa: E501


def test_steps_of_a_guest_and_simulated_are_the_same_lines() -> None:
    """From the first wakeup; pids, pointers, slices and calls of helpers are not in them."""
    steps = [
        "enqueue(pinned, 9)",
        "running(pinned)",
        "stopping(pinned, 0)",
        "dispatch(1, pinned) {scx_bpf_dsq_move_to_local(0, 0) = 0}",
        "select_cpu(pinned, 1, 8) = 1 {scx_bpf_select_cpu_dfl(pinned, 1, 8) = 1;"
        " scx_bpf_dsq_insert(pinned, 9223372036854775810, 0) = 1}",
    ]
    assert of_guest(GUEST.splitlines(), ["pinned"]) == {"pinned": steps}
    assert of_simulator(SIMULATED.splitlines(), ["pinned"]) == {"pinned": steps}


def test_a_sub_schedulers_operations_have_its_groups_name() -> None:
    """Its calls do not: a guest's probes do not know whose they are."""
    listed = re.sub(r"^(\d )(?=\w+ \w+ \w$)", r"\1/bench:", GUEST, flags=re.MULTILINE)
    text = SIMULATED.replace("name=", "name=/bench:")
    [theirs] = of_guest(listed.splitlines(), ["pinned"]).values()
    [ours] = of_simulator(text.splitlines(), ["pinned"]).values()
    assert theirs == ours
    assert theirs[0] == "/bench:enqueue(pinned, 9)"
    assert theirs[3].startswith("/bench:dispatch(1, pinned) {scx_bpf_dsq_move_to_local")
    assert unseen(["unseen /bench:set_cmask"]) == {"/bench:set_cmask"}


def test_a_call_that_a_call_makes_itself_is_not_the_schedulers() -> None:
    """An older flavour that calls the newer one counts as that one, as the simulator has it."""
    inner = "scx_bpf_dsq_move_to_local___v2: (scx_bpf+0x4/0x130) dsq_id=0 enq_flags=0"
    outer = inner.replace("___v2", "").replace(" enq_flags=0", " aux=0xffff8e1b83894f80")
    before, after = GUEST.split(inner)
    back = "scx_bpf_dsq_move_to_local___v2__ret: (bpf_prog_6d_simple_dispatch+0x2e/0x31 <- "
    own_back, _, rest = after.partition("\n")[2].partition("\n")
    stamp = own_back.partition(back[:10])[0]
    assert back in own_back
    lines = [f"{before}{outer}", f"{stamp}{inner}", own_back]
    lines += [own_back.replace("___v2", ""), rest]
    text = "\n".join(lines)
    plain = of_guest(GUEST.splitlines(), ["pinned"])
    assert of_guest(text.splitlines(), ["pinned"]) == plain
    # Of another name it is what the call does, and left out.
    other = text.replace(inner, inner.replace("_move_to_local___v2", "_nr_queued"))
    other = other.replace("scx_bpf_dsq_move_to_local___v2__ret", "scx_bpf_dsq_nr_queued__ret")
    [steps] = of_guest(other.splitlines(), ["pinned"]).values()
    assert steps[3] == "dispatch(1, pinned) {scx_bpf_dsq_move_to_local(0) = 0}"


def test_a_call_that_answers_with_no_task_is_read() -> None:
    """Simulated it is 'none', in a guest's trace a NULL pointer."""
    peeked = "scx_call: name=scx_bpf_cpu_curr cpu=1 answer=none"
    move = SIMULATED.splitlines()[7]
    text = SIMULATED.replace(move, f"{move.partition('scx_call')[0]}{peeked}")
    [steps] = of_simulator(text.splitlines(), ["pinned"]).values()
    assert steps[3] == "dispatch(1, pinned) {scx_bpf_cpu_curr(1)}"


MOVED = """
      pinned-7     [001] d..3.     0.060010000: scx_op: name=running p=7
      pinned-7     [001] d..3.     0.060011000: scx_op: name=stopping p=7 runnable=0
     swapper-0     [001] d..3.     {woken}: scx_op: name=enqueue p=7 enq_flags=0x9
     swapper-0     [001] d..3.     {woken}: scx_op: name=running p=7
      pinned-7     [001] d..3.     0.070000000: scx_op: name=stopping p=7 runnable=0
"""


@pytest.mark.parametrize(
    ("woken", "steps"),
    [
        ("0.060012000", ["running(pinned)", "stopping(pinned, 0)"]),
        ("0.069000000", [*("running(pinned)", "stopping(pinned, 0)", "enqueue(pinned, 9)")] * 2),
    ],
)
def test_a_wait_for_a_migration_is_left_out(woken: str, steps: list[str]) -> None:
    """Whether one's own migration is done before one runs again, time decides."""
    [found] = of_simulator(
        (SIMULATED + MOVED.format(woken=woken)).splitlines(), ["pinned"]
    ).values()
    assert found[5:] == steps[:5]


def test_what_a_guests_kernel_refuses_to_record_is_left_out_simulated() -> None:
    lines = GUEST.replace("3 dispatch dt v", "unseen dispatch").splitlines()
    assert unseen(lines) == {"dispatch"}
    [steps] = of_simulator(SIMULATED.splitlines(), ["pinned"], unseen(lines)).values()
    assert [step.partition("(")[0] for step in steps] == [
        *("enqueue", "running", "stopping", "select_cpu"),
    ]


def test_why_a_kernel_does_not_load_a_scheduler() -> None:
    said = """-- END PROG LOAD LOG --
libbpf: prog 'qmap_dequeue': failed to load: -EACCES
libbpf: failed to load BPF skeleton 'scx_qmap': -EACCES
[SCX_BUG] scx_qmap.c:410 (Permission denied)
Failed to load skel
no scheduler"""
    assert refusal(said.splitlines()) == "prog 'qmap_dequeue': failed to load: -EACCES"
    assert refusal(["a", "b", "c", "d"]) == "b; c; d"


def test_the_nearest_round_of_a_guest_counts() -> None:
    guests = [{"a": ["x", "y", "z"]}, {"a": ["x", "z"]}, {"a": ["x", "z"]}]
    assert list(compare(guests, {"a": ["x", "z"]})) == [Agreement("a", 2, (), 2)]
    [differs] = compare(guests, {"a": ["x", "w", "z"]})
    assert differs.rounds == 0
    assert differs.differences == ("step 2: y in the guest, w simulated",)
    # A round of which nothing was recorded differs in one place, but in every step.
    [differs] = compare([{"a": []}, *guests], {"a": ["v", "y", "w"]})
    assert len(differs.differences) == 2


class _Guest:
    """Fails so often before it succeeds."""

    def __init__(self, failures: int) -> None:
        self.failures = failures

    def run(self, script: str, seconds: float) -> Answer:
        self.failures -= 1
        return Answer(int(self.failures >= 0), b"one\ntwo\n", "deadlock: all its tasks wait")


def test_a_round_that_fails_is_repeated_some_times() -> None:
    """A thread that is late misses a signal: that says nothing about the order of operations."""
    guest = cast("Guest", _Guest(MOST_FAILED))
    assert list(rounds(guest, "x", "{}")) == [["one", "two"]] * ROUNDS
    guest = cast("Guest", _Guest(MOST_FAILED + 1))
    with pytest.raises(IncompleteRun, match="under scx_x in the guest, the last time with: deadl"):
        list(rounds(guest, "x", "{}"))
