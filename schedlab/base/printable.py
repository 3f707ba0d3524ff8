"""Text that came from outside, on its way to a terminal or a page: it can neither act nor hide."""

import unicodedata


def printable(text: str) -> str:
    """Return text on one line with everything that could move a cursor or hide written out.

    That is all but letters, digits, signs and blanks: control characters of both ranges, such as
    ESC and U+009B, and those that change the writing direction or have no width.
    """
    if text.isprintable():
        return text
    return "".join(_visible(character) for character in " ".join(text.splitlines()))


def printable_lines(text: str) -> str:
    """Return text of several lines, each made printable."""
    return "\n".join(printable(line.expandtabs()) for line in text.splitlines())


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    if unicodedata.category(character) == "Zs":
        return " "
    return character.encode("unicode_escape").decode()
