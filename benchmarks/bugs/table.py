"""The table of docs/studies/bugs.md: what a run of the whole corpus kept, a row for each bug.

    schedlab check --bugs --seeds 3 --output DIR
    python benchmarks/bugs/table.py DIR

Prints Markdown. A bug counts as caught where it is on all seeds, its kernels as passing likewise;
what falls short of that stands in the row as caught or passed of how many. Seconds are the longest
run with the bug.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from schedlab.lab.checks.check import Named
from schedlab.lab.checks.checking import VERDICTS
from schedlab.lab.checks.files import known_checks

Run = dict[str, Any]
HEADING = "| bug | fix | machine | passes | caught | seconds |\n|---|---|---|---|---|---:|"


def rows(verdicts: Iterable[Run]) -> list[str]:
    """Return a row for each check of a bug that ran."""
    of_check = defaultdict(list)
    for verdict in verdicts:
        of_check[verdict["check"]].append(verdict)
    found = []
    for name, path in known_checks().items():
        check = Named(path).check
        if check.bug and of_check[name]:
            runs = of_check[name]
            machines = dict.fromkeys(run["machine"] for run in runs)
            with_bug = [run for run in runs if run["bug"]]
            longest = max((run["seconds"] for run in with_bug), default=0.0)
            fix = check.bug.fix if check.bug.confirmed else f"{check.bug.fix}, **not confirmed**"
            cells = [name, fix, ", ".join(machines)]
            cells += [_kernels([run for run in runs if not run["bug"]], "passed")]
            cells += [_kernels(with_bug, "caught"), f"{longest:.2g}"]
            found.append(f"| {' | '.join(cells)} |")
    return found


def _kernels(runs: Sequence[Run], good: str) -> str:
    """Name the kernels of runs, with how many are good where not all are."""
    of_kernel = defaultdict(list)
    for run in runs:
        of_kernel[run["kernel"]].append(run["word"] == good)
    said = []
    for kernel, words in of_kernel.items():
        said.append(kernel if all(words) else f"{kernel}: {sum(words)} of {len(words)}")
    return ", ".join(said) or "-"


def main() -> None:
    """Print the table of a folder."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="the --output of schedlab check --bugs")
    lines = (parser.parse_args().folder / VERDICTS).read_text(encoding="utf-8").splitlines()
    print("\n".join([HEADING, *rows(json.loads(line) for line in lines)]))


if __name__ == "__main__":
    main()
