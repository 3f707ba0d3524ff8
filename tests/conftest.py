"""Fixtures of several test modules."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from schedlab.cli import main
from schedlab.cli.internal_error import TRACEBACK
from tests.helpers.command_line import Cli
from tests.helpers.fake_engine import FakeLab

# A defect is shown with its traceback.
os.environ[TRACEBACK] = "1"

CHROMIUM = "/usr/bin/chromium"

TESTS = Path(__file__).parent
LONGEST = (
    "targets/test_vm.py",
    "test_manual.py",
    "engine/test_limits.py",
    "engine/test_scx.py",
    "engine/test_arm64.py",
    "engine/test_scx_programs.py",
    "engine/test_build.py",
    "engine/test_decisions.py",
    "engine/test_scx_below.py",
    "engine/test_switching.py",
    "engine/test_scx_sanitized.py",
    "engine/test_steady_state.py",
    "lab/bisecting/test_bisect.py",
    "targets/test_ssh.py",
    "importers/test_round_trip.py",
    "engine/test_determinism.py",
    "targets/test_sim_real.py",
    "judging/test_stats.py",
    "targets/test_sim_run.py",
    "lab/checks/test_corpus.py",
    "engine/test_checks.py",
    "engine/test_study_patches.py",
    "engine/test_patches.py",
    "report/test_report_shapes.py",
    "lab/checks/test_broken_schedulers.py",
    "cli/test_sweep_command.py",
    "targets/test_real_host.py",
    "cli/test_published_command.py",
    "engine/test_basic.py",
    "lab/test_boots_by_ssh.py",
    "base/system/test_interrupt.py",
    "engine/test_cpuidle.py",
    "engine/test_workloads_network.py",
    "lab/test_boots.py",
    "engine/test_slow_host.py",
    "targets/test_client.py",
)
"""The files that take more than the others, the longest first."""

# How long an example takes says something of the machine, nothing of the code. CI takes the same
# examples each time, so that a change is refused for what it did; everyone else looks for new ones.
settings.register_profile(
    "any machine",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
settings.load_profile("any machine")


def pytest_xdist_auto_num_workers() -> int:
    """Return two workers more than processors: many tests wait for what they started."""
    return len(os.sched_getaffinity(0)) + 2


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files, so that workers which take file by file end together."""
    rank = {TESTS / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path, len(rank)))


@pytest.fixture
def pages() -> None:
    """Have the runs of a test write their HTML pages, which take longer than all else of it."""


@pytest.fixture
def usual_reports(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have runs write their reports in text alone, unless a test asks for `pages`."""
    if "pages" not in request.fixturenames:
        texts = {"report.md": "markdown", "report.txt": "lkml"}
        monkeypatch.setattr("schedlab.report._LEFT_IN_STORE", texts)


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], usual_reports: None
) -> Cli:
    """Return a function that runs a command line and gives status, output and errors."""

    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["schedlab", *map(str, words)])
        status = 0
        try:
            main()
        except SystemExit as end:
            status = int(end.code or 0)
        streams = capsys.readouterr()
        assert "schedlab: internal error" not in streams.err, streams.err
        return status, streams.out, streams.err

    return call


@pytest.fixture
def bare_lab(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    usual_reports: None,
) -> FakeLab:
    """Return a lab with an engine that is none, and no kernel tree yet."""
    return FakeLab(tmp_path, monkeypatch, capsys)


@pytest.fixture
def lab(bare_lab: FakeLab) -> FakeLab:
    """Return a lab with an engine that is none, and a kernel tree."""
    bare_lab.add_tree()
    return bare_lab


@pytest.fixture
def browser(tmp_path: Path) -> list[str]:
    """Return the command line of a headless browser that may reach no network."""
    found = shutil.which(CHROMIUM)
    if found is None:
        pytest.skip(f"{CHROMIUM} is not installed (Debian package chromium)")
    options = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run"
    options += " --disable-background-networking --disable-component-update --disable-sync"
    return [found, *options.split(), f"--user-data-dir={tmp_path / 'profile'}"]
