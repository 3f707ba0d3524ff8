"""What stopped a build, in one message."""

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from schedlab.kernels.engine import find_engine
from schedlab.kernels.failures import what_failed

HOOKS = """\
#define __used __attribute__((used))
#define __section(name) __attribute__((section(name)))
#include "hook.h"
#define COUNTED(name, cpu, more...) (name)(cpu, ##more)
#define idle_cpu(args...) SHIM_HOOK(COUNTED, idle_cpu, args)
#define BALANCE(name, a, b) ({ __auto_type __found = (name)(a, b); __found; })
#define balance(args...) SHIM_HOOK(BALANCE, balance, args)
#define KEPT(name, a, more...) \\
	({ __auto_type __given = SHIM_KEEP((name)(a, ##more)); SHIM_GIVE(__given, (name)(a, ##more)); })
#define kept(args...) SHIM_HOOK(KEPT, kept, args)
#include <fair.c>
"""
FAIR = """\
int idle_cpu(int cpu);
int look(int *cpu)
{
	return idle_cpu(*cpu);
}
"""


def test_a_call_that_a_hook_cannot_read(tmp_path: Path) -> None:
    assert _said(tmp_path, FAIR) == (
        "mine: kernel/sched/fair.c:4: an argument of idle_cpu() begins with '*'.\n"
        "  The simulator sees the calls of idle_cpu() by a macro, whose arguments have to begin"
        " with a name: give it a variable."
    )


def test_a_declaration_that_a_hook_cannot_tell_from_a_call(tmp_path: Path) -> None:
    assert _said(tmp_path, "typedef int cpu_t;\n\nint idle_cpu(cpu_t cpu);\n") == (
        "mine: kernel/sched/fair.c:3: idle_cpu() is declared with a first parameter of a type whose"
        " name the simulator does not know.\n"
        f"  Add its first word to those of {tmp_path}/hooked/hook.h."
    )


@pytest.mark.parametrize(
    ("declared", "error"),
    [
        ("int balance(int *a);", "too many arguments to function"),
        ("int balance(char *a, int *b);", "passing argument 1 of"),
        ("void balance(int *a, int *b);", "declared void"),
    ],
)
def test_a_call_that_a_hook_cannot_pass_on(tmp_path: Path, declared: str, error: str) -> None:
    """A patch changed what the function takes or returns."""
    said = _said(tmp_path, f"{declared}\nint look(int *cpu)\n{{\n\treturn balance(cpu, cpu);\n}}\n")
    assert said.startswith(
        "mine: kernel/sched/fair.c:4: the simulator sees the calls of balance() by a macro"
        " (engine/hooked), which cannot pass this one on: "
    )
    assert error in said
    assert said.endswith("\n  Do the patches change what balance() takes or returns?")


def test_a_call_with_too_few_arguments_for_a_hook(tmp_path: Path) -> None:
    said = _said(tmp_path, "int balance(int *a);\n\nint look(int *cpu) { return balance(cpu); }\n")
    assert said.startswith("mine: kernel/sched/fair.c:3: the simulator sees the calls of balance()")
    assert 'macro "BALANCE" requires' in said


def test_a_patchs_own_error_in_the_arguments_of_a_hooked_call(tmp_path: Path) -> None:
    fair = "int balance(int *a, int *b);\nint look(int *cpu)\n{\n\treturn balance(cpu, cpus);\n}\n"
    assert _said(tmp_path, fair).startswith(
        "mine does not compile: kernel/sched/fair.c:4: 'cpus' undeclared"
    )


@pytest.mark.parametrize("given", ["void", "int"])
def test_a_hook_passes_on_what_a_function_returns_and_takes_more(
    tmp_path: Path, given: str
) -> None:
    use = (
        "int look(int *a) { return kept(a, 1); }"
        if given == "int"
        else "void look(int *a) { kept(a); }"
    )
    more = ", int more" if given == "int" else ""
    assert _compiled(tmp_path, f"{given} kept(int *a{more});\n{use}\n").returncode == 0


def _compiled(tmp_path: Path, fair: str) -> "subprocess.CompletedProcess[str]":
    """Compile a file with a hook."""
    source = tmp_path / "objects/src/kernel/sched"
    source.mkdir(parents=True)
    hooks = tmp_path / "hooked/kernel/sched"
    hooks.mkdir(parents=True)
    (hooks / "fair.c").write_text(HOOKS)
    (hooks.parents[1] / "hook.h").write_text((find_engine().folder / "hooked/hook.h").read_text())
    (source / "fair.c").write_text(fair)
    command = ["gcc", "-c", "-Wall", "-Werror=incompatible-pointer-types"]
    command += ["-I", str(hooks.parents[1]), "-I", str(source)]
    return subprocess.run(
        [*command, str(hooks / "fair.c"), "-o", str(tmp_path / "x.o")],
        env={**os.environ, "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )


def _said(tmp_path: Path, fair: str) -> str:
    """Return what is said of a file with a hook."""
    made = _compiled(tmp_path, fair)
    engine: Any = SimpleNamespace(folder=tmp_path)
    part: Any = SimpleNamespace(what="mine", objects=tmp_path / "objects", scheduler=None)
    return what_failed(part, made.stderr.splitlines(), engine)
