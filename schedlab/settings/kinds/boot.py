"""The boot that a variant is for: rows of the platform table."""

from collections.abc import Mapping

from schedlab.settings.setting import TableSetting, because, setting
from schedlab.settings.text import Filled, Key


@setting
class Boot(TableSetting):
    """What a boot must be for a variant: rows of the platform table, whole or words of them."""

    rank = 130
    name = key = "boot"
    value = dict[Key, Filled]
    syntax = "boot 'ROW=VALUE'"
    example = "boot 'NUMA nodes=8'"
    toml = 'boot = { "NUMA nodes" = "8" }'
    help = "nothing: the variant runs only at a boot with this row of the platform table, see below"
    where = frozenset({"host"})
    elsewhere = because(
        "only a host has boots that differ; kernel and cmdline choose what is booted", "sim", "vm"
    )
    shared = False


def fits(wanted: Mapping[str, str], platform: Mapping[str, str]) -> bool:
    """Return whether a platform is the wanted one, as it has been booted."""
    return all(
        value == platform.get(row) or {*value.split()} <= {*platform.get(row, "").split()}
        for row, value in wanted.items()
    )
