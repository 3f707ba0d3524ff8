"""The order of runs: blocks of all variants, shuffled by the plan's seed, the same at every resume.

Inside a block each benchmark's variants run next to each other, in random order, so that drift
of the machine falls on all of them alike.
"""

import hashlib
import itertools
import random
from collections.abc import Iterator, Sequence

from schedlab.benchmarks import Case
from schedlab.plan.plan import Plan
from schedlab.result.record import RunKey
from schedlab.settings.variant import Variant

_BALANCED = 6
"""Blocks in which every order is followed by its reverse somewhere; the first look is at six."""


def stretches(plan: Plan) -> Iterator[range]:
    """Yield the blocks up to each look; warm-up blocks, below 0, belong to the first.

    With a budget the first block stands alone: how long it takes tells whether others fit.
    """
    ends = sorted({*plan.blocks.looks, *([1] if plan.blocks.budget else [])})
    for first, end in itertools.pairwise((-plan.blocks.warmup, *ends)):
        yield range(first, end)


def block_order(
    plan: Plan, cases: Sequence[Case], block: int
) -> list[tuple[RunKey, Case, Variant]]:
    """Return the runs of one block in their order; leaving cases out does not change the rest."""
    by_case = {
        case.label: variant_order(plan.variant, f"{plan.blocks.seed}/{case.label}", block)
        for case in cases
    }
    placed = sorted(cases, key=lambda case: _draw(f"{plan.blocks.seed}/{block}/at/{case.label}"))
    return [
        (RunKey(case.label, variant.name, block), case, variant)
        for case in placed
        for variant in by_case[case.label]
    ]


def run_seed(plan: Plan, block: int, label: str) -> int:
    """Return the seed of a block's runs of one benchmark, shared by all variants."""
    return _draw(f"{plan.blocks.seed}/{block}/seed/{label}") & 0x7FFFFFFF


def variant_order(variants: Sequence[Variant], seed: str, block: int) -> list[Variant]:
    """Return the variants in an order that is random, but balanced over each six blocks.

    Of six blocks the baseline stands before each other variant in three, never strictly in turn:
    plain random order lets noise with a rhythm of two or four runs pass for an effect, and so
    does a fixed pattern (docs/internals/statistics.md has the figures).
    """
    six, place = divmod(block, _BALANCED)
    for attempt in itertools.count():
        draw = random.Random(_draw(f"{seed}/{six}/{attempt}"))
        half = [draw.sample(variants, len(variants)) for _ in range(_BALANCED // 2)]
        orders = half + [order[::-1] for order in half]
        draw.shuffle(orders)
        if all(_irregular(orders, variants[0], other) for other in variants[1:]):
            return orders[place]
    raise AssertionError


def _irregular(orders: list[list[Variant]], first: Variant, other: Variant) -> bool:
    """Return whether two variants' order repeats at least once from one block to the next."""
    ahead = [order.index(first) < order.index(other) for order in orders]
    return any(a == b for a, b in itertools.pairwise(ahead))


def _draw(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
