"""What is wrong with a data file is said in our words, whatever is wrong."""

import math
import re
import time
from datetime import date
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel, ValidationError

from schedlab.base.errors import UsageError
from schedlab.base.validation import _wanted, first_problem, read_toml, validate
from schedlab.machine.model import Machine
from schedlab.plan.plan import Plan, Suite, load_plan
from schedlab.settings.variant import Variant

WRONG: tuple[object, ...] = (
    *(None, True, 0, -1, 7, 1.5, math.nan, math.inf, -math.inf, 10**400, 16**5000),
    *("", " ", "x", "²", "0", "x" * 300, "\0", date(2026, 1, 1)),
    *([], [None], [1], ["x"], [[]], [{}], [1, 1], ["x"] * 300, {}, {"x": 1}, {"": None}, {"x": {}}),
)
THEIRS = re.compile(
    r"input should|should have|valid (string|integer|number|list|dict)|pydantic|https?://"
    r"|instance of|tuple|dictionary|unable to parse|another kind of value"
)


def models(model: type[BaseModel]) -> set[type[BaseModel]]:
    found = {model}
    for field in model.model_fields.values():
        waiting = [field.annotation]
        while waiting:
            kind = waiting.pop()
            waiting += get_args(kind)
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                found |= models(kind)
    return found


ALL = sorted(
    set().union(*map(models, (Plan, Variant, Machine, Suite))), key=lambda model: model.__name__
)


@pytest.mark.parametrize("model", ALL, ids=lambda model: model.__name__)
def test_every_key_of_every_model_is_refused_in_our_words(model: type[BaseModel]) -> None:
    refused = 0
    for field in model.model_fields:
        for value in WRONG:
            try:
                model.model_validate({field: value})
            except ValidationError as error:
                refused += 1
                said = first_problem(error, model)
                assert not THEIRS.search(said.lower()), (field, said)
                for problem in error.errors(include_url=False):
                    if problem["type"] not in ("extra_forbidden", "missing", "value_error"):
                        said = _wanted(problem)
                        assert not THEIRS.search(said.lower()), (field, problem["type"], said)
    assert refused


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"counters": 3}, "counters: a list, such as [...] or 'all' is expected (found 3)"),
        ({"blocks": {"looks": [0]}}, "blocks.looks[0]: at least 1 is expected (found 0)"),
        (
            {"blocks": {"looks": []}},
            "blocks.looks: a list of 1 or more entries is expected (found [])",
        ),
        ({"aa": "x"}, "aa: true or false is expected (found 'x')"),
        ({"title": 3}, "title: a text in quotes is expected (found 3)"),
        (
            {"judging": {"margin": math.nan}},
            "judging.margin: a finite number is expected (found nan)",
        ),
        ({"judging": []}, "judging: a table, such as { key = ... } is expected (found [])"),
        ({"blocks": {"seed": 16**5000}}, "blocks.seed: "),
    ],
)
def test_how_it_is_said(data: dict[str, Any], said: str) -> None:
    good = {"suite": "quick", "variant": [{"name": "a"}, {"name": "b"}]}
    with pytest.raises(UsageError) as refused:
        validate({**good, **data}, Plan, "plan.toml")
    assert str(refused.value).startswith(f"plan.toml: {said}")


ONE_KEY = 'suite = "quick"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (".".join(["a"] * 20_000) + " = 1", "plan.toml:1: a key has more than 16 parts"),
        (f"{ONE_KEY}[{'.'.join(['a'] * 20_000)}]", "plan.toml:2: a key has more than 16 parts"),
        ("x = {" + '"a" . ' * 20_000 + "b = 1}", "plan.toml:1: a key has more than 16 parts"),
        ("\n".join(f"a.b{i} = 1" for i in range(20_000)), "is missing"),
        (f"seed = {'9' * 5000}", "is not TOML: "),
        ("x = 0x" + "f" * 5000, "is missing"),
        ("x = " + "[" * 10_000, "is not TOML: "),
        ("#" * (1 << 20) + "\n", "is longer than 1 MiB"),
        ("x = 'a, " + "1." * 20_000 + "'", "is missing"),
    ],
    ids=range(9),
)
def test_a_hostile_file_is_answered_in_a_moment(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text)
    before = time.process_time()
    with pytest.raises(UsageError, match=re.escape(said)):
        load_plan(path)
    assert time.process_time() - before < 5, "a quadratic reader takes a minute"


def test_deep_text_is_no_key(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text("x = '" + "1." * 100 + "1'\ny = [" + "1.5, " * 100 + "2]\n")
    assert len(read_toml(path)["y"]) == 101


def test_a_model_is_shown_as_the_table_it_is_in_a_plan() -> None:
    with pytest.raises(UsageError, match="a list of 2 or more entries") as error:
        validate({"suite": "quick", "variant": [Variant(name="x")]}, Plan, "p")
    assert "(found [{'name': 'x'}])" in str(error.value)
