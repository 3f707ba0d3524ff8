"""Speed of the engine: events per second, simulated seconds per CPU second, growth, memory, profile.

    python benchmarks/engine/speed.py [KERNEL]

One run of each load on one core, in seconds of CPU time, so that a shared host shows the same;
an event is one CPU getting the host (docs/internals/engine.md).
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from schedlab.lab.simulate import simulator_of
from schedlab.machine.model import find_machine
from schedlab.machine.simulator import description

Json = dict[str, Any]
EPYC = description(find_machine("epyc-7713-2p-nps1"))


def run_sleep(count: int, duration: str = "1s") -> Json:
    return {
        "duration": duration,
        "tasks": [
            {
                "name": "rs",
                "count": count,
                "program": [{"run": ["500us", "1500us"]}, {"sleep": ["500us", "1500us"]}],
            }
        ],
    }


def hackbench(groups: int, loops: int) -> Json:
    return {
        "duration": "1s",
        "settle": "100ms",
        "workloads": [{"kind": "hackbench", "groups": groups, "loops": loops, "pipe": True}],
        "end": {"when": "workloads_done", "max_simulated": "100s"},
    }


def hogs(count: int) -> Json:
    return {
        "duration": "2s",
        "tasks": [{"name": "hog", "count": count, "program": [{"run": "1s"}]}],
    }


def machine_of(cpus: int) -> Json:
    """Equal nodes of up to 128 CPUs, LLCs of 8, costs of the EPYC."""
    node = min(cpus, 128)
    nodes = [f"{i}-{i + node - 1}" for i in range(0, cpus, node)]
    return {
        **{k: EPYC[k] for k in ("cache", "cost", "idle")},
        "name": f"smp{cpus}",
        "topology": {
            "cpus": cpus,
            "core": {"threads": 1, "stride": 1},
            "llc": [f"{i}-{i + 7}" for i in range(0, cpus, 8)],
            "package": nodes,
            "node": nodes,
            "distance": [
                [10 if a == b else 20 for b in range(len(nodes))] for a in range(len(nodes))
            ],
        },
    }


class Bench:
    """Runs scenarios of one build and measures the process."""

    def __init__(self, series: str, scratch: Path) -> None:
        self.binary = simulator_of(series).program
        self.scratch = scratch

    def command(self, machine: Json, scenario: Json) -> list[str]:
        (self.scratch / "m.json").write_text(json.dumps(machine))
        (self.scratch / "s.json").write_text(json.dumps(scenario))
        return [
            str(self.binary),
            *(f"--{k}={self.scratch / f'{k[0]}.json'}" for k in ("machine", "scenario", "out")),
        ]

    def __call__(self, machine: Json, scenario: Json) -> tuple[Json, int]:
        """The result and the peak resident memory in KiB."""
        code = (
            "import resource,subprocess,sys; r=subprocess.run(sys.argv[1:]).returncode;"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(r)"
        )
        limit = [sys.executable, "-c", code]
        done = subprocess.run(
            limit + self.command(machine, scenario), capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(done.stderr)
        return json.loads((self.scratch / "o.json").read_text()), int(done.stdout)


def report(name: str, result: Json) -> None:
    engine, seconds = result["engine"], result["simulated_s"]
    counters = result["counters"]
    decisions = (
        counters["sched:sched_switch"]
        + counters["sched:sched_wakeup"]
        + counters["sched:sched_migrate_task"]
    )
    print(
        f"{name:34}{engine['events'] / 1e6:9.2f} M{engine['cpu_s']:9.2f} s{engine['events_per_cpu_s'] / 1e6:9.2f} M/s"
        f"{seconds / engine['cpu_s']:10.3f}{decisions / engine['cpu_s'] / 1e6:9.2f} M/s",
        flush=True,
    )


def kernel_symbols(binary: Path) -> dict[str, str]:
    """Symbol -> which part of the program it belongs to."""
    part = {}
    for path in binary.parent.rglob("*.o"):
        place = path.relative_to(binary.parent).as_posix()
        name = (
            "kernel/sched"
            if place.startswith("k/kernel/sched")
            else "other kernel"
            if place.startswith("k/")
            else "shims"
            if place.startswith("kernel")
            else "sim"
        )
        for line in subprocess.run(
            ["nm", str(path)], capture_output=True, text=True, check=False
        ).stdout.splitlines():
            fields = line.split()
            if len(fields) == 3 and fields[1] in "tTW":
                part.setdefault(fields[2], name)
    return part


def profile(bench: Bench, machine: Json, scenario: Json) -> Iterator[tuple[str, float]]:
    """Share of instructions by part of the program, from perf."""
    data = bench.scratch / "perf.data"
    command = [
        "perf",
        "record",
        "-q",
        "-e",
        "instructions:u",
        "-o",
        str(data),
        *bench.command(machine, scenario),
    ]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        return
    text = subprocess.run(
        ["perf", "report", "-i", str(data), "--no-children", "--sort=symbol", "--stdio", "-q"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    part, share = kernel_symbols(bench.binary), {}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) >= 3 and fields[0].endswith("%"):
            where = part.get(fields[2].split(".")[0], part.get(fields[2], "libc"))
            share[where] = share.get(where, 0.0) + float(fields[0][:-1])
    yield from sorted(share.items(), key=lambda item: -item[1])


def main() -> None:
    series = sys.argv[1] if len(sys.argv) > 1 else "6.12"
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(series, Path(scratch))
        print(f"Linux {series}, 256 CPUs (EPYC NPS1), all costs on")
        print(
            f"{'load':34}{'events':>11}{'CPU time':>11}{'events/s':>13}{'sim s/s':>10}{'decisions/s':>13}"
        )
        loads = {
            "256 hogs": hogs(256),
            "512 run/sleep": run_sleep(512),
            "2048 run/sleep": run_sleep(2048),
            "hackbench 2 groups": hackbench(2, 2000),
            "hackbench 16 groups": hackbench(16, 400),
        }
        for name, scenario in loads.items():
            report(name, bench(EPYC, scenario)[0])
        print("\ngrowth with CPUs (2 run/sleep tasks a CPU)")
        base = 0
        for cpus in (8, 64, 256, 1024):
            result, memory = bench(machine_of(cpus), run_sleep(2 * cpus, "300ms"))
            report(f"{cpus} CPUs, {memory / 1024:.0f} MiB", result)
            base = base or memory
        print(f"memory per CPU: {(memory - base) / (1024 - 8):.0f} KiB (with its two tasks)")
        print("\ngrowth with tasks (64 CPUs, run 1 ms, sleep by number)")
        base = 0
        for count in (10, 1000, 20000):
            sleep = f"{max(1, count // 64)}ms"
            result, memory = bench(
                machine_of(64),
                {
                    "duration": "3s" if count > 5000 else "1s",
                    "tasks": [
                        {"name": "t", "count": count, "program": [{"run": "1ms"}, {"sleep": sleep}]}
                    ],
                },
            )
            report(f"{count} tasks, {memory / 1024:.0f} MiB", result)
            base = base or memory
        print(f"memory per task: {(memory - base) / (20000 - 10):.1f} KiB")
        if shutil.which("perf"):
            for name in ("512 run/sleep", "hackbench 16 groups"):
                shares = ", ".join(
                    f"{part} {share:.1f} %" for part, share in profile(bench, EPYC, loads[name])
                )
                print(f"\ninstructions, {name}: {shares or 'perf gives none'}")
        print(
            f"\npeak of this script's children: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MiB"
        )


if __name__ == "__main__":
    main()
