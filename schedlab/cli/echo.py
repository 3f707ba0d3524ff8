"""How commands print: whatever is quoted in a line, no control sequence reaches a terminal."""

import sys

import click

from schedlab.base.printable import printable_lines


def echo(text: object = "", err: bool = False) -> None:
    """Print a message, made printable, to standard output or to standard error."""
    click.echo(printable_lines(_encodable(str(text))), err=err)


def put(document: str) -> None:
    """Print a document: as it is into a file or a pipe, made printable on a terminal."""
    if sys.stdout.isatty():
        echo(document)
    else:
        click.echo(document.encode(errors="backslashreplace"), nl=False)


def _encodable(text: str) -> str:
    """Write out what is in no encoding: the bytes of a file's name that is not UTF-8."""
    return text.encode(errors="backslashreplace").decode()
