"""sched_ext: what AddressSanitizer finds in a scheduler (`schedlab scx debug --sanitize`)."""

from pathlib import Path

import pytest

from tests.engine.test_limits import sanitizers
from tests.helpers import builds
from tests.helpers.engine.scx import loaded, need_schedulers
from tests.helpers.engine.simulator import Json, Simulator

SERIES = "6.12"
WRITES = """
#include <scx/common.bpf.h>

char _license[] SEC("license") = "GPL";
const volatile u32 where, turns;
u64 slots[4]; static long turn(u32 i, void *context) { return 0; }

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __type(key, u32);
    __type(value, u64);
    __uint(max_entries, 2);
} counts SEC(".maps");

void BPF_STRUCT_OPS(writes_enqueue, struct task_struct *p, u64 enq_flags)
{
    u32 key = 0;
    u64 *count = bpf_map_lookup_elem(&counts, &key), here[2] = {};
    volatile u64 *global = slots, *local = here;

    if (count)
        count[where == 1]++;
    global[where == 2 ? 4 : 0]++;
    local[where == 3 ? 2 : 0]++;
    bpf_loop(turns, turn, NULL, 0);
    scx_bpf_dispatch(p, SCX_DSQ_GLOBAL, SCX_SLICE_DFL, enq_flags);
}

SCX_OPS_DEFINE(writes_ops, .enqueue = (void *)writes_enqueue, .name = "writes");
"""


def test_a_write_beyond_a_value_a_global_array_or_the_stack_is_found(tmp_path: Path) -> None:
    """A scheduler that is right runs, and the same way twice; one that is not ends by its line.

    Operations that are long together are no endless one.
    """
    need_schedulers(SERIES)
    if sanitizers():
        pytest.skip(f"gcc has no AddressSanitizer: {sanitizers().splitlines()[0]}")
    (tmp_path / "writes.bpf.c").write_text(WRITES)
    sim = Simulator(builds.sanitized(SERIES, str(tmp_path / "writes.bpf.c")), tmp_path)
    right: Json = loaded("writes.bpf.c", where="0")
    first, second = sim("smt8", right), sim("smt8", right)
    assert first["trace_hash"] == second["trace_hash"]
    long: Json = {**loaded("writes.bpf.c", turns="1000000"), "duration": "500ms"}
    assert sim.start("smp4", long).returncode == 0
    for where, what, line in (("1", "", 22), ("2", "global-buffer", 23), ("3", "stack-buffer", 24)):
        done = sim.start("smt8", loaded("writes.bpf.c", where=where))
        assert done.returncode != 0
        assert "AddressSanitizer" in done.stderr
        assert what in done.stderr
        assert f"writes.bpf.c:{line}" in done.stderr
