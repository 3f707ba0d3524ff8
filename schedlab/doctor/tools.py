"""The programs that are the benchmarks, and those that place them."""

import os
import re
import subprocess
from collections.abc import Iterator, Sequence

from schedlab.base.system import System
from schedlab.benchmarks import Tool, all_benchmarks, all_tools
from schedlab.benchmarks.tool import find_programs
from schedlab.doctor.finding import Finding, Level
from schedlab.kernels.native import PROGRAM

_VERSION = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")


PLACING = (
    Tool("numactl", package="numactl", use="variants that bind to nodes"),
    Tool(
        "taskset",
        package="util-linux",
        version=("taskset", "--version"),
        use="variants that pin to CPUs",
    ),
)
"""What places benchmarks."""


def check(system: System) -> Iterator[Finding]:
    """Look for each program and run it once for its version."""
    for tool in sorted([*all_tools(), *PLACING], key=lambda tool: not tool.package):
        find_programs(system, [tool])
        yield _packaged(system, tool) if tool.package else _own_build(system, tool)


def _packaged(system: System, tool: Tool) -> Finding:
    absent: Level = "missing" if tool.required else "note"
    why = f"needed for {_needed_for(tool)}"
    remedy = f"apt-get install {tool.package}"
    if system.which(tool.name) is None:
        return Finding(tool.name, absent, f"{tool.name} is not installed", why, remedy)
    if not tool.version:
        return Finding(tool.name, "ok", f"{tool.name} is installed")
    try:
        version, printed = _version(system, tool.version)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding(tool.name, absent, f"{tool.name} does not run: {error}", why, remedy)
    if not version:
        found = f"{tool.name} is installed but does not print its version: {printed or 'no output'}"
        return Finding(tool.name, absent, found, why, remedy)
    return Finding(tool.name, "ok", f"{tool.name} {version}")


def _own_build(system: System, tool: Tool) -> Finding:
    """Look for what the user builds or sets up; our own program stands in where it is not there."""
    where = [_found(system, names) for names in tool.wanted]
    absent = [
        " or ".join(names) for names, path in zip(tool.wanted, where, strict=True) if not path
    ]
    missing = [f"not in PATH: {', '.join(absent)}"] if absent else []
    home = os.environ.get(tool.variable, "") if tool.variable else ""
    if tool.variable and not home:
        missing.append(f"{tool.variable} is not set")
    elif tool.holds and not system.exists(f"{home}/{tool.holds}"):
        missing.append(f"{tool.variable}={home} has no {tool.holds}")
    if missing:
        return Finding(
            tool.name,
            "note",
            f"{tool.name}: {'; '.join(missing)}",
            f"{PROGRAM}, our own, stands in for it in {', '.join(_users(tool))}, and every report"
            " says so",
            "docs/manual/benchmarks.md, 'Tools of your own': how to build it and where to put it",
        )
    return Finding(
        tool.name,
        "ok",
        f"{tool.name}: {', '.join([*filter(None, where), *([home] if home else [])])},"
        f" {_told_version(system, tool)}",
    )


def _found(system: System, names: Sequence[str]) -> str | None:
    """Return the path of the first of some programs that is there."""
    return next(filter(None, map(system.which, names)), None)


def _told_version(system: System, tool: Tool) -> str:
    if not tool.version:
        return "which prints no version (reports have its digest)"
    try:
        version, _ = _version(system, tool.version)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"but {tool.version[0]} does not run: {error}"
    return f"version {version}" if version else "version unknown"


def _version(system: System, ask: tuple[str, ...]) -> tuple[str, str]:
    """Return the version a program prints, empty if none, and its first line of output."""
    answer = system.capture(ask)
    version = _VERSION.search(answer.stdout + answer.stderr)
    line = (answer.stderr or answer.stdout).strip().partition("\n")[0]
    return version[0] if version else "", line


def _needed_for(tool: Tool) -> str:
    replaced = any(tool in bench.tools for bench in all_benchmarks() if bench.tool.name == PROGRAM)
    without = "without it our own program stands in" if replaced else ""
    return "; ".join(filter(None, (", ".join(_users(tool)), tool.use, without)))


def _users(tool: Tool) -> list[str]:
    """Return the benchmarks that a tool is for."""
    return [bench.name for bench in all_benchmarks() if tool in (bench.tool, *bench.tools)]
