"""Variants as data: TOML and the command line say the same, bad ones get one clear sentence."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.base.errors import SchedlabError, UsageError
from schedlab.base.validation import validate
from schedlab.settings.variant import Variant, parse_variant


def test_a_command_line_variant_equals_its_toml() -> None:
    toml = tomllib.loads("""
        name = "all"
        sysctl = { "kernel.numa_balancing" = "0" }
        sched_features = ["NO_WA_IDLE", "WA_WEIGHT"]
        sched = { base_slice_ns = "3000000" }
        cpuidle = [
            { state = "C6", enabled = false, cpus = "0-3" },
            { state = "C1", enabled = true },
        ]
        governor = "performance"
        env = { A = "b c" }
        prefix = ["taskset", "-c", "0-3"]
        companion = { command = ["scx_simple", "--fifo"] }
        """)
    text = (
        "all: sysctl kernel.numa_balancing=0; NO_WA_IDLE; WA_WEIGHT; sched base_slice_ns=3000000;"
        " cpuidle C6=off cpus=0-3; cpuidle C1=on; governor performance; env A='b c';"
        " prefix taskset -c 0-3; companion scx_simple --fifo"
    )
    assert parse_variant(text) == Variant.model_validate(toml)


def test_a_bare_name_is_the_host_as_it_is() -> None:
    assert parse_variant("base") == Variant(name="base")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("off: NO_", "'NO_' is not a sched feature; use NAME or NO_NAME, in capitals"),
        ("", "is not a name"),
        ("a b: NO_X", "is not a name"),
        ("x: sysclt kernel.a=1", "Did you mean sysctl"),
        ("x: sysctl kernel.a", "NAME=VALUE"),
        ("x: sysctl", "NAME=VALUE"),
        ("x: sysctl ../../etc/passwd=1", "is not the name of a knob"),
        ("x: sysctl vm//dirty_ratio=1", "is not the name of a knob"),
        ("x: sysctl vm/./dirty_ratio=1", "is not the name of a knob"),
        ("x: sysctl .vm.dirty_ratio=1", "is not the name of a knob"),
        ("x: sysctl vm.dirty_ratio.=1", "is not the name of a knob"),
        ("x: sched ./base_slice_ns=1", "is not the name of a knob"),
        (f"x: sysctl vm.dirty_ratio={'9' * 4096}", "4096 bytes long; a kernel file takes at most"),
        ("x: governor", "write it as"),
        ("x: cpuidle C6", "write it as cpuidle STATE=off"),
        ("x: cpuidle C6=off cpus=3-1", "runs backwards"),
        ("x: WA_IDLE; NO_WA_IDLE", "sets WA_IDLE twice"),
        ("x: prefix 'taskset", "a quotation mark is not closed"),
        ("x: prefix taskset\\", "nothing follows a backslash"),
    ],
)
def test_bad_variants(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        parse_variant(text)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({"name": "x", "sysctls": {}}, "sysctls: unknown key. Did you mean sysctl"),
        ({"name": "x", "cpuidle": [{"state": "C6"}]}, r"cpuidle\[0\].enabled: is missing"),
        ({"name": "x", "sched_features": ["wa_idle"]}, r"sched_features\[0\]: 'wa_idle'"),
        ({"name": "x", "prefix": "taskset"}, "prefix: "),
        ({"name": "x", "companion": {"command": []}}, "companion.command: "),
        (
            {"name": "x", "companion": {"command": ["a"], "ready_file": "/a"}},
            "companion: ready_file and ready_value go",
        ),
        ({"name": 3}, "name: "),
    ],
)
def test_bad_toml_names_the_key(data: object, why: str) -> None:
    with pytest.raises(UsageError, match=f"plan.toml: {why}"):
        validate(data, Variant, "plan.toml")


SETTINGS = st.text(" ;:=,'\"\\abcXYZ_0129-./\n", max_size=60)


@given(st.one_of(st.text(), SETTINGS, SETTINGS.map(lambda text: f"x: {text}")))
def test_any_text_is_a_variant_or_one_clear_error(text: str) -> None:
    try:
        parse_variant(text)
    except SchedlabError as error:
        assert "--variant" in str(error)
