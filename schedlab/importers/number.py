"""Numbers as they are printed: the value, how exact it is, its unit."""

import re
from dataclasses import dataclass
from decimal import Decimal

from schedlab.benchmarks.metric import LARGEST, SMALLEST, in_bounds

UNSIGNED = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?"
PATTERN = rf"[-+]?{UNSIGNED}"
_WITH_UNIT = re.compile(rf"(?P<less><?)(?P<number>{PATTERN})\s*(?P<unit>[A-Za-zµμ%/]*)")
_WHOLE = re.compile(r"\s*[-+]?\d+\s*")
_SCALES = (
    {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "usec": 1e-6, "ms": 1e-3, "msec": 1e-3}
    | {"s": 1.0, "sec": 1.0, "secs": 1.0, "seconds": 1.0, "min": 60.0},
    {"B/s": 1.0, "KB/s": 1e3, "MB/s": 1e6, "MB/sec": 1e6, "GB/s": 1e9, "GB/sec": 1e9}
    | {"KiB/s": 2.0**10, "MiB/s": 2.0**20, "MiB/sec": 2.0**20, "GiB/s": 2.0**30},
    {"ops/s": 1.0, "Kops/s": 1e3, "Mops/s": 1e6, "ops/sec": 1.0},
)


@dataclass(frozen=True)
class Number:
    """A printed number."""

    value: float
    step: float = 0.0
    """One unit of its last digit."""
    unit: str = ""

    def within(self) -> tuple[float, float]:
        """Return the values that are printed like this."""
        return self.value - self.step / 2, self.value + self.step / 2

    def in_unit(self, unit: str) -> "Number":
        """Return the same in another unit; ValueError if the units are not of one kind."""
        if unit == self.unit:
            return self
        for scale in _SCALES:
            if unit in scale and self.unit in scale:
                factor = scale[self.unit] / scale[unit]
                return Number(self.value * factor, self.step * factor, unit)
        raise ValueError(f"{self.unit or 'no unit'} cannot be converted to {unit or 'no unit'}")


def parse_number(text: str) -> Number:
    """Read a number with or without thousands separators and unit; `<0.01` is half of that.

    Raises:
        ValueError: it is none, or none that can be reckoned with.
    """
    text = text.strip()
    match = _WITH_UNIT.fullmatch(text)
    if not match:
        raise ValueError(f"'{shortened(text)}' is not a number")
    value = in_range(float(match["number"].replace(",", "")), text)
    exponent = Decimal(match["number"].replace(",", "")).as_tuple().exponent
    assert isinstance(exponent, int)
    if match["less"]:  # a count that is there, but too small to be printed
        value /= 2
    return Number(value, 10.0 ** min(exponent, 300), match["unit"])


def in_range(value: float, text: str) -> float:
    """Return a figure; ValueError where it is too large, too small or not a number."""
    if not in_bounds(value):
        raise ValueError(
            f"'{shortened(text)}' is out of range; figures are from {SMALLEST:g} to {LARGEST:g}"
        )
    return value


def parse_whole(text: str, most: int) -> int:
    """Read a whole number; ValueError where it is none, or beyond `most` either way."""
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"'{shortened(text)}' is not a whole number")
    value = int(text)
    if abs(value) > most:
        raise ValueError(f"{shortened(text)} is beyond {most}")
    return value


def shortened(text: str) -> str:
    """Return a text for a message, its end left out where it is long."""
    return text if len(text) <= 60 else f"{text[:57]}..."


def change_bounds(base: Number, other: Number) -> tuple[float, float]:
    """Return the least and the most change, in percent, two printed figures can stand for."""
    (base_low, base_high), (other_low, other_high) = base.within(), other.within()
    high = other_high / base_low if base_low > 0 else float("inf")
    return 100 * (other_low / base_high - 1), 100 * (high - 1)


def follows(base: Number, other: Number, change: Number) -> bool:
    """Return whether a printed percentage follows from the printed figures, rounded or cut off."""
    low, high = change_bounds(base, other)
    slack = change.step * (1 + 1e-9) + 1e-9
    return low - slack <= change.value <= high + slack
