"""Sizes relative to a machine: `cpus/2`, `cpus*80`, `memory_gib/4 GB`."""

import ast
import operator
import re
from collections.abc import Callable, Mapping

from schedlab.errors import UsageError, nearest

_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_WITH_UNIT = re.compile(r"(?P<number>.+?)\s*(?P<unit>B|KB|MB|GB)")
_SPAN = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>us|ms|s|min|h|)")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "": 1.0, "s": 1.0, "min": 60.0, "h": 3600.0}
_LARGEST = 2**63 - 1


def count(value: int | str, names: Mapping[str, int], where: str) -> int:
    """Work out a number of things: an integer, or an expression over a machine's sizes.

    An expression is rounded down, but gives at least 1: half of one CPU is still one thread.

    Raises:
        UsageError: no number, an unknown name, or less than 1.
    """
    if isinstance(value, bool):
        raise UsageError(f"{where}: {value} is no number")
    if isinstance(value, int):
        result: float = value
    else:
        result = _evaluate(value, names, where)
        if any(name in value for name in names) and 0 < result < 1:
            result = 1
    if not 1 <= result <= _LARGEST:
        raise UsageError(f"{where}: {value} gives {result:g}; it must be at least 1")
    return int(result)


def amount(value: str, names: Mapping[str, int], where: str) -> str:
    """Work out an amount of memory such as `memory_gib/4 GB`, as the tools write it: `31GB`."""
    match = _WITH_UNIT.fullmatch(value.strip())
    if not match:
        raise UsageError(f"{where}: '{value}' is no size; write it as 512MB or memory_gib/4 GB")
    return f"{count(match['number'], names, where)}{match['unit']}"


def span(value: int | str, where: str) -> str:
    """Work out a duration, a number of seconds or a text such as `200ms`, in seconds: `0.2s`."""
    match = _SPAN.fullmatch(str(value).strip())
    seconds = float(match["number"]) * _SECONDS[match["unit"]] if match else 0
    if isinstance(value, bool) or seconds <= 0:
        raise UsageError(f"{where}: '{value}' is no duration; write it as 10, 200ms or 2min")
    return f"{seconds:g}s"


def binary(amount: str) -> str:
    """Give an amount as the tools mean it: in powers of two, so that their `31GB` is `31GiB`."""
    return re.sub(r"([KMG])B$", r"\1iB", amount)


def _evaluate(text: str, names: Mapping[str, int], where: str) -> float:
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        return _value(tree, names, where)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise UsageError(
            f"{where}: '{text}' is no size; write a number or an expression such as cpus/2"
        ) from None
    except (ZeroDivisionError, OverflowError):
        raise UsageError(f"{where}: '{text}' has no finite value") from None


def _value(node: ast.expr, names: Mapping[str, int], where: str) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.Name(id=name):
            if name not in names:
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
