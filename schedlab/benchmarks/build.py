"""A parallel build: make's jobs, each a short tree of processes that compiles a C++ file."""

import re

from schedlab.base.errors import IncompleteRun
from schedlab.benchmarks.benchmark import Command, Output, Values, benchmark
from schedlab.benchmarks.enclosure import Enclosure
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.model import Model
from schedlab.benchmarks.stand_in import workload_model
from schedlab.benchmarks.tool import Tool

MAKE = Tool(
    "make",
    package="make g++ googletest",
    version=("make", "--version"),
    programs=("make", "g++"),
    in_guests=False,
)
COMPILER = Tool("g++", package="g++", version=("g++", "--version"), in_guests=False)
_SOURCES = "/usr/src/googletest"

TIME = Metric("time", unit="s", better="lower", label="Time (sec)")

_FILES = (
    *("googletest/src/gtest.cc", "googlemock/src/gmock-spec-builders.cc"),
    *("googletest/src/gtest-printers.cc", "googlemock/src/gmock-matchers.cc"),
    *("googletest/src/gtest-port.cc", "googlemock/src/gmock-internal-utils.cc"),
    *("googletest/src/gtest-death-test.cc", "googlemock/src/gmock.cc"),
    *("googletest/src/gtest-filepath.cc", "googlemock/src/gmock-cardinalities.cc"),
)
_INCLUDED = ("googletest/include", "googletest", "googlemock/include", "googlemock")
_SCRATCH = "objects"
_TIMED = Enclosure(
    "timed.sh",
    f"""\
[ -d {_SOURCES} ] || {{ echo "{_SOURCES} is missing: apt-get install googletest" >&2; exit 1; }}
begun=$(date +%s.%N)
"$@" || exit
echo "built: $begun $(date +%s.%N)"
""",
    __name__,
)


def parse(output: Output) -> Values:
    """Work out the time from the clock before and after.

    Raises:
        IncompleteRun: the build did not come to its end.
    """
    found = re.search(r"^built: (\d+\.\d+) (\d+\.\d+)$", output.stdout, re.MULTILINE)
    if not found:
        raise IncompleteRun("the output has no 'built:' line")
    return {TIME: float(found[2]) - float(found[1])}


def _makefile(units: int) -> Enclosure:
    """Return a makefile that compiles so many files: GoogleTest's, over and over."""
    included = " ".join(f"-I{_SOURCES}/{folder}" for folder in _INCLUDED)
    objects = [f"{_SCRATCH}/{unit}.o" for unit in range(units)]
    rules = [
        f"{made}: {_SOURCES}/{_FILES[unit % len(_FILES)]}\n"
        f"\tg++ -std=c++17 -O1 -w {included} -c $< -o $@\n"
        for unit, made in enumerate(objects)
    ]
    return Enclosure("build.mk", f"all: {' '.join(objects)}\n{''.join(rules)}", __name__)


def _model(units: int, jobs: int) -> Model:
    """The same files, compiled for as long as each takes."""
    return workload_model("build", {"units": units, "jobs": jobs}, {TIME: "time"})


@benchmark(
    "BuildGoogleTest",
    tool=MAKE,
    tools=[COMPILER],
    metrics=[TIME],
    parse=parse,
    model=_model,
    defaults={"units": 100, "jobs": "cpus"},
    grows="units",
)
def build_googletest(units: int, jobs: int) -> Command:
    """Compile GoogleTest's libraries with `jobs` compilers at a time; its objects are removed."""
    make = ("make", "-s", "-r", "-f", "build.mk", "-j", str(jobs))
    return Command(
        *("sh", _TIMED.name, *make),
        tool="make",
        enclosures=(_TIMED, _makefile(units)),
        scratch=(_SCRATCH,),
    )
