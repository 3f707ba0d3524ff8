"""Values that the kernel spells in more than one way: 010 and 8, 0000000f and 0-3, Y and 1.

Which spellings are one value is the file's: what a text file holds is only itself.
"""

import re

# No number of the kernel has more than 64 bits.
_INTEGER = re.compile(r"([+-]?)(0x[0-9a-f]{1,40}|0[0-7]{0,40}|[1-9][0-9]{0,19})", re.IGNORECASE)
_LIST = re.compile(r"[0-9]{1,9}(-[0-9]{1,9})?(,[0-9]{1,9}(-[0-9]{1,9})?)*")
_MASK = re.compile(r"[0-9a-f]+(,[0-9a-f]{8})*", re.IGNORECASE)
_MASK_SHOWN = re.compile(r"[0-9a-f]{1,8}(,[0-9a-f]{8})*")
_DECIMAL = re.compile(r"0|[1-9][0-9]*")
_TRUE = {"y", "yes", "t", "true", "on", "1"}
_FALSE = {"n", "no", "f", "false", "off", "of", "0"}
_FLAG_SHOWN = re.compile(r"[YN01]")


def same_value(wanted: str, found: str, original: str) -> bool:
    """Return whether what the kernel shows is the value that was wanted.

    What kind of file it is shows in the value it had at first: flags, numbers, CPUs, or text.
    """
    if wanted == found:
        return True
    words, others, first = _words(wanted), _words(found), _words(original)
    kinds = [_same_flag] if first and all(map(_FLAG_SHOWN.fullmatch, first)) else []
    if first and all(map(_INTEGER.fullmatch, first)):
        kinds.append(_same_integer)
    if all(_LIST.fullmatch(word) or _MASK_SHOWN.fullmatch(word) for word in first):
        kinds.append(_same_cpus)
    return len(words) == len(others) and all(
        word == other or any(same(word, other) for same in kinds)
        for word, other in zip(words, others, strict=True)
    )


def _words(text: str) -> list[str]:
    return re.sub(r"\s*,\s*", ",", text).split()


def _same_flag(wanted: str, found: str) -> bool:
    return _both(_flag(wanted), _flag(found))


def _same_integer(wanted: str, found: str) -> bool:
    return _both(_integer(wanted), _integer(found))


def _same_cpus(wanted: str, found: str) -> bool:
    if _DECIMAL.fullmatch(found) and _INTEGER.fullmatch(wanted):
        return False  # a number: 010 is 8, though as a mask or a list it were 10
    return (
        _both(_ranges(wanted), _ranges(found))
        or _both(_mask(wanted), _mask(found))
        # Between the two notations only where it is certain which is which.
        or ("-" in wanted and _both(_ranges(wanted), _bits(_mask(found))))
        or ("-" in found and _both(_bits(_mask(wanted)), _ranges(found)))
    )


def _both(one: object, other: object) -> bool:
    return one is not None and one == other


def _flag(word: str) -> bool | None:
    folded = word.casefold()
    return folded in _TRUE if folded in _TRUE | _FALSE else None


def _integer(word: str) -> int | None:
    """Parse an integer as the kernel does: a leading 0 makes it octal."""
    found = _INTEGER.fullmatch(word)
    if not found:
        return None
    digits = found[2].lower()
    base = 16 if digits.startswith("0x") else 8 if digits.startswith("0") else 10
    return int(digits, base) * (-1 if found[1] == "-" else 1)


def _ranges(word: str) -> list[tuple[int, int]] | None:
    """Parse a list such as `0-3,8` into its ranges, joined where they touch."""
    if not _LIST.fullmatch(word):
        return None
    joined: list[tuple[int, int]] = []
    for low, _, high in sorted(
        (int(first), dash, int(last or first))
        for first, dash, last in (part.partition("-") for part in word.split(","))
    ):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], high))
        else:
            joined.append((low, high))
    return joined


def _mask(word: str) -> int | None:
    """Parse a mask in hexadecimal, such as `ff` or `00000001,ffffffff`."""
    return int(word.replace(",", ""), 16) if _MASK.fullmatch(word) else None


def _bits(mask: int | None) -> list[tuple[int, int]] | None:
    """Return the set bits of a mask as ranges."""
    if mask is None:
        return None
    bits = [bit for bit in range(mask.bit_length()) if mask >> bit & 1]
    return _ranges(",".join(map(str, bits)))
