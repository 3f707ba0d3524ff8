"""UnixBench: five of its tests, as one copy or several."""

from schedlab.benchmarks.benchmark import Span
from schedlab.benchmarks.stand_in import Options, stand_in
from schedlab.metric import Metric

LOOPS = Metric("loops", unit="1/s", better="higher", label="Loops/sec")

_TESTS = {
    "dhry2reg": "Dhrystone: plain work.",
    "syscall": "A mix of five short system calls.",
    "pipe": "One process writes 512 bytes into a pipe and reads them.",
    "spawn": "Fork, exit and wait, again and again.",
    "execl": "A program that executes itself.",
}


def _register(test: str, summary: str) -> None:
    def options(copies: int, duration: Span) -> Options:
        return {"test": test, "copies": copies, "duration": duration}

    options.__doc__ = f"{summary} UnixBench's {test}, in copies."
    stand_in(
        f"Unixbench{test.capitalize()}",
        workload="unixbench",
        stands_for="UnixBench 5.1.3",
        results={LOOPS: "lps"},
        defaults={"copies": 1, "duration": 10},
    )(options)


for _test, _summary in _TESTS.items():
    _register(_test, _summary)
