"""What a shell completes, and the man page."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import BashComplete

from schedlab.cli import schedlab
from schedlab.cli.man import man_page
from schedlab.kernels.shelf import Shelf
from tests.helpers import builds
from tests.helpers.command_line import Cli


def completed(*words: str) -> list[str]:
    """Return what bash would complete the last word to."""
    shell = BashComplete(schedlab, {}, "schedlab", "_SCHEDLAB_COMPLETE")
    return [item.value for item in shell.get_completions(list(words[:-1]), words[-1])]


@pytest.mark.parametrize(
    ("words", "among"),
    [
        (["ker"], "kernel"),
        (["run", "--targ"], "--target"),
        (["run", "sis-util-s"], "sis-util-spr"),
        (["run", "--suite", "q"], "quick"),
        (["run", "--target", "sim:epyc"], "sim:epyc-7713-2p-nps1"),
        (["run", "--target", "h"], "host"),
        (["run", "--benchmark", "Hackbench"], "HackbenchPipeThreads"),
        (["run", "--benchmark", "Netperf:cli"], "Netperf:clients="),
        (["trace", "smp4", "--benchmark", "Netperf:clients=2,le"], "Netperf:clients=2,length="),
        (["run", "--only", "Hackbench"], "HackbenchPipeThreads"),
        (["run", "--counters", "migrations,cpu"], "migrations,cpuidle"),
        (["kernel", "build", "x", "--patch", "NI_C"], "NI_COST"),
        (["trace", "juno"], "juno-r0"),
        (["machine", "show", "juno"], "juno-r0"),
        (["kernel", "build", "x", "--patch", "ILB"], "ILB_UTIL"),
        (["validate", "--published", "mis"], "misfit"),
        (["docs", "stat"], "statistics"),
        (["help", "ru"], "run"),
        (["run", "--variant", "x: NO_WA_I"], "x: NO_WA_IDLE"),
        (["run", "--variant", "x:WA_I"], "x: WA_IDLE"),
        (["run", "--variant", "x: NO_WA_IDLE; kern"], "x: NO_WA_IDLE; kernel="),
        (["run", "--variant", "x: sysc"], "x: sysctl "),
        (["run", "--variant", "a"], "auto"),
        (["diverge", "x: gov"], "x: governor "),
        (["trace", "--variant", "x: gov"], "x: governor "),
    ],
)
def test_names_are_completed(words: list[str], among: str) -> None:
    assert among in completed(*words)


def test_kernels_that_are_there_are_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    builds.build("6.12")
    monkeypatch.setattr("schedlab.kernels.shelf.cache_folder", lambda: builds.CACHE)
    assert "6.12" in Shelf().names()
    assert "6.12" in completed("kernel", "show", "6")
    assert "x: kernel=6.12" in completed("run", "--variant", "x: kernel=6")


def test_a_path_is_left_to_the_shell() -> None:
    shell = BashComplete(schedlab, {}, "schedlab", "_SCHEDLAB_COMPLETE")
    (item,) = shell.get_completions(["run"], "./pl")
    assert (item.type, item.value) == ("file", "./pl")


def test_behind_an_unknown_command_nothing_is_completed() -> None:
    assert completed("frobnicate", "x") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shells_own_reader_takes_the_code(cli: Cli, shell: str) -> None:
    status, code, _ = cli("completion", shell)
    assert status == 0
    assert "_SCHEDLAB_COMPLETE" in code
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    subprocess.run([shell, "-n"], input=code, text=True, check=True)


def in_shell(shell: str, *words: str) -> str:
    """Run a line of a new user's shell, in which `schedlab` is this one's."""
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [shell, *words],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert not done.stderr
    return done.stdout


def test_zsh_needs_no_other_set_up(tmp_path: Path) -> None:
    line = f"ZDOTDIR={tmp_path}; " + 'eval "$(schedlab completion zsh)"; print $_comps[schedlab]'
    assert in_shell("zsh", "-f", "-c", line) == "_schedlab_completion\n"


@pytest.mark.parametrize(
    ("typed", "put"),
    [("x:NO_WA_ID", r"x:\ NO_WA_IDLE"), ("'x: NO_WA_ID", "x: NO_WA_IDLE")],
)
def test_bash_puts_a_variant_on_the_line_as_one_word(typed: str, put: str) -> None:
    line = (
        'eval "$(schedlab completion bash)"; COMP_WORDS=(schedlab run --variant "$0");'
        ' COMP_CWORD=3; _schedlab_completion schedlab; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    assert put in in_shell("bash", "-c", line, typed).splitlines()


@pytest.mark.parametrize(
    ("typed", "among"),
    [
        ("run --target sim:smp", "sim:smp4"),
        ("run --counters migrations,cpu", "migrations,cpuidle"),
        ("run --variant 'x: NO_WA_I", "x: NO_WA_IDLE"),
    ],
)
def test_fish_completes_names(typed: str, among: str) -> None:
    line = "schedlab completion fish | source; complete -C $argv"
    assert among in in_shell("fish", "--no-config", "-c", line, f"schedlab {typed}").splitlines()


def test_the_man_page_has_every_command_and_option() -> None:
    page = man_page(schedlab)
    context = click.Context(schedlab)
    for name in schedlab.list_commands(context):
        assert f'.SS "{name}'.replace("-", "\\-") in page
        command = schedlab.get_command(context, name)
        assert command
        for option in command.params:
            if isinstance(option, click.Option):
                assert option.opts[0].replace("-", "\\-") in page


def test_every_option_is_described() -> None:
    page = man_page(schedlab)
    assert "None" not in page
    for option in re.findall(r"^\.TP\n\.B (.*)\n(.*)", page, re.MULTILINE):
        assert not option[1].startswith("["), option


def test_man_finds_nothing_wrong_with_the_page(cli: Cli) -> None:
    status, page, _ = cli("help", "--man")
    assert status == 0
    if not shutil.which("groff"):
        pytest.skip("groff is not installed")
    done = subprocess.run(
        ["groff", "-man", "-Tascii", "-ww", "-z"],
        input=page,
        capture_output=True,
        text=True,
        check=True,
    )
    assert not done.stderr


def test_one_page_is_of_all_commands(cli: Cli) -> None:
    status, _, errors = cli("help", "--man", "run")
    assert status == 2
    assert "one page of all commands" in errors
