"""`schedlab help`: the same as `--help`."""

import click

from schedlab.base.errors import UsageError
from schedlab.cli.names import COMMAND


@click.command("help")
@click.argument("command", required=False, type=COMMAND)
@click.argument("sub_command", required=False)
@click.option("--man", is_flag=True, help="Print schedlab.1, the man page of all commands.")
@click.pass_context
def help_command(
    context: click.Context, command: str | None, sub_command: str | None, man: bool
) -> None:
    """Show the help of schedlab, of one COMMAND, or of one SUB_COMMAND of it.

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
    about = click.Context(found, info_name=command, parent=whole)
    if sub_command is not None:
        below = found.get_command(about, sub_command) if isinstance(found, click.Group) else None
        if not below:
            raise UsageError(
                f"{command} has no sub-commands; `schedlab help {command}` is its help."
            )
        found, about = below, click.Context(below, info_name=sub_command, parent=about)
    click.echo(found.get_help(about))
