"""The list of commands: quick to print, and true."""

import subprocess
import sys

import click
import pytest

from schedlab.cli import _COMMANDS, schedlab

HEAVY = ("scipy.stats", "pydantic", "numpy", "matplotlib", "jinja2", "rich")


def test_each_line_is_how_the_help_of_the_command_begins() -> None:
    context = click.Context(schedlab)
    for name, begin in _COMMANDS.items():
        command = schedlab.get_command(context, name)
        assert command
        assert command.get_short_help_str(1000) == begin, name
    assert list(_COMMANDS) == schedlab.list_commands(context)


def subcommands(name: str) -> list[str]:
    command = schedlab.get_command(click.Context(schedlab), name)
    return list(command.commands) if isinstance(command, click.Group) else []


LINES = [[name] for name in _COMMANDS]
LINES += [[name, sub] for name in _COMMANDS for sub in subcommands(name)]


@pytest.mark.parametrize(
    "words",
    [
        *(["--help"], ["no-such-command"]),
        *([*line, "--no-such-option"] for line in LINES),
        *([*line, "--help"] for line in LINES if line != ["run"] and line != ["cpuidle-smt"]),
    ],
    ids=" ".join,
)
def test_help_and_a_mistake_load_nothing_that_takes_long(words: list[str]) -> None:
    """But for the help of settings, which their kinds describe: it loads what checks them."""
    code = (
        "import sys\nfrom schedlab.cli import main\n"
        f"sys.argv = {['schedlab', *words]!r}\n"
        "try:\n    main()\nexcept SystemExit as end:\n    status = end.code or 0\n"
        "else:\n    status = 0\n"
        f"loaded = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "print(status, loaded, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    status = 0 if words[-1] == "--help" else 2
    assert done.stderr.splitlines()[-1] == f"{status} []"


@pytest.mark.parametrize("words", [["run", "--help"], ["cpuidle-smt", "--help"]], ids=" ".join)
def test_help_of_settings_loads_no_statistics(words: list[str]) -> None:
    code = (
        f"import sys\nfrom schedlab.cli import main\nsys.argv = {['schedlab', *words]!r}\nmain()\n"
        "print([name for name in ('numpy', 'scipy', 'matplotlib') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_commands_about_kernels_need_no_statistics() -> None:
    """`make demo` and `make test` fetch and build kernels while the rest is being installed."""
    code = (
        "import sys\nimport schedlab.cli.steps\n"
        "import schedlab.kernels.boot_image, schedlab.kernels.debian, schedlab.kernels.recipes\n"
        "print([name for name in ('numpy', 'scipy', 'matplotlib') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
