"""What a plan says of itself while it runs: runs there are, runs owed, how long they may take."""

import io
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from rich.console import Console

from schedlab.base.errors import Interrupted
from schedlab.cli.progress import RunProgress, Screen
from schedlab.lab import earlier
from schedlab.lab.forecast import Forecast, rough
from schedlab.lab.pace import Budget, Pace
from schedlab.lab.runner import Runner
from schedlab.plan.plan import Plan
from schedlab.result.record import RunKey, RunRecord
from schedlab.result.store import Store
from tests.helpers.command_line import Cli
from tests.helpers.emulated import emulated_host
from tests.lab.test_budget import Clock, Timed
from tests.lab.test_runner import Silent, begin, plan_of

CASES = ("SysBenchCpu", "SysBenchThreads")


def forecast(
    plan: Plan, expected: dict[str, float], recorded: int = 0, clock: Clock | None = None
) -> Forecast:
    runs = [RunRecord(RunKey(CASES[i % 2], "base", i), i, 0, "") for i in range(recorded)]
    budget = Budget(plan, clock=clock or Clock())
    return Forecast(plan, 2, CASES, Pace(1, expected), budget, runs)


def test_a_forecast_is_made_of_what_earlier_results_took() -> None:
    plan = plan_of(*CASES, looks=[6, 12])
    assert str(forecast(plan, {})) == ""
    forecasted = forecast(plan, dict.fromkeys(CASES, 5.0))
    assert forecasted.at_most == 4 * 13
    assert str(forecasted) == "about 2 min to the look after 6 blocks, at most 4 min"
    gone_on = forecast(plan, dict.fromkeys(CASES, 5.0), recorded=28)
    assert (gone_on.done, gone_on.at_most) == (28, 52)
    assert str(gone_on) == "about 2 min left"
    one = forecast(plan, {"SysBenchCpu": 5.0})
    assert not one.known
    assert str(one) == "at least 2 min left if nothing settles before"


def test_a_plan_of_more_than_half_an_hour_says_so_and_what_to_do() -> None:
    plan = plan_of(*CASES, looks=[6, 12])
    assert not forecast(plan, dict.fromkeys(CASES, 34.0)).warning()
    words = forecast(plan, dict.fromkeys(CASES, 350.0)).warning()
    assert words.startswith("this may take 5.1 h. `--budget 10min`")
    for advice in ("--blocks 6", "--only", "quick"):
        assert advice in words
    partly = forecast(plan, {"SysBenchCpu": 350.0}).warning()
    assert partly.startswith("this may take at least 2.5 h."), "as soon as what is known is enough"
    assert not forecast(plan, {"SysBenchCpu": 68.0}).warning()
    blocks = plan.blocks.model_copy(update={"budget": "10min"})
    budgeted = forecast(plan.model_copy(update={"blocks": blocks}), dict.fromkeys(CASES, 36.0))
    assert not budgeted.warning()
    assert str(budgeted) == "about 10 min left of the budget"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "1 s"), (42.4, "42 s"), (170, "3 min"), (5_900, "98 min"), (9_000, "2.5 h")],
)
def test_times_are_told_as_roughly_as_they_are_known(seconds: float, words: str) -> None:
    assert rough(seconds) == words


def test_without_a_terminal_every_run_is_a_line(tmp_path: Path) -> None:
    said, clock = io.StringIO(), Clock()
    plan = plan_of("SysBenchCpu", looks=[2, 3])
    store, cases = begin(tmp_path / "r", plan)
    screen = Screen(Console(file=said, width=80))
    pace, budget = Pace(), Budget(plan, clock=clock)
    forecasted = Forecast(plan, 2, ["SysBenchCpu"], pace, budget)
    progress = RunProgress(plan, forecasted, screen)
    progress.begin()
    Runner(store, cases, Timed(clock, 2.0), progress, pace=pace, budget=budget).run()
    lines = said.getvalue().splitlines()
    assert lines[0] == "at most 8 runs; how long they take shows when the first are over"
    runs = [line for line in lines if line.startswith("run ")]
    assert len(runs) == 8
    assert runs[0].startswith("run 1 of at most 8: SysBenchCpu [")
    assert "] warm-up, 2 s; about 10 s to the look after 2 blocks, at most 14 s" in runs[0]
    assert "] block 0, 2 s" in runs[2]
    assert "] block 2, 2 s" in runs[7]
    assert not any("block 1 of" in line for line in lines), "a block that begins is no progress"


def test_the_time_is_told_before_the_first_run_and_for_the_rest(cli: Cli, tmp_path: Path) -> None:
    host = f"emulated:{emulated_host(tmp_path / 'host')}"
    words = ("--target", host, "--benchmark", "HackbenchPipeThreads", "--aa", "--blocks", 2)
    status, text, err = cli("run", *words, "--dry-run")
    assert status == 0, err
    assert "How long they take is not known yet" in text
    out = tmp_path / "out"
    status, _, err = cli("run", *words, "--output", out)
    assert status == 0, err
    assert "at most 6 runs; how long they take shows when the first are over" in err
    status, text, _ = cli("run", *words, "--dry-run")
    assert "Time: about 1 s left, by what is known of 1 of 1 benchmark." in text
    status, _, err = cli("run", "--resume", out)
    assert "6 runs are recorded: the plan is complete, nothing is run." in err
    status, text, _ = cli("run", "--resume", out, "--dry-run")
    assert "6 runs are recorded: the plan is complete, nothing is run." in text


def test_speeds_that_cannot_be_read_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path))
    for text in ("", "[]", "null", '{"a": []}', '{"a": "b"}'):
        (tmp_path / "run-seconds.json").write_text(text)
        plan = plan_of("SysBenchCpu")
        store, cases = begin(tmp_path / f"r{len(text)}", plan)
        found = earlier.expected(plan, {}, cases, store.cases)
        assert found == {"SysBenchCpu": 60.0}, (
            "what the tool is asked to take is known all the same"
        )


@pytest.mark.parametrize(
    ("name", "minutes"),
    [("ilb-util-epyc", 93), ("numa-balancing-kunpeng", 130), ("group-util-kunpeng", 19)],
)
def test_a_large_plan_that_comes_with_schedlab_says_beforehand_how_long_it_takes(
    cli: Cli, name: str, minutes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(earlier, "_read", dict)  # whoever runs the tests may have run the plan
    status, text, err = cli("run", name, "--dry-run", "--jobs", 1)
    assert status == 0, err
    [line] = [line for line in text.splitlines() if line.startswith("Time: ")]
    assert f"about {rough(minutes * 60.0)} left, by what is known of" in line
    assert ("Note: this may take" in text) == (minutes > 30)


def test_what_is_one_is_said_of_one(tmp_path: Path) -> None:
    said, clock = io.StringIO(), Clock()
    plan = plan_of("SysBenchCpu", blocks={"looks": [1], "warmup": 0})
    store, cases = begin(tmp_path / "r", plan)
    with pytest.raises(KeyboardInterrupt):
        session = Timed(clock, stop_after=1)
        Runner(store, cases, session, Silent(), budget=Budget(plan, clock=clock)).run()
    forecasted = Forecast(plan, 2, ["SysBenchCpu"], Pace(), Budget(plan), store.records())
    RunProgress(plan, forecasted, Screen(Console(file=said, width=80))).begin()
    assert said.getvalue().startswith("1 run is recorded; at most 2 runs; ")


def test_a_dry_run_of_a_resume_takes_in_what_is_recorded(cli: Cli, tmp_path: Path) -> None:
    host = f"emulated:{emulated_host(tmp_path / 'host')}"
    words = ("--target", host, "--benchmark", "HackbenchPipeThreads", "--aa", "--blocks", 200)
    out = tmp_path / "out"
    status, _, err = cli("run", *words, "--budget", "1ms", "--output", out)
    assert status == 0, err
    with closing(Store.open(out, readonly=False)) as store:
        for table in ("figure", "run"):
            store._db.execute(f"DELETE FROM {table} WHERE position = 3")
        store._db.commit()
    status, text, err = cli("run", "--resume", out, "--dry-run")
    assert status == 0, err
    assert "3 runs are recorded.\n" in text
    assert "by what is known of 1 of 1 benchmark." in text


def test_a_block_longer_than_the_budget_is_foretold() -> None:
    plan = plan_of(*CASES, blocks={"looks": [6], "budget": "30s"})
    known = dict.fromkeys(CASES, 5.0)
    assert str(forecast(plan, known)) == "about 40 s, as one block takes: more than the budget"
    plan = plan_of(*CASES, blocks={"looks": [6], "budget": "60s"})
    assert str(forecast(plan, known)) == "about 60 s left of the budget"


def test_a_whole_result_gets_no_notice_more(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = f"emulated:{emulated_host(tmp_path / 'host')}"
    words = ("--target", host, "--benchmark", "HackbenchPipeThreads", "--aa", "--blocks", 1)
    out = tmp_path / "out"
    status, _, err = cli("run", *words, "--output", out)
    assert status == 0, err

    def refuse(*_: object) -> None:
        raise AssertionError("nothing is owed")

    monkeypatch.setattr("schedlab.lab.result._runner", refuse)
    before = (out / "report.md").read_text()
    status, _, err = cli("run", "--resume", out)
    assert status == 0, err
    assert (out / "report.md").read_text() == before


def test_who_stops_a_lab_while_it_keeps_its_speed_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is passed over there is a disk that refuses, and not a Ctrl-C."""

    def stopped(*_: object) -> None:
        raise Interrupted("stopped by SIGINT")

    monkeypatch.setattr(earlier, "write_whole", stopped)
    with pytest.raises(Interrupted):
        earlier.keep(cast(Store, SimpleNamespace(cases=[])))
