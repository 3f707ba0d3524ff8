"""The verdicts of checks as JUnit's XML, by the rules of the schema that CI systems use."""

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from schedlab.lab.checks.checking import Verdict, Word
from schedlab.lab.checks.junit import junit

PROBLEMS = ("a task's \x1b[31mwait\x00 <&> \"'", "a name \ud800 of no encoding", "3", "4", "5")

# What junit-10.xsd of Jenkins's xUnit plugin allows of what we write: for each element its
# attributes, those that it must have, and the elements in it.
RULES: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, set(), {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors", "skipped", "time"},
        {"name", "tests", "failures", "errors"},
        {"testcase"},
    ),
    "testcase": (
        {"name", "classname", "time"},
        {"name"},
        {"skipped", "error", "failure"},
    ),
    "failure": ({"message", "type"}, set(), set()),
    "error": ({"message", "type"}, set(), set()),
    "skipped": ({"message", "type"}, set(), set()),
}


def verdict(word: Word, seed: int, bug: bool = False, check: str = 'a<&"b') -> Verdict:
    problems = PROBLEMS if word in ("failed", "refused") else ()
    return Verdict(check, "smt8", "6.12", seed, bug, word, 1234.5678, problems)


VERDICTS = (
    verdict("passed", 1),
    verdict("failed", 2),
    verdict("refused", 3),
    verdict("not run", 4),
    verdict("caught", 1, bug=True),
    verdict("missed", 2, bug=True),
    verdict("passed", 1, check="other"),
)


@pytest.mark.parametrize("verdicts", [VERDICTS, ()])
def test_what_is_written_is_what_the_schema_allows(verdicts: tuple[Verdict, ...]) -> None:
    for element in ET.fromstring(junit(verdicts)).iter():
        allowed, needed, within = RULES[element.tag]
        assert needed <= set(element.attrib) <= allowed, element.attrib
        assert {child.tag for child in element} <= within
        whole, _, thousandths = element.get("time", "0.000").partition(".")
        assert whole.isdigit(), "no exponent and no sign"
        assert len(thousandths) == 3


def test_each_word_is_counted_where_readers_look_for_it() -> None:
    first, other = ET.fromstring(junit(VERDICTS))
    counts = {key: first.get(key) for key in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "6", "failures": "2", "errors": "1", "skipped": "1"}
    assert other.get("tests") == "1"
    for kind, number in (("failure", 2), ("error", 1), ("skipped", 1)):
        assert len(first.findall(f"testcase/{kind}")) == number
    names = [case.get("name") for case in first]
    assert len(names) == len(set(names)), "a CI system tells runs apart by their names"
    failure = first.find("testcase/failure")
    assert failure is not None
    assert failure.text is not None
    assert failure.text.endswith("and 2 more")


def test_names_that_xml_cannot_have_are_written_out() -> None:
    ET.fromstring(junit([replace(VERDICTS[0], check="a\x01b")]))
