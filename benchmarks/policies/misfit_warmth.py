"""What the warmth of the board does to the misfit series' summary of ten runs.

    python benchmarks/policies/misfit_warmth.py

The plan of docs/studies/misfit.md for HiKey960 with other figures in the machine file's thermal
zone: of the longest task of each round the mean, the maximum, and its rounds' means over ten runs,
in seconds. Two minutes.
"""

from __future__ import annotations

import re
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

from recorded import numbered, run_plan

ROOT = Path(__file__).resolve().parents[2]
PLAN = ROOT / "plans" / "misfit-hikey960.toml"
MACHINE = (ROOT / "machines" / "hikey960.toml").read_text()
CHANGES: tuple[dict[str, str], ...] = (
    {},
    {"heat_capacity": "0.3"},
    {"heat_capacity": "0.45"},
    {"heat_capacity": "0.9"},
    {"heat_capacity": "1.3"},
    {"heat_capacity": "2"},
    {"ambient": "20", "resistance": "10.69"},
    {"ambient": "30", "resistance": "8.75"},
    {"base_mw": "300", "resistance": "10.42"},
    {"base_mw": "1500", "resistance": "8.33"},
)
"""Of figures the sources do not settle; the resistance keeps what 4.5 W end at."""


def changed(figures: dict[str, str]) -> str:
    """Return the machine file with these figures instead of its own."""
    text = MACHINE
    for key, value in figures.items():
        text, count = re.subn(rf"^{key} = \S+", f"{key} = {value}", text, flags=re.MULTILINE)
        assert count == 1, key
    return text


def longest(text: str, folder: Path) -> dict[str, list[list[float]]]:
    """Run the plan on a machine; give each run's longest tasks round by round, by variant."""
    machine = folder / "hikey960.toml"
    machine.write_text(text)
    run_plan(PLAN, folder / "r", "--target", f"sim:{machine}")
    return numbered(folder / "r", "longest")


def main() -> None:
    """Print two rows for each set of figures."""
    for figures in CHANGES:
        name = ", ".join(f"{key} {value}" for key, value in figures.items()) or "as in the file"
        with TemporaryDirectory() as folder:
            for variant, runs in longest(changed(figures), Path(folder)).items():
                highest = mean(max(rounds) for rounds in runs)
                course = " ".join(f"{mean(times):.2f}" for times in zip(*runs, strict=True))
                average = mean(map(mean, runs))
                print(f"{name:32} {variant:8} {average:.4f} {highest:.4f}  {course}", flush=True)


main()
