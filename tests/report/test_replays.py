"""Kinds of recordings, and what is said of replays of each kind."""

import sys
from pathlib import Path
from typing import Any

import pytest

from schedlab.benchmarks import find_benchmark
from schedlab.benchmarks.replay import (
    HAND_OVERS,
    KINDS,
    MESSAGES,
    TIMED,
    WORK,
    Changes,
    Recording,
    describe_fidelity,
    doubts,
    kind_of_replay,
    measured_fidelity,
)
from schedlab.judging.analysis import analyse
from schedlab.lab.recording.workload import RecordedTask, RecordedWorkload
from schedlab.machine.model import find_machine
from schedlab.report.content import Report
from schedlab.result.store import describe
from tests.helpers.report_store import HACKBENCH, Bench, make_store

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "recording"))
from fidelity_data import summary


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("5000000 w 12", WORK),
        ("", WORK),
        ("1000 r1 20 >3 m2 w 5 r1", MESSAGES),
        ("1000 w 20 >3 w s5 +4", HAND_OVERS),
        ("1000 s20 >3 t5 @7 d9 w", TIMED),
    ],
)
def test_kinds(words: str, kind: str) -> None:
    assert kind_of_replay([words]) == kind


def test_a_case_knows_what_it_replays(tmp_path: Path) -> None:
    file = tmp_path / "x.slw"
    RecordedWorkload([RecordedTask(1, "a", "100 s2000 100")], {}).write(file)
    plain = tmp_path / "plain.json"
    plain.write_text('{"tasks": {"a": {"run": 100}}}')
    machine = find_machine("smp4")
    kinds = [
        describe(
            find_benchmark("RtApp", "").case(machine, {"file": str(path)}, "x", ""), ""
        ).replays
        for path in (file, plain)
    ]
    assert kinds == [TIMED, ""]


def test_only_an_error_of_half_the_changes_is_a_prediction() -> None:
    assert Changes(number=4, originals=6, error=3).predicted
    assert not Changes(number=4, originals=6, error=3.1).predicted
    assert not Changes(number=4, originals=0.5, error=0.1).predicted


def row(
    kind: str, seed: int, times: tuple[float, float], moved: tuple[float, float]
) -> dict[str, Any]:
    def run(seconds: float, better: float) -> dict[str, Any]:
        figures = {"seconds": seconds, "rate": 2.0, "switches": 10, "wakeups": 0, "moves": 5}
        figures |= {"p50": 0.1 * seconds, "p99": 20 * seconds}
        return {
            **figures,
            "better": {"speed": better, "work_rate": better, "request_p99": 1 / seconds},
        }

    base = [run(seconds, 1.0) for seconds in times]
    changed = [run(1.0, 1 + by) for by in moved]
    about: dict[str, Any] = {
        "case": "A",
        "seed": seed,
        "machine": "smp4",
        "kernel": "6.12",
        "kind": kind,
    }
    about["pairs"] = {"speed": "work_rate", "request_p99": "request_p99"}
    return {**about, "base": base, "NO_X": changed}


def test_the_data_are_of_the_means_over_seeds() -> None:
    rows = [row(WORK, 1, (1.0, 1.2), (0.10, 0.0)), row(WORK, 2, (1.0, 1.0), (0.02, 0.02))]
    found = summary([*rows, {"case": "B", "failed": "it does not end"}]).kind
    assert list(found) == [WORK]
    of = found[WORK]
    assert (of.time.median, of.time.worst, of.switches.worst) == (0.1, 0.1, 0.0)
    assert of.request_p99 and of.request_p99.worst == 0.1
    assert (of.wakeup_p99.worst, of.wakeup_p99.number) == (0.1, 1)
    assert of.wakeup_p50.worst == pytest.approx(0.01), "a hundredth of a us, as a part of a us"


def test_latencies_stand_beside_the_other_errors() -> None:
    said = describe_fidelity(HAND_OVERS)
    assert "median wakeup latency 2 % (72 %), its 99th percentile 12 % (53 %)" in said
    assert "The 99th percentile of requests, which 1 workload measured, was off by" in said
    assert "none measures its own" in describe_fidelity(MESSAGES)


def test_every_kind_has_been_measured() -> None:
    assert set(measured_fidelity()) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_says_it_before_the_figures_and_beside_the_verdict(
    kind: str, tmp_path: Path
) -> None:
    """A verdict on a change from a kind of replay that does not predict changes says so."""
    store = make_store(
        tmp_path / "r", [Bench("server", "x", replays=kind, effects={"NB-OFF": 0.5})]
    )
    report = Report(store, analyse(store))
    assert any("server" in text and describe_fidelity(kind) in text for text in report.banners)
    remarks = " ".join(report.remarks(report.others[0]))
    assert doubts(kind) in remarks
    predicts = measured_fidelity()[kind].changes
    assert bool(doubts(kind)) != bool(predicts and predicts.predicted)


@pytest.mark.parametrize(("asleep", "said"), [(9.5, True), (5.0, False)])
def test_a_verdict_on_the_time_of_sleeps_says_so(asleep: float, said: bool, tmp_path: Path) -> None:
    """The bench takes 10 s."""
    bench = Bench("server", "x", replays=WORK, recording=Recording(asleep, "redis-7"))
    store = make_store(tmp_path / "r", [bench])
    report = Report(store, analyse(store))
    remarks = " ".join(report.remarks(report.others[0]))
    assert ("redis-7 waits for the clock for 9.5 s of it" in remarks) == said


def test_a_verdict_on_the_time_of_work_for_a_given_time_says_so(tmp_path: Path) -> None:
    file = tmp_path / "x.slw"
    RecordedWorkload([RecordedTask(1, "a", "100")], {"given_time": ["sysbench"]}).write(file)
    case = find_benchmark("RtApp", "").case(find_machine("smp4"), {"file": str(file)}, "x", "")
    recording = describe(case, "").recording
    store = make_store(tmp_path / "r", [Bench("server", "x", replays=WORK, recording=recording)])
    report = Report(store, analyse(store))
    remarks = " ".join(report.remarks(report.others[0]))
    assert "tasks sysbench worked for a given time when they were recorded" in remarks
    assert "judge by work_rate" in remarks


def test_a_report_says_what_a_recording_lacks(tmp_path: Path) -> None:
    file = tmp_path / "x.slw"
    about = {"notes": ["1,234 events\nwere lost."], "scaled": "clients x2, rate x1", "probe": False}
    RecordedWorkload([RecordedTask(1, "a", "100")], about).write(file)
    case = find_benchmark("RtApp", "").case(find_machine("smp4"), {"file": str(file)}, "x", "")
    recording = describe(case, "").recording
    store = make_store(tmp_path / "r", [Bench("server", "x", replays=WORK, recording=recording)])
    text = " ".join(Report(store, analyse(store)).banners)
    assert "server: It was imported without --probe, and is off by more. 1,234 events were" in text
    assert "lost. Since then scaled: clients x2, rate x1." in text
    assert "measured in the simulator, on hikey960, " in text
    assert "No effect, of whatever size, is to be judged" in text and "below 10 %" not in text
    assert "does not say whether" in Recording().lacks()


@pytest.mark.parametrize(("effect", "said"), [(1.08, True), (1.2, False)])
def test_small_effects_of_replays_are_doubted(effect: float, said: bool, tmp_path: Path) -> None:
    store = make_store(tmp_path / "r", [Bench("s", "x", replays=WORK, effects={"NB-OFF": effect})])
    report = Report(store, analyse(store))
    remarks = " ".join(report.remarks(report.others[0]))
    assert ("replays do not tell effects below 10 %" in remarks) == said


@pytest.mark.parametrize("kind", [WORK, ""])
@pytest.mark.parametrize(("effect", "word"), [(0.97, "better"), (1.03, "worse"), (1.2, "worse")])
def test_no_replay_is_better_or_worse_by_less_than_replays_tell(
    kind: str, effect: float, word: str, tmp_path: Path
) -> None:
    """The interval is within 10 %: more blocks would not change that."""
    bench = Bench("s", "x", replays=kind, noise=0.001, effects={"NB-OFF": effect})
    store = make_store(tmp_path / "r", [bench])
    verdict = analyse(store).outcomes[0].verdict
    small = bool(kind) and effect < 1.1
    assert verdict.word == ("can't tell" if small else word)
    assert (verdict.settled, verdict.futile) == (not small, small)


def test_the_longest_sleep_is_a_tasks_own(tmp_path: Path) -> None:
    file = tmp_path / "x.slw"
    tasks = [RecordedTask(1, "a", "100 s2000000000 100 @1000 d1"), RecordedTask(2, "b", "@3000")]
    RecordedWorkload(tasks, {}).write(file)
    case = find_benchmark("RtApp", "").case(find_machine("smp4"), {"file": str(file)}, "x", "")
    assert describe(case, "").recording == Recording(2.000000001, "a-1")


def test_what_is_no_replay_has_no_such_words(tmp_path: Path) -> None:
    store = make_store(tmp_path / "r", [HACKBENCH])
    assert "eplays" not in " ".join(Report(store, analyse(store)).banners)


@pytest.mark.parametrize(
    ("tasks", "names"),
    [
        (["100"], ["time", "work_rate"]),
        (["y"], ["time"]),
        (["100 >2", "w"], ["time", "work_rate", "wakeup_latency", "wakeup_latency_p99"]),
        (["100 s5 " * 99], ["time", "work_rate"]),
        (["100 s5 " * 100], ["time", "work_rate", "request", "request_p99"]),
    ],
)
def test_a_replay_measures_what_its_tasks_do(
    tmp_path: Path, tasks: list[str], names: list[str]
) -> None:
    file = tmp_path / "x.slw"
    made = [RecordedTask(at, "a", words) for at, words in enumerate(tasks, 1)]
    RecordedWorkload(made, {}).write(file)
    case = find_benchmark("RtApp", "").case(find_machine("smp4"), {"file": str(file)}, "x", "")
    assert [metric.name for metric in case.metrics] == names


def test_requests_have_metrics_by_the_tasks_that_begin_them(tmp_path: Path) -> None:
    file = tmp_path / "x.slw"
    often, seldom = "100 s5 " * 100, "100 s5 " * 99
    made = [RecordedTask(1, "web 1", often), RecordedTask(2, "web 2", often)]
    made += [RecordedTask(3, "db:x", often), RecordedTask(4, "cron", seldom)]
    RecordedWorkload(made, {}).write(file)
    case = find_benchmark("RtApp", "").case(find_machine("smp4"), {"file": str(file)}, "x", "")
    names = [metric.name for metric in case.metrics if metric.name.startswith("request_")]
    assert names == [
        *("request_p99", "request_web", "request_web_p99", "request_db_x", "request_db_x_p99"),
    ]
