"""Frequencies, turbo, idle states, SMT, and CPUs that are switched off."""

from collections import Counter
from collections.abc import Iterator

from schedlab.base.cpulist import format_cpulist
from schedlab.base.errors import HostError
from schedlab.base.system import System
from schedlab.doctor.finding import Finding
from schedlab.machine import cpus, idle
from schedlab.settings.switchable import idle_states_without

CPU = cpus.CPU
_NO_TURBO = f"{CPU}/intel_pstate/no_turbo"
_BOOST = f"{CPU}/cpufreq/boost"


def check(system: System) -> Iterator[Finding]:
    """Look at what moves the speed of CPUs while a benchmark runs."""
    yield _governor(system)
    yield from _turbo(system)
    yield _idle(system)
    yield from _smt(system)
    yield from _offline(system)


def _governor(system: System) -> Finding:
    paths = system.glob(f"{CPU}/cpufreq/policy[0-9]*/scaling_governor")
    if not paths:
        return Finding(
            "governor",
            "note",
            "no cpufreq",
            "hypervisor or firmware sets the frequency, and does not say when it changes",
        )
    governors = Counter(system.read_or(path, "unreadable") for path in paths)
    if set(governors) == {"performance"}:
        return Finding("governor", "ok", "cpufreq governor performance on all CPUs")
    shown = ", ".join(f"{name} on {count}" for name, count in governors.most_common())
    return Finding(
        "governor",
        "warning",
        f"cpufreq governor: {shown} of {len(paths)} frequency domains",
        "the frequency follows the load, so a scheduler change is measured with its side effect",
        f"echo performance | tee {CPU}/cpufreq/policy*/scaling_governor",
    )


def _turbo(system: System) -> Iterator[Finding]:
    for path, on, off in ((_NO_TURBO, "0", "1"), (_BOOST, "1", "0")):
        value = system.read_or(path, "")
        if value == on:
            yield Finding(
                "turbo",
                "warning",
                f"turbo is on ({path} = {value})",
                "speed depends on temperature and on how many other CPUs are busy",
                f"echo {off} > {path}",
            )
            return
        if value == off:
            yield Finding("turbo", "ok", f"turbo is off ({path} = {value})")
            return


def _idle(system: System) -> Finding:
    driver = system.read_or(f"{CPU}/cpuidle/current_driver", "none")
    governor = idle.governor(system) or "unknown"
    folders = {path.rsplit("/", 1)[1] for path in system.glob(f"{CPU}/cpu[0-9]*/cpuidle/state*")}
    if not folders:
        return Finding(
            "cpuidle",
            "note",
            idle_states_without(system),
            "no idle statistics beside results, and no idle state can be a variant",
        )
    disabled = [
        path
        for path in system.glob(f"{CPU}/cpu[0-9]*/cpuidle/state[0-9]*/disable")
        if system.read_or(path, "0") != "0"
    ]
    found = f"cpuidle {driver}, governor {governor}, {len(folders)} states"
    if not disabled:
        return Finding("cpuidle", "ok", found)
    states = sorted({system.read_or(f"{path.rsplit('/', 1)[0]}/name", "?") for path in disabled})
    of_cpus = {int(path.split("/")[5].removeprefix("cpu")) for path in disabled}
    return Finding(
        "cpuidle",
        "note",
        f"{found}; {', '.join(states)} disabled on CPUs {format_cpulist(of_cpus)}",
        "wakeups are faster and turbo is lower than on a machine as delivered",
        f"echo 0 | tee {CPU}/cpu*/cpuidle/state*/disable",
    )


def _smt(system: System) -> Iterator[Finding]:
    control = system.read_or(f"{CPU}/smt/control", "")
    if control == "on":
        yield Finding("smt", "ok", "SMT is on")
    elif control in ("off", "forceoff"):
        yield Finding(
            "smt",
            "note",
            f"SMT is switched off ({control})",
            "the machine runs with half of its threads, and results have no SMT balancing",
            f"echo on > {CPU}/smt/control",
        )


def _offline(system: System) -> Iterator[Finding]:
    try:
        on = cpus.online(system)
    except HostError as error:
        yield Finding(
            "cpus", "missing", str(error).partition("\n")[0], "nothing can be sized or counted"
        )
        return
    off = cpus.offline(system)
    if not off:
        yield Finding("cpus", "ok", f"CPUs {format_cpulist(on)}, all online")
        return
    shown = format_cpulist(off)
    yield Finding(
        "cpus",
        "warning",
        f"CPUs {shown} are offline",
        "domains and groups are uneven; results cannot be compared with those of a whole machine",
        f"for c in {' '.join(str(cpu) for cpu in off)}; do echo 1 > {CPU}/cpu$c/online; done",
    )
