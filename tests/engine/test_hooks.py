"""Facts of a tree, the engine's hooks in it, and what is told where a patch takes them away."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from schedlab.base.series import TESTED
from tests.helpers.engine.making import make, objects, patch
from tests.helpers.engine.simulator import ROOT, build_folder
from tests.helpers.kernel_source import kernel_source

FACT = re.compile(r"^(?:has|since|before) (\w+)", re.MULTILINE)


def probed(tree: Path, patched: Path) -> list[str]:
    script = ROOT / "engine/scripts/probe"
    done = subprocess.run([script, tree, patched], capture_output=True, text=True, check=True)
    return [line.split()[1] for line in done.stdout.splitlines()]


def test_facts_are_of_the_patched_tree(tmp_path: Path) -> None:
    header = "include/linux/sched.h"
    for side, text in (("tree", "unsigned char sched_delayed;"), ("patched", "int other;")):
        (tmp_path / side / header).parent.mkdir(parents=True)
        (tmp_path / side / header).write_text(text)
    (tmp_path / "tree/Makefile").write_text("VERSION = 6\nPATCHLEVEL = 13\n")
    assert probed(tmp_path / "tree", tmp_path / "none") == ["TREE_HAS_SCHED_DELAYED"]
    assert probed(tmp_path / "tree", tmp_path / "patched") == []


def test_facts_may_go_over_lines(tmp_path: Path) -> None:
    """A header that is only laid out otherwise says the same."""
    header = tmp_path / "include/linux/sched.h"
    header.parent.mkdir(parents=True)
    (tmp_path / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 13\n")
    header.write_text("struct task_struct {\n\tstruct load_weight\n\t\th_load;\n};\n")
    assert probed(tmp_path, tmp_path / "none") == ["TREE_HAS_FLAT_TREE"]


def test_no_fact_excuses_the_hook_that_it_is_read_by() -> None:
    """A tree that renames a function would lose both, without a word."""
    expected = (ROOT / "engine/hooked/expected.txt").read_text()
    script = (ROOT / "engine/scripts/probe").read_text()
    for line in expected.splitlines():
        names, _, fact = line.partition("\tif ")
        if not fact or fact.startswith("CONFIG_") or line.startswith("#"):
            continue
        pattern = re.search(rf"^has {fact}\s.*'(.*)'$", script, re.M)
        assert pattern
        words = {name.strip("()").removeprefix("trace_") for name in names.split()}
        assert not any(word in pattern[1] for word in words), line


@pytest.mark.parametrize(
    ("version", "patchlevel", "fact"),
    [(6, 4, "TREE_HAS_ITMT_OF_SIBLINGS"), (6, 14, "TREE_HAS_ITMT_DEBUGFS"), (6, 9, "")],
)
def test_what_x86_has_goes_by_the_release(
    tmp_path: Path, version: int, patchlevel: int, fact: str
) -> None:
    """No patch of the scheduler adds it or takes it away."""
    fair = tmp_path / "patched/kernel/sched/fair.c"
    fair.parent.mkdir(parents=True)
    fair.write_text("/* later trees ask (sd_flags & SD_NUMA) here */\n")
    (tmp_path / "Makefile").write_text(f"VERSION = {version}\nPATCHLEVEL = {patchlevel}\n")
    assert probed(tmp_path, tmp_path / "patched") == ([fact] if fact else [])


def test_every_fact_has_a_branch() -> None:
    script = (ROOT / "engine/scripts/probe").read_text()
    facts = FACT.findall(script)
    assert len(facts) == len(set(facts)) > 50
    sources = [p for p in (ROOT / "engine").rglob("*") if p.suffix in (".c", ".h", ".txt", "")]
    read = "\n".join(p.read_text() for p in sources if p.is_file() and p.name != "probe")
    branches = r"\bTREE_HAS_(\w+)|\b(?:if|unless) (\w+)$|filter (\w+),|\bhas (\w+) &&"
    known = set(re.findall(branches, read, re.MULTILINE))
    assert {"".join(found) for found in known} >= set(facts)
    assert set(re.findall(r"\bTREE_HAS_([A-Z]\w+)", read)) <= set(facts)


GOVERNORS = "drivers/cpuidle/governors/"
HOOKS = """
#include "hook.h"
#define COUNTED(name, args...) (name)(args)
#define one(args...) SHIM_HOOK(COUNTED, one, args)
#define two(args...) SHIM_HOOK(COUNTED, two, args)
int one(int x);
int two(int x);
struct item;
enum kind { A_KIND };
typedef unsigned long u64;
typedef struct { int bits; } cpumask_t;
#define three(args...) SHIM_HOOK(COUNTED, three, args)
#define four(args...) SHIM_HOOK(COUNTED, four, args)
#define five(args...) SHIM_HOOK(COUNTED, five, args)
#define six(args...) SHIM_HOOK(COUNTED, six, args)
int three(const struct item *x);
int four(enum kind x);
int five(u64 x);
int six(cpumask_t *x, long y);
int caller(int y) { return one(y); }
extern int shim_tp_raised, shim_tp_printed, shim_tp_gone;
int raiser(void) { return shim_tp_raised++; }
int __attribute__((section(".text.shim_emit_x"))) shim_emit_x(void) { return shim_tp_printed; }
int *defined = &shim_tp_gone;
"""


def test_hooks_that_match_nothing_are_told(tmp_path: Path) -> None:
    """A declaration is no call, whatever its first type; one of several names is enough; a fact may
    have to be there.

    A tracepoint's definition and its printing raise it nowhere.
    """
    (tmp_path / "x.c").write_text(HOOKS)
    words = ["gcc", "-c", "-O2", f"-I{ROOT}/engine/hooked", "-D__used=__attribute__((used))"]
    words += ["-D__section(x)=__attribute__((section(x)))", "x.c"]
    subprocess.run(words, cwd=tmp_path, check=True)
    expected = "# why\none\ntwo\nother one\n->hot\nthree\tif THIS\nfour\tif THAT\n"
    expected += "five\tunless THIS\nsix\tunless THAT\n"
    expected += "one()\ntwo(...)\n" + "".join(
        f"trace_{n}()\n" for n in ("raised", "printed", "gone")
    )
    (tmp_path / "expected.txt").write_text(expected)
    (tmp_path / "tree.h").write_text("#define TREE_HAS_THAT 1\n")
    script = ROOT / "engine/scripts/unmatched"
    done = subprocess.run(
        [script, "gcc", "expected.txt", "tree.h", "x.o"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        *("two", "->hot", "four", "five"),
        *("two()", "trace_printed()", "trace_gone()"),
    ]


BEFORE = """
#include "hook.h"
#define READ_ONCE(x) shim_access #x (x)
#define COUNTED(name, args...) (name)(args)
#define one(args...) SHIM_HOOK(COUNTED, one, args)
#define two(args...) SHIM_HOOK(COUNTED, two, args)
struct rq { int hot, cold; };
#include "sched.h"
int one(int x, int y) { return x - y; }
int two(int x) { return x; }
int charges(int x);
struct sched_class { int (*select)(struct rq *rq, int cpu, int flags); };
int caller(struct rq *rq, int y) { return one(y, 0) + one(y, 1) + two(y) + charges(y); }
int other(struct rq *rq) { return READ_ONCE(rq->hot) + READ_ONCE(rq->hot) + READ_ONCE(rq->cold); }
static inline void trace_event(struct rq *prev, struct rq *next) { }
static int third(int y)
{
	if (y)
		return charges(y);
	for (;;)
		y = one(y, 2);
}
"""
INLINE = "static inline int shared(struct rq *rq) { return READ_ONCE(rq->hot); }"


def test_what_patches_change_about_known_calls_is_told(tmp_path: Path) -> None:
    """A call by another name, written out, behind an #if, or paid for by another one; parameters
    that changed places.  A function that moves as a whole or is renamed changes nothing.
    """
    names = "# why\none\ntwo other\tif THIS\n->hot\ncharges()\ntrace_event(...)\n(*select)\n"
    (tmp_path / "expected.txt").write_text(names)
    (tmp_path / "unmatched.txt").write_text("two other\n")
    scripts = ROOT / "engine/scripts"

    def told(*changes: tuple[str, str], header: str = INLINE) -> list[str]:
        source = BEFORE
        for old, new in changes:
            assert old in source
            source = source.replace(old, new, 1)
        units: dict[str, list[str]] = {}
        for when, text, included in (("before", BEFORE, INLINE), ("now", source, header)):
            (tmp_path / "sched.h").write_text(included)
            # what includes the header has its functions too
            for unit, content in ((when, text), (f"{when}-too", BEFORE.partition("int one")[0])):
                (tmp_path / f"{unit}.c").write_text(content)
                words = f"gcc -E -DSHIM_OUTLINE -I{ROOT}/engine/hooked"
                calls = f"{sys.executable} -IS {scripts}/calls.py expected.txt"
                command = f"{words} {unit}.c | {calls} > {unit}"
                subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True)
                units.setdefault(when, []).append(unit)
        files = [" ".join(units[when]) for when in ("before", "now")]
        done = subprocess.run(
            [sys.executable, "-IS", scripts / "changed_calls.py", "unmatched.txt", *files],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        lines = [" ".join(line.split("\t")) for line in done.stdout.splitlines()]
        touched[:] = [line for line in lines if line.startswith("touched")]
        return [line for line in lines if line not in touched]

    touched: list[str] = []
    assert told() == touched == []
    assert told(("one(y, 1)", "(one)(y, 1)")) == ["fewer one caller()"]
    behind = ("\t\treturn charges(y);", "#if 0\ncharges(y);\n#endif\n\t\treturn y;")
    assert told(behind) == ["fewer charges() third()"]
    assert told(("READ_ONCE(rq->hot)", "rq->hot")) == ["fewer ->hot other()"]
    assert told(("READ_ONCE(rq->cold)", "rq->cold")) == []
    assert told(("two(y)", "y")) == [], "told as unmatched"

    paid = ("\tif (y)\n", "\tif (y == 1)\n\t\tone(y, 3);\n\tif (y)\n")
    written_out = ("y = one(y, 2);", "y = y - 2;")
    assert told(paid, written_out) == ["moved one third(), now third()"]
    moved = ("return charges(y);", "return one(y, 1) + charges(y);")
    assert told(("one(y, 1) + ", ""), moved) == ["moved one caller(), now third()"]
    assert told(("one(y, 0)", "one(y + 1, 0)"), ("if (y)", "if (y > 1)")) == []
    beside = ("return charges(y);", "return (charges)(y);\n\tif (y < 0)\n\t\tcharges(y + 1);")
    assert told(beside) == ["moved charges() third(), now third()"], "in another statement"
    in_steps = ("return charges(y);", "{\n\t\tint z = charges(y);\n\n\t\treturn z;\n\t}")
    assert told(in_steps) == []
    beside = ("return one(y, 0) + one(y, 1)", "return y - 0 + one(y, 1) + (one(y, 7) && 0)")
    assert told(beside) == ["moved one caller(), now caller()"], "elsewhere in the statement"

    assert told(("int charges(", INLINE + "\nint charges("), header="") == [], (
        "an inline that moved"
    )
    assert told(
        ("int charges(", "int shared(struct rq *rq) { return rq->hot; }\nint charges("), header=""
    ) == ["fewer ->hot shared()"]
    assert told(("static int third(", "static int fourth(")) == []
    assert touched == ["touched fourth(), was third() charges(), one"]
    paid_beside = ("return one(y, 0) + one(y, 1)", "y = y - 0;\n\treturn one(y, 1) + one(y, 1)")
    assert told(paid_beside) == [], "which call is which, only the patch's author knows"
    assert touched == ["touched caller() charges(), one, two"]
    copy = BEFORE[BEFORE.index("static int third(") :]
    written_out = copy.replace("charges(y)", "y").replace("y = one(y, 2)", "y = y - 2")
    assert told((copy, copy.replace("third", "fourth") + written_out)) == [
        "moved charges() third(), now fourth()",
        "moved one third(), now fourth()",
    ], "the old name is still there"

    swapped = ("int one(int x, int y)", "int one(int y, int x)")
    assert told(swapped) == ["parameters one (int x, int y), now (int y, int x)"]
    assert told(("int one(int x,", "int one(const int x,")) == []
    assert told(("*select)(struct rq *rq", "*select)(struct rq *const rq")) == []
    assert told(("struct rq *prev, struct rq *next", "struct rq *next, struct rq *prev")) == [
        "parameters trace_event (struct rq *prev, struct rq *next),"
        " now (struct rq *next, struct rq *prev)"
    ]
    method = ("int cpu, int flags", "int flags, int cpu")
    assert told(method) == [
        "parameters select (struct rq *rq, int cpu, int flags),"
        " now (struct rq *rq, int flags, int cpu)"
    ]


def test_the_manual_has_each_fact_once() -> None:
    probe = (ROOT / "engine/scripts/probe").read_text()
    page = (ROOT / "docs/manual/kernels.md").read_text()
    table = page.partition("| first | last | facts |")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"`(\w+)`", table)) == sorted(FACT.findall(probe))


def test_every_hook_is_expected() -> None:
    """What is hooked stands in the list by which the build tells of what nothing matches."""
    listed = (ROOT / "engine/hooked/expected.txt").read_text()
    names = {word for line in listed.splitlines() if line[:1] != "#" for word in line.split()}
    found = False
    for file in (ROOT / "engine/hooked/kernel").rglob("*.c"):
        text = file.read_text()
        hooked = re.findall(r"SHIM_HOOK(?:_2ND)?\(\w+, (\w+)|SHIM_MATCHED\(\"(\w+)\"\)", text)
        hooked += re.findall(r"SHIM_CHOOSE\(SHIM_DECLARES_##\w+\)\(\w+, (\w+)()", text)
        assert {one or other for one, other in hooked} <= names, file
        found |= bool(hooked)
    assert found
    fields = re.findall(
        r'strstr\(name, "([^"]+)"\)', (ROOT / "engine/arch/asm/rwonce.h").read_text()
    )
    assert set(fields) == {name for name in names if re.search(r"[.>]", name) and "(" not in name}


@pytest.mark.parametrize("series", TESTED)
def test_the_domains_of_a_cpu_are_known_by_name(series: str) -> None:
    """Other per-CPU variables of other CPUs are paid for, whatever they are called."""
    header = (ROOT / "engine/arch/asm/percpu.h").read_text()
    defined = (kernel_source(series) / "kernel/sched/topology.c").read_text()
    names = set(re.findall(r"^DEFINE_PER_CPU\(.*, (sd_\w+)\)", defined, re.M))
    assert names
    assert names <= set(re.findall(r'"(sd_\w+)\)"', header))


def test_every_probe_of_a_tracepoint_is_expected_with_its_parameters() -> None:
    listed = (ROOT / "engine/hooked/expected.txt").read_text()
    probes = re.findall(r"^\tprobe\((\w+), ", (ROOT / "engine/kernel/trace.c").read_text(), re.M)
    assert probes
    assert sorted(re.findall(r"^trace_(\w+)\(\.\.\.\)", listed, re.M)) == sorted(probes)


def test_every_cost_that_the_kernel_calls_for_is_expected() -> None:
    """Functions of the kernel's names that charge: what nobody calls would cost nothing."""
    listed = (ROOT / "engine/hooked/expected.txt").read_text()
    charging = set()
    for file in (ROOT / "engine/kernel").glob("*.c"):
        functions = r"^(?!static)[a-z][^\n]*?(\w+)\([^;{]*\)\n\{(.*?)^\}"
        for name, body in re.findall(functions, file.read_text(), re.M | re.S):
            if "hw_costs." in body and not re.match("kern_|shim_", name):
                charging.add(name)
    assert charging > {"rcu_sched_clock_irq", "change_prot_numa"}
    assert {name for name in charging if f"{name}()" not in listed} == set()


def test_calls_that_a_patch_takes_away_are_told(tmp_path: Path) -> None:
    """A tick's cost goes with the function that charges it; a tracepoint stays silent; of two
    governors' questions one is no longer noted.
    """
    tree, base = kernel_source("6.12"), objects("6.12")
    changes = [
        patch(tmp_path / name, tree, file, call, r"if (0) \g<0>")
        for name, file, call in (
            ("tick", "kernel/time/timer.c", r"rcu_sched_clock_irq\(user_tick\);"),
            ("trace", "kernel/time/tick-sched.c", r"trace_tick_stop\(1, .*?;"),
        )
    ]
    asks = r"(delta = )tick_nohz_get_sleep_length\("
    plain = r"\1(tick_nohz_get_sleep_length)("
    (tmp_path / "menu").mkdir()
    changes.append(patch(tmp_path / "menu", tree, GOVERNORS + "menu.c", asks, plain))
    out = build_folder("6.12-uncalled")
    variables = {"O": str(out), "KERNEL": str(tree), "BASE": str(base)}
    variables["PATCHES"] = " ".join(map(str, changes))
    made = make(**variables)
    assert made.returncode == 0, made.stdout + made.stderr
    unmatched = (out / "unmatched.txt").read_text().splitlines()
    assert unmatched == ["rcu_sched_clock_irq()", "trace_tick_stop()"]
    *touched, changed = (out / "changed-calls.txt").read_text().splitlines()
    assert changed == "fewer\ttick_nohz_get_sleep_length\tmenu_select()"
    functions = ["menu_select()", "tick_nohz_stop_tick()", "update_process_times()"]
    assert [line.split("\t")[:2] for line in touched] == [["touched", name] for name in functions]
    # The same of sources that are named, as for a tree that is compared with another.
    named = out / "k/kernel/sched/fair.calls"
    named.unlink(missing_ok=True)
    made = make("calls", UNITS="kernel/sched/fair.c kernel/nosuch.c", **variables)
    assert made.returncode == 0, made.stdout + made.stderr
    lines = [line.split("\t") for line in named.read_text().splitlines()]
    newidle = next(line[3] for line in lines if line[1] == "sched_balance_newidle")
    assert newidle.split().count("@update_next_balance") == 2


@pytest.mark.parametrize(
    ("file", "old", "new", "unit", "message"),
    [
        (
            "kernel/sched/sched.h",
            r"(\*select_task_rq\)\(struct task_struct \*p, int task_cpu, int) flags",
            r"\1 flags, int why",
            "kernel/decisions.o",
            "select_task_rq() of struct sched_class is not int (struct task_struct *, int",
        ),
        (
            "kernel/sched/fair.c",
            r"(update_sg_lb_stats\(env), sds, sg, sgs,",
            r"\1, sg, sgs, sds,",
            "k/kernel/sched/fair.o",
            "passing argument 2 of 'update_sg_lb_stats' from incompatible pointer type"
            " [-Werror=incompatible-pointer-types]",
        ),
    ],
    ids=["method", "order"],
)
def test_what_a_hook_cannot_take_is_an_error(
    file: str, old: str, new: str, unit: str, message: str, tmp_path: Path
) -> None:
    """Other parameters of a method, or their order, that nothing but a type would show."""
    tree, base = kernel_source("6.12"), objects("6.12")
    change = patch(tmp_path / "change", tree, file, old, new)
    out = build_folder(f"6.12-types-{Path(unit).stem}")
    made = subprocess.run(
        [
            *("make", "-j2", "-C", str(ROOT / "engine"), f"O={out}", f"KERNEL={tree}"),
            *(f"BASE={base}", f"PATCHES={change}", str(out / unit)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    shutil.rmtree(out)
    assert made.returncode == 2
    assert message in re.sub("[‘’]", "'", made.stderr)


def test_what_a_hooked_call_returns_keeps_its_type() -> None:
    """A number in a variable of a type of ours would be cut where a patch makes it wider."""
    kept = [
        (str(file), line)
        for file in (ROOT / "engine/hooked").rglob("*.[ch]")
        for line in re.findall(r"^\s*(\w[^=\n]*)= \(name\)\(", file.read_text(), re.MULTILINE)
    ]
    assert len(kept) > 5
    assert not [each for each in kept if "*" not in each[1] and "__auto_type" not in each[1]]
