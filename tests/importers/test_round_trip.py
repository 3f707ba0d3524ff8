"""What a report says comes back when it is imported: import(report(x)) = x for what x shows."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from schedlab.benchmarks import all_benchmarks
from schedlab.benchmarks.energy import ENERGIES
from schedlab.benchmarks.metric import Metric
from schedlab.importers.files import import_file
from schedlab.importers.known import name_of_words
from schedlab.importers.source import Line, Source
from schedlab.importers.tables.rows import printed_rows
from schedlab.importers.tables.table import Context
from schedlab.judging.analysis import CounterOutcome, Outcome, analyse
from schedlab.machine.model import Machine
from schedlab.plan.plan import BenchmarkEntry, Blocks, Judging, Plan
from schedlab.report import Detail, Report, all_shapes
from schedlab.report.content import has_changed
from schedlab.report.wording import (
    columns,
    count,
    exact,
    interval,
    mean_count,
    number,
    points,
    verdict_phrase,
)
from schedlab.result.boots import Boot, boot_of
from schedlab.result.printed import Printed
from schedlab.result.record import Fit, RunKey, RunRecord
from schedlab.result.store import CaseInfo, Store
from schedlab.settings.variant import Variant

SHAPES = all_shapes()
FEW = settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

METRICS = (
    Metric("time", unit="s", better="lower", label="Time (sec)"),
    Metric("events_per_second", unit="1/s", better="higher", label="Events/sec"),
    Metric("latency p99", unit="us", better="lower", label="latency p99 (us)"),
)
MACHINE = Machine(name="imported", cpus="0")
NO_SPREAD = "no spread published: no verdict possible"
NOTHING_LEFT = {"+100.00", "+100", "-100.00", "-100"}
LABELS = ("{} {}-groups", "{}:groups={},loops=60", "{}-{}-groups", "{} (x86) {}, 2 nodes")
TRACEPOINTS = ("sched:sched_migrate_task", "migrate:mm_migrate_pages")
COUNTERS = ("cpuidle:C2:seconds", "context-switches")
SMALL = st.just(0.0) | st.floats(1e-200, 0.009)
LARGE = st.floats(20, 1e200) | st.floats(1e3, 1.01e3)
words = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,12}", fullmatch=True)
texts = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "S"), include_characters=" "),
    max_size=30,
).map(lambda text: " ".join(text.split()))


@dataclass(frozen=True)
class Result:
    """A result to write and read again."""

    plan: Plan
    environment: dict[str, str]
    cases: list[CaseInfo]
    records: list[RunRecord]
    printed: tuple[Printed, ...] = ()
    notices: tuple[str, ...] = ()
    boots: tuple[Boot, ...] = ()
    fits: dict[str, Fit] = field(default_factory=dict)
    ended: int | None = None

    def store(self, folder: Path, machine: Machine = MACHINE) -> Store:
        store = Store.create(
            folder,
            self.plan,
            machine,
            self.environment,
            self.cases,
            "schedlab run",
            self.printed,
            self.boots,
        )
        for record in self.records:
            store.add(record)
        store.note(self.notices)
        if self.fits:
            store.resize(self.fits, self.cases)
        if self.ended is not None:
            store.end(self.ended)
        return store


@st.composite
def cases_of(draw: st.DrawFn) -> list[CaseInfo]:
    benchmarks = draw(st.lists(words, min_size=1, max_size=2, unique_by=str.casefold))
    cases = []
    for benchmark in benchmarks:
        several = draw(st.booleans())
        metrics = draw(st.lists(st.sampled_from(METRICS), min_size=1, max_size=2, unique=True))
        loads = draw(st.lists(st.integers(1, 999), min_size=1, max_size=3, unique=True))
        label = draw(st.sampled_from(LABELS))
        for load in loads if several else loads[:1]:
            cases.append(
                CaseInfo(
                    label=label.format(benchmark, load) if several else benchmark,
                    benchmark=benchmark,
                    summary=draw(texts),
                    command=draw(st.sampled_from(["", f"{benchmark} -g {load} | tee 'a b'"])),
                    params={"groups": load} if several else {},
                    metrics=tuple(metrics),
                )
            )
    return cases


def figures(digits: int, low: float = 1e-3, high: float = 1e8) -> st.SearchStrategy[float]:
    return st.floats(low, high).map(lambda value: float(f"{value:.{digits}g}"))


def wild_figures(power: int, how: str) -> st.SearchStrategy[float]:
    """Figures of one size, be it tiny or huge, of all sizes, or all the same."""
    size = 10.0**power
    match how:
        case "near":
            return figures(5, 0.5 * size, 2.0 * size)
        case "all sizes":
            return figures(5, 1e-140, 1e140)  # their ratios are figures as well
        case _:
            return st.just(size)


@st.composite
def results(draw: st.DrawFn, with_runs: bool = True, wild: bool = False) -> Result:
    """A result with runs, or one with a published mean of each figure."""
    metric_figures = figures(5)
    if wild:
        how = draw(st.sampled_from(["near", "all sizes", "equal"]))
        metric_figures = wild_figures(draw(st.integers(-290, 290)), how)
    cases = draw(cases_of())
    names = draw(st.lists(words, min_size=2, max_size=3, unique_by=str.casefold))
    nr_blocks = draw(st.integers(1, 7)) if with_runs else 1
    warmup = draw(st.integers(0, 1)) if with_runs else 0
    paired = with_runs and draw(st.booleans())
    rising = draw(st.sampled_from(COUNTERS))
    silent = draw(st.sampled_from(["never", "but to warm up", "always"]))
    records: list[RunRecord] = []
    for block in range(-warmup, nr_blocks):
        for case in cases:
            for which, name in enumerate(names):
                failed = with_runs and draw(st.integers(0, 19)) == 0
                counts = {t: float(draw(st.integers(0, 10**9))) for t in TRACEPOINTS}
                if wild:
                    counts |= {
                        name: draw(SMALL if (name == rising) == (which > 0) else LARGE)
                        for name in COUNTERS
                    }
                if silent == "always" or (silent == "but to warm up" and block >= 0):
                    counts[TRACEPOINTS[0]] = 0.0
                records.append(
                    RunRecord(
                        key=RunKey(case.label, name, block),
                        position=len(records),
                        seed=draw(st.integers(0, 2**31)),
                        command=case.command,
                        status="failed" if failed else "ok",
                        error="no result: a | b" if failed else "",
                        started="2026-03-01T00:00:00+00:00",
                        seconds=draw(figures(4)),
                        metrics={}
                        if failed
                        else {m.name: draw(metric_figures) for m in case.metrics},
                        counters={} if failed or not with_runs else counts,
                        settings={"kernel.numa_balancing": draw(texts)},
                        draws={"cpu.speed": 0.25} if draw(st.booleans()) else {},
                        trace=draw(st.sampled_from(["", "0123456789abcdef"])),
                        busy_during=draw(st.none() | st.just(0.25)),
                    )
                )
    printed = (
        ()
        if with_runs
        else tuple(
            Printed(case.label, metric.name, name, "mail:1")
            for case in cases
            for metric in case.metrics
            for name in names[1:]
        )
    )
    plan = Plan(
        title=draw(texts),
        target="host" if with_runs else "imported",
        benchmark=tuple(BenchmarkEntry(name=case.benchmark, label=case.label) for case in cases),
        variant=tuple(Variant(name=name) for name in names),
        blocks=Blocks(looks=(6, 12, 24, 40) if paired else (max(2, nr_blocks),), warmup=warmup),
        judging=Judging(paired=paired),
    )
    environment = draw(st.dictionaries(words, texts.filter(bool), max_size=3))
    fit = Fit("loops", 600, 2.5, "found by one run")
    return Result(
        plan,
        environment,
        cases,
        records,
        printed,
        notices=tuple(draw(st.lists(texts.filter(bool), max_size=2, unique=True))),
        fits={cases[0].label: fit} if draw(st.booleans()) else {},
        ended=draw(st.integers(1, nr_blocks)) if paired and draw(st.booleans()) else None,
    )


@st.composite
def results_of_boots(draw: st.DrawFn) -> Result:
    """A result merged from several boots; at each, some of the variants were run."""
    result = draw(results())
    variants = [variant.name for variant in result.plan.variant]
    records: list[RunRecord] = []
    boots: list[Boot] = []
    for block in sorted({r.key.block for r in result.records if r.key.block >= 0}):
        present = draw(st.sampled_from([variants, *([name] for name in variants)]))
        ran = [r for r in result.records if r.key.block == block and r.key.variant in present]
        if not boots or draw(st.booleans()):
            boots.append(Boot(f"boot-{block}", len(records)))
        records += [replace(run, position=len(records) + i) for i, run in enumerate(ran)]
    plan = result.plan.model_copy(
        update={
            "blocks": Blocks(looks=(6, 12, 24, 40), warmup=0),
            "judging": Judging(paired=True, unit="boot"),
        }
    )
    return replace(result, plan=plan, records=records, boots=tuple(boots))


FULL = Detail(counters=True, platform=True)


def there_and_back(result: Result, shape: str, folder: Path) -> tuple[Store, Store]:
    """Write a result, report it in full, import the report."""
    inside = Path(tempfile.mkdtemp(dir=folder))
    store = result.store(inside / "there")
    path = inside / f"report.{SHAPES[shape].suffix}"
    path.write_text(SHAPES[shape].render(Report(store, analyse(store), FULL)), encoding="utf-8")
    return store, import_file(path, inside / "back", "schedlab import")


def runs(store: Store, *fields: str) -> dict[RunKey, dict[str, Any]]:
    return {
        record.key: {name: getattr(record, name) for name in fields} for record in store.records()
    }


def intel_rows(store: Store) -> list[str]:
    """Return the rows with figures, without the verdicts, which an import cannot judge anew.

    Columns are as wide as their rows, and a case that has figures in no table of the first variant
    comes later: neither is what the tables say.
    """
    text = SHAPES["intel"].render(Report(store, analyse(store)))
    rows = [line for line in text.splitlines() if "  1.00 (" in line]
    return sorted(" ".join(row[: row.rindex(")") + 1].split()) for row in rows)


def in_print(store: Store) -> dict[tuple[RunKey, str], str]:
    """Return every figure of the runs that count, as the tables of runs print it."""
    return {
        (run.key, name): how(value).removesuffix(".00")
        for run in store.records()
        if not run.key.warmup
        for how, figures in ((exact, run.metrics), (count, run.counters))
        for name, value in figures.items()
    }


def words_in_print(store: Store) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return the verdicts, with their figures as reports print them."""
    return {
        (o.case.label, o.metric.name, o.variant): (
            *(o.verdict.word, verdict_phrase(o.verdict)),
            *(number(o.verdict.base_mean), number(o.verdict.other_mean)),
            points(o.verdict.effect_better),
            interval(o.verdict.interval_adjusted_better),
        )
        for o in analyse(store).outcomes
    }


def outcomes_of(result: Result, folder: Path) -> list[Outcome]:
    return analyse(result.store(Path(tempfile.mkdtemp(dir=folder)) / "r")).outcomes


def verdicts(store: Store) -> list[tuple[Any, ...]]:
    return [
        (o.case.label, o.metric.name, o.variant, o.verdict.word, o.verdict.effect, o.verdict.note)
        for o in analyse(store).outcomes
    ]


def means(store: Store) -> dict[tuple[str, ...], tuple[str, str]]:
    """Return the figures of a result as tables of means show them."""
    return {
        (o.case.label, o.metric.name, o.metric.unit, o.metric.better, o.variant): (
            number(o.verdict.base_mean),
            points(o.verdict.effect_better),
        )
        for o in analyse(store).outcomes
        if o.verdict.effect is not None
    }


@pytest.mark.parametrize("shape", ["json", "html", "markdown"])
@FEW
@given(result=results() | results(with_runs=False))
def test_all_of_a_result(tmp_path: Path, shape: str, result: Result) -> None:
    there, back = there_and_back(result, shape, tmp_path)
    assert (back.plan, back.machine, back.environment) == (
        there.plan,
        there.machine,
        there.environment,
    )
    assert (back.cases, back.records(), back.printed) == (
        there.cases,
        there.records(),
        there.printed,
    )
    assert (back.fits, back.ended, back.boots) == (there.fits, there.ended, there.boots)
    made = [f"made by: {there.invocation}"] if there.invocation else []
    assert back.notices[1:] == [*made, *there.notices], "the command that made it stays known"
    assert verdicts(back) == verdicts(there)


@FEW
@given(result=results())
def test_csv(tmp_path: Path, result: Result) -> None:
    there, back = there_and_back(result, "csv", tmp_path)
    fields = ("position", "seed", "status", "started", "seconds", "metrics", "counters")
    assert runs(back, *fields, "busy_during") == runs(there, *fields, "busy_during")
    assert back.plan.baseline.name == there.plan.baseline.name
    known = {
        (case.label, metric.name): (metric.unit, metric.better)
        for case in there.cases
        for metric in case.metrics
    }
    for case in back.cases:
        for metric in case.metrics:
            assert known[case.label, metric.name] == (metric.unit, metric.better)


def as_csv_tells(result: Result) -> Result:
    """The same failures, without their reasons."""
    why = {"ok": "", "failed": "a CSV does not say why"}
    return replace(result, records=[replace(r, error=why[r.status]) for r in result.records])


@pytest.mark.parametrize("shape", ["json", "html", "markdown", "csv"])
@FEW
@given(result=results_of_boots())
def test_a_result_of_several_boots(tmp_path: Path, shape: str, result: Result) -> None:
    if shape == "csv":  # it names a case's metrics and the variants where there are figures
        seen = [r.key for r in result.records if r.metrics]
        assume(len({key.variant for key in seen}) == len(result.plan.variant))
        assume(len({key.case for key in seen}) == len(result.cases))
        result = as_csv_tells(result)
    there, back = there_and_back(result, shape, tmp_path)
    fields = ("status", "metrics", "counters")
    assert runs(back, *fields) == runs(there, *fields)
    assert {r.key: boot_of(back.boots, r) for r in back.records()} == {
        r.key: boot_of(there.boots, r) for r in there.records()
    }
    assert sorted(verdicts(back), key=str) == sorted(verdicts(there), key=str)


@pytest.mark.parametrize("shape", ["lkml", "mmtests"])
@FEW
@given(result=results(with_runs=False))
def test_tables_of_means(tmp_path: Path, shape: str, result: Result) -> None:
    there, back = there_and_back(result, shape, tmp_path)
    assert means(back) == means(there)
    assert {o.verdict.note for o in analyse(back).outcomes} == {NO_SPREAD}
    if there.environment:
        assert back.environment == there.environment


@pytest.mark.parametrize("shape", ["lkml", "mmtests", "terminal"])
@FEW
@given(result=results())
def test_tables_of_runs_give_their_means(tmp_path: Path, shape: str, result: Result) -> None:
    assume(any(o.verdict.effect is not None for o in outcomes_of(result, tmp_path)))
    there, back = there_and_back(result, shape, tmp_path)
    expected, found = means(there), means(back)
    assert found.keys() == expected.keys()
    words = {(o.case.label, o.metric.name, o.variant): o.verdict for o in analyse(there).outcomes}
    changes = {(p.case, p.metric, p.variant): p for p in back.printed}
    for key, (_, change) in expected.items():
        printed = changes[key[0], key[1], key[4]]
        assert printed.change is not None
        assert printed.change == pytest.approx(float(change.replace(",", "")) / 100)
        word = words[key[0], key[1], key[4]].word
        assert shape == "mmtests" or printed.said == ("" if word == "can't tell" else word)
        assert not printed.doubts


ODD_NAMES = (
    "process pipes with forty file descriptors for each and every single group",
    "x" * 40,
    "foo 12 34",
    "a: b",
    "verdict",
    "time, s, lower is better",
    "x; y",
    "foo - bar - baz",
)


@pytest.mark.parametrize("shape", ["lkml", "mmtests", "terminal"])
@pytest.mark.parametrize("name", ODD_NAMES)
def test_long_and_odd_names(tmp_path: Path, shape: str, name: str) -> None:
    variants = ("tip", "a-patch-series-with-a-rather-long-name")
    metrics = METRICS[:2]
    cases = [
        CaseInfo(label, benchmark, "", "", {}, metrics)
        for benchmark, label in [("Bench", name), ("Bench", "Bench 3-groups"), ("Other", "Other b")]
    ]
    records = [
        RunRecord(RunKey(case.label, variant, 0), 2 * i + j, 0, "")
        for i, case in enumerate(cases)
        for j, variant in enumerate(variants)
    ]
    for i, record in enumerate(records):
        record.metrics = {metric.name: 1234.0 + 3 * i for metric in metrics}
    plan = Plan(
        target="imported",
        benchmark=tuple(BenchmarkEntry(name=case.benchmark, label=case.label) for case in cases),
        variant=tuple(Variant(name=variant) for variant in variants),
        blocks=Blocks(looks=(2,), warmup=0),
        judging=Judging(paired=False),
    )
    printed = [Printed(c.label, m.name, variants[1], "mail:1") for c in cases for m in metrics]
    there, back = there_and_back(Result(plan, {}, cases, records, tuple(printed)), shape, tmp_path)
    assert means(back) == means(there)


@FEW
@given(result=results() | results(with_runs=False))
def test_the_intel_table_comes_back(tmp_path: Path, result: Result) -> None:
    """Means are not in it, only changes and spreads; these come back, as often as one likes."""
    effects = [o.verdict.effect_better for o in outcomes_of(result, tmp_path)]
    assume(any(effects) and not {points(effect) for effect in effects} & NOTHING_LEFT)
    there, back = there_and_back(result, "intel", tmp_path)
    assert intel_rows(back) == intel_rows(there)
    shown = [o for o in analyse(there).outcomes if o.verdict.effect is not None]
    words = ((o.variant, o.verdict.word.replace("can't tell", "")) for o in shown)
    assert sorted(words) == sorted((note.variant, note.said) for note in back.printed)


@pytest.mark.parametrize("shape", ["json", "html", "markdown", "csv"])
@FEW
@given(result=results(wild=True))
def test_tiny_huge_and_equal_figures_of_runs(tmp_path: Path, shape: str, result: Result) -> None:
    seen = {r.key.variant for r in result.records if r.metrics}
    assume(shape != "csv" or len(seen) == len(result.plan.variant))
    if shape == "csv":
        result = as_csv_tells(result)
    there, back = there_and_back(result, shape, tmp_path)
    assert in_print(back) == in_print(there)
    if back.design == there.design and back.plan.judging == there.plan.judging:
        expected = words_in_print(there)
        if shape == "csv":  # which has figures alone: nothing of a benchmark that always failed
            measured = {(r.key.case, name) for r in result.records for name in r.metrics}
            expected = {key: said for key, said in expected.items() if key[:2] in measured}
        assert {key: said for key, said in words_in_print(back).items() if key in expected} == (
            expected
        )


@pytest.mark.parametrize("shape", ["lkml", "mmtests"])
@FEW
@given(result=results(wild=True))
def test_tiny_huge_and_equal_means(tmp_path: Path, shape: str, result: Result) -> None:
    assume(any(o.verdict.effect is not None for o in outcomes_of(result, tmp_path)))
    there, back = there_and_back(result, shape, tmp_path)
    assert means(back).keys() == means(there).keys()
    for key, (base, change) in means(there).items():
        if key[4] == result.plan.variant[1].name:  # the others are scaled to its baseline
            assert means(back)[key][0] == base
        if abs(float(change.replace(",", ""))) < 1e5:
            printed = next(p for p in back.printed if (p.case, p.metric, p.variant) == key_of(key))
            assert printed.change == pytest.approx(float(change.replace(",", "")) / 100)
    if shape == "lkml":
        changed = counted([c for c in analyse(there).counters if has_changed(c)])
        found = counted(analyse(back).counters)
        assert changed.items() <= found.items()


@FEW
@given(result=results(with_runs=False))
def test_a_mail_without_its_platform(tmp_path: Path, result: Result) -> None:
    store = result.store(Path(tempfile.mkdtemp(dir=tmp_path)) / "there")
    path = store.folder / "mail.txt"
    path.write_text(SHAPES["lkml"].render(Report(store, analyse(store))))
    back = import_file(path, store.folder / "back", "schedlab import")
    assert means(back) == means(store)
    assert back.environment.keys() == {MACHINE.name}


@pytest.mark.parametrize("shape", ["lkml", "summary"])
@FEW
@given(result=results(), seed=st.integers(0, 99))
def test_three_machines_in_one_text(tmp_path: Path, shape: str, result: Result, seed: int) -> None:
    """Of a summary those come back that it names, of a mail first metrics and those with claims."""
    assume(len(result.plan.variant) == 2 and not result.ended)
    inside = Path(tempfile.mkdtemp(dir=tmp_path))
    stores = {}
    for factor, name in enumerate(("smp4", "small-2n-smt2", "epyc-7713-2p-nps1"), 1):
        plan = result.plan.model_copy(update={"target": f"sim:{name}"})
        machine = MACHINE.model_copy(update={"name": name})
        records = [
            replace(run, metrics={m: factor * value for m, value in run.metrics.items()})
            for run in result.records
        ]
        stores[name] = replace(result, plan=plan, records=records).store(inside / name, machine)
    write = SHAPES[shape].several
    assert write is not None
    text = write([Report(store, analyse(store)) for store in stores.values()])
    assert max(map(columns, text.splitlines())) <= 72
    assume(any(means(store) for store in stores.values()))
    path = inside / "mail.txt"
    path.write_text(text)
    back = means(import_file(path, inside / "back", "schedlab import"))
    shown = {
        name: f" {name.split('-')[0]}" if shape == "lkml" else f" on {name}" for name in stores
    }
    expected = {
        (f"{label}{shown[name]}", *rest): figures
        for name, store in stores.items()
        for (label, *rest), figures in means(store).items()
    }
    assert back.keys() <= expected.keys()
    for key, (base, _) in back.items():
        figure, printed = (float(text.replace(",", "")) for text in (expected[key][0], base))
        assert printed == pytest.approx(figure, rel=1e-9 if shape == "lkml" else 0.006)
    firsts = {key for key in expected if key[1] == first_metric(stores, key, shown)}
    assert shape == "summary" or firsts <= back.keys()
    assert back


def first_metric(stores: dict[str, Store], key: tuple[str, ...], shown: dict[str, str]) -> str:
    """Return the first metric of the benchmark that a label of several machines is of."""
    return next(
        case.metrics[0].name
        for name, store in stores.items()
        for case in store.cases
        if f"{case.label}{shown[name]}" == key[0]
    )


def key_of(key: tuple[str, ...]) -> tuple[str, str, str]:
    return key[0], key[1], key[4]


def counted(counters: Sequence[CounterOutcome]) -> dict[tuple[str, ...], tuple[str, str]]:
    return {
        (c.case.label, c.counter, c.variant): (
            mean_count(c.verdict.base_mean),
            mean_count(c.verdict.other_mean),
        )
        for c in counters
    }


def test_alike_counters_too_small_to_print(tmp_path: Path) -> None:
    """A mean below 0.01 is printed as such, and the row has its name all the same."""
    metric = METRICS[0]
    cases = [
        CaseInfo(f"Bench:groups={n},loops=60", "Bench", "", "", {"groups": n}, (metric,))
        for n in (4, 8)
    ]
    records = []
    for block in range(8):
        for case in cases:
            for variant, some in (("tip", 0.004), ("patch", 50.0 + block / 7)):
                counters = {f"cpuidle:C{i}:seconds": some for i in (1, 2)}
                run = RunRecord(RunKey(case.label, variant, block), len(records), 0, "")
                records.append(replace(run, metrics={"time": 5.0 + block}, counters=counters))
    plan = Plan(
        benchmark=tuple(BenchmarkEntry(name="Bench", label=case.label) for case in cases),
        variant=(Variant(name="tip"), Variant(name="patch")),
        blocks=Blocks(looks=(8,), warmup=0),
    )
    there, back = there_and_back(Result(plan, {}, cases, records), "lkml", tmp_path)
    expected = counted(analyse(there).counters)
    assert len(expected) == 4
    assert {base for base, _ in expected.values()} == {"<0.01"}
    assert counted(analyse(back).counters) == expected


@pytest.mark.parametrize("cells", ["-      -  can't tell", "-, -, can't tell"])
def test_a_row_without_figures_is_not_the_next_rows_name(tmp_path: Path, cells: str) -> None:
    context = Context(
        Source(tmp_path / "mail.txt", b"", ""), "A", columns=["tip", "patch"], is_own=True
    )
    text = f"first: {cells}\nsecond: 4.99 (0.00 pct) 4.46 (10.62 pct)  better"
    lines = [Line(i, line) for i, line in enumerate(text.splitlines(), 1)]
    rows, _ = printed_rows(context, lines, 0)
    assert [row.name for row in rows] == ["second:"]


def test_a_summarys_plain_words_come_back_as_the_metrics_names() -> None:
    for benchmark in all_benchmarks():
        for metric in (*benchmark.metrics, *ENERGIES):
            asked = (f"{benchmark.name}:groups=4", metric.words, metric.unit, metric.better)
            assert name_of_words(*asked) == metric.name
    assert Metric("p99", "us", "lower", "p99 (us)").words == "p99", "a name of a user's own"
    assert name_of_words("mine", "p99", "us", "lower") == "p99"
