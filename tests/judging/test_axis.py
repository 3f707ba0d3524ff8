"""Axes: found whatever the order of the cases, each case on one only."""

from schedlab.benchmarks.metric import Metric
from schedlab.judging.axis import find_axes
from schedlab.result.store import CaseInfo

TIME = Metric("time", unit="s", better="lower", label="Time (sec)")


def case(label: str, benchmark: str = "hackbench", **params: int | str) -> CaseInfo:
    return CaseInfo(label, benchmark, "", "", params, (TIME,))


def test_an_axis_rises_and_has_all_else_alike() -> None:
    cases = [
        case("a16", setting="NPS1", groups=16, loops=100),
        case("a1", setting="NPS1", groups=1, loops=100),
        case("b4", setting="NPS2", groups=4, loops=100),
        case("a4", setting="NPS1", groups=4, loops=100),
        case("b1", setting="NPS2", groups=1, loops=100),
        case("other", "stream", groups=1),
    ]
    first, second = find_axes(cases)
    assert (first.name, first.parameter, first.values) == (
        "hackbench setting=NPS1",
        "groups",
        (1, 4, 16),
    )
    assert [c.label for c in first.cases] == ["a1", "a4", "a16"]
    assert [c.label for c in second.cases] == ["b1", "b4"]


def test_a_case_is_on_the_longest_axis_it_may_be_on() -> None:
    cases = [case(f"{g}x{d}", groups=g, datasize=d) for g in (1, 2, 4) for d in (100, 4096)]
    axes = find_axes(cases)
    assert [(axis.parameter, axis.values) for axis in axes] == [("groups", (1, 2, 4))] * 2
    assert find_axes([case("a", groups=1), case("b", groups=1), case("c", loops=1)]) == []
