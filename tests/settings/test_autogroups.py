"""Autogroups on a machine whose session has a cgroup."""

from schedlab.settings.variant import parse_variant
from schedlab.targets.simulated.scenario import autogroups_do_nothing

OFF = parse_variant("v: sysctl kernel.sched_autogroup_enabled=0")


def test_they_are_for_tasks_in_the_root_cgroup() -> None:
    said = autogroups_do_nothing(OFF, "/user.slice/a.scope")
    assert "no effect on this machine" in said
    assert "/user.slice/a.scope" in said
    assert not autogroups_do_nothing(OFF, None)
    assert not autogroups_do_nothing(parse_variant("v: NO_WA_IDLE"), "/user.slice/a.scope")
