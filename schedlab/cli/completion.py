"""`schedlab completion`: what makes a shell complete schedlab's words."""

import click
from click.shell_completion import get_completion_class

_SHELLS = ("bash", "zsh", "fish")
_COLON = (
    "# A target's colon is part of a word: sim:MACHINE.\nCOMP_WORDBREAKS=${COMP_WORDBREAKS//:}\n"
)


@click.command("completion")
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the code with which a SHELL completes commands, options and names.

    Names are those of plans, suites, machines, benchmarks, kernels, targets, counters, patches and
    pages of the manual, as they are at that moment.

    \b
    eval "$(schedlab completion bash)"       # in ~/.bashrc
    eval "$(schedlab completion zsh)"        # in ~/.zshrc
    schedlab completion fish | source        # in ~/.config/fish/config.fish
    """
    found = get_completion_class(shell)
    assert found, "click knows the three"
    command = context.find_root().command
    click.echo(found(command, {}, "schedlab", "_SCHEDLAB_COMPLETE").source(), nl=False)
    if shell == "bash":
        click.echo(_COLON, nl=False)
