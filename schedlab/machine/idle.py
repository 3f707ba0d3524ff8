"""Idle states of each CPU, from /sys/devices/system/cpu/cpu*/cpuidle."""

from collections.abc import Sequence
from itertools import zip_longest

from schedlab.base.cpulist import format_cpulist
from schedlab.base.system import System
from schedlab.machine.cpus import CPU, number, together
from schedlab.machine.model import Idle, IdleState

_NO_FIGURE = 0xFFFFFFFF
"""What a driver that gives no power figure leaves in the unsigned file."""
_POLLING = ("POLL", "snooze")
"""States that poll: drivers/cpuidle/poll_state.c, cpuidle-pseries.c and cpuidle-powernv.c."""
_LONGEST_POLL = "/sys/module/haltpoll/parameters/guest_halt_poll_ns"


def read(system: System, cpus: Sequence[int]) -> Idle:
    """Return the states in the order each CPU has them; a state not all have names its CPUs.

    The governor haltpoll never polls where it may not poll for any time: such CPUs halt, as any
    governor has them do that knows of no state beside it.
    """
    of_cpu = {
        cpu: [
            _state(system, folder) for folder in system.glob(f"{CPU}/cpu{cpu}/cpuidle/state[0-9]*")
        ]
        for cpu in cpus
    }
    found: list[IdleState] = []
    for states in zip_longest(*of_cpu.values()):
        for state, have in together(dict(zip(cpus, states, strict=True))).items():
            if state is not None:
                only = None if len(have) == len(cpus) else format_cpulist(have)
                found.append(state.model_copy(update={"cpus": only}))
    name = governor(system)
    if name == "haltpoll" and system.read_or(_LONGEST_POLL, "") == "0":
        name, found = "menu", [state for state in found if not state.polling]
    return Idle(governor=name, state=tuple(found)) if found else Idle()


def governor(system: System) -> str:
    """Return the cpuidle governor, under its present or its older name; else empty."""
    older = system.read_or(f"{CPU}/cpuidle/current_governor_ro", "")
    return system.read_or(f"{CPU}/cpuidle/current_governor", older)


def _state(system: System, folder: str) -> IdleState:
    power = number(system, f"{folder}/power")
    name = system.read_or(f"{folder}/name", folder.rpartition("/")[2])
    desc = system.read_or(f"{folder}/desc", "")
    return IdleState(
        name=name,
        desc="" if desc == name else desc,
        latency=f"{number(system, f'{folder}/latency') or 0}us",
        residency=f"{number(system, f'{folder}/residency') or 0}us",
        polling=name in _POLLING,
        mwait="MWAIT" in desc,
        power_mw=power if power and 0 < power < _NO_FIGURE else None,
    )
