"""What stopped a build, in one message."""

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from schedlab.kernels.build import _what_failed
from schedlab.kernels.engine import find_engine

HOOKS = """\
#define __used __attribute__((used))
#define __section(name) __attribute__((section(name)))
#include "hook.h"
#define COUNTED(name, cpu, more...) (name)(cpu, ##more)
#define idle_cpu(args...) SHIM_HOOK(COUNTED, idle_cpu, args)
#include "fair.c"
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
        f" with a name: give it a variable.\n  All of make's words: {tmp_path}/objects/make.log"
    )


def test_a_declaration_that_a_hook_cannot_tell_from_a_call(tmp_path: Path) -> None:
    assert _said(tmp_path, "typedef int cpu_t;\n\nint idle_cpu(cpu_t cpu);\n") == (
        "mine: kernel/sched/fair.c:3: idle_cpu() is declared with a first parameter of a type whose"
        " name the simulator does not know.\n"
        f"  Add its first word to those of {find_engine().folder / 'hooked/hook.h'}.\n"
        f"  All of make's words: {tmp_path}/objects/make.log"
    )


def _said(tmp_path: Path, fair: str) -> str:
    """Compile a file with a hook, and return what is said of it."""
    source = tmp_path / "objects/src/kernel/sched"
    source.mkdir(parents=True)
    (source / "hooked.c").write_text(HOOKS)
    (source / "fair.c").write_text(fair)
    engine = find_engine()
    command = ["gcc", "-c", "-I", str(engine.folder / "hooked"), "-I", str(source)]
    made = subprocess.run(
        [*command, str(source / "hooked.c"), "-o", str(tmp_path / "x.o")],
        env={**os.environ, "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )
    part: Any = SimpleNamespace(what="mine", objects=tmp_path / "objects", scheduler=None)
    return _what_failed(part, made.stderr.splitlines(), engine)
