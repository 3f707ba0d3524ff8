"""The test of the misfit series: short sysbench tasks on big CPUs, long ones anywhere."""

import re
from statistics import fmean

from schedlab.base.errors import IncompleteRun
from schedlab.benchmarks.benchmark import Command, Output, Values, benchmark
from schedlab.benchmarks.exhibits import round_time, task_time
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.model import Model
from schedlab.benchmarks.stand_in import workload_model
from schedlab.benchmarks.sysbench import SYSBENCH

LONGEST = Metric("longest", unit="s", better="lower", label="Longest task (sec)")
MEAN = Metric("mean", unit="s", better="lower", label="Mean of the tasks (sec)")


_SCRIPT = """
requests=$1 unpinned=$2 max_prime=$3 rounds=$4
echo "unpinned tasks: $unpinned"
capacity() { cat /sys/devices/system/cpu/"$1"/cpu_capacity 2>/dev/null || echo 1024; }
for round in $(seq "$rounds"); do
    echo "round: $round"
    for cpu in $(cd /sys/devices/system/cpu && echo cpu[0-9]*); do
        [ "$(capacity "$cpu")" = 1024 ] || continue
        taskset -c "${cpu#cpu}" sysbench cpu --cpu-max-prime="$max_prime" \\
            --events=$((requests / 4)) --time=0 run >/dev/null 2>&1 &
    done
    for task in $(seq "$unpinned"); do
        sysbench cpu --cpu-max-prime="$max_prime" --events="$requests" --time=0 run |
            grep 'total time:' &
    done
    wait
done
"""
"""The published one, for today's sysbench: a big CPU is one of the highest capacity."""


def parse(output: Output) -> Values:
    """Read how long each unpinned task took by its own account.

    Raises:
        IncompleteRun: not all finished.
    """
    tasks = output.number_after("unpinned tasks:")
    first, *others = re.split(r"^round: \d+$", output.stdout, flags=re.MULTILINE)
    rounds = [
        [float(time) for time in re.findall(r"total time:\s+([\d.]+)s", printed)]
        for printed in others or [first]
    ]
    for times in rounds:
        if not times or len(times) < tasks:
            raise IncompleteRun(f"only {len(times)} of {tasks:g} tasks finished")
    longest = [max(times) for times in rounds]
    return {
        LONGEST: fmean(longest),
        MEAN: fmean(time for times in rounds for time in times),
        **{task_time(i): time for i, time in enumerate(rounds[0], 1)},
        **{round_time(i): time for i, time in enumerate(longest, 1)},
    }


def misfit_model(requests: int, unpinned: int, max_prime: int, rounds: int) -> Model:
    """The same tasks, with exec and sysbench's threads."""
    options = {
        "requests": requests,
        "unpinned": unpinned,
        "cpu-max-prime": max_prime,
        "rounds": rounds,
    }
    times = {task_time(i): f"time {i}" for i in range(1, unpinned + 1)}
    times |= {round_time(i): f"longest {i}" for i in range(1, rounds + 1)}
    return workload_model("misfit", options, {LONGEST: "longest", MEAN: "mean", **times})


@benchmark(
    "Misfit",
    tool=SYSBENCH,
    metrics=[LONGEST, MEAN],
    parse=parse,
    defaults={"requests": 1000, "unpinned": "little_cpus", "max_prime": 10_000, "rounds": 1},
    model=misfit_model,
)
def misfit(requests: int, unpinned: int, max_prime: int, rounds: int) -> Command:
    """Short tasks keep the big CPUs busy; long unpinned ones are to move there when they end."""
    sizes = (str(requests), str(unpinned), str(max_prime), str(rounds))
    return Command("sh", "-c", _SCRIPT, "misfit", *sizes, tool="sysbench")
