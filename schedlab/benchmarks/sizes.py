"""Sizes relative to a machine: `cpus/2`, `cpus*80`, `memory_gib/4 GB`."""

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping

from schedlab.base.errors import UsageError, nearest

_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_WITH_UNIT = re.compile(r"(?P<number>.+?)\s*(?P<unit>B|KB|MB|GB)")
_SPAN = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<unit>us|ms|s|min|h|)")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "": 1.0, "s": 1.0, "min": 60.0, "h": 3600.0}
_OF_A_KEY = ("memory_gib",)
"""Sizes that are a key of a machine's file, which may lack it."""
_LARGEST = 2**63 - 1
_LONGEST_SECONDS = 1e9
_LONGEST_TEXT = 200
"""Characters of an expression; Python's parser takes much memory for very long ones."""


def count(value: int | str, names: Mapping[str, int], where: str) -> int:
    """Work out a number of things: an integer, or an expression over a machine's sizes.

    An expression is rounded down, but gives at least 1: half of one CPU is still one thread.

    Raises:
        UsageError: no number, an unknown name, or less than 1.
    """
    if isinstance(value, bool):
        raise UsageError(f"{where}: {value} is not a number")
    result: float
    if isinstance(value, int):
        result = value if -_LARGEST <= value <= _LARGEST else math.inf if value > 0 else -math.inf
    else:
        result = _evaluate(value, names, where)
        relative = any(name in value for name in names)
        if relative and 0 < result < 1:
            result = 1
        if not relative and 1 <= result < math.inf and result != int(result):
            raise UsageError(f"{where}: {_shortened(value)} is not a whole number")
    if not result >= 1:
        shown = _shortened(value)
        gives = "" if shown == f"{result:g}" else f" gives {result:g}, which"
        raise UsageError(f"{where}: {shown}{gives} is less than 1; at least 1 is needed")
    if result > _LARGEST:
        raise UsageError(f"{where}: {_shortened(value)} is too large; the most is 2^63 - 1")
    return int(result)


def amount(value: int | str, names: Mapping[str, int], where: str) -> str:
    """Work out an amount of memory such as `memory_gib/4 GB`, as the tools write it: `31GB`."""
    match = _WITH_UNIT.fullmatch(_text(value, where))
    if not match:
        raise UsageError(f"{where}: '{value}' is not a size; write it as 512MB or memory_gib/4 GB")
    return f"{count(match['number'], names, where)}{match['unit']}"


def span(value: int | str, where: str) -> str:
    """Work out a duration, a number of seconds or a text such as `200ms`, in seconds: `0.2s`."""
    match = _SPAN.fullmatch(_text(value, where))
    seconds = float(match["number"]) * _SECONDS[match["unit"]] if match else 0
    if isinstance(value, bool) or seconds <= 0:
        shown = _shortened(value)
        raise UsageError(f"{where}: '{shown}' is not a duration; write it as 10, 200ms or 2min")
    if seconds > _LONGEST_SECONDS:
        raise UsageError(f"{where}: '{_shortened(value)}' is too long; the most is 1000000000s")
    return f"{seconds:g}s"


def binary(amount: str) -> str:
    """Return an amount as the tools mean it: in powers of two, so that their `31GB` is `31GiB`."""
    return re.sub(r"([KMG])B$", r"\1iB", amount)


def _text(value: int | str, where: str) -> str:
    """Return a number or text as text, if it is not far too long."""
    if (isinstance(value, int) and abs(value) > _LARGEST) or len(str(value)) > _LONGEST_TEXT:
        raise UsageError(f"{where}: {_shortened(value)} is too large")
    return str(value).strip()


def _shortened(value: int | str) -> str:
    """Return a value as a message shows it: of a very long one, the beginning."""
    if isinstance(value, int):
        return hex(value)[:20] + "..." if value.bit_length() > 128 else str(value)
    return value if len(value) <= 60 else f"{value[:57]}..."


def _evaluate(text: str, names: Mapping[str, int], where: str) -> float:
    try:
        tree = ast.parse(_text(text, where), mode="eval").body
        return _value(tree, names, where)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise UsageError(
            f"{where}: '{text}' is not a size; write a number or an expression such as cpus/2"
        ) from None
    except (ZeroDivisionError, OverflowError):
        raise UsageError(f"{where}: '{text}' has no finite value") from None


def _value(node: ast.expr, names: Mapping[str, int], where: str) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.Name(id=name):
            if name not in names:
                if name in _OF_A_KEY:
                    raise UsageError(
                        f"{where}: this is computed from {name}, which the machine does not have."
                        f"\n  Add the key {name} to the machine's file, or give a number here."
                    )
                known = ", ".join(names)
                raise UsageError(
                    f"{where}: no size is called '{name}'.{nearest(name, names)} Known: {known}."
                )
            return float(names[name])
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, names, where), _value(right, names, where))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, names, where)
    raise ValueError
