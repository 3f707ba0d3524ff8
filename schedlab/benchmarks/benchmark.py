"""What a benchmark is: a command built from parameters, its metrics, and the parser beside it.

A module of this package describes a family of benchmarks; writing one is all it takes to add
them (docs/manual/benchmarks.md).
"""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from schedlab.base.cpulist import parse_cpulist
from schedlab.base.errors import IncompleteRun, UsageError, nearest
from schedlab.benchmarks.enclosure import Enclosure
from schedlab.benchmarks.energy import energy_metric
from schedlab.benchmarks.exhibits import Curve
from schedlab.benchmarks.metric import NONE_OF_IT, Metric, comparable
from schedlab.benchmarks.model import Model
from schedlab.benchmarks.replay import Recording
from schedlab.benchmarks.server import ADDRESS, ONE_MACHINE, Ends, Place, Server
from schedlab.benchmarks.sizes import amount, count, span
from schedlab.benchmarks.tool import Tool
from schedlab.machine.placement import cpus_of

if TYPE_CHECKING:
    from schedlab.machine.model import Machine

Values = dict[Metric, float]
Parameter = int | str
CPUS = "cpus"
"""A parameter of every benchmark: the CPUs all its tasks may use, as taskset takes them."""
_NUMBER = r"\s*([-+]?\d[\d,]*\.?\d*(?:[eE][-+]?\d+)?)"


class Amount(str):
    """A parameter that is an amount of memory, such as `512MB` or `memory_gib/4 GB`."""


class Span(str):
    """A parameter that is a duration: seconds as a number, or a text such as `200ms`.

    Its value is a text in seconds: `0.2s`.
    """

    @property
    def seconds(self) -> float:
        """Return it as a number."""
        return float(self.removesuffix("s"))

    @property
    def whole_seconds(self) -> int:
        """Return it to a tool that knows nothing shorter.

        Raises:
            UsageError: it is not a whole number of seconds.
        """
        if self.seconds < 1 or self.seconds != int(self.seconds):
            raise UsageError(
                f"a duration of {self} is for simulated runs only: the tool takes whole seconds."
            )
        return int(self.seconds)


class Cpus(str):
    """A parameter that is a list of CPUs, such as `8` or `10,12-14`.

    In place of numbers it may name a role: workload, irritators or waker, for the CPUs the
    machine offers for it.
    """

    def each(self) -> tuple[int, ...]:
        """Return the CPUs."""
        return parse_cpulist(self)

    def one(self) -> int:
        """Return the only CPU; UsageError if there are several."""
        if len(self.each()) != 1:
            raise UsageError(f"CPUs {self}: one CPU is expected here.")
        return self.each()[0]


class Command:
    """A program with its arguments, what has to be there before it, and how to read it."""

    def __init__(
        self,
        *argv: str,
        tool: str = "",
        parse: "Parser | None" = None,
        server: Server | None = None,
        setup: Sequence[tuple[str, ...]] = (),
        teardown: Sequence[tuple[str, ...]] = (),
        enclosures: tuple[Enclosure, ...] = (),
        scratch: tuple[str, ...] = (),
        passing: tuple[str, ...] = (),
        note: str = "",
        check: Callable[[], None] = lambda: None,
        timeout: float | None = None,
        most_output: int | None = None,
    ) -> None:
        """Take the arguments as they go to the kernel; no shell comes between.

        `tool` is the program to be at hand where it is not the first word. `parse` reads the output
        where the benchmark's parser does not. `setup` are programs to run before, when the server
        is there, `teardown` to run after, however it ended. With `enclosures`, files to read, or
        `scratch`, folders that are removed after the run, it and all that belongs to it run in the
        run's folder. `passing` are patterns of files there that go once they are read. `note` is
        what a reader of the results should know of this command. `check` raises UsageError, before
        the first run, where a file is not what the tool takes. `timeout` is in seconds, in place of
        the plan's; what prints more than `most_output` bytes is ended.
        """
        self.argv = argv
        self.tool = tool or argv[0]
        self.parse = parse
        self.server = server
        self.setup = setup
        self.teardown = teardown
        self.enclosures = enclosures
        self.scratch = scratch
        self.passing = passing
        self.note = note
        self.check = check
        self.timeout = timeout
        self.most_output = most_output

    def on(self, cpus: str) -> "Command":
        """Return the same command, its server too, on some CPUs only."""
        bound = ("taskset", "--cpu-list", cpus)
        there = copy(self)
        there.argv = (*bound, *self.argv)
        if self.server:
            there.server = self.server.bound(bound)
        return there

    def usual(self, ends: Ends = ONE_MACHINE) -> "Command":
        """Return the command as it is run where its server's usual port is free."""
        return self.at(Place(self.server.port, ends=ends)) if self.server else self

    def at(self, place: Place) -> "Command":
        """Return the command of a run whose server is at this place."""
        there = copy(self)
        there.argv = place.filled(self.argv)
        there.setup = [place.filled(argv) for argv in self.setup]
        there.teardown = [place.filled(argv) for argv in self.teardown]
        there.enclosures = tuple(
            replace(file, text=place.fill(file.text)) for file in self.enclosures
        )
        there.server = self.server and self.server.at(place)
        return there

    @property
    def programs(self) -> tuple[str, ...]:
        """Return all that must be at hand."""
        return tuple(dict.fromkeys((self.tool, *self.server_programs, *self.load_programs)))

    @property
    def server_programs(self) -> tuple[str, ...]:
        """Return all that must be at hand for the server."""
        return self.server.programs if self.server else ()

    @property
    def load_programs(self) -> tuple[str, ...]:
        """Return all that must be at hand where the load comes from."""
        around = (argv[0] for argv in (*self.setup, *self.teardown))
        return tuple(dict.fromkeys((self.tool, *around)))

    @property
    def has_client(self) -> bool:
        """Return whether its load can come from another machine than the one with its server."""
        texts = (*self.server.argv, *(file.text for file in self.enclosures)) if self.server else ()
        return any(ADDRESS in text for text in texts)

    @property
    def served_by(self) -> tuple[str, ...]:
        """Return the server's program, if there is one."""
        return (self.server.name,) if self.server else ()

    @property
    def in_folder(self) -> bool:
        """Return whether it runs in the run's folder."""
        return bool(self.enclosures or self.scratch)


@dataclass(frozen=True)
class Output:
    """What a benchmark wrote and how it ended."""

    stdout: str
    stderr: str = ""
    exit_status: int = 0
    folder: Path = Path()
    """Where a command that has files ran."""

    def number_after(self, label: str) -> float:
        """Return the number that follows `label` on standard output.

        Raises:
            IncompleteRun: there is none, so the benchmark did not finish.
        """
        return self.number(re.escape(label) + _NUMBER, f"'{label}' line")

    def number(self, pattern: str, what: str) -> float:
        """Return the number that a pattern's group matches on standard output."""
        match = re.search(pattern, self.stdout, re.MULTILINE)
        if not match:
            raise IncompleteRun(f"the output has no {what}")
        try:
            return float(match[1].replace(",", ""))
        except ValueError:
            raise IncompleteRun(f"the {what} holds no number: '{match[1]}'") from None


Parser = Callable[[Output], Values]
Caveats = Callable[[Output], list[str]]
Build = Callable[..., "Command | Sequence[Command]"]
"""Returns the command of some parameters, or several in order of preference: the first whose
programs are at hand is run."""
Count = Callable[[Output], Mapping[str, float]]


@dataclass(frozen=True)
class Benchmark:
    """A named workload: how to run it and how to read what it prints."""

    name: str
    summary: str
    tool: Tool
    """What runs it; our own program where that stands in for tools of others."""
    tools: tuple[Tool, ...]
    """Those that are preferred where they are at hand, and what else belongs to it."""
    metrics: tuple[Metric, ...]
    parse: Parser
    build: Build
    defaults: Mapping[str, Parameter]
    caveats: Caveats = field(default=lambda _: [])
    count: Count = field(default=lambda _: {})
    """Returns further figures by their counters' names: explanations, not results."""
    model: Callable[..., Model] | None = None
    """Returns the same behaviour for the simulator, from the same parameters."""
    select: Callable[..., Sequence[Metric]] | None = None
    """Returns those of the metrics that a case with these parameters has; all if there is none."""
    grows: str = ""
    """The parameter the running time grows with in proportion, where it is a number of things."""
    alike: str = ""
    """What the names of published benchmarks begin with that have these metrics."""
    replays: Callable[..., str] = field(default=lambda **_: "")
    """Returns the kind of recording that a case with these parameters replays; empty: none."""
    recording: Callable[..., Recording] = field(default=lambda **_: Recording())
    """Returns what reports have to say of that recording."""
    curves: tuple[Curve, ...] = ()
    """How sweeps over its parameters are shown, where a report has more than their means."""
    own: bool = False
    """Whether it is a command of the user's plan."""

    def case(
        self, machine: "Machine", params: Mapping[str, Parameter], label: str | None, where: str
    ) -> "Case":
        """Size the benchmark for a machine.

        Raises:
            UsageError: an unknown parameter, or a value that does not fit.
        """
        for key in params:
            if key not in self.defaults and key != CPUS:
                known = ", ".join((*self.defaults, CPUS))
                raise UsageError(
                    f"{where}.{key}: there is no such parameter."
                    f"{nearest(key, self.defaults)} {self.name} has: {known}."
                )
        kinds = inspect.signature(self.build).parameters
        values = {
            key: _resolve(params.get(key, default), kinds[key].annotation, machine, where, key)
            for key, default in self.defaults.items()
        }
        if CPUS in params:
            values[CPUS] = _resolve(params[CPUS], Cpus, machine, where, CPUS)
        return Case(label or self.name, self, values)


@dataclass(frozen=True)
class Case:
    """A benchmark with its parameters worked out for one machine."""

    label: str
    benchmark: Benchmark
    params: Mapping[str, Parameter]
    sweep: str = ""
    """The label of the sweep it is a point of, if it is."""
    seconds: float | None = None
    """How long a run is to take: its size is fitted to that before the first run."""
    besides: tuple[Metric, ...] = ()
    """What the target measures of it beside its own metrics."""

    @property
    def names(self) -> set[str]:
        """Return all it may be asked for by: its label, its benchmark, its sweep."""
        return {self.label, self.benchmark.name, self.sweep or self.label}

    @cached_property
    def commands(self) -> Sequence[Command]:
        """Return the commands that measure it on a host, the preferred first.

        Raises:
            UsageError: the tool has no option for it.
        """
        built = self.benchmark.build(**self._own)
        commands = [built] if isinstance(built, Command) else built
        return [command.on(self._cpus) for command in commands] if self._cpus else commands

    @property
    def _own(self) -> dict[str, Parameter]:
        """The parameters that the benchmark itself takes."""
        return {key: value for key, value in self.params.items() if key != CPUS}

    @property
    def is_bound(self) -> bool:
        """Return whether it may use some CPUs only."""
        return bool(self._cpus)

    @property
    def _cpus(self) -> str:
        """The CPUs it may use, as a list; empty: all."""
        return str(self.params.get(CPUS, ""))

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """Return what this case measures, and the target besides."""
        return self._own_metrics + self.besides

    @property
    def _own_metrics(self) -> tuple[Metric, ...]:
        select = self.benchmark.select
        return tuple(select(**self._own)) if select else self.benchmark.metrics

    @property
    def replays(self) -> str:
        """Return the kind of recording it replays; empty where it is none."""
        return self.benchmark.replays(**self._own)

    @property
    def recording(self) -> Recording:
        """Return what reports have to say of the recording it replays."""
        return self.benchmark.recording(**self._own)

    def with_energy(self) -> "Case":
        """Return the case as a machine runs it whose energy is known."""
        return replace(self, besides=(energy_metric(self._own_metrics),))

    def model(self) -> Model | None:
        """Return the case's model, if the benchmark has one."""
        if not self.benchmark.model:
            return None
        made = replace(self.benchmark.model(**self._own), besides=self.besides)
        if not self._cpus:
            return made
        return replace(made, workload={**made.workload, "affinity": self._cpus})

    def measure(self, command: Command, output: Output) -> tuple[Values, list[str]]:
        """Read the metrics and the caveats of a finished run of one of the commands.

        Raises:
            IncompleteRun: the tool failed, or its result is not complete or makes no sense.
        """
        if output.exit_status != 0:
            raise IncompleteRun(f"{_ending(output.exit_status)}{_last_words(output)}")
        parsed = (command.parse or self.benchmark.parse)(output)
        lacking = [metric for metric in self._own_metrics if metric not in parsed]
        for metric in lacking:
            if not metric.optional:
                raise IncompleteRun(f"the output has no {metric.name}")
        unasked = set(self.benchmark.metrics).difference(self._own_metrics)
        asked = {metric: value for metric, value in parsed.items() if metric not in unasked}
        values, caveats = comparable(asked)
        caveats += [f"{metric.name}: {NONE_OF_IT}" for metric in lacking]
        return values, [*self.benchmark.caveats(output), *caveats]


REGISTRY: dict[str, Benchmark] = {}


def benchmark(
    name: str,
    *,
    tool: Tool,
    metrics: Sequence[Metric],
    parse: Parser,
    defaults: Mapping[str, Parameter],
    tools: Sequence[Tool] = (),
    caveats: Caveats = lambda _: [],
    count: Count = lambda _: {},
    model: Callable[..., Model] | None = None,
    select: Callable[..., Sequence[Metric]] | None = None,
    grows: str = "",
    alike: str = "",
    replays: Callable[..., str] = lambda **_: "",
    recording: Callable[..., Recording] = lambda **_: Recording(),
    curves: Sequence[Curve] = (),
) -> Callable[[Build], Build]:
    """Register a command builder as a benchmark; its docstring becomes the summary.

    `defaults` gives every parameter of the builder; numbers may be expressions over the
    machine's sizes, such as `cpus/2`. `grows` names the one that is a number of things to do, with
    which the running time grows in proportion. `alike` is what the names of published benchmarks
    begin with whose metrics are these. `replays` returns the kind of recording that it replays
    (schedlab/benchmarks/replay.py), `recording` what reports have to say of it. `curves` say
    how sweeps over its parameters are shown.
    """

    def register(build: Build) -> Build:
        assert set(defaults) == set(inspect.signature(build).parameters), name
        assert model is None or set(defaults) == set(inspect.signature(model).parameters), name
        assert not grows or isinstance(defaults[grows], int), name
        assert name not in REGISTRY, name
        REGISTRY[name] = Benchmark(
            name=name,
            summary=inspect.getdoc(build) or "",
            tool=tool,
            tools=tuple(tools),
            metrics=tuple(metrics),
            parse=parse,
            build=build,
            defaults=defaults,
            caveats=caveats,
            count=count,
            model=model,
            select=select,
            grows=grows,
            alike=alike,
            replays=replays,
            recording=recording,
            curves=tuple(curves),
        )
        return build

    return register


def _resolve(value: Parameter, kind: type, machine: "Machine", where: str, key: str) -> int | str:
    spot = f"{where}.{key}"
    if kind is Amount:
        return amount(value, machine.sizes(), spot)
    if kind is Span:
        return Span(span(value, spot))
    if kind is int:
        return count(value, machine.sizes(), spot)
    if kind is Cpus:
        return Cpus(cpus_of(str(value), machine, spot))
    if value == "":
        raise UsageError(f"{spot}: is missing.")
    if not isinstance(value, str) or not value.isprintable():
        raise UsageError(f"{spot}: expected a word, found {value!r}")
    return value


def _ending(status: int) -> str:
    return f"signal {-status} ended it" if status < 0 else f"exit status {status}"


def _last_words(output: Output) -> str:
    lines = (output.stderr.strip() or output.stdout.strip()).splitlines()
    return f": {lines[-1].strip()[:200]}" if lines else ""
