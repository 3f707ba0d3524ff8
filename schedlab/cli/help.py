"""`schedlab help`: the same as `--help`."""

import click


@click.command("help")
@click.argument("command", required=False)
@click.pass_context
def help_command(context: click.Context, command: str | None) -> None:
    """Show the help of schedlab, or of one COMMAND."""
    whole = context.find_root()
    assert isinstance(whole.command, click.Group)
    if command is None:
        click.echo(whole.get_help())
        return
    found = whole.command.get_command(whole, command)
    assert found, "an unknown name is refused"
    click.echo(found.get_help(click.Context(found, info_name=command, parent=whole)))
