"""A program beside each run, such as a sched_ext scheduler."""

import re
import shlex
from collections.abc import Iterable, Sequence

from schedlab.settings.companion import Companion
from schedlab.settings.setting import REAL, Around, Setting, because, setting

_READY = re.compile(r"(ready_file|ready_value|ready_seconds)=(.*)", re.DOTALL)


@setting
class CompanionSetting(Setting[Companion | None]):
    """A command that runs beside the benchmark's."""

    rank = 100
    name = key = "companion"
    value = Companion | None
    syntax = "companion [ready_file=FILE ready_value=TEXT] COMMAND"
    example = "companion ready_file=/sys/kernel/sched_ext/state ready_value=enabled scx_simple"
    toml = (
        'companion = { command = ["scx_simple"], ready_file = "/sys/kernel/sched_ext/state",'
        ' ready_value = "enabled" }'
    )
    help = (
        "a command that runs beside each run, such as a sched_ext scheduler; with `ready_file`"
        " the run waits until that file holds `ready_value` (for at most `ready_seconds`,"
        " default 10)"
    )
    where = REAL
    elsewhere = because("no program runs there", "sim")

    def parse(self, words: Sequence[str]) -> object:
        """Take the words as what to wait for and a command."""
        rest = list(words)
        fields: dict[str, object] = {}
        while rest and (option := _READY.fullmatch(rest[0])) and option[1] not in fields:
            fields[option[1]] = option[2]
            del rest[0]
        return {"command": rest, **fields} if rest else None

    def written(self, value: Companion | None) -> Iterable[str]:
        """Write what to wait for, and the command as a shell has it."""
        if value is None:
            return []
        fields = value.model_dump(exclude_defaults=True, exclude={"command"})
        return [shlex.join([*(f"{key}={each}" for key, each in fields.items()), *value.command])]

    def around(self, value: Companion | None) -> Around:
        """Return the program."""
        return Around(beside=(value,) if value else ())
