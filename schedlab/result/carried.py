"""The data a report carries: a result's document within a page or a text, and taken out again.

A page has it as JSON in a script element that no browser runs. A text in Markdown, and a page of
which it would be most, has it in a comment at its end, compressed and in letters, so that nothing
in it can end the comment.
"""

import base64
import binascii
import json
import lzma
import re
import textwrap
import zlib
from typing import Protocol

from schedlab.result.document import to_document
from schedlab.result.store import Store

_BEGIN_HTML = '<script type="application/json" id="schedlab-result">'
_END_HTML = "</script>"
_BEGIN_MARKDOWN = "<!-- schedlab-result: JSON, xz, base64"
_BEGIN_EARLIER = "<!-- schedlab-result: JSON, zlib, base64"
"""Up to version 0.2: zlib looks back 32 KiB, three runs, and takes twice the place."""
_END_MARKDOWN = "-->"
_BETWEEN = re.compile(r"[\s>]+")
"""What is between the letters of a line and the next: of a text quoted in a mail `>` as well."""
_WIDTH = 100


_MEMORY = 64 << 20
"""Bytes that taking it apart may use, whatever it says of itself."""


class _Reader(Protocol):
    """What takes apart either kind."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, most: int, /) -> bytes: ...


MOST_PLAIN = 1_000_000
"""Characters of JSON in a page; more are compressed."""


def in_html(store: Store) -> str:
    """Return the element for a page."""
    text = _json(store)
    if len(text) > MOST_PLAIN:
        return _packed(text)
    # Without a "<" no text of the result can end the element or begin another.
    inert = text.replace("<", "\\u003c")
    return f"{_BEGIN_HTML}{inert}{_END_HTML}"


def in_markdown(store: Store) -> str:
    """Return the comment for a text, with its line end."""
    return _packed(_json(store))


def _packed(text: str) -> str:
    letters = base64.b64encode(lzma.compress(text.encode())).decode()
    return "\n".join([_BEGIN_MARKDOWN, *textwrap.wrap(letters, _WIDTH), f"{_END_MARKDOWN}\n"])


def carried_by_html(text: str, most: int) -> str | None:
    """Return the JSON that a page carries; None if it carries none.

    Raises:
        ValueError: the data is damaged, or longer than `most` bytes.
    """
    plain = _between(text, _BEGIN_HTML, _END_HTML)
    return carried_by_markdown(text, most) if plain is None else plain


def carried_by_markdown(text: str, most: int) -> str | None:
    """Return the JSON that a text in Markdown carries; None if it carries none.

    Raises:
        ValueError: the data is damaged, or longer than `most` bytes.
    """
    readers: dict[str, _Reader] = {
        _BEGIN_MARKDOWN: lzma.LZMADecompressor(lzma.FORMAT_XZ, _MEMORY),
        _BEGIN_EARLIER: zlib.decompressobj(),
    }
    for begin, reader in readers.items():
        letters = _between(text, begin, _END_MARKDOWN)
        if letters is None:
            continue
        try:
            packed = base64.b64decode(_BETWEEN.sub("", letters), validate=True)
            return _unpacked(packed, reader, most)
        except (binascii.Error, lzma.LZMAError, zlib.error):
            raise ValueError("characters of it are missing or changed") from None
    return None


def _unpacked(packed: bytes, reader: _Reader, most: int) -> str:
    content = reader.decompress(packed, most + 1)
    if len(content) > most:
        raise ValueError(f"it is longer than {most:,} bytes")
    if not reader.eof or reader.unused_data:
        raise ValueError("it is not whole")
    return content.decode()


def _json(store: Store) -> str:
    return json.dumps(to_document(store), separators=(",", ":"), allow_nan=False)


def _between(text: str, begin: str, end: str) -> str | None:
    """Return what stands between two marks, the last ones: data comes behind all else."""
    at = text.rfind(begin)
    if at < 0:
        return None
    inside, closed, _ = text[at + len(begin) :].partition(end)
    return inside if closed else None
