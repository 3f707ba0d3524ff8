"""`schedlab help`: the same as `--help`."""

import click

from schedlab.base.errors import UsageError
from schedlab.cli.names import COMMAND


@click.command("help")
@click.argument("command", required=False, type=COMMAND)
@click.option("--man", is_flag=True, help="Print schedlab.1, the man page of all commands.")
@click.pass_context
def help_command(context: click.Context, command: str | None, man: bool) -> None:
    """Show the help of schedlab, or of one COMMAND.

    \b
    schedlab help --man | man -l -
    """
    whole = context.find_root()
    assert isinstance(whole.command, click.Group)
    if man and command:
        raise UsageError("--man prints one page of all commands; leave out the command.")
    if man:
        from schedlab.cli.man import man_page

        click.echo(man_page(whole.command), nl=False)
        return
    if command is None:
        click.echo(whole.get_help())
        return
    found = whole.command.get_command(whole, command)
    assert found, "an unknown name is refused"
    click.echo(found.get_help(click.Context(found, info_name=command, parent=whole)))
