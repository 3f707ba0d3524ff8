"""Options of the kernel's command line as a simulated machine takes them."""

import pytest

from schedlab.base.errors import UsageError
from schedlab.settings.variant import parse_variant
from schedlab.targets.simulated.scenario import settings, shown


def test_they_become_a_scenarios_boot() -> None:
    variant = parse_variant("v: cmdline isolcpus=2,3 psi=0")
    assert settings(variant)["boot"] == {"isolcpus": "2,3", "psi": "0"}
    assert shown(variant) == {"isolcpus": "2,3", "psi": "0"}
    assert "boot" not in settings(parse_variant("base"))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("quiet", "quiet is not simulated"),
        ("isolcpus=2 rcu_nocbs=2", "rcu_nocbs=2 is not simulated"),
        ("psi=", "psi= is not simulated"),
        ("psi=0 psi=1", "psi=1 is there twice"),
    ],
)
def test_others_are_refused(options: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        settings(parse_variant(f"v: cmdline {options}"))
