"""What theory says must come out, against computed values."""

from __future__ import annotations

import pytest

from tests.helpers.engine.simulator import Simulator
from tests.helpers.engine.theory import PROMISES, Promise


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.name)
def test_promise_is_kept(series: str, sim: Simulator, promise: Promise) -> None:
    if not promise.promised_by(series):
        pytest.skip(f"{series} does not promise it")
    for value in promise.measure(sim):
        assert promise.holds(value), f"{promise.value} promised, {promise.rule}: {value}"
