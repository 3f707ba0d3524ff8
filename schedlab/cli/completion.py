"""`schedlab completion`: what makes a shell complete schedlab's words."""

import click
from click.shell_completion import get_completion_class

_SHELLS = ("bash", "zsh", "fish")
_BEFORE = {
    "zsh": "# A new user's zsh has not loaded its completion yet.\n"
    "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }\n"
}
_MENDED = {
    # click's code cuts a name at its first comma.
    "fish": ('string split ","', 'string split --max 1 ","'),
    # click's code puts a word with a blank, such as a variant, on the line as two.
    "bash": (
        "COMPREPLY+=($value)",
        """[[ ${COMP_WORDS[COMP_CWORD]} == [\\'\\\"]* ]] || printf -v value %q "$value"
            COMPREPLY+=("$value")""",
    ),
}
_AFTER = {
    "bash": "# A target's colon is part of a word: sim:MACHINE.\n"
    "COMP_WORDBREAKS=${COMP_WORDBREAKS//:}\n"
}


@click.command("completion")
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print code that lets a SHELL complete commands, options and names.

    It completes names of plans, suites, machines, benchmarks, kernels, targets, counters, patches
    and pages of the manual that exist when you type.

    \b
    eval "$(schedlab completion bash)"       # in ~/.bashrc
    eval "$(schedlab completion zsh)"        # in ~/.zshrc
    schedlab completion fish | source        # in ~/.config/fish/config.fish
    """
    found = get_completion_class(shell)
    assert found, "click knows the three"
    command = context.find_root().command
    code = found(command, {}, "schedlab", "_SCHEDLAB_COMPLETE").source()
    code = code.replace(*_MENDED.get(shell, ("", "")))
    click.echo(_BEFORE.get(shell, "") + code + _AFTER.get(shell, ""), nl=False)
