"""`schedlab report`, and the reports left in a result's folder."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from schedlab.base.errors import StoreError, UsageError
from schedlab.cli.report import report, shapes
from schedlab.report import all_shapes, save, write_reports
from tests.helpers.report_store import HACKBENCH, make_store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_store(tmp_path / "result", [HACKBENCH], nr_blocks=6).close()
    return tmp_path / "result"


def call(*words: object) -> Result:
    return CliRunner().invoke(report, [str(word) for word in words])


def test_the_terminal_is_the_first_shape(folder: Path) -> None:
    result = call(folder)
    assert result.exit_code == 0
    assert "NB-OFF against Default: 1 better" in result.output


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("markdown", "NUMA"),
        ("lkml", "NUMA"),
        ("mmtests", "NUMA"),
        ("csv", "position,"),
        ("json", "{"),
    ],
)
def test_a_shape_goes_to_standard_output(folder: Path, name: str, begins: str) -> None:
    result = call(folder, "--format", name)
    assert result.exit_code == 0
    assert result.output.startswith(begins)


def test_a_shape_goes_to_a_file(folder: Path, tmp_path: Path) -> None:
    result = call(folder, "--format", "json", "--output", tmp_path / "r.json")
    assert result.output == f"wrote {tmp_path / 'r.json'}\n"
    assert json.loads((tmp_path / "r.json").read_text())["schema"] == "schedlab-report/1"


@pytest.mark.parametrize("name", ["lkml", "summary"])
def test_several_results_are_one_mail(folder: Path, tmp_path: Path, name: str) -> None:
    make_store(tmp_path / "other", [HACKBENCH], nr_blocks=6).close()
    result = call(folder, tmp_path / "other", "--format", name)
    assert result.exit_code == 0
    assert "result" in result.output  # two machines of one name are told apart by their folders
    assert "other" in result.output
    assert "ARMv2-3" not in result.output
    assert "ARMv2-3" in call(folder, "--format", "lkml", "--platform").output


def test_of_several_results_only_some_shapes_are_made(folder: Path) -> None:
    result = call(folder, folder, "--format", "markdown")
    assert isinstance(result.exception, UsageError)
    assert "`--format lkml` and `--format summary` take several" in str(result.exception)
    assert f"schedlab report {folder}" in str(result.exception)


def test_a_page_goes_beside_the_result(folder: Path) -> None:
    result = call(folder, "--format", "html")
    assert result.output == f"wrote {folder / 'report.html'}\n"
    assert (folder / "report.html").read_text().startswith("<!DOCTYPE html>")


def test_help_tells_of_every_shape() -> None:
    result = call("--help")
    assert "mmtests   Plain text in the shape of mmtests" in result.output


def test_no_result_is_one_clear_error(tmp_path: Path) -> None:
    result = call(tmp_path)
    assert isinstance(result.exception, StoreError)
    assert "not a result folder" in str(result.exception)


def test_reports_are_left_in_the_folder(tmp_path: Path) -> None:
    store = make_store(tmp_path / "r", [HACKBENCH], nr_blocks=6)
    written = write_reports(store)
    assert [path.name for path in written] == ["report.html", "report.md", "report.txt"]
    assert all(path.parent == tmp_path / "r" and path.stat().st_size for path in written)


def test_an_undecodable_command_does_not_stop_a_report(tmp_path: Path) -> None:
    store = make_store(tmp_path / "r", [HACKBENCH], nr_blocks=1, invocation="schedlab \udcff")
    assert len(write_reports(store)) == 3


def test_what_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    store = make_store(tmp_path / "r", [HACKBENCH], nr_blocks=1)
    (tmp_path / "r" / "report.md").mkdir()
    with pytest.raises(StoreError, match=r"report\.md: the report cannot be written: Is a dir"):
        write_reports(store)


def test_a_full_disk_is_one_clear_error() -> None:
    with pytest.raises(StoreError, match=r"/dev/full: .*No space left on device"):
        save("text", Path("/dev/full"))


def test_help_lists_the_shapes_as_they_describe_themselves() -> None:
    """The command has them in a table of its own, so that help loads none of them."""
    assert {name: shape.summary for name, shape in all_shapes().items()} == shapes()
