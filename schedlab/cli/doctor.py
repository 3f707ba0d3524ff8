"""`schedlab doctor`: whether this host can run an experiment, and what would falsify it."""

import dataclasses
import json
import shlex
import sys
import textwrap
from collections import Counter
from typing import TYPE_CHECKING

import click

from schedlab.base.errors import HostError, RestoreError
from schedlab.base.printable import printable, printable_lines
from schedlab.base.system import LocalSystem, SshSystem
from schedlab.cli.echo import echo

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from schedlab.doctor import Finding, Level

_STYLES = {"ok": "green", "note": "cyan", "warning": "yellow", "missing": "bold red"}
_MARGIN = " " * 12
_SUMMED: tuple["Level", ...] = ("missing", "warning", "note")


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print findings as JSON, for scripts.")
@click.option(
    "--restore",
    is_flag=True,
    help="Restore what a killed lab left changed, here and on hosts that it reached by ssh.",
)
def doctor(as_json: bool, restore: bool) -> None:
    """Check this host for missing tools and rights, and for settings that falsify results.

    Each finding has a remedy. Exit status 0: experiments are possible. 2: something required is
    missing.
    """
    from rich.console import Console

    from schedlab.doctor import possible, sections
    from schedlab.settings.switchable import switchable

    system = LocalSystem()
    if restore:
        _restore(system, as_json)
        return
    found = sections(system)
    findings = [finding for section in found.values() for finding in section]
    variants = switchable(system)
    if as_json:
        click.echo(_json(found, variants, possible(findings)))
    else:
        _print(Console(highlight=False, soft_wrap=True), found, variants)
    sys.exit(0 if possible(findings) else 2)


def _restore(system: LocalSystem, as_json: bool) -> None:
    """Put back what labs left here and, by ssh, elsewhere; a host that fails stops no other."""
    from schedlab.settings.journal import hosts_left_behind, restore_left_behind

    lines = restore_left_behind(system)
    failures = []
    for host in hosts_left_behind(system):
        try:
            restored = restore_left_behind(SshSystem(host))
            lines += [f"ssh:{host}: {line}" for line in restored or ["nothing was changed"]]
        except HostError as error:
            failures.append(str(error))
    if as_json:
        click.echo(json.dumps({"restored": lines}, indent=2))
    elif lines or not failures:
        echo("\n".join(lines or ["No lab left anything changed."]))
    if failures:
        raise RestoreError("\n".join(failures))


def _json(found: "dict[str, list[Finding]]", variants: list[tuple[str, str]], can_run: bool) -> str:
    return json.dumps(
        {
            "possible": can_run,
            "findings": [
                {"section": heading, **dataclasses.asdict(finding)}
                for heading, section in found.items()
                for finding in section
            ],
            "switchable": [
                {"variant": variant, "explanation": words} for variant, words in variants
            ],
        },
        indent=2,
    )


def _print(
    console: "Console", found: "dict[str, list[Finding]]", variants: list[tuple[str, str]]
) -> None:
    from rich.text import Text

    for heading, section in found.items():
        console.print(Text(heading, style="bold"))
        for finding in section:
            _print_finding(console, finding)
        console.print()
    console.print(Text("switchable here", style="bold"))
    for variant, words in variants:
        line = f"  --variant {shlex.quote(variant)}\n{_MARGIN}{words}"
        console.print(Text(printable_lines(line)))
    if not variants:
        console.print(Text("  nothing; only variants of environment and command prefix, or A/A"))
    console.print()
    console.print(_verdict([finding for section in found.values() for finding in section]))


def _print_finding(console: "Console", finding: "Finding") -> None:
    from rich.text import Text

    line = Text("  ")
    line.append(f"{finding.level:<8}  ", style=_STYLES[finding.level])
    line.append(_wrapped(finding.found))
    console.print(line)
    if finding.level == "ok":
        return
    if finding.why:
        console.print(Text(_MARGIN + _wrapped(finding.why), style="dim"))
    if finding.remedy:
        console.print(Text(printable_lines(f"{_MARGIN}-> {finding.remedy}")))


def _wrapped(words: str) -> str:
    """Wrap prose under its own first line; commands are never wrapped, so that they copy."""
    return textwrap.fill(
        printable(words),
        88,
        subsequent_indent=_MARGIN,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _verdict(findings: "list[Finding]") -> "Text":
    from rich.text import Text

    from schedlab.doctor import possible

    counted = Counter(finding.level for finding in findings)
    parts = [
        f"{count} {level}{'s' if count > 1 and level != 'missing' else ''}"
        for level in _SUMMED
        if (count := counted[level])
    ]
    summary = ", ".join(parts) or "nothing to remark"
    if possible(findings):
        return Text(f"A real experiment is possible here ({summary}).", style="green")
    return Text(f"Something required is missing ({summary}).", style="bold red")
