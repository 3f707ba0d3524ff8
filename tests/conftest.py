"""Fixtures of several test modules."""

import shutil
from pathlib import Path

import pytest

CHROMIUM = "/usr/bin/chromium"


@pytest.fixture
def browser(tmp_path: Path) -> list[str]:
    """Give the command line of a headless browser that may reach no network."""
    found = shutil.which(CHROMIUM)
    if found is None:
        pytest.skip(f"{CHROMIUM} is not installed (Debian package chromium)")
    options = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run"
    options += " --disable-background-networking --disable-component-update --disable-sync"
    return [found, *options.split(), f"--user-data-dir={tmp_path / 'profile'}"]
