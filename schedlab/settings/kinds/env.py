"""The environment of a benchmark's command."""

from schedlab.settings.setting import NO_PROGRAM, REAL, Around, TableSetting, because, setting
from schedlab.settings.text import Argument, Key


@setting
class Env(TableSetting):
    """Variables of the environment."""

    rank = 80
    name = key = "env"
    value = dict[Key, Argument]
    syntax = "env NAME=VALUE"
    example = "env NAME=VALUE"
    toml = 'env = { NAME = "VALUE" }'
    help = "the benchmark's environment"
    where = REAL
    elsewhere = because(NO_PROGRAM, "sim")

    def around(self, value: dict[str, str]) -> Around:
        """Return the variables."""
        return Around(env=value)
