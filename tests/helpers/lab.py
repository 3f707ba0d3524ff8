"""A lab in a process of its own, on a fake file tree with real processes: to be interrupted.

Run as `python -m tests.helpers.lab ROOT RESULT [--resume]`. The tree has one knob,
/proc/sys/kernel/knob; the one benchmark writes its process ids to ROOT/pids, leaves an orphan, and
takes as long as ROOT/seconds says while the knob is turned.
"""

import sys
from pathlib import Path

import schedlab.lab.result
from schedlab.benchmarks.benchmark import Command, Output, Values, benchmark
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.server import Server
from schedlab.benchmarks.tool import Tool
from schedlab.cli import main
from schedlab.targets.host import HostTarget
from tests.helpers.rooted import RootedSystem

TIME = Metric("time", "s", "lower", "Time (sec)")
ROOT = Path(sys.argv[1])
PORT = int((ROOT / "port").read_text())


def parse(output: Output) -> Values:
    return {TIME: output.number_after("Time:")}


@benchmark("Slow", tool=Tool("sh", package="dash"), metrics=[TIME], parse=parse, defaults={})
def slow() -> Command:
    """Takes its time beside a server, and leaves an orphan behind."""
    script = (
        f"echo $$ >> {ROOT}/pids; setsid sleep 1000 & echo $! >> {ROOT}/pids;"
        f" knob=$(cat {ROOT}/proc/sys/kernel/knob); touch {ROOT}/running-with-$knob;"
        f" [ $knob = 1 ] || sleep $(cat {ROOT}/seconds); echo Time: 1.0"
    )
    server = f"echo $$ >> {ROOT}/pids; exec python3 -m http.server -b 127.0.0.1 {PORT}"
    return Command(
        *("sh", "-c", script),
        server=Server(("sh", "-c", server), PORT),
        scratch=("data",),
    )


if __name__ == "__main__":
    target = HostTarget(RootedSystem(ROOT))
    schedlab.lab.result.find_target = lambda *_: target
    result = sys.argv[2]
    options = ["--benchmark", "Slow", "--variant", "off: sysctl kernel.knob=0", "--blocks", "2"]
    options += ["--counters", "procstat"]
    where = ["--resume", result] if "--resume" in sys.argv else [*options, "--output", result]
    sys.argv = ["schedlab", "run", *where]
    main()
