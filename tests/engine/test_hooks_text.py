"""The hooks' macros, by their text: a patch may give a call arguments with side effects."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.helpers.engine.simulator import ROOT

HOOKED = sorted((ROOT / "engine/hooked").glob("*/**/*.[ch]"))
MACRO = re.compile(r"^#define (\w+)\((?:\w+, )?name, ([^)]*)\)((?:.*\\\n)*.*)$", re.M)
NOT_EVALUATED = re.compile(r"SHIM_GIVE\(.*\);|\b(?:struct|enum) \w+")
"""SHIM_GIVE() takes only the type of the call in it."""


@pytest.mark.parametrize("file", HOOKED, ids=lambda file: file.name)
def test_a_hook_evaluates_an_argument_once(file: Path) -> None:
    for hook, parameters, body in MACRO.findall(file.read_text()):
        evaluated = NOT_EVALUATED.sub("", body)
        for parameter in re.findall(r"(\w+)(?:\.\.\.)?(?:,|$)", parameters):
            uses = len(re.findall(rf"\b(?<![.>]){parameter}\b", evaluated))
            assert uses <= 1, (hook, parameter, uses)


@pytest.mark.parametrize("file", HOOKED, ids=lambda file: file.name)
def test_a_hooks_own_variables_have_names_that_no_kernel_has(file: Path) -> None:
    """An argument may be a variable of the caller's, such as `__rq`."""
    for hook, _, body in MACRO.findall(file.read_text()):
        own = re.findall(r"^\t(?:[a-z_]\w* )+\**(\w+)(?= =|;|\[)", body, re.M)
        assert {name for name in own if not name.startswith("shim_")} == set(), hook


FLAGS = """
#include <stddef.h>
#include <stdio.h>
typedef struct { int counter; } atomic_t;
typedef struct { int locked, taken; } arch_spinlock_t;
static struct { int held, cpu; } hw;
static void hw_let_go(int cpu) { hw.held--; }
#define atomic_read(v) ((v)->counter)
#define atomic_set(v, to) ((v)->counter = (to))
#define atomic_set_release atomic_set
static int shim_cmpxchg(int *counter, int from, int to)
{
	int old = *counter;
	if (old == from)
		*counter = to;
	return old;
}
static int atomic_cmpxchg_acquire(atomic_t *v, int from, int to)
{
	return shim_cmpxchg(&v->counter, from, to);
}
static int atomic_try_cmpxchg_acquire(atomic_t *v, int *from, int to)
{
	int old = atomic_cmpxchg_acquire(v, *from, to), same = old == *from;
	*from = old;
	return same;
}
static int arch_spin_trylock(arch_spinlock_t *l) { return l->locked ? 0 : (l->locked = 1, ++hw.held); }
static void arch_spin_unlock(arch_spinlock_t *l) { l->locked = 0; hw.held--; }
#include "flags.h"
static atomic_t flag, other, word = { 7 };
int main(void)
{
	int from = 0, seven = 7;

	printf("%d ", shim_flag_cmpxchg(&flag, 0, 1));		/* taken */
	printf("%d ", !shim_flag_cmpxchg(&flag, 0, 1));		/* not twice */
	printf("%d ", !shim_flag_try_cmpxchg(&other, &from, 1));	/* another one */
	shim_flag_set(&flag, 0);
	printf("%d ", shim_flag_cmpxchg(&flag, 0, 1));		/* given back */
	atomic_set(&flag, 0);
	hw.cpu = 1;
	printf("%d ", shim_flag_cmpxchg(&flag, 0, 1));		/* by other means */
	printf("%d ", shim_flag_cmpxchg(&word, 0, 1) != 7);	/* is not what is expected */
	printf("%d ", !shim_flag_try_cmpxchg(&word, &seven, 8));	/* no flag: a number */
	printf("%d ", !shim_flag_try_cmpxchg(&word, &(int){ 8 }, 9));
	shim_flag_set(&flag, 0);
	printf("%d\\n", hw.held - 1);				/* of the other one */
}
"""


def test_a_flag_that_is_a_lock_is_free_however_it_is_given_back(tmp_path: Path) -> None:
    (tmp_path / "x.c").write_text(FLAGS)
    command = ["gcc", "-Wno-sign-compare", f"-I{ROOT}/engine/hooked", "x.c", "-o", "x"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "x"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0"] * 9


def test_there_are_hooks() -> None:
    assert sum(len(MACRO.findall(file.read_text())) for file in HOOKED) > 15
