"""A command before a benchmark's: numactl, chrt."""

import shlex
from collections.abc import Iterable, Sequence

from schedlab.settings.setting import NO_PROGRAM, REAL, Around, Setting, because, setting
from schedlab.settings.text import Words


@setting
class Prefix(Setting[tuple[str, ...]]):
    """A command that runs the benchmark's."""

    rank = 90
    name = key = "prefix"
    value = Words
    default = ()
    syntax = "prefix COMMAND"
    example = "prefix taskset -c 0-3"
    toml = 'prefix = ["taskset", "-c", "0-3"]'
    help = "a command put before the benchmark's (numactl, chrt, ...)"
    where = REAL
    elsewhere = because(NO_PROGRAM, "sim")

    def parse(self, words: Sequence[str]) -> object:
        """Take the words as a command."""
        return list(words) or None

    def written(self, value: tuple[str, ...]) -> Iterable[str]:
        """Write the command as a shell has it."""
        return [shlex.join(value)]

    def around(self, value: tuple[str, ...]) -> Around:
        """Return the command."""
        return Around(prefix=value)
