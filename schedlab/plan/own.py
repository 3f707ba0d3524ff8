"""A benchmark of the user's own: a command of a plan, and its metrics; no Python."""

import shlex
from functools import partial
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from schedlab.base.duration import seconds
from schedlab.base.validation import LONGEST_NAME, Data, repeated
from schedlab.benchmarks import Benchmark, Command, registered
from schedlab.benchmarks.own_metric import OwnMetric, read
from schedlab.benchmarks.tool import Tool
from schedlab.plan.duration import SomeTime

_LONGEST_COMMAND = 10_000
_MOST_OUTPUT = 256 << 20
"""Bytes that a command may print: one run wild does not fill the disk."""
_FOR_A_SHELL = frozenset("|&;<>()`$*?[\n")
_EVEN_IN_QUOTES = frozenset("`$")


def _words(text: str) -> str:
    """Refuse a command that cannot be split into words, or is written for a shell."""
    if sign := _shell_sign(text):
        raise ValueError(
            f"{sign!r} is for a shell, and the command is started without one; write it as"
            f"\n  sh -c {shlex.quote(text)}"
            "\n  or, if it is meant as it stands, put that word into single quotes"
        )
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"the command '{text}' cannot be split into words: {error}") from None
    if not words:
        raise ValueError("the command is empty; write it as './my-app --threads 4'")
    if "\0" in text:
        raise ValueError("the command has a NUL character in it")
    if "=" in words[0]:
        raise ValueError(
            f"{words[0]}: a variable is set by a shell; write it as 'env {text}', or give the"
            " variants env"
        )
    return text


def _shell_sign(text: str) -> str:
    """Return the first character of a command that a shell would not pass on; empty if none."""
    quote = ""
    characters = iter(text)
    for character in characters:
        if character == "\\" and quote != "'":
            next(characters, "")
        elif character in ("'", '"') and quote in ("", character):
            quote = "" if quote else character
        elif character in (_EVEN_IN_QUOTES if quote == '"' else () if quote else _FOR_A_SHELL):
            return character
    return ""


_Words = Annotated[str, Field(max_length=_LONGEST_COMMAND), AfterValidator(_words)]


class OwnBenchmark(Data):
    """A program, how it is prepared and cleaned up after, and what is read of its output."""

    name: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
    command: _Words
    """Called as it is, without a shell, from where schedlab is called."""
    metrics: Annotated[tuple[OwnMetric, ...], Field(min_length=1, max_length=50)]
    setup: tuple[_Words, ...] = ()
    """Commands to be run before each run."""
    teardown: tuple[_Words, ...] = ()
    """Commands to be run after each run, however it ended."""
    timeout: SomeTime | None = None
    """The longest a run may take; the plan's timeout if not given."""

    @model_validator(mode="after")
    def _names(self) -> "OwnBenchmark":
        if self.name in registered():
            raise ValueError(
                f"{self.name} is a benchmark of schedlab's; give your command another name"
            )
        if twice := repeated(metric.name for metric in self.metrics):
            raise ValueError(f"two metrics are called '{twice}'; give each its own name")
        return self

    def benchmark(self) -> Benchmark:
        """Return it as every benchmark is known to the lab."""
        argv = shlex.split(self.command)
        command = Command(
            *argv,
            setup=[tuple(shlex.split(each)) for each in self.setup],
            teardown=[tuple(shlex.split(each)) for each in self.teardown],
            timeout=seconds(self.timeout) if self.timeout else None,
            most_output=_MOST_OUTPUT,
        )
        return Benchmark(
            name=self.name,
            summary="A command of the plan's.",
            tool=Tool(argv[0]),
            tools=(),
            metrics=tuple(metric.metric for metric in self.metrics),
            parse=partial(read, self.metrics),
            build=lambda: command,
            defaults={},
            own=True,
        )
