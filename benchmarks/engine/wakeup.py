"""How much of a wakeup is putting the task on its queue, in instructions: `wakeup_queue` of a machine.

    python benchmarks/engine/wakeup.py [KERNEL ...]     # needs valgrind

Two tasks wake each other over pipes, each on an idle CPU of its own, which queues what was sent to
it.  So the two parts of a wakeup are two functions of the kernel, try_to_wake_up() in the waker and
sched_ttwu_pending() in the other CPU.  The simulator's own code in them is left out.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from schedlab.lab.simulate import simulator_of
from schedlab.machine.model import find_machine
from schedlab.machine.simulator import description

LOOPS = 2000
PIPES = {
    "duration": "3600s",
    "workloads": [{"kind": "sched-pipe", "loop": LOOPS}],
    "end": {"when": "workloads_done", "max_simulated": "3600s"},
}
ENGINE = re.compile(
    r"hw_|shim_|kern_|fetch_|look_|settle|wake_time|on_|fabric_|charge_|count_|bucket|select_traced"
    r"|task_of|memcmp|__memcmp"
)
"""How the names of functions begin that are not the kernel's."""
LINE = re.compile(r"\s*([\d,]+) \(.*?%\)\s+\S*?:(\S+)")


def instructions(binary: Path, function: str, folder: Path) -> float:
    """Count the kernel's instructions in a function and what it calls, for each wakeup."""
    (folder / "machine.json").write_text(json.dumps(description(find_machine("smp4"))))
    (folder / "pipes.json").write_text(json.dumps(PIPES))
    run = [
        str(binary),
        "--machine",
        "machine.json",
        "--scenario",
        "pipes.json",
        "--out",
        "out.json",
    ]
    counts = ["valgrind", "--tool=callgrind", f"--toggle-collect={function}"]
    counts += ["--callgrind-out-file=counts"]
    subprocess.run(["setarch", "-R", *counts, *run], cwd=folder, check=True, capture_output=True)
    shown = subprocess.run(
        ["callgrind_annotate", "--threshold=100", "counts"],
        cwd=folder, check=True, capture_output=True, text=True,
    )  # fmt: skip
    found = filter(None, map(LINE.match, shown.stdout.splitlines()))
    kernels = (m for m in found if not ENGINE.match(m[2].rsplit(":", 1)[-1]))
    return sum(int(m[1].replace(",", "")) for m in kernels) / (2 * LOOPS)


def main(kernels: list[str]) -> None:
    for kernel in kernels:
        with tempfile.TemporaryDirectory() as folder:
            binary = simulator_of(kernel).program
            waker, queue = (
                instructions(binary, function, Path(folder))
                for function in ("try_to_wake_up", "sched_ttwu_pending")
            )
        share = queue / (waker + queue)
        print(
            f"{kernel}: {waker:.0f} instructions in the waker, {queue:.0f} where it is queued:",
            end=" ",
        )
        print(f"{share:.0%} of a wakeup")


if __name__ == "__main__":
    main(sys.argv[1:] or ["6.1", "6.12", "7.3"])
