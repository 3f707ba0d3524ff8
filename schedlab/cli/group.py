"""Commands with sub-commands."""

import click

from schedlab.base.errors import nearest


class Group(click.Group):
    """A group that answers a mistyped sub-command with the names it has."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a sub-command; a usage error where none has that name."""
        found = super().get_command(ctx, cmd_name)
        if found is None and not ctx.resilient_parsing:  # a shell asks what could stand here
            known = self.list_commands(ctx)
            guess = nearest(cmd_name, known) or f" There are: {', '.join(known)}."
            ctx.fail(f"no sub-command of {self.name} is called '{cmd_name}'.{guess}")
        return found
