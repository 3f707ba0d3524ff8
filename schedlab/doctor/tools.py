"""The programs that are the benchmarks, and those that place them."""

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from schedlab.benchmarks import all_benchmarks
from schedlab.doctor.finding import Finding, Level
from schedlab.kernels.native import PROGRAM
from schedlab.system import System

_VERSION = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")


@dataclass(frozen=True)
class _Tool:
    """A program, the Debian package it comes in, and how it tells its version."""

    name: str
    package: str
    ask: tuple[str, ...] = ()
    required: bool = False
    """The suites `common` and `quick` need it."""
    use: str = ""
    """What it is for beside benchmarks."""


@dataclass(frozen=True)
class _OwnBuild:
    """What the user builds or sets up, and our own program stands in for where it is not there."""

    name: str
    programs: tuple[str, ...]
    benchmarks: str
    ask: tuple[str, ...] = ()
    """The program that tells the version, as far as one does."""
    variable: str = ""
    """The environment variable that says where the kit or the deployment is."""
    holds: str = ""
    """A file of the kit."""


TOOLS = (
    _Tool("perf", "linux-perf", ("perf", "--version"), True, "counters of every run"),
    _Tool("hackbench", "rt-tests", ("hackbench", "--help"), True),
    _Tool("sysbench", "sysbench", ("sysbench", "--version"), True),
    _Tool("tbench", "dbench", ("tbench",), use="Tbench; without it our own program stands in"),
    _Tool("tbench_srv", "dbench", use="the server tbench talks to"),
    _Tool(
        *("sqlite3", "sqlite3", ("sqlite3", "--version")),
        use="Sqlite; without it our own program stands in",
    ),
    _Tool(
        *("stress-ng", "stress-ng", ("stress-ng", "--version")),
        use="StressNgPipe; without it our own program stands in",
    ),
    _Tool("rt-app", "rt-app", use="workloads from files; without it our own program stands in"),
    _Tool("likwid-bench", "likwid", ("likwid-bench", "-v")),
    _Tool("numactl", "numactl", use="variants that bind to nodes"),
    _Tool("taskset", "util-linux", ("taskset", "--version"), use="variants that pin to CPUs"),
)
OWN_BUILDS = (
    _OwnBuild("schbench", ("schbench",), "Schbench"),
    _OwnBuild("schbench before 2023", ("schbench-old",), "SchbenchOld"),
    _OwnBuild("netperf", ("netperf", "netserver"), "Netperf", ("netperf", "-V")),
    _OwnBuild("STREAM", ("stream-10|stream",), "Stream"),
    _OwnBuild(
        "UnixBench",
        ("dhry2reg", "syscall", "pipe", "spawn", "execl"),
        "UnixbenchDhry2reg, -Syscall, -Pipe, -Spawn and -Execl",
    ),
    _OwnBuild("YCSB on MongoDB", ("ycsb.sh", "mongod"), "YcsbMongodb", ("mongod", "--version")),
    _OwnBuild(
        *("DeathStarBench", ("wrk|wrk2",), "DeathStarBench", ("wrk", "-v")),
        variable="DEATHSTARBENCH_URL",
    ),
    _OwnBuild(
        *("SPECjbb2015", ("java",), "Specjbb2015MultiJvm", ("java", "-version")),
        variable="SPECJBB_HOME",
        holds="specjbb2015.jar",
    ),
)


def check(system: System) -> Iterator[Finding]:
    """Look for each program and run it once for its version."""
    yield from (_tool(system, tool) for tool in TOOLS)
    yield from (_own_build(system, build) for build in OWN_BUILDS)


def _tool(system: System, tool: _Tool) -> Finding:
    absent: Level = "missing" if tool.required else "note"
    why = f"needed for {_needed_for(tool)}"
    remedy = f"apt-get install {tool.package}"
    if system.which(tool.name) is None:
        return Finding(tool.name, absent, f"{tool.name} is not installed", why, remedy)
    if not tool.ask:
        return Finding(tool.name, "ok", f"{tool.name} is installed")
    try:
        version, told = _version(system, tool.ask)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding(tool.name, absent, f"{tool.name} does not run: {error}", why, remedy)
    if not version:
        found = f"{tool.name} is installed but does not print its version: {told or 'no output'}"
        return Finding(tool.name, absent, found, why, remedy)
    return Finding(tool.name, "ok", f"{tool.name} {version}")


def _own_build(system: System, build: _OwnBuild) -> Finding:
    where = [_found(system, names) for names in build.programs]
    absent = [
        names.replace("|", " or ")
        for names, path in zip(build.programs, where, strict=True)
        if not path
    ]
    missing = [f"not in PATH: {', '.join(absent)}"] if absent else []
    home = os.environ.get(build.variable, "") if build.variable else ""
    if build.variable and not home:
        missing.append(f"{build.variable} is not set")
    elif build.holds and not system.exists(f"{home}/{build.holds}"):
        missing.append(f"{build.variable}={home} has no {build.holds}")
    if missing:
        return Finding(
            build.name,
            "note",
            f"{build.name}: {'; '.join(missing)}",
            f"{PROGRAM}, our own, stands in for it in {build.benchmarks}, and every report says so",
            "docs/manual/benchmarks.md, 'Tools of your own': how to build it and where to put it",
        )
    return Finding(
        build.name,
        "ok",
        f"{build.name}: {', '.join([*filter(None, where), *([home] if home else [])])},"
        f" {_told_version(system, build)}",
    )


def _found(system: System, names: str) -> str | None:
    """Return the path of the first of `a|b` that is there."""
    return next(filter(None, map(system.which, names.split("|"))), None)


def _told_version(system: System, build: _OwnBuild) -> str:
    if not build.ask:
        return "which tells no version (reports have its digest)"
    try:
        version, _ = _version(system, build.ask)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"but {build.ask[0]} does not run: {error}"
    return f"version {version}" if version else "version unknown"


def _version(system: System, ask: tuple[str, ...]) -> tuple[str, str]:
    """Return the version a program prints, empty if none, and its first line of output."""
    answer = system.capture(ask)
    version = _VERSION.search(answer.stdout + answer.stderr)
    told = (answer.stderr or answer.stdout).strip().partition("\n")[0]
    return version[0] if version else "", told


def _needed_for(tool: _Tool) -> str:
    names = [bench.name for bench in all_benchmarks() if bench.tool == tool.name]
    return "; ".join(part for part in (", ".join(names), tool.use) if part)
