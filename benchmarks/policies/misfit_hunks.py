"""What each of two older rules that NO_MISFIT brings back does to the misfit series' test.

    python benchmarks/policies/misfit_hunks.py [SERIES]

The plans of docs/studies/misfit.md with one hunk taken out of the patch, with both, and with none:
mean time of each task of ten runs without misfit balancing, in seconds. Two minutes.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

from recorded import numbered, run_plan

ROOT = Path(__file__).resolve().parents[2]
SIBLINGS = "asym_prefer_sibling(env->sd)"
KICK = "nohz_balancer_kick"
LEFT_OUT = {
    "neither": (SIBLINGS, KICK),
    "the nohz kick of a busy LLC": (SIBLINGS,),
    "preferred siblings": (KICK,),
    "both": (),
}
HUNK = re.compile(r"^@@ .*\n(?:[ +-].*\n)*", re.MULTILINE)


def without(patch: str, words: tuple[str, ...]) -> str:
    """Return the patch without the hunks that have one of these words."""
    for word in words:
        assert sum(word in hunk for hunk in HUNK.findall(patch)) == 1, word
    return HUNK.sub(lambda hunk: "" if any(w in hunk[0] for w in words) else hunk[0], patch)


def means(plan: Path, output: Path) -> list[float]:
    """Run a plan; give the mean time of the quickest tasks, of the second ones, and so on."""
    run_plan(plan, output)
    runs = numbered(output, "task")["without"]
    return [mean(times) for times in zip(*map(sorted, runs), strict=True)]


def main() -> None:
    """Print a row for each machine and set of hunks."""
    series = sys.argv[1] if len(sys.argv) > 1 else "6.1"
    patch = (ROOT / "patches" / series / "MISFIT.patch").read_text()
    for machine in ("juno-r0", "hikey960"):
        text = (ROOT / "plans" / f"misfit-{machine}.toml").read_text()
        text = text.replace('base = "6.1"', f'base = "{series}"').replace(
            "rounds = 10", "rounds = 1"
        )
        for name, words in LEFT_OUT.items():
            with TemporaryDirectory() as folder:
                changed = Path(folder) / "misfit.patch"
                changed.write_text(without(patch, words))
                plan = Path(folder) / "plan.toml"
                plan.write_text(text.replace('patches = ["MISFIT"]', f'patches = ["{changed}"]'))
                times = " ".join(f"{time:.4f}" for time in means(plan, Path(folder) / "r"))
                print(f"{machine:8}  {name:27}  {times}", flush=True)


main()
