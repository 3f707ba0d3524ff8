"""The man page: every command with its options, from what its help says."""

import re
from collections.abc import Iterator

import click

from schedlab import __version__


def man_page(whole: click.Group) -> str:
    """Return schedlab.1 in man's own macros."""
    context = click.Context(whole, info_name=whole.name)
    about = (whole.help or "").strip()
    lines = [
        f'.TH SCHEDLAB 1 "" "schedlab {__version__}" "User Commands"',
        ".SH NAME",
        f"schedlab \\- {_text(about.partition(chr(10))[0].rstrip('.'))}",
        ".SH SYNOPSIS",
        ".B schedlab",
        ".RI COMMAND \\ [ ARGUMENT ...]",
        ".SH DESCRIPTION",
        *_help(about.partition("\n")[2]),
        ".SH COMMANDS",
        *_commands(whole, context, ""),
        ".SH EXIT STATUS",
        "0: done. 1: a change made something worse and",
        ".B --fail-on worse",
        "was given, a check did not hold, or a kernel and its simulation did not agree.",
        "2: bad usage, or an error. 130: stopped; what was measured is kept.",
        ".SH SEE ALSO",
        ".B schedlab docs",
        "lists the pages of the manual and shows them.",
    ]
    return "\n".join(lines) + "\n"


def _commands(group: click.Group, above: click.Context, path: str) -> Iterator[str]:
    for name in group.list_commands(above):
        command = group.get_command(above, name)
        assert command, "it was listed"
        context = click.Context(command, info_name=name, parent=above)
        words = f"{path}{name}"
        usage = " ".join(command.collect_usage_pieces(context))
        yield f'.SS "{_text(f"{words} {usage}")}"'
        yield from _help(command.help or "")
        for parameter in command.get_params(context):
            record = parameter.get_help_record(context)
            if record and record[1] and "--help" not in parameter.opts:
                yield ".TP"
                yield f".B {_text(record[0])}"
                yield _text(" ".join(record[1].split()))
        if isinstance(command, click.Group):
            yield from _commands(command, context, f"{words} ")


def _help(text: str) -> Iterator[str]:
    """Yield the paragraphs of a help text; behind click's backspace they keep their lines."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        lines = [line.strip() for line in paragraph.strip().splitlines()]
        if not lines:
            continue
        if lines[0] == "\b":
            yield from (".PP", ".nf", *map(_text, lines[1:]), ".fi")
        else:
            yield from (".PP", _text(" ".join(lines)))


def _text(text: str) -> str:
    """Return a text in which nothing is an order to man."""
    safe = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    return f"\\&{safe}" if safe.startswith((".", "'")) else safe
