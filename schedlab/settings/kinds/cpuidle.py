"""Idle states, allowed or not, on all CPUs or some."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from schedlab.base.cpulist import parse_cpulist
from schedlab.base.errors import KnobError, nearest
from schedlab.base.system import System
from schedlab.base.validation import Data
from schedlab.settings.knob import FileKnob, Knob, cpu_of
from schedlab.settings.setting import ListSetting, Simulated, setting
from schedlab.settings.text import CpuList, Filled


def disable_knobs(system: System, state: str, cpus: str | None) -> list[FileKnob]:
    """Return the `disable` knob of a state (its name, or `stateN`) on each CPU that has it.

    Raises:
        KnobError: no CPU asked for has such a state.
    """
    wanted = None if cpus is None else set(parse_cpulist(cpus))
    found = []
    names: set[str] = set()
    for path in system.glob("/sys/devices/system/cpu/cpu[0-9]*/cpuidle/state[0-9]*/name"):
        cpu, folder = cpu_of(path), path.split("/")[7]
        name = system.read_or(path, folder)
        names.add(name)
        if (wanted is None or cpu in wanted) and state in (name, folder):
            disable = path.removesuffix("name") + "disable"
            found.append(FileKnob(disable, f"cpuidle {name} disable", cpu))
    if not found:
        if not names:
            raise KnobError(
                f"cpuidle {state}: this host shows no idle states (usual in a virtual machine)."
            )
        where = f" on CPUs {cpus}" if cpus else ""
        raise KnobError(
            f"cpuidle: no idle state '{state}'{where}.{nearest(state, names)}"
            f" It has: {', '.join(sorted(names))}."
        )
    return found


class IdleState(Data):
    """An idle state, allowed or not, on all CPUs or those listed."""

    state: Filled
    enabled: bool
    cpus: CpuList | None = None


@setting
class Cpuidle(ListSetting[IdleState]):
    """Idle states, on or off."""

    rank = 40
    name = key = "cpuidle"
    value = tuple[IdleState, ...]
    syntax = "cpuidle STATE=off [cpus=LIST]"
    example = "cpuidle C6=off cpus=0-3"
    toml = 'cpuidle = [{ state = "C6", enabled = false, cpus = "0-3" }]'
    help = "an idle state, by name or `stateN`, on all CPUs or some"

    def parse(self, words: Sequence[str]) -> object:
        """Take the words as one state."""
        state: dict[str, object] = {}
        for word in words:
            key, _, value = word.rpartition("=")
            if value in ("on", "off") and "state" not in state:
                state |= {"state": key, "enabled": value == "on"}
            elif key == "cpus" and "cpus" not in state:
                state["cpus"] = value
            else:
                return None
        return [state] if state.get("state") else None

    def written(self, value: tuple[IdleState, ...]) -> Iterable[str]:
        """Write a setting for each state."""
        for idle in value:
            cpus = [f"cpus={idle.cpus}"] if idle.cpus else []
            yield shlex.join([f"{idle.state}={'on' if idle.enabled else 'off'}", *cpus])

    def thing(self, entry: Any) -> object:
        """Return the state's name."""
        return entry.get("state") if isinstance(entry, dict) else str(entry)

    def check(self, value: tuple[IdleState, ...]) -> None:
        """Refuse a state that is set twice on a CPU."""
        switched: dict[str, set[int] | None] = {}
        for idle in value:
            cpus = set(parse_cpulist(idle.cpus)) if idle.cpus else None
            before = switched.get(idle.state, set())
            if idle.state in switched and (cpus is None or before is None or cpus & before):
                raise ValueError(f"{self.key} sets {idle.state} twice")
            switched[idle.state] = None if cpus is None else cpus | (before or set())

    def knobs(self, system: System, value: tuple[IdleState, ...]) -> Iterator[tuple[Knob, str]]:
        """Yield the file `disable` of each state on each CPU."""
        for idle in value:
            for knob in disable_knobs(system, idle.state, idle.cpus):
                yield knob, str(int(not idle.enabled))

    def simulated(self, value: tuple[IdleState, ...]) -> Iterator[Simulated]:
        """Yield each state, named as a scenario does: `C6`, `C6 0-3`."""
        for idle in value:
            key = f"{idle.state} {idle.cpus}" if idle.cpus else idle.state
            yield Simulated(
                table="cpuidle",
                key=key,
                value=idle.enabled,
                label=f"cpuidle {idle.state} disable{f' cpus={idle.cpus}' if idle.cpus else ''}",
                shown=str(int(not idle.enabled)),
                place=f"cpuidle {key}",
            )
