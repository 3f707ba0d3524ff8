"""The command line: one module per sub-command, thin.

Exit status: 0 done, 1 a regression was found and `--fail-on worse` was given, 2 usage,
environment or internal error, 130 interrupted (results kept).
"""

import io
import sys
from importlib import import_module

import click

from schedlab import __version__
from schedlab.base.errors import Interrupted, SchedlabError, nearest
from schedlab.cli.echo import echo
from schedlab.cli.internal_error import tell

_COMMANDS = (
    "compare",
    "completion",
    "cpuidle-smt",
    "diverge",
    "docs",
    "doctor",
    "help",
    "import",
    "kernel",
    "list",
    "machine",
    "merge",
    "overview",
    "report",
    "run",
    "trace",
    "validate",
    "version",
)


class _Commands(click.Group):
    """Sub-commands, each loaded from its module when it is called."""

    def list_commands(self, _context: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS and context.resilient_parsing:
            return None  # a shell asks what could stand here
        if name not in _COMMANDS:
            context.fail(f"no command is called '{name}'.{nearest(name, _COMMANDS)}")
        # `import` can name no module
        word = "import_" if name == "import" else name.replace("-", "_")
        module = import_module(f"schedlab.cli.{word}")
        command: click.Command = getattr(module, f"{name}_command", None) or getattr(module, word)
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="schedlab")
def schedlab() -> None:
    """The laboratory for Linux CPU-scheduler changes.

    Is a change better, worse, the same, or can't we tell yet; by how much; and why.
    """


def main() -> None:
    """Run the command line; every error is one message, not a traceback."""
    try:
        schedlab.main(standalone_mode=False)
    except SchedlabError as error:
        echo(f"schedlab: {error}", err=True)
        sys.exit(130 if isinstance(error, Interrupted) else 2)
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(file=shown)
        echo(shown.getvalue(), err=True)
        sys.exit(2)
    except (KeyboardInterrupt, click.Abort):
        click.echo("schedlab: stopped", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # The reader (head, less) has seen enough; nothing is left to say.
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        tell(error)
        sys.exit(2)
