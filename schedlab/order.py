"""The order of runs: blocks of all variants, shuffled by the plan's seed, the same at every resume.

Inside a block each benchmark's variants run next to each other, in random order, so that drift
of the machine falls on all of them alike.
"""

import hashlib
import random
from collections.abc import Iterator, Sequence

from schedlab.benchmarks import Case
from schedlab.plan import Plan
from schedlab.record import RunKey
from schedlab.variant import Variant


def blocks(plan: Plan) -> Iterator[int]:
    """Give the numbers of all blocks a plan may run: warm-up from -1 down, then 0 up."""
    yield from range(-plan.blocks.warmup, 0)
    yield from range(plan.blocks.looks[-1])


def block_order(
    plan: Plan, cases: Sequence[Case], block: int
) -> list[tuple[RunKey, Case, Variant]]:
    """Give the runs of one block in their order; leaving cases out does not change the rest."""
    by_case = {
        case.label: _shuffled(plan.variant, f"{plan.blocks.seed}/{block}/{case.label}")
        for case in cases
    }
    placed = sorted(cases, key=lambda case: _draw(f"{plan.blocks.seed}/{block}/at/{case.label}"))
    return [
        (RunKey(case.label, variant.name, block), case, variant)
        for case in placed
        for variant in by_case[case.label]
    ]


def run_seed(plan: Plan, block: int, label: str) -> int:
    """Give the seed of a block's runs of one benchmark, shared by all variants."""
    return _draw(f"{plan.blocks.seed}/{block}/seed/{label}") & 0x7FFFFFFF


def _shuffled(variants: Sequence[Variant], text: str) -> list[Variant]:
    mixed = list(variants)
    random.Random(_draw(text)).shuffle(mixed)
    return mixed


def _draw(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
