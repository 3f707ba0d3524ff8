"""One value in two spellings, and two values that look alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.base.cpulist import format_cpulist
from schedlab.settings.spelling import same_value


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("010", "8"),
        ("0x10", "16"),
        ("-1", "-1"),
        ("4096 0400 0x10", "4096\t256\t16"),
        ("1", "Y"),
        ("on", "Y"),
        ("n", "N"),
        ("N", "N"),
        ("Y", "Y"),
        ("N", "0"),
        ("0-1,2-3", "0-3"),
        ("3, 0-2", "0-3"),
        ("0-3", "f"),
        ("f", "0-3"),
        ("F", "0000000f"),
        ("10", "00000010"),
        ("1,ffffffff", "00000001,ffffffff"),
        ("", ""),
        ("madvise", "madvise"),
    ],
)
def test_one_value(wanted: str, found: str) -> None:
    assert same_value(wanted, found, found)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("1000", "1024"),
        ("010", "11"),
        ("1", "0"),
        ("3", "1"),
        ("10", "16"),
        ("1", "N"),
        ("x", "Y"),
        ("2", "Y"),
        ("0-2", "f"),
        ("0-3", "0-1"),
        ("010", "10"),
        ("0x64", "64"),
        ("1", ""),
        ("1 2", "1"),
        ("none", "NONE"),
        ("face", "FACE"),
        ("a  b", "a b c"),
        ("9" * 5000, "9" * 4999),
        ("9" * 5000, "1"),
    ],
)
def test_two_values(wanted: str, found: str) -> None:
    assert not same_value(wanted, found, found)


@pytest.mark.parametrize(
    ("wanted", "found", "original"),
    [("face", "0000face", "core"), ("010", "8", "core"), ("y", "Y", "core"), ("1", "Y", "text")],
)
def test_what_a_text_file_holds_is_only_itself(wanted: str, found: str, original: str) -> None:
    assert not same_value(wanted, found, original)
    assert same_value(wanted, wanted, original)


@given(st.integers(0, (1 << 64) - 1), st.integers(0, (1 << 64) - 1))
def test_numbers_are_one_only_if_they_are(one: int, other: int) -> None:
    assert same_value(f"0{one:o}", str(one), "0") and same_value(hex(one), str(one), "7")
    assert same_value(str(one), str(other), "5") == (one == other)


@given(st.sets(st.integers(0, 300), min_size=1))
def test_cpus_as_a_list_and_as_a_mask(cpus: set[int]) -> None:
    digits = f"{sum(1 << cpu for cpu in cpus):x}"
    groups = [digits[max(end - 8, 0) : end] for end in range(len(digits), 0, -8)][::-1]
    single = ",".join(map(str, sorted(cpus)))
    assert same_value(single, format_cpulist(cpus), "0-3")
    assert same_value(digits, ",".join([groups[0].zfill(8), *groups[1:]]), "f")
    if "-" in format_cpulist(cpus):
        assert same_value(format_cpulist(cpus), digits, "0f")
