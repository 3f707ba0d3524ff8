"""What a context switch costs by the number of tasks that take turns and by what each goes over.

    schedlab machine --here --calibrate --output here.toml
    python benchmarks/engine/refill.py here.toml

Processes on one CPU hand a byte round in a ring of pipes; refill.c measures it on this host, with the
time that adding up the array takes left out, and a scenario has tasks of as large a footprint.  What is
shown is how many ns a switch takes more than one between two tasks without arrays.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

from schedlab.lab.simulate import simulator_of
from schedlab.machine.model import find_machine
from schedlab.machine.simulator import description

TASKS = (2, 4, 8, 16, 32)
KIB = (0, 16, 64, 256)
HERE = Path(__file__).parent


def scenario(tasks: int, kib: int, work: int) -> dict[str, object]:
    """Return a ring of tasks, of which each works so many ns and passes the byte on."""
    ring = []
    for i in range(tasks):
        steps = [
            {"pipe_read": f"p{i}", "bytes": 1},
            {"pipe_write": f"p{(i + 1) % tasks}", "bytes": 1},
        ]
        if i == 0:  # puts the byte in
            steps.reverse()
        if work:
            steps.insert(1, {"run": f"{work}ns"})
        ring.append({"name": f"task{i}", "program": steps})
    alike = {"affinity": "0", "footprint": f"{kib}KiB", "loops": 0}
    return {"duration": "100ms", "tasks": [{**task, **alike} for task in ring]}


def simulated(program: Path, machine: str, tasks: int, kib: int, folder: Path) -> float:
    """Return the time of a switch in the simulator, in ns, without the work."""
    described = description(find_machine(machine))
    work = kib * 16 * int(described["cost"]["touch"].removesuffix("ns"))
    (folder / "machine.json").write_text(json.dumps(described))
    (folder / "ring.json").write_text(json.dumps(scenario(tasks, kib, work)))
    run = [program, "--machine", "machine.json", "--scenario", "ring.json", "--out", "out.json"]
    subprocess.run(run, cwd=folder, check=True, capture_output=True)
    result = json.loads((folder / "out.json").read_text())
    return float(result["simulated_s"]) * 1e9 / result["counters"]["sched:sched_switch"] - work


def measured(program: Path, tasks: int, kib: int) -> float:
    """Return the time of a switch on this host, in ns: the least of three runs."""
    run = [program, str(tasks), str(kib)]
    said = (subprocess.run(run, check=True, capture_output=True, text=True) for _ in range(3))
    return min(float(process.stdout) for process in said)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("machine", help="a machine file of this host")
    parser.add_argument("--kernel", default="6.12")
    args = parser.parse_args()
    engine = simulator_of(args.kernel).program
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ring = folder / "refill"
        subprocess.run(["gcc", "-O2", "-o", ring, HERE / "refill.c"], check=True)
        ours = {(n, k): simulated(engine, args.machine, n, k, folder) for k in KIB for n in TASKS}
        real = {(n, k): measured(ring, n, k) for k in KIB for n in TASKS}
    least = TASKS[0], KIB[0]
    print(f"two tasks without arrays: here {real[least]:.0f} ns, simulated {ours[least]:.0f} ns")
    print("| KiB each | " + " | ".join(f"{n} tasks" for n in TASKS) + " |")
    print("|---:|" + "---:|" * len(TASKS))
    for k in KIB:
        cells = (f"{real[n, k] - real[least]:.0f} / {ours[n, k] - ours[least]:.0f}" for n in TASKS)
        print(f"| {k} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
