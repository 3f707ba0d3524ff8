"""Sizes fitted to seconds: how they are found, kept, shown, and the same at every resume."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from schedlab.base.errors import UsageError
from schedlab.benchmarks import Case
from schedlab.lab.fitting import fit_sizes, fitted
from schedlab.machine.model import Machine
from schedlab.plan.plan import Plan
from schedlab.result.record import RunRecord
from schedlab.result.store import Store
from schedlab.targets.target import Order
from tests.helpers.command_line import Cli
from tests.helpers.emulated import emulated_host
from tests.lab.test_runner import MACHINE

ENTRY = {"name": "HackbenchPipeThreads", "params": {"loops": 10}, "seconds": 2}
VARIANTS = [{"name": "base"}, {"name": "new"}]


class Host:
    """A target that takes so long for each thing to do, and longer to start."""

    name = "host"

    def __init__(self, each: float, start: float = 0.0, fails_from: int = 10**9) -> None:
        self.each, self.start, self.fails_from = each, start, fails_from
        self.notices: list[str] = []
        self.sizes: list[int] = []
        self.variants: list[str] = []

    @contextmanager
    def open(self, plan: Plan, cases: list[Case], scratch: Path) -> Iterator["Host"]:
        yield self

    def run(self, order: Order, raw: Path) -> RunRecord:
        size = int(order.case.params["loops"])
        self.sizes.append(size)
        self.variants.append(order.variant.name)
        record = RunRecord(order.key, order.position, order.seed, "pretend")
        record.seconds = self.start + size * self.each
        if size >= self.fails_from:
            record.status, record.error = "failed", "out of memory"
        return record

    def machine(self) -> Machine:
        raise AssertionError

    def environment(self, plan: Plan) -> dict[str, str]:
        raise AssertionError

    def shown(self, case: Case) -> str:
        raise AssertionError

    def preview(self, order: Order) -> list[str]:
        raise AssertionError


def fit(tmp_path: Path, host: Host, **entry: object) -> tuple[Case, str]:
    plan = Plan.model_validate({"benchmark": [{**ENTRY, **entry}], "variant": VARIANTS})
    [case] = plan.cases(MACHINE)
    fits = fit_sizes(plan, {}, [case], host, tmp_path)
    found = fits[case.label]
    assert found.value == fitted(case, found).params["loops"]
    return fitted(case, found), found.found


@pytest.mark.parametrize(
    ("each", "start", "size", "tried"),
    [
        (0.001, 0.0, 2000, [1, 10, 80, 640]),
        (0.5, 0.0, 4, [1, 10]),
        (0.001, 0.6, 2000, [1, 10, 80, 640]),
        (0.001, 4.0, 2000, [1, 10, 80, 640]),
        (0.5, 4.0, 4, [1, 10]),
        (5.0, 0.0, 1, [1, 10]),
    ],
    ids=["quick", "slow", "start 0.3 x", "start 2 x", "slow and slow to start", "very slow"],
)
def test_a_size_is_found_by_what_grows_with_it(
    tmp_path: Path, each: float, start: float, size: int, tried: list[int]
) -> None:
    host = Host(each, start)
    case, found = fit(tmp_path, host)
    assert host.sizes == tried
    assert case.params["loops"] == size
    more = each * (tried[-1] - 1)
    assert found == f"for runs of about 2 s: {tried[-1]} took {more:.2g} s more than 1"
    assert set(host.variants) == {"base"}, "with the first variant, and then the same for all"


@pytest.mark.parametrize(
    ("each", "words"), [(0.0, "no longer than 1"), (1e-6, "0.33 s more than 1")]
)
def test_a_size_that_cannot_be_made_large_enough_is_said_to_be_so(
    tmp_path: Path, each: float, words: str
) -> None:
    host = Host(each, start=1.0)
    case, found = fit(tmp_path, host)
    assert host.sizes == [1, *(10 * 8**i for i in range(6))]
    assert case.params["loops"] == 327_680
    assert found == f"the largest tried, too small for 2 s: 327,680 took {words}"


def test_a_size_of_one_is_grown_from_there(tmp_path: Path) -> None:
    host = Host(0.1, start=3.0)
    case, _ = fit(tmp_path, host, params={"loops": 1})
    assert host.sizes == [1, 8]
    assert case.params["loops"] == 20


def test_a_size_that_cannot_be_run_is_left_as_given(tmp_path: Path) -> None:
    case, why = fit(tmp_path, Host(0.001, fails_from=80))
    assert case.params["loops"] == 10
    assert why == "as given; with 80 it failed: out of memory"


def test_only_what_grows_with_a_parameter_can_be_fitted() -> None:
    def cases(**entry: object) -> list[Case]:
        plan = {"benchmark": [{**ENTRY, **entry}], "variant": VARIANTS}
        return Plan.model_validate(plan).cases(MACHINE)

    with pytest.raises(UsageError, match="SysBenchCpu has no size that a run's time grows with"):
        cases(name="SysBenchCpu", params={})
    with pytest.raises(UsageError, match="loops is the axis"):
        cases(params={}, axis={"loops": [1, 2]})


def test_the_sizes_are_kept_told_and_the_same_after_a_resume(cli: Cli, tmp_path: Path) -> None:
    host = f"emulated:{emulated_host(tmp_path / 'host')}"
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'target = "{host}"\n'
        '[[benchmark]]\nname = "HackbenchPipeThreads"\nparams = { loops = 10 }\nseconds = 0.5\n'
        '[[variant]]\nname = "A1"\n[[variant]]\nname = "A2"\n[blocks]\nlooks = [2]\n'
    )
    out = tmp_path / "out"
    status, _, err = cli("run", plan, "--aa", "--output", out)
    assert status == 0, err
    store = Store.open(out)
    [fit] = store.fits.values()
    assert store.cases[0].params["loops"] == fit.value
    assert any(f"HackbenchPipeThreads: loops = {fit.value:,}" in line for line in store.notices)
    assert {r.command for r in store.records()} == {store.cases[0].command}
    assert f"--loops {fit.value}" in store.cases[0].command
    assert list((out / "raw" / "calibration").iterdir())
    assert f"loops = {fit.value:,}" in (out / "report.md").read_text()
    store.close()
    status, _, err = cli("run", "--resume", out)
    assert status == 0, err
    assert Store.open(out).fits == {"HackbenchPipeThreads": fit}
