"""The simulators that the engine's tests run on, and the series they are of."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from tests.helpers.engine import scx
from tests.helpers.engine.simulator import OTHERS, SERIES, Simulator, build

OTHERS_IN = {"test_basic", "test_cache_groups", "test_decisions", "test_determinism", "test_theory"}
"""Where the other two are tested as well: what is built, boots, and decides as it should.

SCHEDLAB_TEST_SERIES=all has them in every module; SCHEDLAB_TEST_SERIES=6.6,6.18 runs what is asked of
a series for these alone, whatever they are.
"""
os.environ.setdefault("SCHEDSIM_ADDRESSES", "random")  # nothing of ours may depend on them
ASKED = tuple(name for name in os.environ.get("SCHEDLAB_TEST_SERIES", "").split(",") if name)


@pytest.fixture(scope="session", params=dict.fromkeys([*SERIES, *OTHERS, *ASKED]))
def series(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the other series where they are not tested: a build and runs of each are dear.

    A test that names its series itself has it.
    """
    if ASKED == ("all",):
        return

    def wanted(item: pytest.Item) -> bool:
        asked = getattr(item, "callspec", None)
        series = asked.params.get("series") if asked is not None else None
        if ASKED:
            return series in ASKED
        named = any("series" in mark.args[0] for mark in item.iter_markers("parametrize"))
        return named or series not in OTHERS or item.path.stem in OTHERS_IN

    kept = [item for item in items if wanted(item)]
    config.hook.pytest_deselected(items=[item for item in items if not wanted(item)])
    items[:] = kept


@pytest.fixture
def sim(series: str, tmp_path: Path) -> Simulator:
    return Simulator(build(series), tmp_path)


@pytest.fixture
def of_tree(tmp_path: Path) -> scx.Made:
    """The simulator with a scheduler of the tree."""
    scx.need_schedulers(scx.SERIES)
    return lambda name: scx.with_scheduler(tmp_path, scx.SERIES, name)


@pytest.fixture
def of_source(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, of_tree: scx.Made
) -> scx.Made:
    """The simulator with a scheduler whose enqueue() begins with some lines."""

    def make(body: str) -> Simulator:
        name = hashlib.sha256(body.encode()).hexdigest()[:8]
        source = tmp_path_factory.getbasetemp() / name / "mini.bpf.c"
        source.parent.mkdir(exist_ok=True)
        if not source.exists():
            source.write_text(scx.MINIMAL.replace("@BODY@", body))
        return scx.with_scheduler(tmp_path, scx.SERIES, str(source))

    return make
