"""Verdicts as JUnit's XML, which every CI reads."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from xml.etree import ElementTree as ET

from schedlab.base.printable import printable, printable_lines
from schedlab.lab.checks.checking import BAD, Verdict


def junit(verdicts: Iterable[Verdict]) -> str:
    """Return a suite for each check, with a case for each of its runs."""
    root = ET.Element("testsuites", name="schedlab check")
    ordered = sorted(verdicts, key=lambda v: (v.check, v.kernel, v.bug, v.machine, v.seed))
    for name, group in groupby(ordered, key=lambda verdict: verdict.check):
        _suite(root, name, list(group))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(root: ET.Element, name: str, verdicts: Sequence[Verdict]) -> None:
    counts = {
        "tests": len(verdicts),
        "failures": sum(v.word in ("failed", "missed") for v in verdicts),
        "errors": sum(v.word == "refused" for v in verdicts),
        "skipped": sum(v.word == "not run" for v in verdicts),
    }
    seconds = f"{sum(verdict.seconds for verdict in verdicts):.3f}"
    name = printable(name)
    suite = ET.SubElement(root, "testsuite", name=name, time=seconds)
    for key, count in counts.items():
        suite.set(key, str(count))
    for verdict in verdicts:
        case = ET.SubElement(
            suite,
            "testcase",
            classname=f"schedlab.{name}",
            name=printable(verdict.place),
            time=f"{verdict.seconds:.3f}",
        )
        if verdict.word in BAD:
            kind = "error" if verdict.word == "refused" else "failure"
            text = "\n".join(printable_lines(line) for line in _problems(verdict))
            first = text.partition("\n")[0]
            ET.SubElement(case, kind, message=first, type=verdict.word).text = text
        elif verdict.word == "not run":
            ET.SubElement(case, "skipped", message="the budget of time was used up")


def _problems(verdict: Verdict) -> Sequence[str]:
    if verdict.word == "missed":
        return ["the kernel has the bug, and nothing that is expected is broken"]
    return verdict.shown
