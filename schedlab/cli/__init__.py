"""The command line: one module per sub-command, thin.

Exit status: 0 done; 1 a regression was found and `--fail-on worse` was given, a check did not hold,
or a kernel and its simulation did not agree; 2 usage, environment or internal error; 130
interrupted (results kept).
"""

import io
import sys
from importlib import import_module

import click

from schedlab import __version__
from schedlab.base.errors import Interrupted, SchedlabError, nearest
from schedlab.cli.echo import echo
from schedlab.cli.internal_error import report_defect

_COMMANDS = {
    "bisect": "Find the commit of GOOD..BAD at which something got worse, on a simulated machine.",
    "boots": "Boot a machine for each variant in turn, run the plan at each boot, and judge the"
    " boots.",
    "check": "Simulate scenarios and check what must hold in them: a kernel's regression tests.",
    "compare": "Set two results side by side: two machines, or two dates.",
    "completion": "Print code that lets a SHELL complete commands, options and names.",
    "cpuidle-smt": "Sweep the period at which sleeping SMT threads are woken beside a working one.",
    "diverge": "Simulate variants A and B with the same seed and explain where their decisions"
    " part.",
    "docs": "Show a page of the manual, or list the pages.",
    "doctor": "Check this host for missing tools and rights, and for settings that falsify"
    " results.",
    "help": "Show the help of schedlab, of one COMMAND, or of one SUB_COMMAND of it.",
    "import": "Read published results, recompute their percentages, and judge what can be judged.",
    "kernel": "Get kernel trees and build simulators of them, with or without patches.",
    "list": "List benchmarks, plans, suites, counters, or the sched features of this kernel.",
    "machine": "Describe and show machines: topology, caches, distances, idle states.",
    "merge": "Merge the results of several boots of a host into one.",
    "overview": "Print a line on what each DIR found; write one page over all, with links to the"
    " reports.",
    "record": "Record what a host's scheduler does: for a while, or as long as COMMAND runs.",
    "report": "Write the report of the result in DIR; lkml and summary also report several,"
    " or a sweep.",
    "run": "Run benchmarks under variants, interleaved, until there is a verdict.",
    "scx": "List the sched_ext schedulers there are, add those of the scx project, debug one.",
    "series": "Try every patch of a series on simulated machines, and report what it changes.",
    "trace": "Simulate one run of a benchmark on MACHINE and record what the scheduler does.",
    "validate": "Run every workload here and simulated, and show both side by side.",
    "workload": "Make a workload of a trace; show, trim, scale and merge such files.",
}
"""How the help of each command begins, so that a list of them loads none."""


class _Commands(click.Group):
    """Sub-commands, each loaded from its module when it is called."""

    def list_commands(self, _context: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def format_commands(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        width = formatter.width - 6 - max(map(len, _COMMANDS))
        rows = [
            (name, click.Command(name, help=begin).get_short_help_str(width))
            for name, begin in _COMMANDS.items()
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

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
        report_defect(error)
        sys.exit(2)
