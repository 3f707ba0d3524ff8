"""`schedlab cpuidle-smt`: throughput, wakeup latency and idle states against the wakeup period."""

from typing import TYPE_CHECKING, Any

import click

from schedlab.base.cpulist import parse_cpulist
from schedlab.base.errors import UsageError
from schedlab.cli.echo import echo
from schedlab.cli.run import chosen_how, experiment_options
from schedlab.plan.targets import HOST, SIM, kind_of, known

if TYPE_CHECKING:
    from schedlab.machine.model import Machine

PERIODS = "1,2,5,10,20,50,80,100,120,200,500,1000"
_ROLES = {"wcpu": "workload", "icpus": "irritators", "acpu": "waker"}
_OPTIONS = {"wcpu": "--wcpu", "icpus": "--icpu", "acpu": "--acpu"}


@click.command("cpuidle-smt")
@click.option("-w", "--wcpu", metavar="CPU", help="The workload's CPU.")
@click.option(
    "-i",
    "--icpu",
    "icpus",
    metavar="LIST",
    help="The irritators' CPUs: siblings of the workload's.",
)
@click.option("-a", "--acpu", metavar="CPU", help="The waker's CPU, on another core.")
@click.option(
    "--periods", metavar="US,...", help=f"Wakeup periods in microseconds ({PERIODS} if not given)."
)
@click.option(
    "-t", "--time", metavar="TIME", help="How long each run measures (5s; 200ms if simulated)."
)
@experiment_options
def cpuidle_smt(**options: Any) -> None:
    """Sweep the period at which sleeping SMT threads are woken beside a working one.

    CPUs that are not given are chosen from the topology. Without --variant the machine is compared
    with itself without its deepest idle state.

    \b
    schedlab cpuidle-smt
    schedlab cpuidle-smt --variant base --variant 'teo: idle-governor teo'
    schedlab cpuidle-smt --target sim:power9-lpar-smt4
    """
    how = chosen_how(options)
    data, chosen = ({}, options) if how.resume else _described(options)

    # Only here: a mistake in the options is reported at once, without loading what runs plans.
    from schedlab.cli.planning import carry_out, make_plan

    carry_out(lambda: make_plan(data, chosen, "command line"), how)


def _described(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a plan's benchmarks, and the options with the variants that are compared."""
    periods = _periods(options["periods"] or PERIODS)
    target, *others = options["target"] or ["host"]
    if others:
        raise UsageError("the CPUs are chosen on one machine: give one --target.")

    # Each import only where it is needed: a mistake in the options is reported at once.
    from schedlab.machine.placement import checked_cpus, cpus_of, place

    named = {key: checked_cpus(options[key], _OPTIONS[key]) for key in _ROLES if options[key]}

    machine = _machine(target)
    cpus = {
        key: cpus_of(named.get(key, role), machine, _OPTIONS[key]) for key, role in _ROLES.items()
    }

    if cpus["wcpu"] in map(str, parse_cpulist(cpus["icpus"])):
        raise UsageError(f"--icpu {cpus['icpus']}: the workload is on CPU {cpus['wcpu']}.")

    from schedlab.benchmarks.cpuidle_smt import NAME

    if not named:
        echo(f"note: {place(machine).described()}", err=True)
    elif len(named) < len(_ROLES):
        where = ", ".join(f"{role} on CPU {cpus[key]}" for key, role in _ROLES.items())
        echo(f"note: {where}", err=True)
    time = options["time"] or ("200ms" if kind_of(target).simulated else "5s")
    entry: dict[str, Any] = {
        "name": NAME,
        "label": "cpuidle-smt",
        "params": {**_ROLES, **named, "time": time},
    }
    if len(periods) > 1:
        entry["axis"] = {"period": periods}
    else:
        entry["params"]["period"] = periods[0]
    chosen = dict(options)
    if not options["variants"] and not options["aa"]:
        variant = _without_deepest_state(machine, cpus["icpus"])
        if variant:
            chosen["variants"] = ("base:", variant)
        else:
            chosen["aa"] = True
            echo(
                "note: these CPUs do not have two idle states to compare, so this is an A/A run:"
                " its curve shows the machine, its verdicts the noise of the method",
                err=True,
            )
    return {"benchmark": [entry]}, chosen


def _machine(target: str) -> "Machine":
    """Describe the machine of a target; of one that needs no runs, without loading those."""
    kind, which = known(target)
    if kind is SIM:
        from schedlab.machine.model import find_machine

        return find_machine(which)
    if kind is HOST:
        from schedlab.base.system import LocalSystem
        from schedlab.machine.here import describe

        return describe(LocalSystem()).machine

    from schedlab.targets.choice import find_target

    return find_target(target).machine()


def _periods(text: str) -> list[int]:
    try:
        periods = sorted({int(part) for part in text.split(",")})
    except ValueError:
        raise UsageError(f"--periods '{text}': write whole microseconds as 10,20,50") from None
    if periods[0] < 1:
        raise UsageError(f"--periods '{text}': {periods[0]} us is not a period; the least is 1")
    return periods


def _without_deepest_state(machine: "Machine", cpus: str) -> str | None:
    """Return the variant, or None where fewer than two states could be left."""
    from schedlab.settings.variant import without_idle_state

    wanted = set(parse_cpulist(cpus))
    states = [
        state.name
        for state in machine.idle.state
        if state.cpus is None or wanted & set(parse_cpulist(state.cpus))
    ]
    if len(states) < 2:
        return None
    return without_idle_state(f"no-{states[-1]}", states[-1], cpus)
