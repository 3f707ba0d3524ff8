import pytest

from schedlab.base.errors import HostError, UsageError
from schedlab.base.system.installed import need_programs


def test_programs_that_are_there_are_not_spoken_of() -> None:
    need_programs({"sh": "dash", "/bin/sh": "dash"}, "a shell")


def test_what_is_missing_is_named_with_its_package() -> None:
    with pytest.raises(HostError) as error:
        need_programs({"sh": "dash", "no-such-tool": "tools"}, "a guest")
    assert str(error.value) == (
        "no-such-tool is not installed; a guest needs it.\n  Install: apt-get install tools"
    )


def test_several_are_named_at_once_and_a_package_once() -> None:
    with pytest.raises(UsageError) as error:
        need_programs({"no-a": "tools", "no-b": "tools"}, "reading x", UsageError)
    assert str(error.value) == (
        "no-a and no-b are not installed; reading x needs them.\n  Install: apt-get install tools"
    )
