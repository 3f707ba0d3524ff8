"""The simulated target: a described machine, run by the kernel's own scheduler in user space."""

import json
import shlex
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from schedlab.base.duration import seconds
from schedlab.base.errors import HostError, IncompleteRun, UsageError, nearest
from schedlab.benchmarks import Case, all_benchmarks
from schedlab.benchmarks.enclosure import Enclosure
from schedlab.benchmarks.model import Model
from schedlab.counters.choice import check_names
from schedlab.kernels import EngineChanged, HostRefused, KernelError
from schedlab.kernels.build import Builder
from schedlab.kernels.built import Build, gaps
from schedlab.kernels.cache import disk_errors
from schedlab.kernels.engine import find_engine
from schedlab.kernels.progress import Watch
from schedlab.kernels.readers import SchedulerSources
from schedlab.kernels.recipes import make_recipe
from schedlab.kernels.shelf import Recipe, Shelf
from schedlab.kernels.shipped import shipped_patches
from schedlab.machine.draws import Draw, about, draw, drawn
from schedlab.machine.model import Machine, find_machine
from schedlab.machine.simulator import description
from schedlab.plan.plan import Plan
from schedlab.plan.targets import SIM
from schedlab.result import read_in
from schedlab.result.pictures import PICTURED
from schedlab.result.record import RunRecord
from schedlab.result.store import PATCHES
from schedlab.settings.kinds import given, without_effect
from schedlab.settings.kinds.kernel import Kernel
from schedlab.settings.kinds.sched_features import SchedFeatures
from schedlab.settings.kinds.scx import Scx
from schedlab.settings.kinds.sysctl import FOLDER
from schedlab.settings.knob import feature_name
from schedlab.settings.sched_debug import DEBUG_FOLDER, FEATURES
from schedlab.settings.variant import Variant
from schedlab.targets.alike import check_alike
from schedlab.targets.sim_kernels import kernels_of, schedulers_of
from schedlab.targets.sim_program import Call, Ended, Processes, failure, is_usage, read_result
from schedlab.targets.simulated import outcome
from schedlab.targets.simulated.scenario import (
    COLD,
    autogroups_do_nothing,
    check_groups,
    read_back,
    scenario,
    settings,
    shown,
    trial,
)
from schedlab.targets.simulators import Finished, Simulators, now, simulated
from schedlab.targets.target import Order, Wait, folder_name

_MACHINE = "machine.json"
_NOT_BUILT = 2
"""How a run ends whose scheduler could not be built."""

_AHEAD = 4
"""Runs begun or done ahead of the oldest unfinished one, per job, so that no core waits for it."""


class SimTarget:
    """A machine that comes with schedlab, or one from a file."""

    kind = SIM

    def __init__(self, which: str, watch: Watch | None = None, *, sanitize: bool = False) -> None:
        """Take the machine's name or file; `watch` shows what is built.

        With `sanitize`, AddressSanitizer watches the simulator.
        """
        self._sanitize = sanitize
        self.name = self.kind.target(which)
        self._which = which
        self._watch = watch or Watch()

    def machine(self) -> Machine:
        """Return the described machine."""
        return find_machine(self._which)

    def environment(self, plan: Plan, cases: Sequence[Case]) -> dict[str, str]:
        """Return the rows of the platform table; they say that nothing here was measured."""
        machine, builder = self.machine(), self._builder()
        _make_kernels(plan, builder)
        recipes = kernels_of(plan.variant, builder.shelf)
        schedulers = schedulers_of(plan.variant, recipes, builder.shelf)
        kernels = {
            f"{recipe.name}: Linux {builder.shelf.base(recipe.base).version}, {recipe.config},"
            f" build {builder.key(recipe, schedulers.get(name))}"
            for name, recipe in recipes.items()
        }
        releases = {builder.shelf.base(recipe.base).version for recipe in recipes.values()}
        return {
            "Kind": "simulation: a prediction, not a measurement",
            "Machine": machine.title or machine.name,
            "Architecture": machine.arch or "not known",
            "CPUs": str(machine.nr_cpus),
            "NUMA nodes": str(machine.sizes()["nodes"]),
            "Kernel release": f"{', '.join(sorted(releases))} (simulated)",
            "Kernels": "; ".join(sorted(kernels)),
            **_patches(recipes.values()),
            **_read_in(plan.variant, recipes.values(), builder.shelf),
            "Engine version": builder.engine.version,
            "Compiler": builder.compiler(),
        }

    def shown(self, case: Case) -> str:
        """Return the workload with its options, as `schedlab-load` would be called."""
        [model] = _models([case]).values()
        workload = dict(model.workload)
        words = [str(workload.pop("kind"))]
        for name, value in workload.items():
            words += [] if value is False else [f"--{name}"]
            words += [] if isinstance(value, bool) else [str(value)]
        return f"simulated: {shlex.join(words)}"

    def preview(self, order: Order) -> list[str]:
        """Return what a run would set and simulate."""
        [model] = _models([order.case]).values()
        asked = scenario(model, order.variant, host_seconds=0)
        kernel = Kernel.of(order.variant) or "of the plan"
        lines = [f"simulate {self._which}, kernel {kernel}, seed {order.seed}"]
        lines += [f"set {name} = {value}" for name, value in shown(order.variant).items()]
        return [*lines, f"workload {json.dumps(asked['workloads'][0])}"]

    @contextmanager
    def open(self, plan: Plan, cases: list[Case], scratch: Path) -> Iterator["SimSession"]:
        """Check models, settings and the machine; build the kernels; end every run at the end."""
        _make_kernels(plan, self._builder())
        limit = seconds(plan.blocks.timeout)
        session = self.session(
            cases,
            plan.variant,
            limit,
            plan.counters,
            warm_up=plan.load_warmup,
            exact=plan.exact,
        )
        _check_variants(plan, session.builds)
        with closing(session):
            session.begin(plan.variant, scratch)
            yield session

    def session(
        self,
        cases: Sequence[Case],
        variants: Sequence[Variant],
        limit: float,
        counters: tuple[str, ...] | Literal["all"] = "all",
        warm_up: str = COLD,
        exact: bool = True,
    ) -> "SimSession":
        """Check models, settings and the machine, and build the kernels.

        Unless `exact`, each run's seed draws the machine's uncertain figures from their ranges.

        Raises:
            SchedlabError: something has no meaning here, is missing, or does not build.
        """
        models = _models(cases)
        check_names(counters, simulated=True)
        for variant in variants:
            settings(variant)
            for model in models.values():
                check_groups(model, variant)
        machine = self._checked()
        builder = self._builder()
        recipes = kernels_of(variants, builder.shelf)
        # Patched builds take objects of unpatched ones that are there.
        unpatched_first = sorted(recipes.items(), key=lambda item: len(item[1].patches))
        schedulers = schedulers_of(variants, recipes, builder.shelf)
        builds: dict[str, Build] = {}
        broken: dict[str, str] = {}
        for name, recipe in unpatched_first:
            try:
                builds[name] = builder.build(recipe, schedulers.get(name))
            except (EngineChanged, HostRefused):
                raise  # it says nothing about the scheduler
            except KernelError as error:
                if name not in schedulers or len(variants) == 1:
                    raise
                # Its runs fail with these words; the other variants' go on.
                builds[name], broken[name] = builder.build(recipe), str(error)
        if len(broken) == len(variants):
            raise KernelError("\n".join(dict.fromkeys(broken.values())))
        return SimSession(
            self._which, machine, models, builds, limit, counters, warm_up, exact, broken
        )

    def domains(self, variant: Variant) -> str:
        """Return the scheduling domains a variant's kernel builds here, as it prints them.

        Raises:
            SchedlabError: there is no such kernel, or it refuses the machine.
        """
        with self._asking(variant) as (session, folder):
            return session.domains(variant, folder)

    def features(self, variant: Variant) -> list[str]:
        """Return the words of the features file, `NAME` or `NO_NAME`, as a variant has them.

        Raises:
            SchedlabError: there is no such kernel, or it does not build.
        """
        with self._asking(variant) as (session, folder):
            return session.features(variant, folder)

    @contextmanager
    def _asking(self, variant: Variant) -> Iterator[tuple["SimSession", Path]]:
        """Yield a session without cases, and a folder for its files."""
        session = self.session([], [variant], limit=60.0)
        with closing(session), TemporaryDirectory() as folder:
            yield session, Path(folder)

    def _checked(self) -> Machine:
        """Return the machine; UsageError with the key path of what a simulated one misses."""
        machine = self.machine()
        for key in ("cost", "cache"):
            if not machine.model_dump(exclude_defaults=True).get(key):
                raise UsageError(
                    f"{self._which}: {key}: is missing, and the simulator needs it."
                    "\n  docs/manual/machines.md lists what the file of a simulated machine needs."
                )
        return machine

    def _builder(self) -> Builder:
        return Builder(Shelf(), find_engine(), self._watch, sanitize=self._sanitize)


def named(
    which: str, machine: str | None, variants: Sequence[Variant], watch: Watch | None
) -> SimTarget:
    """Return a simulated machine as a target."""
    return SimTarget(which, watch)


class _NotUp(HostError):
    """A kernel does not come up on the machine."""

    def __init__(self, said: str, words: str) -> None:
        """Remember the simulator's own words, too."""
        super().__init__(said)
        self.words = words


class _SchedulerRefused(UsageError):
    """A variant's scheduler is not loaded: its own fault, as one is that does not build."""


class SimSession:
    """A simulated machine made ready for one plan."""

    def __init__(
        self,
        which: str,
        machine: Machine,
        models: Mapping[str, Model],
        builds: Mapping[str, Build],
        limit: float,
        counters: tuple[str, ...] | Literal["all"],
        warm_up: str,
        exact: bool,
        broken: Mapping[str, str] | None = None,
    ) -> None:
        """Take the machine, the cases' models and the variants' kernels, all checked.

        `warm_up` is how long loads go on before they are measured, as in a plan. The runs of
        `broken` variants fail, for the reasons given.
        """
        self._broken = dict(broken or {})
        self.notices = [f"variant {name}: {words}" for name, words in self._broken.items()]
        self.builds = builds
        self._which = which
        self._machine = machine
        self._described = description(machine, which)
        self._exact = exact or not draw(machine, 0)
        self._models = models
        self._limit = limit
        self._wanted = counters
        self._warm_up = warm_up
        self._processes = Processes()
        self._last_drawn = (-1, "")

    def begin(self, variants: Sequence[Variant], raw: Path) -> None:
        """Write the machine's description below `raw`; try each variant's settings and each file.

        A scheduler that is not loaded fails its own runs, where another variant has none or
        another.

        Raises:
            UsageError: the machine, a setting or a file is refused, in the simulator's words.
        """
        self._write_machine(raw)
        for variant in variants:
            check_features(
                variant, self.builds[variant.name], f"variant {variant.name}: sched_features"
            )
            line = gaps(self.builds[variant.name])
            self.notices += [line] if line and line not in self.notices else []
            for line in without_effect(variant, self.builds[variant.name].series):
                self.notices.append(f"variant {variant.name}: {line}")
            if line := autogroups_do_nothing(variant, self._machine.session):
                self.notices.append(f"variant {variant.name}: {line}")
            if variant.name in self._broken:
                continue
            try:
                result = self._try(variant, raw, trial(variant), ())
            except _NotUp:
                if variant is variants[0] and not Scx.of(variant):
                    raise
                continue  # Its kernel or scheduler fails: so do its runs, and say why.
            except _SchedulerRefused as error:
                self._broken[variant.name] = str(error)
                if len(self._broken) == len(variants):
                    raise
                self.notices.append(str(error))
                continue
            self._note_missing(variant, result)
        sound = next(each for each in variants if each.name not in self._broken)
        for model in self._models.values():
            if model.enclosures:
                asked = {**trial(sound), "workloads": [dict(model.workload)]}
                try:
                    self._try(sound, raw, asked, model.enclosures)
                except _NotUp as error:
                    files = ", ".join(enclosure.source for enclosure in model.enclosures)
                    raise HostError(f"the simulator failed with {files}: {error.words}") from None

    def _try(
        self,
        variant: Variant,
        raw: Path,
        asked: Mapping[str, Any],
        enclosures: Sequence[Enclosure],
    ) -> Mapping[str, Any]:
        """Return the simulator's result of a scenario that ends at once."""
        with disk_errors("trying the settings", raw), TemporaryDirectory() as folder:
            place, out = Path(folder) / "trial.json", Path(folder) / "result.json"
            place.write_text(json.dumps(asked))
            for enclosure in enclosures:
                enclosure.put(Path(folder))
            try:
                self._ask(variant, raw, place, ("--out", str(out)))
            except UsageError as error:
                for enclosure in enclosures:
                    _, copy, what = str(error).partition(str(Path(folder) / enclosure.name))
                    if copy:
                        raise UsageError(f"{enclosure.source}{what}") from None
                raise
            result: Mapping[str, Any] = json.loads(out.read_text())
        return result

    def _note_missing(self, variant: Variant, result: Mapping[str, Any]) -> None:
        build = self.builds[variant.name]
        for name in outcome.missing(result, self._wanted):
            line = f"not counted: {name}: simulating Linux {build.release} has no such counter"
            if line not in self.notices:
                self.notices.append(line)

    def features(self, variant: Variant, raw: Path) -> list[str]:
        """Return the words of the features file of the variant's kernel."""
        self._write_machine(raw)
        result = self._try(variant, raw, trial(variant), ())
        words: str = result["settings"][FEATURES]
        return words.split()

    def domains(self, variant: Variant, raw: Path) -> str:
        """Return the scheduling domains of the machine, as the variant's kernel prints them."""
        self._write_machine(raw)
        return self._ask(variant, raw, None, ("--print-domains",))

    def run(self, order: Order, raw: Path, more: tuple[str, ...] = ()) -> RunRecord:
        """Simulate one run; one that a lab before us finished, but could not record, is taken.

        `more` are further arguments of the simulator, for its trace.
        """
        call, finished = self._prepared(order, raw, more)
        finished = finished or simulated(self._processes, call, self._limit)
        return self._record(order, call, finished, raw)

    def run_many(
        self, orders: Iterable[Order], raw: Path, simulators: Simulators
    ) -> Iterator[Wait | RunRecord]:
        """Simulate several runs at a time; return the records in the order of the orders."""
        under_way: deque[tuple[Order, Call, Future[Finished]]] = deque()  # oldest first

        def oldest() -> Iterator[Wait | RunRecord]:
            order, call, future = under_way[0]
            if not future.done():
                yield future
            under_way.popleft()
            yield self._record(order, call, future.result(), raw)

        try:
            for order in orders:
                call, finished = self._prepared(order, raw)
                future = _done(finished) if finished else simulators.start(call, self._limit)
                under_way.append((order, call, future))
                if len(under_way) >= simulators.at_a_time * _AHEAD:
                    yield from oldest()
            while under_way:
                yield from oldest()
        finally:
            for _, _, future in under_way:
                future.cancel()

    def close(self) -> None:
        """End every simulator that still runs."""
        self._processes.stop()

    def _write_machine(self, raw: Path) -> None:
        with disk_errors("beginning the runs", raw):
            self._machine_file(raw).write_text(json.dumps(self._described, indent=1))

    def _machine_file(self, raw: Path) -> Path:
        """Return the file of the machine with all figures at their values."""
        return raw / _MACHINE

    def _draw(self, seed: int) -> Draw:
        """Return where a run's figures lie in their ranges: nowhere else but at their values."""
        return {} if self._exact else draw(self._machine, seed)

    def _ask(self, variant: Variant, raw: Path, place: Path | None, more: tuple[str, ...]) -> str:
        """Call the simulator for a moment; return what it prints.

        Raises:
            UsageError: the machine or a setting is refused, in the simulator's words.
            _NotUp: it does not come up at all.
        """
        build = self.builds[variant.name]
        machine_file = self._machine_file(raw)
        argv = [str(build.program), "--machine", str(machine_file), *more]
        argv += ["--scenario", str(place)] if place else []
        with disk_errors("starting the simulator", raw), TemporaryDirectory() as folder:
            said = Path(folder) / "said"
            ended = self._processes.run(argv, Path(folder) / "words", self._limit, said)
            printed = said.read_text(errors="replace")
        words = failure(ended) if ended.status else ""
        if is_usage(ended):
            words = words.replace(f"{machine_file}: ", f"{self._which}: ")
            words = words.replace(f"{place}: ", "")
            about = "" if words.startswith(self._which) else f"variant {variant.name}: "
            kind = _SchedulerRefused if words.startswith("sched_ext: ") else UsageError
            raise kind(f"{about}{words} (kernel {build.kernel}, Linux {build.release}).")
        if ended.status:
            raise _NotUp(f"kernel {build.kernel} does not boot on {self._which}: {words}", words)
        return printed

    def _prepared(
        self, order: Order, raw: Path, more: tuple[str, ...] = ()
    ) -> tuple[Call, Finished | None]:
        """Write what a run reads into its folder, unless the run has finished there already."""
        model = self._models[order.case.label]
        folder = raw / folder_name(f"b{order.key.block:04d}", order.key)
        call = Call(
            program=self.builds[order.variant.name].program,
            machine=self._machine_file(raw) if self._exact else folder / _MACHINE,
            scenario=folder / "scenario.json",
            result=folder / "result.json",
            seed=order.seed,
            more=more,
        )
        picture = order.key.block == PICTURED
        asked = scenario(model, order.variant, self._limit, self._warm_up, picture)
        text = json.dumps(asked, indent=1)
        if words := self._broken.get(order.variant.name):
            return call, Finished(call.argv, now(), Ended(_NOT_BUILT, 0.0, f"schedsim: {words}"))
        finished = Finished.read(call, text)
        if finished is None:
            with disk_errors("simulating", raw):
                folder.mkdir(parents=True, exist_ok=True)
                Finished.forget(call)
                call.scenario.write_text(text)
                if not self._exact:
                    call.machine.write_text(self._drawn(order.seed))
                for enclosure in model.enclosures:
                    enclosure.put(folder)
        return call, finished

    def _drawn(self, seed: int) -> str:
        """Return the description of the machine that a seed draws; variants of a block share it."""
        if self._last_drawn[0] != seed:
            machine = drawn(self._machine, self._draw(seed))
            self._last_drawn = seed, json.dumps(description(machine, self._which), indent=1)
        return self._last_drawn[1]

    def _record(self, order: Order, call: Call, finished: Finished, raw: Path) -> RunRecord:
        build = self.builds[order.variant.name]
        model = self._models[order.case.label]
        record = RunRecord(
            key=order.key,
            position=order.position,
            seed=order.seed,
            command=shlex.join(call.argv),
            started=finished.started,
            seconds=finished.ended.seconds,
            exit_status=finished.ended.status,
            settings={"kernel": f"{build.kernel} (build {build.key})"},
            draws=dict(about(self._draw(order.seed), str(model.workload["kind"]))),
            raw=str(call.result.parent.relative_to(raw.parent)),
        )
        try:
            result = read_result(finished.ended, call.result)
            record.settings |= read_back(order.variant, result.get("settings", {}))
            values, record.caveats = outcome.metrics(model, result)
            if self._warm_up != COLD:
                record.caveats += outcome.unsettled(result, self._warm_up)
            record.caveats += outcome.brief(result)
        except IncompleteRun as error:
            record.status, record.error = "failed", str(error)
            return record
        record.trace = result.get("trace_hash", "")
        record.metrics = {metric.name: value for metric, value in values.items()}
        record.counters = {
            **outcome.counters(result, self._wanted),
            **outcome.counted(model, result),
        }
        return record


def _done(finished: Finished) -> Future[Finished]:
    future: Future[Finished] = Future()
    future.set_result(finished)
    return future


def _models(cases: Sequence[Case]) -> dict[str, Model]:
    """Return each case's model, by its label; refuse the plan where one has none."""
    found = {case.label: case.model() for case in cases}
    if own := [case.label for case in cases if case.benchmark.own]:
        raise UsageError(
            f"{', '.join(own)}: the simulator cannot run programs; it simulates what they do."
            "\n  Run it on a host (--target host or ssh:HOST), or describe its threads in a file of"
            " rt-app and simulate that: --workload FILE.json (docs/manual/rt-app.md)."
        )
    without = [label for label, model in found.items() if model is None]
    if without:
        names = [benchmark.name for benchmark in all_benchmarks() if benchmark.model]
        verb = "has" if len(without) == 1 else "have"
        raise UsageError(
            f"{', '.join(without)} {verb} no model for the simulator."
            f"\n  These have one: {', '.join(names)}; leave the others out with --only."
        )
    return {label: model for label, model in found.items() if model is not None}


def _patches(recipes: Iterable[Recipe]) -> dict[str, str]:
    """Return a row for each kernel with patches: what they are."""
    return {
        f"{PATCHES} {recipe.name}": "; ".join(
            patch.summary or patch.name for patch in recipe.patches
        )
        for recipe in recipes
        if recipe.patches
    }


def _read_in(
    variants: Sequence[Variant], recipes: Iterable[Recipe], shelf: Shelf
) -> dict[str, str]:
    """Return a row with the functions of the kernels that read the variants' settings."""
    settings = {each.name: each for variant in variants for each in given(variant)}
    found: dict[str, set[str]] = {name: set() for name in settings}
    for recipe in {recipe.name: recipe for recipe in recipes}.values():
        sources = SchedulerSources(recipe, shelf)
        for name, each in settings.items():
            if each.place == FEATURES:
                found[name] |= set(sources.of_feature(name))
            elif each.place.startswith((FOLDER, DEBUG_FOLDER)):
                found[name] |= set(sources.of_file(each.place.rpartition("/")[2]))
    return read_in.row({name: sorted(functions) for name, functions in found.items()})


def _make_kernels(plan: Plan, builder: Builder) -> None:
    """Keep the kernels a plan describes, so that its variants find them."""
    for kernel in plan.kernel:
        make_recipe(
            builder.shelf,
            builder.engine,
            *(kernel.name, kernel.base, kernel.patches, kernel.hz, kernel.preempt),
            say=builder.watch.say_once,  # plans that describe the same kernel are run one by one
            config=kernel.config,
        )


def check_features(variant: Variant, build: Build, where: str) -> None:
    """Refuse features that a kernel does not have; `where` names the settings."""
    for word in SchedFeatures.of(variant):
        name = feature_name(word)
        if build.features and name not in build.features:
            advice = f"It has: {', '.join(sorted(build.features))}."
            if name in shipped_patches(build.series):
                advice = (
                    "A patch of schedlab's adds it:"
                    f" `schedlab kernel build NAME --base {build.base} --patch {name}`."
                )
            raise UsageError(
                f"{where}: no feature '{name}' in kernel {build.kernel} (Linux {build.release})."
                f"{nearest(name, build.features)}"
                f"\n  {advice}"
            )


def _check_variants(plan: Plan, builds: Mapping[str, Build]) -> None:
    """Refuse identical variants; in an A/A plan refuse different ones."""
    kernels = {build.key: build.kernel for build in builds.values()}
    check_alike(
        plan.aa,
        ((each.name, (builds[each.name].key, shown(each))) for each in plan.variant),
        lambda face: f": kernel {kernels[face[0]]}, equal settings",
    )
