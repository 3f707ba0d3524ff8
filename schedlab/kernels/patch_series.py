"""A patch series as it is passed around: an mbox, a folder of patches, or commits of a git tree."""

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

from schedlab.base.errors import reading
from schedlab.base.files import read_bytes
from schedlab.base.printable import printable
from schedlab.kernels import KernelError
from schedlab.kernels.process import output

MOST_PATCHES = 200
_MOST_BYTES = 64 << 20
_SEPARATOR = re.compile(rb"^From \S+ .*\d\d:\d\d:\d\d .*\d{4}.*\n", re.M)
"""What git and mail programs write before each message; not any line that begins with From."""

_DIFF = re.compile(r"^(?:--- \S.*\n\+\+\+ \S|diff --git a/\S)", re.M)
"""A diff begins here; git's of a rename, a mode or a picture has no lines of hunks."""

_TAG = re.compile(r"^\s*\[[^\]]*\]\s*")
_VERSION = re.compile(r"\bv(\d{1,3})\b", re.I)
_REPLY = re.compile(r"\s*(?:re|aw|sv|antw|fwd?)\s*:", re.I)
_UNWRITTEN = "*** SUBJECT HERE ***"
"""git's subject of a cover letter that nobody has edited."""
_PLACE = re.compile(r"(?<!\d)(\d{1,4})/(\d{1,4})(?!\d)")
_RANGE = re.compile(r"(?P<base>[^\s.-][^\s]*?)\.\.(?P<tip>[^\s./-][^\s]*)")
_SUFFIXES = (".patch", ".diff")


@dataclass(frozen=True)
class SeriesPatch:
    """One patch of a series."""

    subject: str
    text: str
    """Its diff, with the description it came with."""


@dataclass(frozen=True)
class Series:
    """Patches in the order they are applied in."""

    title: str
    """The cover letter's subject; without one the only patch's, or the file's name."""
    patches: tuple[SeriesPatch, ...]


@dataclass(frozen=True)
class _Message:
    """A mail: what its subject says, and the patches it carries."""

    subject: str
    version: int
    number: int | None
    total: int | None
    texts: tuple[str, ...]
    reply: bool = False
    """An answer: a patch in it is a suggestion, and no part of a series."""


def read_series(path: Path) -> Series:
    """Read an mbox, a patch, or a folder of *.patch files.

    Messages stand in any order; numbers such as `[PATCH 2/5]` in their subjects put them right.
    Answers and other messages without a patch are passed over, and so is what an answer suggests
    beside a series.

    Raises:
        KernelError: there is no patch in it, one is missing or there twice, or it holds several
            versions of a series.
    """
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix in _SUFFIXES)
        if not files:
            raise KernelError(f"{path}: has no file that ends in {' or '.join(_SUFFIXES)}.")
    else:
        files = [path]
    messages = [each for file in files for each in _messages(_content(file), file.name)]
    return _ordered(messages, str(path), path.stem)


def series_of_commits(tree: Path, commits: str) -> tuple[str, Series]:
    """Return the commit that a range `A..B` of a git tree begins at, and the patches after it.

    Raises:
        KernelError: it is not a git tree or not such a range, or there are no commits in it.
    """
    base, tip = ends_of_range(tree, commits)
    between = f"{base}..{tip}"
    status, merges = _git(tree, "rev-list", "--merges", "--count", between)
    if status or merges.strip() != "0":
        raise KernelError(
            f"{tree}: {commits} has merges in it, so it is not one patch after another."
            "\n  Name a range without them, or rebase it."
        )
    status, count = _git(tree, "rev-list", "--count", between)
    _check_number(int(count), f"{tree}: {commits}")
    plain = ("core.quotePath=false", "diff.noprefix=false", "diff.mnemonicPrefix=false")
    status, mbox = _git(
        tree,
        *(word for setting in plain for word in ("-c", setting)),
        *("format-patch", "--stdout", "--no-signature", "--no-renames", "--numbered", between),
    )
    if status:
        raise KernelError(f"{tree}: {commits}: git cannot write its patches: {mbox[-300:]}")
    messages = _messages(mbox.encode(errors="surrogateescape"), commits)
    return base, _ordered(list(messages), f"{tree}: {commits}", commits)


def is_range(text: str) -> bool:
    """Return whether a text is a range of commits `A..B`, and not the name of a file."""
    return _RANGE.fullmatch(text) is not None and not Path(text).exists()


def ends_of_range(tree: Path, commits: str) -> tuple[str, str]:
    """Return the two commits of a range `A..B` of a git tree.

    Raises:
        KernelError: it is not a git tree or not such a range.
    """
    match = _RANGE.fullmatch(commits)
    if not match:
        raise KernelError(f"'{commits[:60]}' is not a range of commits; write it as v6.12..topic")
    ends = []
    for ref in (match["base"], match["tip"]):
        status, commit = _git(
            tree, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"
        )
        if status:
            raise KernelError(f"{tree}: has no commit '{ref}', or is not a git tree.")
        ends.append(commit.strip())
    return ends[0], ends[1]


def _content(file: Path) -> bytes:
    with reading(file, KernelError):
        if not file.is_file():
            raise KernelError(f"{file}: there is no such file, or it is not a regular one.")
    content = read_bytes(file, _MOST_BYTES, KernelError)
    return content.removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n").lstrip(b"\n")


def _messages(content: bytes, name: str) -> Iterator[_Message]:
    if not re.match(rb"From |[A-Za-z][\w-]*:", content) and not _SEPARATOR.search(content):
        text = content.decode(errors="surrogateescape")
        yield _Message(name, 1, None, None, (text,) if _DIFF.search(text) else ())
        return
    for raw in _SEPARATOR.split(content):
        if raw.strip():
            yield _message(raw, name)


def _message(raw: bytes, name: str) -> _Message:
    mail = message_from_bytes(raw, policy=policy.default)
    assert isinstance(mail, EmailMessage)
    try:
        written = " ".join(str(mail["subject"] or "").split())
        texts = tuple(text for text in _texts(mail) if _DIFF.search(text))
    except (LookupError, ValueError, AttributeError) as error:
        raise KernelError(f"{name}: holds a damaged message: {error}") from error
    tags, subject = "", written
    while match := _TAG.match(subject):
        tags += match[0]
        subject = subject[match.end() :]
    place, version = _PLACE.search(tags), _VERSION.search(tags)
    return _Message(
        subject=printable(subject or name),
        version=int(version[1]) if version else 1,
        number=int(place[1]) if place else None,
        total=int(place[2]) if place else None,
        texts=texts,
        reply=bool(_REPLY.match(written)),
    )


def _texts(mail: EmailMessage) -> Iterator[str]:
    """Yield the texts of a mail: its body, and what is attached; not the body again as HTML."""
    for part in mail.walk():
        if part.is_multipart() or part.get_content_type() == "text/html":
            continue
        payload = part.get_payload(decode=True)
        if isinstance(payload, bytes):
            text = payload.decode(_charset(part), errors="surrogateescape")
            yield text.replace("\r\n", "\n")


def _charset(part: EmailMessage) -> str:
    """Return the encoding a part is written in; UTF-8 where it names none that there is."""
    try:
        return codecs.lookup(part.get_content_charset() or "utf-8").name
    except LookupError:
        return "utf-8"


def _ordered(messages: Sequence[_Message], where: str, name: str) -> Series:
    """Put the messages with patches in order; refuse what is not one whole series."""
    carrying = [message for message in messages if message.texts and message.number != 0]
    carrying = [message for message in carrying if not message.reply] or carrying
    if not carrying:
        raise KernelError(f"{where}: holds no patch (no '--- a/FILE' line).")
    versions = sorted({message.version for message in carrying})
    if len(versions) > 1:
        raise KernelError(
            f"{where}: holds versions {' and '.join(map(str, versions))} of a series; keep one."
        )
    numbered = [message for message in carrying if message.number is not None]
    if numbered and len(numbered) < len(carrying):
        without = next(message for message in carrying if message.number is None)
        raise KernelError(
            f"{where}: '{without.subject}' has no number such as [PATCH 2/5], others have."
        )
    if numbered:
        among = {message.number for message in numbered}
        # A commit that changes nothing is a part of the series, too.
        empty = [m for m in messages if m.number and not (m.texts or m.reply or m.number in among)]
        carrying = sorted([*numbered, *empty], key=lambda message: message.number or 0)
        _check_whole(carrying, where)
    patches = tuple(
        SeriesPatch(message.subject, text)
        for message in carrying
        for text in message.texts or ("",)
    )
    _check_number(len(patches), where)
    covers = [m.subject for m in messages if m.number == 0 and not m.reply]
    cover = next((subject for subject in covers if subject != _UNWRITTEN), None)
    return Series(cover or (patches[0].subject if len(patches) == 1 else name), patches)


def _check_whole(patches: Sequence[_Message], where: str) -> None:
    totals = {message.total for message in patches}
    if len(totals) > 1:
        raise KernelError(
            f"{where}: holds patches of several series, of"
            f" {' and '.join(map(str, sorted(total or 0 for total in totals)))} patches; keep one."
        )
    numbers = [message.number for message in patches]
    total = totals.pop() or 0
    _check_number(total, where)
    for number in range(1, total + 1):
        if numbers.count(number) != 1:
            state = "is missing" if number not in numbers else "is there twice"
            raise KernelError(f"{where}: patch {number} of {total} {state}.")


def _check_number(number: int, where: str) -> None:
    if not number:
        raise KernelError(f"{where}: has no commits in it.")
    if number > MOST_PATCHES:
        raise KernelError(f"{where}: has {number:,} patches; {MOST_PATCHES} are the most.")


def _git(tree: Path, *arguments: str) -> tuple[int, str]:
    return output(["git", "-C", str(tree), *arguments])
