"""Published reports: read whole, judged unpaired, bad tables refused with file and line."""

from pathlib import Path

import pytest

from schedlab.analysis import analyse
from schedlab.errors import UsageError
from schedlab.importers.markdown_report import import_report
from tests.test_cli_run import Cli, cli

__all__ = ["cli"]

PUBLISHED = Path(__file__).parent / "data" / "published"


def test_the_group_util_report(tmp_path: Path) -> None:
    store = import_report(PUBLISHED / "group-util.md", tmp_path / "out", "schedlab import")
    assert len(store.records()) == 110
    assert [variant.name for variant in store.plan.variant] == ["Default", "G-Util"]
    assert store.environment["Processor version"] == "Kunpeng 920-6426"
    assert store.machine.nr_cpus == 128
    memset = [r for r in store.records() if r.key.case == "PerfBenchMemMemset"]
    assert [r.metrics["bandwidth"] for r in memset[:3]] == [6.442, 6.045, 6.939]
    assert memset[0].command == "perf bench -f simple mem memset -s 31GB -l 15 -f default"
    words = {o.case.label: o.verdict.word for o in analyse(store).outcomes}
    assert words.pop("PerfBenchSchedPipe") == "equivalent"
    assert words.pop("SysBenchCpu") == "equivalent"
    assert set(words.values()) == {"can't tell"}, "five runs each are too few for the rest"


def test_the_numa_balancing_report_with_its_counters(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "out"
    status, text, err = cli("import", PUBLISHED / "numa-balancing.md", "--output", out)
    assert status == 0, err
    assert "not known, so they are not taken as pairs" in " ".join(text.split())
    assert "sched:sched_swap_numa" in text
    report = (out / "report.md").read_text()
    assert "|Default-1-0|12.792|1,915,621|9|228|234|2,605|" in report.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "has no table of runs"),
        ("## X\n|Test|Time|\n|A-0-0|1|2|\n", "x.md:1: X: the row A-0-0 has 3 columns"),
        ("## X\n|Test|Time|\n|A-0-0|1|\n", "nothing to compare"),
        ("## X\n|Test|Time|\n|A|1|\n", "is not named VARIANT-RUN-0"),
        ("## X\n|Test|Time|\n|A-0-0|fast|\n", "holds no numbers"),
        ("## X\n|Test|Goodness|\n|A-0-0|1|\n", "is more or less of 'Goodness' better"),
    ],
)
def test_what_is_no_report(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "x.md"
    path.write_text(text)
    with pytest.raises(UsageError, match=why):
        import_report(path, tmp_path / "out", "schedlab import")
    assert not (tmp_path / "out").exists()
