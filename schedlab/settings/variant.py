"""A variant: a named set of settings, as data. No file of a host is touched here.

On a command line a variant is `NAME: SETTING; SETTING`; `kinds/` has the settings.
"""

import re
from typing import TYPE_CHECKING, Any

from pydantic import create_model, model_validator

from schedlab.base.validation import Data, validate
from schedlab.settings.grammar import parse_settings, settings_written
from schedlab.settings.kinds import all_settings
from schedlab.settings.kinds.cpuidle import IdleState
from schedlab.settings.setting import Around
from schedlab.settings.text import Name


class _Named(Data):
    name: Name


if TYPE_CHECKING:
    _Settings = _Named
else:
    _Settings = create_model(
        "_Settings",
        __base__=_Named,
        **{kind.key: (kind.value, kind.default) for kind in all_settings()},
    )


class Variant(_Settings):
    """What is set before a run and undone after it; no settings is the host as it is.

    It has a key for each kind of setting; the kind reads its value: `Kernel.of(variant)`.
    """

    if TYPE_CHECKING:

        def __init__(self, *, name: str, **settings: Any) -> None:
            """Take a value for each kind of setting that is not as the host has it."""

    @property
    def around(self) -> Around:
        """Return what the settings put around a benchmark's command."""
        whole = Around()
        for kind in all_settings():
            if value := kind.of(self):
                whole = whole.and_(kind.around(value))
        return whole

    @property
    def boot_options(self) -> str:
        """Return the options that a guest is booted with."""
        options = (kind.boot_options(kind.of(self)) for kind in all_settings() if kind.of(self))
        return " ".join(filter(None, options))

    @model_validator(mode="after")
    def _no_contradiction(self) -> "Variant":
        for kind in all_settings():
            kind.check(kind.of(self))
        return self


def without_idle_state(name: str, state: str, cpus: str | None = None) -> str:
    """Return, as `--variant` takes it, a variant that leaves out an idle state.

    Names of idle states may have blanks, those of variants may not.
    """
    idle = IdleState(state=state, enabled=False, cpus=cpus)
    variant = Variant(name=re.sub(r"[^A-Za-z0-9._+-]", "-", name), cpuidle=(idle,))
    return f"{variant.name}: {'; '.join(settings_written(variant))}"


def parse_variant(text: str) -> Variant:
    """Parse a variant as written on a command line.

    Raises:
        UsageError: an unknown kind of setting, one that is not complete, or given twice.
    """
    name, _, rest = text.partition(":")
    where = f"--variant '{name.strip()}'"
    return validate({"name": name.strip(), **parse_settings(rest, where)}, Variant, where)
