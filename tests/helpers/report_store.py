"""Invented results to write reports from: every figure follows from a seed."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.replay import Recording
from schedlab.lab.order import block_order, stretches
from schedlab.machine.model import Machine, Topology
from schedlab.plan.plan import BenchmarkEntry, Blocks, Judging, Plan
from schedlab.result.record import RunKey, RunRecord
from schedlab.result.store import CaseInfo, Store
from schedlab.settings.variant import Variant

TIME = Metric("time", unit="s", better="lower", label="Time (sec)")
RATE = Metric("events_per_second", unit="1/s", better="higher", label="Events/sec")

DEFAULT = Variant(name="Default")
NB_OFF = Variant(name="NB-OFF", sysctl={"kernel.numa_balancing": 0})

TRACEPOINTS = {
    "sched:sched_migrate_task": 1_900_000.0,
    "sched:sched_stick_numa": 12.0,
    "sched:sched_move_numa": 230.0,
    "sched:sched_swap_numa": 220.0,
    "migrate:mm_migrate_pages": 2_600.0,
}
NUMA_EVENTS = tuple(TRACEPOINTS)[1:]

MACHINE = Machine(
    name="kunpeng-920",
    title="2x Kunpeng 920-6426",
    arch="aarch64",
    processor="Kunpeng 920-6426",
    memory_gib=125,
    cpus="0-127",
    topology=Topology(package=("0-63", "64-127")),
)
PLATFORM = {
    "Architecture": "aarch64",
    "Processor version": "Kunpeng 920-6426",
    "CPUs": "128",
    "NUMA nodes": "4",
    "Memory (GB)": "125",
    "Kernel release": "5.7.0-rc3+",
    "Node name": "ARMv2-3",
}


@dataclass(frozen=True)
class Bench:
    """A benchmark to invent runs of."""

    label: str
    command: str
    metric: Metric = TIME
    further: Sequence[Metric] = ()
    """Metrics with the same figures."""
    typical: float = 10.0
    noise: float = 0.01
    effects: Mapping[str, float] = field(default_factory=dict)
    """Variant to factor on the figure."""
    counters: Mapping[str, float] = field(default_factory=dict)
    silent_in: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Variant to counters that stay at zero in it."""
    failing: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """Variant and block to why that run failed."""
    caveats: tuple[str, ...] = ()
    benchmark: str = ""
    replays: str = ""
    recording: Recording = field(default_factory=Recording)
    summary: str = "Threads of one process over pipes."

    def info(self) -> CaseInfo:
        return CaseInfo(
            label=self.label,
            benchmark=self.benchmark or self.label,
            summary=self.summary,
            command=self.command,
            params={"loops": 20_000},
            metrics=(self.metric, *self.further),
            replays=self.replays,
            recording=self.recording,
        )


HACKBENCH = Bench(
    "HackbenchPipeThreads",
    "hackbench --pipe --threads --loops=20000",
    typical=5.1,
    effects={"NB-OFF": 0.9},
    counters=TRACEPOINTS,
    silent_in={"NB-OFF": NUMA_EVENTS},
)
SCHED_PIPE = Bench(
    "PerfBenchSchedPipe",
    "perf bench -f simple sched pipe -l 4000000",
    typical=54.4,
    noise=0.004,
    counters=TRACEPOINTS,
    silent_in={"NB-OFF": NUMA_EVENTS},
    summary="Two tasks pass one token to and fro over two pipes.",
)
SYSBENCH_THREADS = Bench(
    "SysBenchThreads",
    "sysbench threads --time=60 --threads=64 run",
    metric=RATE,
    typical=24_000.0,
    noise=0.06,
    counters=TRACEPOINTS,
    silent_in={"NB-OFF": NUMA_EVENTS},
    summary="Threads take one of eight locks, yield, and give it back.",
)
SYSBENCH_CPU = Bench(
    "SysBenchCpu",
    "sysbench cpu --time=60 --threads=64 --cpu-max-prime=10000 run",
    metric=RATE,
    typical=214_576.66,
    noise=0.003,
    effects={"NB-OFF": 0.93},
    counters=TRACEPOINTS,
    silent_in={"NB-OFF": NUMA_EVENTS},
    summary="Independent threads look for primes.",
)
COMMON = (SCHED_PIPE, SYSBENCH_CPU, SYSBENCH_THREADS, HACKBENCH)


def plan_of(
    variants: Sequence[Variant] = (DEFAULT, NB_OFF),
    looks: tuple[int, ...] = (6, 12, 24, 40),
    warmup: int = 1,
    title: str = "NUMA balancing impact on common benchmarks",
    target: str = "host",
    aa: bool = False,
    strict: bool = False,
) -> Plan:
    return Plan(
        title=title,
        target=target,
        benchmark=(BenchmarkEntry(name="HackbenchPipeThreads"),),
        variant=tuple(variants),
        aa=aa,
        blocks=Blocks(looks=looks, warmup=warmup),
        judging=Judging(strict=strict),
    )


def make_store(
    folder: Path,
    benches: Sequence[Bench] = COMMON,
    plan: Plan | None = None,
    nr_blocks: int = 12,
    notices: Sequence[str] = (),
    disturbed: Mapping[int, float] | None = None,
    environment: Mapping[str, str] = PLATFORM,
    machine: Machine = MACHINE,
    invocation: str = "schedlab run --suite common",
) -> Store:
    """Return a store with `nr_blocks` blocks run; `disturbed` is run order to other load."""
    plan = plan or plan_of()
    store = Store.create(
        folder, plan, machine, dict(environment), [bench.info() for bench in benches], invocation
    )
    by_label = {bench.label: bench for bench in benches}
    rng = random.Random(1)
    position = 0
    for block in chain.from_iterable(stretches(plan)):
        if block >= nr_blocks:
            break
        cases: list[Any] = [bench.info() for bench in benches]  # a label is all it looks at
        for key, case, _ in block_order(plan, cases, block):
            record = _record(by_label[case.label], key, position, rng)
            record.busy_during = (disturbed or {}).get(position, 0.004)
            store.add(record)
            position += 1
    store.note(notices)
    return store


def _record(bench: Bench, key: RunKey, position: int, rng: random.Random) -> RunRecord:
    value = bench.typical * bench.effects.get(key.variant, 1.0) * rng.lognormvariate(0, bench.noise)
    silent = bench.silent_in.get(key.variant, ())
    counters = {
        name: 0.0 if name in silent else float(round(typical * rng.lognormvariate(0, 0.05)))
        for name, typical in bench.counters.items()
    }
    error = bench.failing.get((key.variant, key.block), "")
    return RunRecord(
        key=key,
        position=position,
        seed=rng.getrandbits(31),
        command=bench.command,
        status="failed" if error else "ok",
        error=error,
        started=(datetime(2026, 3, 1, tzinfo=UTC) + timedelta(seconds=position)).isoformat(),
        seconds=bench.typical if bench.metric.unit == "s" else 60.0,
        exit_status=1 if error else 0,
        metrics={}
        if error
        else {
            metric.name: min(float(f"{value:.8g}"), 1e306)
            for metric in (bench.metric, *bench.further)
        },
        counters={} if error else counters,
        settings={"kernel.numa_balancing": "0" if key.variant == "NB-OFF" else "1"},
        caveats=list(bench.caveats),
        busy_before=0.002,
        cpu_seconds=1.0,
        raw=f"raw/{position:05}-{bench.label}",
    )
