"""A plan: which benchmarks, which variants, where, and how the evidence is gathered.

One TOML file, or the same built from the command line; what was run is stored with the results.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import tomli_w
from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    StrictBool,
    Tag,
    model_validator,
)

from schedlab.base.data import is_path, known_names, plan_file, suite_file
from schedlab.base.duration import seconds
from schedlab.base.errors import UsageError, nearest
from schedlab.base.limits import LARGEST_SEED, MOST_BLOCKS, MOST_LOOKS
from schedlab.base.validation import LONGEST_NAME, Data, load_toml, read_toml, repeated, validate
from schedlab.benchmarks import Benchmark, Case, find_benchmark
from schedlab.benchmarks.energy import knows_energy
from schedlab.kernels.kconfig import Hz
from schedlab.machine.model import Machine
from schedlab.plan import shared_settings
from schedlab.plan.design import Design
from schedlab.plan.duration import Duration, SomeTime
from schedlab.plan.inputs import beside
from schedlab.plan.own import OwnBenchmark
from schedlab.plan.reboot import Reboot
from schedlab.plan.targets import kind_of
from schedlab.settings.kinds.boot import Boot, fits
from schedlab.settings.variant import Variant

_WARMUP = re.compile(r"[0-9]+(?:\.[0-9]+)?\s*m?s")
_Value = TypeVar("_Value")
_LONGEST_WARMUP = 1000
"""Seconds, simulated: no clock of the kernel is as long, and the load has to end afterwards."""


def _warmup(text: str) -> str:
    if text in ("settled", "none"):
        return text
    if not _WARMUP.fullmatch(text) or not 0 < seconds(text) <= _LONGEST_WARMUP:
        raise ValueError(
            f"'{text}' is not a warm-up; use settled, none, or a time in ms or s of at most"
            f" {_LONGEST_WARMUP} s, such as 500ms or 2s"
        )
    return text


def _possible(blocks: int) -> int:
    if blocks > MOST_BLOCKS:
        raise ValueError(
            f"{MOST_BLOCKS:,} blocks are the most that is allowed: they settle any difference"
            " that matters"
        )
    return blocks


def _rising(looks: tuple[int, ...]) -> tuple[int, ...]:
    if any(later <= earlier for earlier, later in pairwise(looks)):
        raise ValueError("the numbers of blocks must rise")
    return looks


def _different(values: tuple[_Value, ...]) -> tuple[_Value, ...]:
    if len(set(values)) < len(values):
        raise ValueError("a value is given twice")
    return values


Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED)]
NumberOfBlocks = Annotated[int, Field(ge=1, strict=True), AfterValidator(_possible)]
_Values = Annotated[tuple[_Value, ...], AfterValidator(_different)]
AxisValues = Annotated[tuple[int | str, ...], Field(min_length=1)]


class BenchmarkEntry(Data):
    """A benchmark of a suite or plan, with the parameters that differ from its own.

    `label` tells apart entries of one benchmark with several parameters. `simulated` are those
    that differ again on a simulated machine, where a second costs more and shows more. A list of
    values in `axis` makes a case of each: a sweep. `seconds` is how long a run is to take on a
    host: the size is fitted to it before the first run, from a small one in `params`.
    """

    name: str
    label: str | None = Field(default=None, min_length=1, max_length=LONGEST_NAME)
    params: dict[str, int | str] = {}
    simulated: dict[str, int | str] = {}
    seconds: Annotated[float, Field(gt=0, le=600)] | None = None
    axis: Annotated[dict[str, AxisValues], Field(max_length=1)] = {}

    @model_validator(mode="after")
    def _axis_or_param(self) -> "BenchmarkEntry":
        for key in self.axis:
            if key in {**self.params, **self.simulated}:
                raise ValueError(f"{key} is given in params or simulated and as the axis")
        return self


def _kind_of_entry(entry: Any) -> str:
    """Return which kind a plan's entry is: one with a command or metrics is a new benchmark."""
    if isinstance(entry, Mapping):
        return "own" if {"command", "metrics"} & entry.keys() else "known"
    return "own" if isinstance(entry, OwnBenchmark) else "known"


PlanEntry = Annotated[
    Annotated[BenchmarkEntry, Tag("known")] | Annotated[OwnBenchmark, Tag("own")],
    Discriminator(_kind_of_entry),
]


class Suite(Data):
    """A named list of benchmarks."""

    name: str
    title: str = ""
    benchmark: Annotated[tuple[BenchmarkEntry, ...], Field(min_length=1)]


class Blocks(Data):
    """How runs are ordered and how many there are."""

    looks: Annotated[
        tuple[NumberOfBlocks, ...],
        Field(min_length=1, max_length=MOST_LOOKS),
        AfterValidator(_rising),
    ] = (6, 12, 24, 40)
    """Blocks after which the evidence is judged; the last is the most there can be."""
    warmup: Annotated[int, Field(ge=0), AfterValidator(_possible)] = 1
    seed: Seed = 1
    settle: Duration = "100ms"
    """Pause before each run, in which other load on the host is measured."""
    timeout: SomeTime = "10min"
    """The longest a single run may take."""
    budget: SomeTime | None = None
    """The time all runs may take together: the plan ends after the last block that fits."""


class Judging(Data):
    """When the evidence is enough."""

    margin: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] = 0.02
    """Differences within this ratio either way count as none."""
    alpha: Annotated[float, Field(gt=0, lt=0.5, allow_inf_nan=False)] = 0.05
    paired: StrictBool = True
    """Runs were interleaved in blocks; not so in imported tables."""
    unit: Literal["block", "boot"] = "block"
    """What is paired; `schedlab merge` sets it to boots."""
    strict: StrictBool = False
    """Hold the chance of even one false claim to alpha (Holm), not their share."""


class KernelEntry(Data):
    """A kernel that variants name, built when the plan is run on a simulated machine."""

    name: str
    base: str
    """A kernel tree by its name, such as `6.12`."""
    patches: tuple[str, ...] = ()
    """Files, or features that patches of schedlab's add."""
    hz: Hz | None = None
    """Ticks a second; 250 if neither this nor the configuration sets it."""
    preempt: Literal["voluntary", "lazy", "full", "none"] | None = None
    """The preemption model; the configuration's or the tree's usual one if not given."""
    config: str | None = None
    """`debian`, `upstream`, or a file; the simulator's own if not given."""


class Sweep(Data):
    """Values that keys of the plan take in turn: each combination is a result of its own."""

    target: _Values[str] = ()
    machine: _Values[str] = ()
    kernel: _Values[str] = ()
    """Trees under all variants: the base of the plan's kernels, and what variants without run."""
    seed: _Values[Seed] = ()


class Plan(Data):
    """Suite x variants x target x blocks."""

    title: str = ""
    target: str = "host"
    machine: str | None = None
    """The machine that the guests of a target vm: see."""
    suite: str | None = None
    benchmark: tuple[PlanEntry, ...] = ()
    """Benchmarks beside those of the suite, and those the plan makes of commands."""
    workload: tuple[str, ...] = ()
    """Files of rt-app, each a benchmark RtApp under the file's name."""
    only: tuple[str, ...] = ()
    """Of all these, only the benchmarks or labels named here."""
    kernel: tuple[KernelEntry, ...] = ()
    """Kernels the variants name."""
    sweep: Sweep = Sweep()
    variant: Annotated[tuple[Variant, ...], Field(min_length=2)]
    aa: StrictBool = False
    """The variants are meant to be the same: the run measures the method's own noise."""
    exact: StrictBool = False
    """Simulate the machine's values alone; without it each block draws from their ranges."""
    blocks: Blocks = Blocks()
    judging: Judging = Judging()
    load_warmup: Annotated[str, AfterValidator(_warmup)] = "settled"
    """Simulated runs: how long the load goes on before it is measured; by default until the
    scheduler's slow state has settled (docs/manual/sim.md)."""
    published: str = ""
    """Published results the report shows beside its own: a name under published/, or a file."""
    counters: tuple[str, ...] | Literal["all"] = "all"
    client: str = ""
    """The host the load of its benchmarks comes from, as `ssh:HOST`; the target if not given."""
    server_address: str = ""
    """The target's address that the client reaches, where it is not that of the ssh line."""
    reboot: Reboot | None = None
    """How `schedlab boots` boots the target."""
    made_with: dict[str, str] = {}
    """What the runs of a result were made with whose plan this is, by rows of its platform table;
    where a simulated run elsewhere differs in one, that is said before it begins."""
    run_seconds: Annotated[float, Field(gt=0, le=1e6)] | None = None
    """CPU seconds a simulated run took on average: the forecast where nothing is known yet."""

    @model_validator(mode="before")
    @classmethod
    def _shared_settings(cls, data: Any) -> Any:
        """Write `setup` and `common` into the variants, which an A/A run need not name."""
        if not isinstance(data, Mapping):
            return data
        if data.get("aa") is True and "variant" not in data:
            data = {**data, "variant": [{"name": "A1"}, {"name": "A2"}]}
        return shared_settings.spread(data)

    @model_validator(mode="after")
    def _consistent(self) -> "Plan":
        if not self.suite and not self.benchmark and not self.workload:
            raise ValueError("names nothing to run: a suite, a benchmark or a workload is missing")
        if twice := repeated(variant.name for variant in self.variant):
            raise ValueError(f"two variants are called {twice}")
        given = {*self.model_fields_set, *(self.blocks.model_fields_set & {"seed"})}
        for key, values in self.sweep:
            if values and key in given - {"kernel"}:
                raise ValueError(f"{key} is both given and swept over; leave out one")
        return self

    @property
    def baseline(self) -> Variant:
        """Return the variant all others are compared with: the first."""
        return self.variant[0]

    @property
    def simulated(self) -> bool:
        """Return whether the runs are simulated."""
        return kind_of(self.target).simulated

    @property
    def cold(self) -> bool:
        """Return whether simulated loads are measured from their start on an idle machine."""
        return self.simulated and self.load_warmup == "none"

    def here(self, platform: Mapping[str, str]) -> list[Variant]:
        """Return the variants that can be run on a platform as it has been booted.

        Raises:
            UsageError: there are none.
        """
        fitting = [variant for variant in self.variant if fits(Boot.of(variant), platform)]
        if not fitting:
            wanted = (
                f"{variant.name} is for {row} {value}, here it is {platform.get(row, 'unknown')}"
                for variant in self.variant
                for row, value in Boot.of(variant).items()
            )
            raise UsageError(f"no variant of the plan fits this boot: {'; '.join(wanted)}.")
        return fitting

    def design(self) -> Design:
        """Return the rules by which the evidence is judged."""
        return Design(
            looks=self.blocks.looks,
            margin=self.judging.margin,
            alpha=self.judging.alpha,
            strict=self.judging.strict,
        )

    def cases(self, machine: Machine) -> list[Case]:
        """Size every benchmark of the plan for a machine.

        Raises:
            UsageError: an unknown suite, benchmark or parameter, or two cases of one label.
        """
        cases: list[Case] = []
        if self.suite:
            suite, where = find_suite(self.suite)
            cases += self._cases(suite.benchmark, machine, where)
        cases += self._cases(self.benchmark, machine, "plan")
        for i, file in enumerate(self.workload):
            where = f"plan: workload[{i}]"
            cases.append(
                find_benchmark("RtApp", where).case(machine, {"file": file}, Path(file).stem, where)
            )
        if label := repeated(case.label for case in cases):
            raise UsageError(f"two benchmarks are labelled '{label}'; give one another label.")
        return [self.measured(case, machine) for case in _chosen(cases, self.only)]

    def measured(self, case: Case, machine: Machine) -> Case:
        """Return a case with what the plan's target measures of it besides."""
        return case.with_energy() if self.simulated and knows_energy(machine) else case

    def find_benchmark(self, name: str, where: str) -> Benchmark:
        """Return the benchmark of that name, of the plan's own first.

        Raises:
            UsageError: there is none.
        """
        own = (entry for entry in self.benchmark if isinstance(entry, OwnBenchmark))
        found = next((entry for entry in own if entry.name == name), None)
        return found.benchmark() if found else find_benchmark(name, where)

    def _cases(
        self, entries: Sequence[BenchmarkEntry | OwnBenchmark], machine: Machine, where: str
    ) -> Iterator[Case]:
        for entry in entries:
            place = f"{where}: benchmark {entry.name}"
            if isinstance(entry, OwnBenchmark):
                yield entry.benchmark().case(machine, {}, None, place)
            else:
                yield from _of_entry(entry, self.simulated, machine, place)

    def to_toml(self) -> str:
        """Write the plan as its file would be."""
        return tomli_w.dumps(self.model_dump(mode="json", exclude_none=True, exclude_unset=True))


def load_plan(path: Path) -> Plan:
    """Read a plan file; UsageError with the key path where it does not fit.

    What it names below `inputs/` lies beside it.
    """
    return validate(beside(read_toml(path), path), Plan, str(path))


def find_plan(name: str) -> tuple[Plan, str]:
    """Return a plan, by name or as a file, and the place it came from.

    The workloads' files of one that comes with schedlab lie beside it.

    Raises:
        UsageError: there is none, or the file does not fit.
    """
    if is_path(name):
        return load_plan(Path(name)), name
    file = plan_file(name)
    plan = load_plan(file)
    if plan.workload:
        shipped = tuple(str(file.parent / workload) for workload in plan.workload)
        plan = plan.model_copy(update={"workload": shipped})
    return plan, f"plans/{name}.toml"


def all_plans() -> list[str]:
    """Return the names of the plans that come with schedlab."""
    return known_names("plans")


def find_suite(name: str) -> tuple[Suite, str]:
    """Return a suite, by name or as a file, and the place it came from.

    Raises:
        UsageError: there is none, or the file does not fit.
    """
    if is_path(name):
        return load_toml(Path(name), Suite), name
    return load_toml(suite_file(name), Suite), f"suites/{name}.toml"


def all_suites() -> list[str]:
    """Return the names of the suites that come with schedlab."""
    return known_names("suites")


def _of_entry(
    entry: BenchmarkEntry, simulated: bool, machine: Machine, where: str
) -> Iterator[Case]:
    """Yield the case of an entry, or one for each value of its axis."""
    benchmark = find_benchmark(entry.name, f"{where}.name")
    params, place = entry.params, f"{where}.params"
    if entry.simulated:
        there, given = {**params, **entry.simulated}, f"{where}.simulated"
        benchmark.case(machine, there, None, given)  # refused on hosts as well
        params, place = (there, given) if simulated else (params, place)
    if entry.seconds and not benchmark.grows:
        raise UsageError(f"{where}.seconds: {entry.name} has no size that a run's time grows with.")
    if entry.seconds and benchmark.grows in entry.axis:
        raise UsageError(f"{where}.seconds: {benchmark.grows} is the axis, so it is not fitted.")
    seconds = None if simulated else entry.seconds
    if not entry.axis:
        yield replace(benchmark.case(machine, params, entry.label, place), seconds=seconds)
    for key, values in entry.axis.items():
        for value in values:
            case = benchmark.case(machine, {**params, key: value}, entry.label, f"{where}.axis")
            number = case.params[key]
            if not isinstance(number, int):
                raise UsageError(
                    f"{where}.axis.{key}: an axis takes numbers, and '{value}' is not one."
                )
            label = f"{case.label}-{number}-{key.replace('_', '-')}"
            yield replace(case, label=label, sweep=case.label, seconds=seconds)


def _chosen(cases: list[Case], only: tuple[str, ...]) -> list[Case]:
    known = {name for case in cases for name in case.names}
    for name in only:
        if name not in known:
            raise UsageError(f"the plan has no benchmark '{name}'.{nearest(name, known)}")
    return [case for case in cases if not only or case.names & set(only)]
