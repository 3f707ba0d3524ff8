"""What scans, boost, the fabric and a session's groups cost, and what switches each of them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.helpers import builds
from tests.helpers.engine.simulator import ROOT, Json, Simulator, machine, reads, tasks
from tests.helpers.kernel_source import kernel_source

NAPS: Json = {"name": "t", "count": 24, "program": [{"run": "200us"}, {"sleep": "100us"}]}
SCAN: Json = {"duration": "200ms", "warmup": "50ms", "tasks": [NAPS]}


def group_statistics(sim: Simulator, **cost: int | str) -> float:
    """Return the time of update_sd_lb_stats() a call."""
    described = machine("numa16")
    described["cost"].update(cost)
    found = sim(described, SCAN)["functions"]["update_sd_lb_stats"]
    assert found["calls"] > 100
    return float(found["ns"]) / float(found["calls"])


def test_a_scan_pays_for_lines_and_their_misses_overlap(sim: Simulator) -> None:
    alone, together = group_statistics(sim, misses=1), group_statistics(sim, misses=16)
    near = group_statistics(sim, misses=1, **{f"line_{d}": "1ns" for d in LEVELS})
    assert alone > 1.5 * together
    assert alone > 3 * near


LEVELS = ("cluster", "llc", "node", "package", "remote")


LAYOUT_OF = "gen/generated/rq-lines.h"


def lines_of(objects: Path) -> dict[str, int]:
    """Return which lines of a runqueue the fields of a build lie in, as bits."""
    header = (objects / LAYOUT_OF).read_text()
    return {name: int(bits) for name, bits in re.findall(r"(RQ_\w+) \((\d+)ULL", header)}


def test_lines_of_a_runqueue_are_the_trees_own(series: str) -> None:
    builds.build(series)
    lines = lines_of(builds.objects(series))
    # nr_running is first; what runs is there too in trees that keep apart what others look at
    assert lines["RQ_HEAD"] == 1
    apart = reads(series, "kernel/sched/sched.h", r"next cacheline holds the \(hot\) runqueue lock")
    assert (lines["RQ_CURRENT"] == lines["RQ_HEAD"]) == bool(apart)
    # the averages have a line of their own
    assert len({lines[f"RQ_{name}"] for name in ("HEAD", "CFS", "AVERAGES")}) == 3


LAYOUT = """\
--- a/kernel/sched/sched.h
+++ b/kernel/sched/sched.h
@@ -1,3 +1,3 @@
{before}
-{field}
+{field} unsigned long sixty_four_bytes[8];
{after}
"""


def a_line_more(series: str) -> str:
    """Return a patch that puts a cache line between nr_running and what follows it in struct rq."""
    tree = kernel_source(series)
    text = (tree / "kernel/sched/sched.h").read_text().splitlines()
    at = next(n for n, line in enumerate(text) if line == "struct rq {")
    at += next(n for n, line in enumerate(text[at:]) if line == "\tunsigned int\t\tnr_running;")
    lines = {"before": " " + text[at - 1], "field": text[at], "after": " " + text[at + 1]}
    return LAYOUT.format(**lines).replace("@@ -1,3 +1,3 @@", f"@@ -{at},3 +{at},3 @@")


def test_lines_of_a_patched_runqueue_are_the_patched_trees(series: str, tmp_path: Path) -> None:
    """The objects of the unpatched build are taken over, but not its map of a runqueue."""
    patch = tmp_path / "line.patch"
    patch.write_text(a_line_more(series))
    builds.build(series)
    plain = builds.objects(series)
    out = tmp_path / "patched"
    make = ["make", "-C", str(ROOT / "engine"), f"O={out}", f"KERNEL={kernel_source(series)}"]
    make += [f"PATCHES={patch}", f"BASE={plain}", str(out / LAYOUT_OF)]
    subprocess.run(make, check=True, capture_output=True)
    plain_lines, patched_lines = lines_of(plain), lines_of(out)
    assert patched_lines["RQ_HEAD"] == plain_lines["RQ_HEAD"]
    for name in ("RQ_CFS", "RQ_AVERAGES", "RQ_CURRENT"):
        assert patched_lines[name] == plain_lines[name] << 1, name


def rate(sim: Simulator, busy: int) -> float:
    """Return how much work a task does on EPYC, one task a core on so many cores of a package."""
    hogs: Json = {"name": "hog", "program": [{"run": "500us"}]}
    each = [{**hogs, "name": f"hog{cpu}", "affinity": str(cpu)} for cpu in range(busy)]
    result = sim("epyc-7713-2p-nps1", {"duration": "60ms", "warmup": "20ms", "tasks": each})
    return float(tasks(result, "hog0")[0]["ops"]) / 80


def test_boost_follows_the_active_cores(sim: Simulator) -> None:
    """Full speed for a quarter of the cores, 3,000 of 3,675 MHz for all of them."""
    few, all_of_them = rate(sim, 8), rate(sim, 64)
    assert few > 0.96
    assert 0.79 < all_of_them / few < 0.84


def test_autogroups_do_nothing_in_a_session(sim: Simulator) -> None:
    """Tasks below a cgroup of their own have no autogroup, as in the kernel."""
    knob = "/proc/sys/kernel/sched_autogroup_enabled"

    def hashes(described: Json) -> set[str]:
        return {sim(described, {**SCAN, "knobs": {knob: v}})["trace_hash"] for v in "01"}

    described = machine("numa16")
    assert len(hashes(described)) == 2
    described["session"] = "/user.slice/user-0.slice/session-1.scope"
    assert len(hashes(described)) == 1


def test_lines_queue_at_the_port_of_an_llc(sim: Simulator) -> None:
    described = machine("numa16")
    free = sim(described, SCAN)["counters"]
    described["fabric"] = {"llc": "100MB/s", "package": "100MB/s"}
    assert free["cost:fabric_wait_ns"] == 0
    assert sim(described, SCAN)["counters"]["cost:fabric_wait_ns"] > 0
