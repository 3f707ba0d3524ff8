"""Commands with sub-commands."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import click

from schedlab.base.errors import nearest
from schedlab.cli.names import NewFile


class Command(click.Command):
    """A sub-command that does not write over a file which it was given to read."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words; a usage error where a file is both read and written."""
        left = super().parse_args(ctx, args)
        new = [param for param in self.params if isinstance(param.type, NewFile)]
        read = [ctx.params.get(param.name or "") for param in self.params if param not in new]
        for param in new:
            for path in _files([ctx.params.get(param.name or "")]):
                if any(path.samefile(other) for other in _files(read)):
                    raise click.BadParameter(
                        f"'{path}' is read by this command too, and would be overwritten; name"
                        " another file.",
                        ctx,
                        param,
                    )
        return left


class Group(click.Group):
    """A group that answers a mistyped sub-command with the names it has."""

    command_class = Command

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a sub-command; a usage error where none has that name."""
        found = super().get_command(ctx, cmd_name)
        if found is None and not ctx.resilient_parsing:  # a shell asks what could stand here
            known = self.list_commands(ctx)
            guess = nearest(cmd_name, known) or f" There are: {', '.join(known)}."
            ctx.fail(f"no sub-command of {self.name} is called '{cmd_name}'.{guess}")
        return found


def _files(values: Iterable[object]) -> Iterator[Path]:
    """Yield the values that are the paths of files."""
    for value in values:
        if isinstance(value, tuple):
            yield from _files(value)
        elif isinstance(value, str | Path):
            with suppress(OSError, ValueError):
                if Path(value).is_file():
                    yield Path(value)
