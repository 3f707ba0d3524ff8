"""Decisions out of a trace, where two streams part, and how that is described."""

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.base.errors import UsageError
from schedlab.lab.divergence.comparison import read_scenario
from schedlab.lab.divergence.decisions import (
    BALANCE,
    FORK,
    FREQUENCY,
    IDLE,
    NEWIDLE,
    NUMA_PAGE,
    NUMA_TASK,
    PICK,
    PREFERRED,
    WAKEUP,
    Decision,
    decisions,
)
from schedlab.lab.divergence.search import Divergence, diverge
from schedlab.lab.divergence.timeline import Timeline
from schedlab.lab.divergence.wording import LINES, Words

DATA = Path(__file__).parents[1] / "data"
TRACE = (DATA / "decisions.txt").read_text()
NUMA = (DATA / "numa-decisions.txt").read_text()


def read(text: str) -> list[Decision]:
    return list(decisions(text.splitlines()))


def compared(first: str, second: str) -> Divergence:
    return diverge(iter(read(first)), iter(read(second)))


def words(found: Divergence, *, verbose: bool = False, began: float = 0.1) -> str:
    """Return what is said, of workloads that begin at 0.1 s, without its line ends."""
    lines = Words(found, ("base", "mine"), (began, began)).lines(verbose)
    assert verbose or len(lines) <= LINES
    assert verbose or all(len(line) <= 80 for line in lines)
    return " ".join(" ".join(lines).split())


def test_decisions_of_a_trace() -> None:
    placed, newidle, picked, idle, frequency, balance = read(TRACE)
    assert [d.function for d in (placed, newidle, picked)] == [WAKEUP, NEWIDLE, PICK]
    assert (placed.task, placed.cpu, placed.time) == ("receiver 1-7", 41, 0.139161)
    assert (placed.subject, placed.choice) == ("sender 2-9", ("41",))
    assert placed.did == "put sender 2-9 on CPU 41, the waker's"
    assert placed.inputs["util"] == "211"
    assert placed.inputs["tasks on CPU 3"] == "0"
    assert newidle.did == "scanned SMT and pulled receiver-7 from CPU 168"
    assert newidle.inputs["avg_idle"] == "120.0 us"
    assert [text.split("group=")[1][:3].strip() for text in newidle.looked_at] == ["40", "168"]
    assert picked.did == "picked receiver-7"
    assert (idle.function, idle.did) == (IDLE, "chose C6, stopped the tick")
    assert idle.inputs == {
        "latency limit": "none",
        "next timer in": "3.10 ms",
        "typical interval": "41.0 us",
    }
    assert (frequency.function, frequency.choice) == (FREQUENCY, ("1402 MHz",))
    assert frequency.inputs == {"util": "411", "max": "1024", "current": "2245 MHz"}
    assert (balance.function, balance.outcome) == (BALANCE, "left to another CPU")
    assert balance.subject == "CPU 42, MC, busy"


@pytest.mark.parametrize(
    ("flags", "function"), [("0x4", FORK), ("0x2", FORK), ("0x18", WAKEUP), ("~", WAKEUP)]
)
def test_forks_and_execs_are_apart(flags: str, function: str) -> None:
    [placed, *_] = read(TRACE.replace("flags=0x18", f"flags={flags}"))
    assert placed.function == function


@pytest.mark.parametrize(
    ("change", "condition"),
    [
        (("pending=0", "pending=1"), "a wakeup is pending"),
        (("overloaded=1", "overloaded=0"), "no runqueue is overloaded"),
        (
            ("avg_idle=120000", "avg_idle=800"),
            "avg_idle 0.8 us < max_newidle_lb_cost 0.9 us",
        ),
        (
            ("avg_idle=120000", "avg_idle=120000"),
            "left before SMT; no condition of an unpatched kernel says so",
        ),
    ],
)
def test_what_newidle_balancing_left_by(change: tuple[str, str], condition: str) -> None:
    lines = [line for line in TRACE.splitlines() if "[042]" in line or "load_bal" not in line]
    text = "\n".join(line for line in lines if "migrate" not in line)
    [newidle] = [
        d
        for d in read(text.replace("pulled=1", "pulled=0").replace(*change))
        if d.function == NEWIDLE
    ]
    assert newidle.did == f"scanned nothing ({condition})"
    assert newidle.outcome == "scanned nothing"


@pytest.mark.parametrize(
    ("after", "condition"),
    [
        ("newidle_draw: cpu=40 d1k=700", "passed over SMT by random draw"),
        (
            "newidle_domain: cpu=40 level=1 domain=MC avg_idle=120000 max_newidle_lb_cost=900",
            "reached SMT, MC",
        ),
    ],
)
def test_where_newidle_balancing_went_on(after: str, condition: str) -> None:
    lines = [line for line in TRACE.splitlines() if "migrate" not in line]
    reached = next(line for line in lines if "newidle_domain" in line)
    lines = [line for line in lines if "load_balance: cpu=40" not in line]
    further = reached.partition("newidle_domain")[0] + after
    text = "\n".join(lines).replace(reached, f"{reached}\n{further}")
    [newidle] = [d for d in read(text.replace("pulled=1", "pulled=0")) if d.function == NEWIDLE]
    assert newidle.did == f"scanned nothing ({condition})"


def test_equal_runs() -> None:
    found = compared(TRACE, TRACE)
    assert (found.equal, found.anything, found.choice) == (6, None, None)
    assert "base and mine took the same 6 decisions, from power-on to the end" in words(found)


def test_a_scan_that_finds_nothing() -> None:
    other = "".join(
        line.replace("pulled=1", "pulled=0")
        for line in TRACE.splitlines(keepends=True)
        if "sched_migrate_task" not in line
    )
    found = compared(TRACE, other)
    assert found.choice and found.choice.earliest.function == NEWIDLE
    assert found.equal == 1
    text = words(found)
    assert text.startswith("base and mine part in newidle balancing, after 1 equal decision.")
    assert "On CPU 40, at 39.163 ms, in sender-32:" in text
    assert "base: scanned SMT and pulled receiver-7 from CPU 168" in text
    assert "mine: scanned SMT and found nothing" in text
    assert "both saw avg_idle 120.0 us" in text
    assert "what is recorded of what they saw is the same" in text
    assert "newidle balancing: 1 decision, 1 of 1 differ pulled 1 / 0" in text
    assert "both looked at:" in words(found, verbose=True)


def test_inputs_that_differ_are_named() -> None:
    other = TRACE.replace("avg_idle=120000", "avg_idle=800").replace(
        "load_balance: cpu=40", "nothing: cpu=40"
    )
    text = words(compared(TRACE, other.replace("pulled=1", "pulled=0")))
    assert "mine: scanned nothing (avg_idle 0.8 us < max_newidle_lb_cost 0.9 us)" in text
    assert "they saw differently: avg_idle 120.0 us / 0.8 us" in text
    assert "both saw max_newidle_lb_cost 0.9 us" in text


def test_what_one_side_only_came_to_see() -> None:
    lines = [line for line in TRACE.splitlines() if "migrate" not in line]
    one = next(line for line in lines if "newidle_domain" in line)
    further = one.replace("level=0 domain=SMT", "level=1 domain=MC")
    other = [line for line in lines if "load_balance: cpu=40" not in line]
    base = "\n".join(lines).replace(one, f"{one}\n{further}").replace("pulled=1", "pulled=0")
    text = words(compared(base, "\n".join(other).replace("pulled=1", "pulled=0")))
    assert "mine: scanned nothing (left before SMT; no condition of an unpatched kernel" in text
    assert "only base came to see MC's max_newidle_lb_cost 0.9 us" in text
    assert "they saw differently" not in text


def test_levels_of_nodes_are_told_apart() -> None:
    """The kernel calls every level of them NUMA: each has a name, and costs, of its own."""
    lines = [line for line in TRACE.splitlines() if "migrate" not in line]
    one = next(line for line in lines if "newidle_domain" in line)
    levels = [one.replace("level=0 domain=SMT", f"level={n} domain=NUMA") for n in (2, 3)]
    far = levels[1].replace("lb_cost=900", "lb_cost=70")
    base = "\n".join(lines).replace(one, "\n".join([one, *levels])).replace("pulled=1", "pulled=0")
    text = words(compared(base, base.replace(levels[1], far)), verbose=True)
    assert "NUMA 3's max_newidle_lb_cost 0.9 us / 0.1 us" in text
    assert "NUMA 2's" not in text


def test_what_numa_balancing_decides() -> None:
    found = read(NUMA)
    assert [(d.function, d.subject, d.did) for d in found] == [
        (NUMA_PAGE, "mem-7", "moved a page from node 0 to node 1"),
        (NUMA_PAGE, "mem-7", "left a page on node 0, touched from node 1"),
        (NUMA_PAGE, "mem-7", "touched a page of node 1, its own"),
        (NUMA_PAGE, "mem-7", "found no room on node 1 for a page of node 0"),
        (PREFERRED, "mem-7", "made node 1 the preferred one, after none"),
        (NUMA_TASK, "mem-7", "chose CPU 2 of node 0"),
        (NUMA_TASK, "mem-7", "changed places with task 8 on CPU 4 of node 1"),
        (NUMA_TASK, "mem-7", "found no better CPU"),
        (NUMA_TASK, "mem-7", "chose CPU 5 of node 1, but could not move there"),
    ]
    assert found[1].inputs == {"touched before from node": "2", "shared": "yes"}
    assert found[4].inputs["faults on node 1"] == "512"
    assert found[6].inputs == {"on CPU": "2", "on node": "0", "NUMA group": "5"}
    other = NUMA.replace("wanted=1 moved=1", "wanted=0 moved=0")
    text = words(compared(NUMA, other), began=0.5)
    assert "part in NUMA placement of pages, after 0 equal decisions" in text
    assert "both saw touched before from node none, shared no" in text
    assert "4 decisions, 1 of 4 differ moved 1 / 0, left 1 / 2" in text


def test_a_parting_before_the_workload() -> None:
    found = compared(TRACE, TRACE.replace("state=C6", "state=C1"))
    text = words(found, began=0.2)
    assert "parted before the workload began, in choice of the idle state, after 3 equal" in text
    assert "60.830 ms before the workload" in text
    assert "mine: chose C1, stopped the tick" in text


def test_a_later_moment_is_not_a_decision() -> None:
    later = TRACE.replace("0.139161: select", "0.139169: select")
    found = compared(TRACE, later)
    assert found.anything and found.choice is None
    text = words(found)
    assert "took the same 6 decisions" in text
    assert "the runs differ in moments or inputs only" in text
    assert "wakeup placement of sender 2-9, at 39.161 ms: mine, 8 us later" in text
    barely = words(compared(TRACE, TRACE.replace("0.139161: select", "0.139161200: select")))
    assert "wakeup placement of sender 2-9, at 39.161 ms: mine, 200 ns later." in barely
    both = words(compared(TRACE, later.replace("comm=receiver pid=7 prev", "comm=x pid=8 prev")))
    assert "mine, 8 us later" in both and "mine: picked x-8" in both


def test_the_order_of_cpus_is_not_a_decision() -> None:
    """CPUs whose moments differ by little come in another order in the trace."""
    lines = TRACE.splitlines()
    placed = next(line for line in lines if "select_task_rq" in line)
    lines.remove(placed)
    found = compared(TRACE, "\n".join([*lines, placed.replace("0.139161", "0.139195")]))
    assert found.choice is None or found.choice.earliest.cpu == 41
    assert found.functions[WAKEUP].differing == 0


def test_a_cause_comes_before_its_effect_whatever_the_clocks_say() -> None:
    """CPU 6, whose clock lags behind, picks the task earlier than CPU 1 put it there."""
    placed = (
        " sender-40 [001] d.... 0.139165: select_task_rq: comm=receiver pid=20 this_cpu=1"
        " prev_cpu=6 cpu=%s flags=0x18 util=1 this_running=1 prev_running=1 idle_cpus=0"
    )
    picked = (
        " receiver-15 [006] d.... 0.139160: pick_next: comm=%s pid=20 prev_comm=x prev_pid=1"
        " class=fair nr_running=2"
    )
    base = "\n".join([placed % 1, picked % "swapper"])
    mine = "\n".join([placed % 6, picked % "receiver"])
    found = compared(base, mine)
    assert found.choice and found.choice.earliest.function == WAKEUP
    text = words(found)
    assert "base and mine part in wakeup placement, after 0 equal decisions." in text
    assert text.index("wakeup placement: 1 decision") < text.index("choice of the next task: 1")


def test_one_run_ends_first() -> None:
    shorter = "\n".join(TRACE.splitlines()[:5])
    found = compared(TRACE, shorter)
    assert found.choice and found.choice.second is None
    assert "mine: nothing more; its run has ended" in words(found)


def test_functions_are_counted_by_subject() -> None:
    """Of what one side does more often, only the n-th ones of the same subject are compared."""
    pick = next(line for line in TRACE.splitlines() if "pick_next" in line)
    other = pick.replace("comm=receiver pid=7", "comm=z pid=8")
    base, mine = "\n".join([pick] * 5), "\n".join([pick, other, pick])
    found = diverge(iter(read(base)), iter(read(mine)))
    tally = found.functions[PICK]
    assert (tally.totals, tally.compared, tally.differing) == ((5, 3), 3, 1)
    assert "choice of the next task: 5 / 3 decisions, 1 of 3 differ" in words(found)


def test_a_function_of_one_side_only_comes_where_it_began() -> None:
    frequency = next(line for line in TRACE.splitlines() if "next_freq" in line)
    text = words(compared(TRACE.replace(frequency, "").replace("C6", "C1"), TRACE))
    assert "choice of the frequency: 0 / 1 decisions 1402 MHz 0 / 1" in text


def test_a_timeline_of_both(tmp_path: Path) -> None:
    file = io.StringIO()
    with Timeline(file, ("base", "mine")) as timeline:
        for number in (0, 1):
            for decision in read(TRACE):
                timeline.add(number, decision)
            timeline.begins(number, 0.1)
    events = json.loads(file.getvalue())["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert names == {1: "base", 2: "mine"}
    base, mine = ({e["tid"] for e in events if e["pid"] == pid and "tid" in e} for pid in names)
    assert not base & mine
    for pid in names:
        own = [e for e in events if e["pid"] == pid]
        assert [e["name"] for e in own if e["ph"] == "X"] == ["receiver-7"]
        [scan] = [e for e in own if e["name"] == NEWIDLE]
        of_threads = {e["tid"]: e["args"]["name"] for e in own if e["name"] == "thread_name"}
        assert (of_threads[scan["tid"]], scan["ts"]) == ("CPU 40", 139163.0)
        assert scan["args"]["avg_idle"] == "120.0 us"
        assert [e["ts"] for e in own if e["name"] == "the workload begins"] == [100000.0]


def test_scenarios_and_files_of_rt_app(tmp_path: Path) -> None:
    file = tmp_path / "f.json"
    for text in ('{"tasks": {"t": {"run": 10}}}', '{"global": {}}', "/* */ {", "[]", ""):
        file.write_text(text)
        assert read_scenario(file) is None
    file.write_text('{"tasks": [{"name": "t"}]}')
    assert read_scenario(file) == {"tasks": [{"name": "t"}]}
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="is not UTF-8 text"):
        read_scenario(file)
    with pytest.raises(UsageError, match="No such file"):
        read_scenario(tmp_path / "none.json")


MADE = st.lists(
    st.builds(
        Decision,
        time=st.floats(0, 1),
        cpu=st.integers(0, 3),
        task=st.sampled_from(["a-1", "b-2"]),
        function=st.just(PICK),
        subject=st.just("CPU 1"),
        choice=st.tuples(st.sampled_from(["1", "2"])),
        did=st.just("picked"),
        outcome=st.just("a task"),
        inputs=st.just({}),
    ),
    max_size=8,
)


@given(MADE, st.data())
def test_the_first_changed_decision_is_found(made: list[Decision], data: st.DataObject) -> None:
    if not made:
        return
    made = sorted(made, key=lambda decision: decision.time)
    made = [replace(decision, place=place) for place, decision in enumerate(made)]
    place = data.draw(st.integers(0, len(made) - 1))
    other = [*made]
    other[place] = replace(made[place], choice=("3",))

    def stream(side: list[Decision]) -> Iterator[Decision]:
        yield from side

    found = diverge(stream(made), stream(other))
    assert found.choice and found.choice.first == made[place]
    assert found.functions[PICK].differing == 1
    assert words(found)


@given(st.text(alphabet=" -[]=.:abcd0123456789\n", max_size=200))
def test_any_text_is_read(text: str) -> None:
    assert isinstance(read(text), list)


@settings(max_examples=300)
@given(st.data())
def test_any_damage_is_read(data: st.DataObject) -> None:
    """Of a trace with fields cut off, doubled or out of order there are still words."""
    lines = data.draw(st.permutations(TRACE.splitlines()))
    cut = data.draw(st.integers(0, 200))
    damaged = "\n".join(line[: max(cut, 60)] for line in lines)
    assert words(compared(TRACE, damaged))
