"""Decisions out of a trace, where two streams part, and how that is shown."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from schedlab.lab.divergence.decisions import Decision, decisions
from schedlab.lab.divergence.search import diverge
from schedlab.lab.divergence.wording import describe

TRACE = (Path(__file__).parents[1] / "data" / "decisions.txt").read_text()


def read(text: str) -> list[Decision]:
    return list(decisions(text.splitlines()))


def test_decisions_of_a_trace() -> None:
    placed, balanced, newidle, picked = read(TRACE)
    assert placed.function == "select_task_rq"
    assert (placed.task, placed.cpu, placed.time) == ("receiver 1-7", 41, 0.139161)
    assert placed.choice == {"cpu": "41"}
    assert placed.inputs["comm"] == "sender 2"
    assert balanced.choice == {
        "group": "168",
        "queue": "168",
        "pulled": "1",
        "active": "0",
        "looked at": "2",
    }
    assert [text.split("group=")[1][:3].strip() for text in balanced.looked_at] == ["40", "168"]
    assert newidle.choice == {"pulled": "1", "looked at": "1"}
    assert newidle.inputs["overloaded"] == "1"
    assert picked.choice == {"comm": "receiver", "pid": "7"}


def test_equal_runs() -> None:
    found = diverge(iter(read(TRACE)), iter(read(TRACE)))
    assert (found.compared, found.anything, found.choice) == (4, None, None)
    assert "all 4 decisions are the same" in "".join(describe(found, ("base", "other")))


def test_a_scan_that_ends_sooner() -> None:
    sooner = TRACE.replace(TRACE.splitlines(keepends=True)[5], "").replace("group=168", "group=-1")
    found = diverge(iter(read(TRACE)), iter(read(sooner)))
    assert found.choice == found.anything
    assert found.choice and found.choice.after == 1
    text = "\n".join(describe(found, ("base", "ilb")))
    assert "load_balance() of SMT (newidle, 2 CPUs) on CPU 40, in sender-32" in text
    assert "looked at           2         1  <--" in text
    assert "only base looked at" in text
    assert "group=168" in text


def test_a_later_moment_is_told_apart_from_a_decision() -> None:
    later = TRACE.replace("0.139161: select", "0.139169: select").replace("cpu=41 f", "cpu=41 f")
    later = later.replace("comm=receiver pid=7", "comm=sender pid=8")
    found = diverge(iter(read(TRACE)), iter(read(later)))
    assert found.anything and found.anything.after == 0
    assert found.choice and found.choice.after == 3
    text = "\n".join(describe(found, ("base", "other")))
    assert "other comes to it +8 us later" in text
    assert "pick_next() on CPU 40, in <idle>-0" in text


def test_one_run_ends_first() -> None:
    found = diverge(iter(read(TRACE)), iter(read(TRACE)[:2]))
    assert found.choice and found.choice.second is None
    assert "other: the run has ended" in "\n".join(describe(found, ("base", "other")))


MADE = st.lists(
    st.builds(
        Decision,
        time=st.floats(0, 1),
        cpu=st.integers(0, 3),
        task=st.sampled_from(["a-1", "b-2"]),
        function=st.just("pick_next"),
        choice=st.fixed_dictionaries({"pid": st.sampled_from(["1", "2"])}),
        inputs=st.just({}),
    ),
    max_size=8,
)


@given(MADE, st.data())
def test_the_first_changed_decision_is_found(made: list[Decision], data: st.DataObject) -> None:
    if not made:
        return
    place = data.draw(st.integers(0, len(made) - 1))
    other = [*made]
    other[place] = replace(made[place], choice={"pid": "3"})

    def stream(side: list[Decision]) -> Iterator[Decision]:
        yield from side

    found = diverge(stream(made), stream(other))
    assert found.choice and found.choice.after == place
    assert list(describe(found, ("x", "y")))


@given(st.text(alphabet=" -[]=.:abcd0123456789\n", max_size=200))
def test_any_text_is_read(text: str) -> None:
    assert isinstance(read(text), list)
