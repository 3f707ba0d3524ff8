"""Times and costs in C: what belongs to a machine stands in a file with its range and source."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

NUMBER = r"(?:\d|[A-Z][A-Z_]*_(?:NS|PS|CYCLES)\b)"
OWN_WORK = re.compile(rf"\bwl_(?:run|cycles|cycles_about|spin)\({NUMBER}.*")
CHARGED = re.compile(rf"\bhw_(?:charge|stall)\({NUMBER}.*")

UNITS = {
    "workloads/micro.c: wl_cycles(1000);",  # what it measures
}


def found(pattern: re.Pattern[str], *folders: str) -> set[str]:
    files = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.[ch]"))]
    assert files
    return {
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in files
        for match in pattern.finditer(path.read_text(encoding="utf-8"))
    }


def test_programs_take_what_figures_toml_says() -> None:
    assert found(OWN_WORK, "workloads") == UNITS


def test_the_engine_charges_what_the_machine_says() -> None:
    assert found(CHARGED, "engine") == set()


def test_a_time_in_c_is_found() -> None:
    assert OWN_WORK.search("\twl_run(PHASE_NS);")
    assert CHARGED.search("hw_charge(40);")
    assert not CHARGED.search("hw_charge(hw_costs.lock);")
