"""Options of the command line of a guest's kernel, or of a simulated one's."""

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from schedlab.settings.setting import Setting, Simulated, because, setting
from schedlab.settings.text import Line

_SIMULATED = {
    "isolcpus": "isolcpus=LIST",
    "nohz_full": "nohz_full=LIST",
    "psi": "psi=0 or psi=1",
}
"""The options that the simulator has, and how each is written."""


@setting
class Cmdline(Setting[str]):
    """Options beside those a guest is always booted with."""

    rank = 120
    name = key = "cmdline"
    value = Line
    default = ""
    syntax = "cmdline OPTIONS"
    example = "cmdline isolcpus=2,3"
    toml = 'cmdline = "isolcpus=2,3"'
    help = (
        "options of the kernel's command line (docs/manual/vm.md); simulated: `isolcpus=LIST`,"
        " `nohz_full=LIST`, `psi=0`, `psi=1`"
    )
    where = frozenset({"sim", "vm"})
    elsewhere = because(
        "a host has booted already; `boot` says at which boot a variant is run", "host"
    )

    def parse(self, words: Sequence[str]) -> object:
        """Take the words as one line."""
        return " ".join(words) or None

    def written(self, value: str) -> Iterable[str]:
        """Write the line as it is where a shell would not change it, else quoted."""
        try:
            plain = " ".join(shlex.split(value)) == value and not re.search(r"[;\n]", value)
        except ValueError:
            plain = False
        return [value if plain else shlex.quote(value)]

    def boot_options(self, value: str) -> str:
        """Return the line."""
        return value

    def simulated(self, value: str) -> Iterator[Simulated]:
        """Yield the options with their values.

        Raises:
            ValueError: one is not simulated, has no value, or is there twice.
        """
        found: dict[str, str] = {}
        for option in value.split():
            name, _, given = option.partition("=")
            if name not in _SIMULATED or not given or name in found:
                why = "is there twice" if name in found else "is not simulated"
                raise ValueError(
                    f"{self.name} {value}: {option} {why}. Of the kernel's command line the"
                    f" simulator has {' and '.join(_SIMULATED.values())}."
                )
            found[name] = given
            yield Simulated("boot", name, given, name, given, name)
