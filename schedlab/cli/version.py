"""`schedlab version`: the same as `--version`."""

import click

from schedlab import __version__


@click.command("version")
def version() -> None:
    """Print the version of schedlab."""
    click.echo(f"schedlab, version {__version__}")
