"""Slips in published figures of sysbench, found from the figures themselves.

For most of its tests sysbench 1.0 prints a total, no rate. A rate made by dividing the total by 10
is right only if the run lasted 10 s, which is sysbench's default and not what `--time` asked for.
"""

import re
from collections.abc import Iterator, Sequence

from schedlab.result.record import RunRecord

_TEST = re.compile(r"sysbench\b.*?\b(?P<test>cpu|memory|threads)\b")
_TIME = re.compile(r"--time[= ](?P<seconds>\d+)")
_TOTAL = re.compile(r"--memory-total-size[= ](?P<size>\d+)(?P<unit>[KMGT])", re.IGNORECASE)
_MIB = {"K": 2**-10, "M": 1, "G": 2**10, "T": 2**20}
_DEFAULT_TOTAL_MIB = 100 * 1024
_DIVISOR = 10
"""sysbench's default time, in seconds."""


def sysbench_slips(records: Sequence[RunRecord]) -> Iterator[str]:
    """Yield what is wrong with the figures of one benchmark, and mark the runs that were capped."""
    command = records[0].command if records else ""
    test = _TEST.search(command)
    if not test:
        return
    given = _TIME.search(command)
    seconds = int(given["seconds"]) if given else _DIVISOR
    figures = [value for record in records for value in record.metrics.values()]
    if test["test"] == "memory":
        yield from _capped(records, _total_mib(command))
    elif test["test"] == "threads" and seconds != _DIVISOR and all(map(_in_tenths, figures)):
        yield (
            f"every rate of {records[0].key.case} is a whole number of events over {_DIVISOR}, but"
            f" the runs lasted {seconds} s: the true rates are {_DIVISOR}/{seconds} of those"
            " printed; the changes are not touched by it"
        )


def _in_tenths(value: float) -> bool:
    return abs(value * _DIVISOR - round(value * _DIVISOR)) < 1e-6


def _total_mib(command: str) -> float:
    size = _TOTAL.search(command)
    return int(size["size"]) * _MIB[size["unit"].upper()] if size else _DEFAULT_TOTAL_MIB


def _capped(records: Sequence[RunRecord], total: float) -> Iterator[str]:
    """Mark the runs whose rate is the total size over 10: they ended there, however fast."""
    hit = [r for r in records for value in r.metrics.values() if value * _DIVISOR == total]
    for record in hit:
        record.caveats.append(f"capped: stopped at sysbench's total size ({total:g} MiB)")
    if hit:
        yield (
            f"{len(hit)} of {len(records)} runs of {records[0].key.case} are at"
            f" {total / _DIVISOR:g}, which is sysbench's total size of {total:g} MiB over"
            f" {_DIVISOR}: a cap, not a speed"
        )
