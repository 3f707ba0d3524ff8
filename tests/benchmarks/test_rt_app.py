"""The benchmark RtApp: files made strict, logs read, figures chosen, runs on both targets."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.base.errors import IncompleteRun, UsageError
from schedlab.benchmarks import Case, Output, find_benchmark
from schedlab.benchmarks.rt_app import PERF, PERIOD, RUN, SLACK, WAKEUP, WAKEUP_P99, parse
from schedlab.benchmarks.rt_app_file import RtAppFile
from schedlab.machine.model import find_machine
from schedlab.plan.plan import Plan
from tests.helpers.command_line import Cli
from tests.helpers.emulated import emulated_host
from tests.helpers.rt_app_files import EXAMPLES

LOG = (Path(__file__).parents[1] / "data/rt-app/rt-app-1.0.log").read_text()
"""As rt-app 1.0 of Debian wrote it."""


def case(file: Path) -> Case:
    return find_benchmark("RtApp", "here").case(
        find_machine("smp4"), {"file": str(file)}, None, "here"
    )


def written(folder: Path, text: str) -> Path:
    path = folder / "x.json"
    path.write_text(text)
    return path


def strict(folder: Path, text: str) -> dict[str, dict[str, dict[str, object]]]:
    description: dict[str, dict[str, dict[str, object]]] = json.loads(
        RtAppFile(str(written(folder, text))).for_rt_app().text
    )
    return description


def test_strict_json_of_all_liberties(tmp_path: Path) -> None:
    description = strict(
        tmp_path,
        """/* "a" : { */ {
        "tasks" : {
            "t" : { "phases" : { "p" : { "suspend", "run" : 1, // , }
                "run" : 2, "run1" : 3, "run" : 4, "yield" : "", }, } },
        }, "global" : { "logdir" : "/tmp", "gnuplot" : true, "duration" : 3 }
        }""",
    )
    events = {"suspend": "t", "run": 1, "run1": 2, "run11": 3, "run2": 4, "yield": ""}
    assert list(description["tasks"]["t"]["phases"]["p"].items()) == list(events.items())  # type: ignore[index]
    assert description["global"] == {"duration": 3, "logdir": "."}


def test_a_loop_without_phases_ends_on_every_rt_app(tmp_path: Path) -> None:
    description = strict(
        tmp_path, '{"tasks" : {"t" : {"loop" : 4, "cpus" : [0], "run" : 1, "delay" : 2}}}'
    )
    phase = {"loop": 4, "run": 1}
    assert description["tasks"]["t"] == {
        "cpus": [0],
        "delay": 2,
        "loop": 1,
        "phases": {"phase": phase},
    }


@given(
    st.recursive(
        st.one_of(st.integers(), st.booleans(), st.text(), st.none()),
        lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    )
)
def test_strict_json_stays_as_it_is(
    tmp_path_factory: pytest.TempPathFactory, value: object
) -> None:
    path = tmp_path_factory.getbasetemp() / "strict.json"
    for indent in (None, 1):
        path.write_text(json.dumps({"tasks": {}, "other": value}, indent=indent))
        RtAppFile(str(path))


@given(st.text())
def test_no_text_breaks_the_reader(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    with pytest.raises(UsageError, match=r"any\.json"):
        RtAppFile(str(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.json:1: is not JSON: Expecting value"),
        ('{"tasks" : {\n"a" 1}}', "x.json:2: is not JSON: Expecting ':'"),
        ("[" * 100_000, "nested too deep"),
        ('{"tasks" : []}', 'an object with "tasks" is expected'),
        ('{"tasks" : {"a" : {\n"run" : 1,\n"perod" : 3}}}', "x.json:3: tasks.a.perod: unknown key"),
        (
            '{"tasks" : {"a" : {"phases" : {"p" : {"rnu" : 1}}}}}',
            "x.json:1: tasks.a.phases.p.rnu: unknown key. Did you mean run",
        ),
    ],
)
def test_files_that_are_wrong(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        RtAppFile(str(written(tmp_path, text)))
    assert message in str(error.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.json: cannot be read: No such file"):
        RtAppFile(str(tmp_path / "none.json"))
    with pytest.raises(UsageError, match=r"here\.file: is missing"):
        find_benchmark("RtApp", "here").case(find_machine("smp4"), {}, None, "here")


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_examples_are_read(file: Path) -> None:
    assert "tasks" in json.loads(RtAppFile(str(file)).for_rt_app().text)


@pytest.mark.parametrize(
    ("events", "metrics"),
    [
        ('"run" : 1, "sleep" : 1', {RUN, PERIOD}),
        ('"run2" : 1, "timer" : {"ref" : "u", "period" : 1}', {RUN, WAKEUP, WAKEUP_P99, SLACK}),
        ('"runtime" : 1', {PERF, PERIOD}),
    ],
)
def test_what_a_file_lets_measure(tmp_path: Path, events: str, metrics: set[object]) -> None:
    file = written(tmp_path, f'{{"tasks" : {{"runner" : {{ {events} }}}}}}')
    assert set(case(file).metrics) == metrics
    model = case(file).model()
    assert model is not None
    assert set(model.figures) == metrics


def test_the_real_program() -> None:
    made = case(next(file for file in EXAMPLES if file.stem == "periodic")).commands[0]
    name = made.enclosures[0].name
    assert made.argv == ("rt-app", name)
    assert json.loads(made.enclosures[0].text)["global"]["logdir"] == "."
    assert not made.note
    later = case(next(file for file in EXAMPLES if file.stem == "later")).commands[0]
    assert "does not know fork, nodes_membind, taskgroup, util_max, util_min" in later.note


def test_a_calibration_of_each_run_is_told(tmp_path: Path) -> None:
    text = '{"global" : {"calibration" : %s}, "tasks" : {"a" : {"run" : 1}}}'
    notes = {
        given: case(written(tmp_path, text % given)).commands[0].note for given in ('"CPU0"', "20")
    }
    assert "measures its loop anew" in notes['"CPU0"']
    assert not notes["20"]


def test_our_own_stands_in_and_says_so() -> None:
    file = EXAMPLES[0]
    made = case(file).commands[-1]
    assert made.argv[:3] == ("schedlab-load", "rt-app", "--file")
    assert made.enclosures[0].text == file.read_text()
    assert "stands in" in made.note


def test_the_command_shows_the_content(tmp_path: Path) -> None:
    text = '{"tasks" : {"a" : {"run" : %d}}}'
    names = {
        case(written(tmp_path, text % us)).commands[0].enclosures[0].name for us in (10, 20, 10)
    }
    assert len(names) == 2


def test_logs(tmp_path: Path) -> None:
    (tmp_path / "rt-app-t-0.log").write_text(LOG)
    (tmp_path / "rt-app-t-1.log").write_text(LOG.replace("   58\n", "  200\n"))
    values = parse(Output("", folder=tmp_path))
    assert values[WAKEUP] == (58 + 63 + 200 + 63) / 4
    assert values[WAKEUP_P99] == 200
    assert values[SLACK] == (4650 + 4705) / 2
    assert values[RUN] == (250 + 234) / 2
    assert values[PERF] == 25000
    assert values[PERIOD] == (4961 + 5002) / 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the logs are empty"),
        (LOG + "   0   25000", "rt-app-t-0.log:5: is not a line"),
        (LOG.replace("  250 ", "  2x0 "), "rt-app-t-0.log:3: is not a line"),
    ],
)
def test_logs_that_are_damaged(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "rt-app-t-0.log").write_text(text)
    with pytest.raises(IncompleteRun, match=message):
        parse(Output("", folder=tmp_path))


def test_what_rt_app_did_not_take(tmp_path: Path) -> None:
    (tmp_path / "rt-app-t-0.log").write_text(LOG)
    said = "[rt-app] <error> [json]         Unknown or mismatch run event type !!!\n"
    with pytest.raises(IncompleteRun, match="Unknown or mismatch run event type"):
        parse(Output("", said, folder=tmp_path))


def test_slack_that_is_none_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "rt-app-t-0.log").write_text(
        LOG.replace(" 4650", "-4650").replace(" 4705", "-4705")
    )
    periodic = next(file for file in EXAMPLES if file.stem == "periodic")
    made = case(periodic)
    values, caveats = made.measure(made.commands[0], Output("", folder=tmp_path))
    assert SLACK not in values
    assert WAKEUP in values
    assert caveats == ["slack is -4677.5 us: no ratio can be made of it"]


def test_a_plan_of_workloads() -> None:
    plan = Plan.model_validate(
        {
            "workload": [str(file) for file in EXAMPLES[:2]],
            "variant": [{"name": "a"}, {"name": "b"}],
        }
    )
    assert [case.label for case in plan.cases(find_machine("smp4"))] == ["handoff", "later"]


BAD_KEYS = {
    "unknown key": '{"tasks": {"t": {"run": 1000, "timer": {"ref": "a", "perod": 16667}}}}',
    "duraton": '{"global": {"duraton": 3}, "tasks": {"t": {"run": 1000}}}',
    "whole number": '{"tasks": {"t": {"run": "much"}}}',
}


@pytest.mark.parametrize("key", BAD_KEYS)
def test_a_bad_file_is_refused_before_the_first_run(cli: Cli, tmp_path: Path, key: str) -> None:
    host = emulated_host(tmp_path / "host", tools={"rt-app": ""})
    file = tmp_path / "bad.json"
    file.write_text(BAD_KEYS[key])
    out = tmp_path / "out"
    status, _, err = cli(
        *("run", "--target", f"emulated:{host}", "--workload", file, "--aa", "--output", out)
    )
    assert status == 2
    assert f"schedlab: {file}:1: " in err
    assert not out.exists()


def test_a_number_of_thousands_of_digits_is_one_message(tmp_path: Path) -> None:
    file = written(tmp_path, '{"tasks": {"t": {"run": ' + "9" * 5000 + "}}}")
    with pytest.raises(UsageError, match=r"x\.json"):
        RtAppFile(str(file))
