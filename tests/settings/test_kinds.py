"""Every kind of setting: read as it is written, described, documented, refused where it is idle."""

import re
import tomllib
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.base.errors import UsageError
from schedlab.base.validation import validate
from schedlab.plan.targets import kind_of
from schedlab.report.content import describe_variant
from schedlab.settings.grammar import settings_written
from schedlab.settings.kinds import all_settings, check_place
from schedlab.settings.kinds import given as given_to_simulator
from schedlab.settings.setting import PLACES, REGISTRY, Setting, setting
from schedlab.settings.variant import Variant, parse_variant
from schedlab.targets.choice import find_target
from tests.helpers.report_store import plan_of

DOCS = Path(__file__).parents[2] / "docs/manual"
KINDS = all_settings()
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


def example(kind: Setting[Any]) -> Variant:
    return parse_variant(f"v: {kind.example}")


def test_every_key_of_a_variant_is_a_kind() -> None:
    assert list(Variant.model_fields) == ["name", *(kind.key for kind in KINDS)]


def test_a_module_has_one_kind() -> None:
    modules = [type(kind).__module__ for kind in KINDS]
    assert len(set(modules)) == len(modules)
    assert {module.rpartition(".")[0] for module in modules} == {"schedlab.settings.kinds"}


@every_kind
def test_a_value_that_is_not_set_is_false_and_does_nothing(kind: Setting[Any]) -> None:
    plain = Variant(name="v")
    assert not kind.of(plain)
    assert kind.of(plain) == kind.default
    assert kind.of(example(kind))


@every_kind
def test_it_does_something_in_each_of_its_places(kind: Setting[Any]) -> None:
    variant = example(kind)
    asked = kind.key in ("kernel", "boot")  # targets and plans read these themselves
    around = kind.around(kind.of(variant))
    simulated = list(given_to_simulator(variant))
    assert bool(simulated) == ("sim" in kind.where and not asked)
    of_its_own = type(kind).knobs is not Setting.knobs or around.env or around.commands
    assert bool(of_its_own) == ("host" in kind.where and not asked)
    if "vm" in kind.where and "host" not in kind.where:
        assert asked or kind.boot_options(kind.of(variant))


@pytest.mark.parametrize("taken", ["key", "name", "rank"])
def test_two_kinds_share_nothing_that_tells_them_apart(taken: str) -> None:
    free = {"key": "free", "name": "free", "rank": -1}
    body = {**free, taken: getattr(KINDS[0], taken)}
    with pytest.raises(ValueError, match="another setting"):
        setting(type("Second", (type(KINDS[0]),), body))
    assert sorted(REGISTRY) == sorted(kind.key for kind in KINDS)


@every_kind
def test_a_plan_file_says_the_same(kind: Setting[Any]) -> None:
    assert validate({"name": "v", **tomllib.loads(kind.toml)}, Variant, "x") == example(kind)


@every_kind
def test_what_is_written_is_read_and_described(kind: Setting[Any]) -> None:
    variant = example(kind)
    assert settings_written(variant) == [kind.example]
    assert describe_variant(variant, plan_of()) == kind.example
    assert "as it is" not in describe_variant(variant, plan_of())


@every_kind
def test_it_is_documented(kind: Setting[Any]) -> None:
    rows = (DOCS / "plans.md").read_text().splitlines()
    places = ", ".join(PLACES[place][0] for place in PLACES if place in kind.where)
    where = "everywhere" if len(kind.where) == len(PLACES) else places
    assert f"| `{kind.example}` | `{kind.toml}` | {kind.help} | {where} |" in rows


def test_the_docs_know_no_other_kind() -> None:
    text = (DOCS / "plans.md").read_text()
    table = text.partition("| in TOML |")[2].partition("\n\n")[0]
    assert len(table.strip().splitlines()) == len(KINDS) + 2


def test_the_docs_of_the_simulator_list_what_it_refuses() -> None:
    row = re.search(
        r"^\| (.*) \| no meaning; refused by name \|$", (DOCS / "sim.md").read_text(), re.M
    )
    assert row
    assert row[1] == ", ".join(f"`{kind.name}`" for kind in KINDS if "sim" not in kind.where)


@every_kind
@pytest.mark.parametrize("target", ["host", "ssh:far", "emulated:x", "sim:smp4", "vm:6.12"])
def test_it_is_refused_where_it_would_do_nothing(kind: Setting[Any], target: str) -> None:
    place = kind_of(target).place
    if place in kind.where:
        check_place(example(kind), place)
        return
    with pytest.raises(UsageError) as refused:
        find_target(target, None, [example(kind)])
    said = str(refused.value)
    why = kind.elsewhere[place]
    assert f"variant v: {kind.name} has no meaning on {PLACES[place][0]}: {why}" in said
    for other in kind.where:
        assert PLACES[other][1] in said


@pytest.mark.parametrize("target", ["host", "ssh:far", "vm:7.3"])
def test_a_schedulers_path_is_for_the_simulator(target: str) -> None:
    asked = Variant(name="v", scx="s/vt.bpf.c")
    with pytest.raises(UsageError) as refused:
        find_target(target, None, [asked])
    assert "variant v: scx=s/vt.bpf.c: a source's path is for the" in str(refused.value)
    check_place(asked, "sim")
    check_place(Variant(name="v", scx="simple"), kind_of(target).place)


@every_kind
def test_each_place_where_it_means_nothing_has_a_reason(kind: Setting[Any]) -> None:
    assert set(kind.elsewhere) == set(PLACES) - kind.where


@every_kind
def test_twice_is_refused_and_not_passed_over(kind: Setting[Any]) -> None:
    with pytest.raises(UsageError, match="twice"):
        parse_variant(f"v: {kind.example}; {kind.example}")


@every_kind
def test_one_that_is_not_complete_says_how_it_is_written(kind: Setting[Any]) -> None:
    if not kind.head:
        return
    with pytest.raises(UsageError, match="write it as") as refused:
        parse_variant(f"v: {kind.name}")
    assert str(refused.value).endswith(kind.syntax)


AWKWARD = "aZ0 .;:='\"\\\t\nä$#*?~-"
arguments = st.text(AWKWARD, max_size=12)
lines = st.text(AWKWARD.replace("\n", ""), max_size=12)
filled = lines.filter(lambda text: bool(text.strip()))
keys = filled.map(lambda text: text.replace("=", "_"))
knobs = st.text("abz_./;'\"\\$", min_size=1, max_size=8).filter(
    lambda text: all(re.split("[./]", text))
)
values = st.one_of(filled, st.integers(-(2**63), 2**63))
words = st.lists(arguments, min_size=1, max_size=4).filter(lambda words: bool(words[0].strip()))
cpulists = st.sampled_from([None, "0", "0-3,8"])
names = st.text("abcXYZ09;'\"", min_size=1, max_size=6)

KEYS = MappingProxyType(
    {
        "sched_features": st.lists(
            st.sampled_from(["NO_WA_IDLE", "TTWU_QUEUE", "A_1"]), unique=True
        ),
        "sysctl": st.dictionaries(knobs, values, max_size=3),
        "sched": st.dictionaries(knobs, values, max_size=3),
        "cpuidle": st.lists(
            st.fixed_dictionaries({"state": filled, "enabled": st.booleans(), "cpus": cpulists}),
            max_size=3,
            unique_by=lambda idle: str(idle["state"]),
        ),
        "idle_governor": st.none() | names,
        "core_sched": st.none() | st.sampled_from(["benchmark", "process"]),
        "cgroup": st.none()
        | st.fixed_dictionaries(
            {"path": st.sampled_from(["bench", "a/b"])},
            optional={
                "cpu.max": st.sampled_from(["max", "50000", "max 2000"]),
                "cpu.weight": st.integers(1, 10000),
                "cpuset.cpus": st.sampled_from(["0", "0-3,8"]),
                "cpuset.cpus.partition": st.sampled_from(["root", "isolated"]),
            },
        ),
        "policy": st.none()
        | st.fixed_dictionaries(
            {"name": st.sampled_from(["normal", "batch"])},
            optional={"nice": st.integers(-20, 19), "slice": st.sampled_from(["3ms", "0.5ms"])},
        )
        | st.fixed_dictionaries({"name": st.just("rr"), "priority": st.integers(1, 99)}),
        "governor": st.none() | names,
        "env": st.dictionaries(keys, arguments, max_size=3),
        "prefix": st.just([]) | words,
        "companion": st.none()
        | st.fixed_dictionaries({"command": words})
        | st.fixed_dictionaries(
            {
                "command": words,
                "ready_file": filled,
                "ready_value": lines,
                "ready_seconds": st.floats(0.001, 3600),
            }
        ),
        "kernel": st.none() | st.sampled_from(["6.12", "ilb-util"]),
        "cmdline": lines,
        "boot": st.dictionaries(keys, filled, max_size=3),
    }
)


def its_values(kind: Setting[Any]) -> st.SearchStrategy[object]:
    """Draw a kind's values: as above, or else the one of its example."""
    return KEYS.get(kind.key, st.sampled_from([kind.of(example(kind)), kind.default]))


@every_kind
@settings(deadline=None)
@given(data=st.data())
def test_any_value_can_be_written_and_read(kind: Setting[Any], data: st.DataObject) -> None:
    variant = Variant.model_validate({"name": "v", kind.key: data.draw(its_values(kind))})
    written = [f"{kind.head}{text}" for text in kind.written(kind.of(variant)) if kind.of(variant)]
    assert parse_variant(f"v: {'; '.join(written)}") == variant


@settings(deadline=None)
@given(st.fixed_dictionaries({}, optional={kind.key: its_values(kind) for kind in KINDS}))
def test_any_variant_can_be_written_and_read(fields: dict[str, object]) -> None:
    variant = Variant.model_validate({"name": "v", **fields})
    written = settings_written(variant)
    assert parse_variant(f"v: {'; '.join(written)}") == variant
    assert parse_variant("v:" + "\n".join(written)) == variant


@pytest.mark.parametrize(
    "data",
    [
        {"sysctl": {"kernel.a": ""}},
        {"sysctl": {"kernel.a": " "}},
        {"sysctl": {"kernel.a": True}},
        {"sysctl": {"kernel.a": 2**64}},
        {"sysctl": {"kernel.a=1": 1}},
        {"sched": {"": 1}},
        {"governor": ""},
        {"idle_governor": "a b"},
        {"env": {"A=B": "c"}},
        {"env": {"A": "\0"}},
        {"prefix": [""]},
        {"prefix": ["a", "\0"]},
        {"companion": {"command": ["x"], "ready_seconds": 5}},
        {"companion": {"command": ["ready_file=x"]}},
        {"cmdline": "a\nb"},
        {"boot": {"NUMA nodes": ""}},
        {"cpuidle": [{"state": "C6", "enabled": False}, {"state": "C6", "enabled": True}]},
        {
            "cpuidle": [
                {"state": "C6", "enabled": False, "cpus": "0-3"},
                {"state": "C6", "enabled": True, "cpus": "3"},
            ]
        },
        {"name": "x" * 201},
    ],
)
def test_what_could_not_take_effect_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=r"^plan.toml: "):
        validate({"name": "v", **data}, Variant, "plan.toml")
