"""The programs that are the benchmarks, and those that place them."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from schedlab.benchmarks import all_benchmarks
from schedlab.doctor.finding import Finding, Level
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


TOOLS = (
    _Tool("perf", "linux-perf", ("perf", "--version"), True, "counters of every run"),
    _Tool("hackbench", "rt-tests", ("hackbench", "--help"), True),
    _Tool("sysbench", "sysbench", ("sysbench", "--version"), True),
    _Tool("tbench", "dbench", ("tbench",)),
    _Tool("tbench_srv", "dbench", use="the server tbench talks to"),
    _Tool("rt-app", "rt-app", use="workloads from files; without it our own program stands in"),
    _Tool("numactl", "numactl", use="variants that bind to nodes"),
    _Tool("taskset", "util-linux", ("taskset", "--version"), use="variants that pin to CPUs"),
)


def check(system: System) -> Iterator[Finding]:
    """Look for each program and run it once for its version."""
    return (_tool(system, tool) for tool in TOOLS)


def _tool(system: System, tool: _Tool) -> Finding:
    absent: Level = "missing" if tool.required else "note"
    why = f"needed for {_needed_for(tool)}"
    remedy = f"apt-get install {tool.package}"
    if system.which(tool.name) is None:
        return Finding(tool.name, absent, f"{tool.name} is not installed", why, remedy)
    if not tool.ask:
        return Finding(tool.name, "ok", f"{tool.name} is installed")
    try:
        answer = system.capture(tool.ask)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding(tool.name, absent, f"{tool.name} does not run: {error}", why, remedy)
    version = _VERSION.search(answer.stdout + answer.stderr)
    if version is None:
        told = (answer.stderr or answer.stdout).strip().partition("\n")[0]
        found = f"{tool.name} is installed but tells no version: {told or 'no output'}"
        return Finding(tool.name, absent, found, why, remedy)
    return Finding(tool.name, "ok", f"{tool.name} {version[0]}")


def _needed_for(tool: _Tool) -> str:
    names = [bench.name for bench in all_benchmarks() if bench.tool == tool.name]
    return "; ".join(part for part in (", ".join(names), tool.use) if part)
