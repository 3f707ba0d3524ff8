"""STREAM: memory bandwidth of all LLCs together."""

from schedlab.benchmarks.stand_in import Options, stand_in
from schedlab.metric import Metric

COPY, SCALE, ADD, TRIAD = (
    Metric(kernel.lower(), unit="MB/s", better="higher", label=f"{kernel} (MB/s)")
    for kernel in ("Copy", "Scale", "Add", "Triad")
)


@stand_in(
    "Stream",
    workload="stream",
    stands_for="STREAM 5.10",
    results={COPY: "Copy", SCALE: "Scale", ADD: "Add", TRIAD: "Triad"},
    # Each array holds four times 32 MiB for every LLC, as STREAM asks of its arrays.
    defaults={"array_size": "llcs*16777216", "ntimes": 10, "threads": "llcs"},
)
def stream(array_size: int, ntimes: int, threads: int) -> Options:
    """Four loops over arrays that no cache holds, a thread on each LLC."""
    return {"array-size": array_size, "ntimes": ntimes, "threads": threads}
