"""UnixBench: six of its tests, as one copy or several (your own build; `pgms` in PATH)."""

from schedlab.benchmarks.benchmark import Command, Output, Span, Values
from schedlab.benchmarks.copies import SCRIPT, copies_of, read_copies
from schedlab.benchmarks.enclosure import Enclosure
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.stand_in import Options, stand_in
from schedlab.benchmarks.tool import Tool

LOOPS = Metric("loops", unit="1/s", better="higher", label="Loops/sec")

_TESTS = {
    "dhry2reg": "Dhrystone: plain work.",
    "syscall": "A mix of five short system calls.",
    "pipe": "One process writes 512 bytes into a pipe and reads them.",
    "context1": "Two processes pass a counter to and fro over two pipes.",
    "spawn": "Fork, exit and wait, again and again.",
    "execl": "A program that executes itself.",
}
UNIXBENCH = Tool("UnixBench", programs=tuple(_TESTS))
_EXECL = Enclosure(
    "execl.sh", 'UB_BINDIR=$(dirname "$(command -v execl)") exec execl "$1"\n', __name__
)
"""execl executes the program of its name in the folder UB_BINDIR names."""


def parse(output: Output) -> Values:
    """Add up the copies' rates: loops by the time the copy took, as UnixBench's `Run` does.

    Raises:
        IncompleteRun: a copy printed no count.
    """
    return {
        LOOPS: sum(
            copy.number(r"^COUNT\|(\d+)\|1\|lps$", "'COUNT' line") / copy.seconds
            for copy in read_copies(output)
        )
    }


def _register(test: str, summary: str) -> None:
    def originals(copies: int, duration: Span) -> list[Command]:
        seconds = str(duration.whole_seconds)
        own = [_EXECL] if test == "execl" else []
        program = ["sh", _EXECL.name] if own else [test]
        return [
            Command(
                *copies_of(copies, *program, seconds),
                tool=test,
                parse=parse,
                enclosures=(SCRIPT, *own),
            )
        ]

    def options(copies: int, duration: Span) -> Options:
        return {"test": test, "copies": copies, "duration": duration}

    options.__doc__ = f"{summary} UnixBench's {test}, in copies."
    stand_in(
        f"Unixbench{test.capitalize()}",
        workload="unixbench",
        stands_for=f"UnixBench's {test}",
        results={LOOPS: "lps"},
        defaults={"copies": 1, "duration": 10},
        originals=originals,
        tools=[UNIXBENCH],
        alike="unixbench" if test == "syscall" else "",
    )(options)


for _test, _summary in _TESTS.items():
    _register(_test, _summary)
