"""The simulator against the real kernel: the same source on the same CPUs, in a guest.

Scheduling domains, features and placement decisions have to be identical; counts are shown.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from schedlab.base.system import RemoteSystem
from schedlab.benchmarks import Case
from schedlab.lab.accuracy.single import Bench, Options, load_case
from schedlab.settings.sched_debug import DEBUG_FOLDER

VERBOSE = "sched_verbose"
"""The option with which a kernel prints the groups of its domains as it builds them."""

COUNTED: tuple[tuple[str, Options], ...] = (
    ("hackbench", {"groups": 1, "loops": 50}),
    ("hackbench", {"groups": 2, "loops": 50, "pipe": True, "threads": True}),
)
SEEDS = range(1, 11)
"""Of the simulated counts, which are shown as their median and range."""

PLACEMENT = load_case("placement", {})
AGAIN = load_case("placement", {"rounds": 15})
"""How a placement question is asked whose answer differed at first."""


def kernel_cases() -> list[Case]:
    """Return all loads that are run to compare a guest's kernel with the simulator."""
    return [PLACEMENT, AGAIN, *(load_case(*load) for load in COUNTED)]


_DOMAIN_KEYS = ("name", "flags", "min_interval", "max_interval", "busy_factor", "imbalance_pct")
_CPU = re.compile(r"\bCPU(\d+) attaching sched-domain")
_SPAN = re.compile(r"\bdomain-(\d+): span=(\S+)")
_GROUP = re.compile(r"\d+:\{ span=(\S+)")
_FILE = re.compile(rf"{DEBUG_FOLDER}/domains/(cpu\d+/domain\d+)/(\w+):(.*)")


@dataclass(frozen=True)
class Aspect:
    """One thing that has to be the same, item by item, in the guest and simulated."""

    name: str
    guest: Mapping[str, str]
    simulated: Mapping[str, str]
    remarks: tuple[str, ...] = ()
    """What else there is to say, a line each."""

    @property
    def differences(self) -> list[str]:
        """Return where they differ."""
        return [
            f"{key}: {self.guest.get(key, 'none')} in the guest,"
            f" {self.simulated.get(key, 'none')} simulated"
            for key in dict.fromkeys((*self.guest, *self.simulated))
            if self.guest.get(key) != self.simulated.get(key)
        ]

    @property
    def verdict(self) -> str:
        """Return how many are the same."""
        count = len({*self.guest, *self.simulated})
        same = count - len(self.differences)
        return f"{self.name}: {same} of {count} identical"


@dataclass(frozen=True)
class Kernel:
    """A kernel on a machine, in a guest or simulated."""

    domains: Mapping[str, str]
    """The scheduling domains it builds, by CPU and level."""
    features: Sequence[str]
    """The words of its features file."""
    bench: Bench
    """Where kernel_cases() are run."""


def aspects(guest: Kernel, simulated: Kernel) -> Iterator[Aspect]:
    """Compare domains, features and placement; the guest was booted with VERBOSE."""
    yield Aspect("scheduling domains", guest.domains, simulated.domains)
    yield Aspect("sched features", _by_place(guest.features), _by_place(simulated.features))
    yield _placements(guest.bench, _cpus(simulated.bench.run(PLACEMENT).results))


def _placements(guest: Bench, simulated: Mapping[str, str]) -> Aspect:
    """Compare placement decisions; what differs is asked again, three times as often.

    A guest has threads of its own: one of them on the CPU that is to be the idle one, as the
    question is asked, makes another answer the best.
    """
    asked = Aspect("placement decisions", _cpus(guest.run(PLACEMENT).results), simulated)
    if not asked.differences:
        return asked
    again = _cpus(guest.run(AGAIN).results)
    return replace(
        asked,
        guest={
            key: answer if answer == simulated.get(key) else again.get(key, "none")
            for key, answer in asked.guest.items()
        },
        remarks=tuple(f"at first {line}; asked again" for line in asked.differences),
    )


def counts(guest: Bench, simulated: Bench) -> Iterator[str]:
    """Compare what some workloads make the scheduler do, a line each.

    Simulated counts of one machine differ by the seed, hackbench's up to nineteen times
    (docs/manual/vm.md).
    """
    for workload, options in COUNTED:
        case = load_case(workload, options)
        real = guest.run(case)
        ours = [simulated.run(case, seed=seed) for seed in SEEDS]
        words = " ".join(f"{key}={value}" for key, value in options.items())
        counted = []
        for what in ("switches", "wakeups", "migrations"):
            there, *here = (getattr(one, what) for one in (real, *ours))
            if there is not None:
                counted.append(
                    f"{what} {there:.0f} in the guest, {median(here):.0f} ({min(here):.0f} to"
                    f" {max(here):.0f}) simulated"
                )
        yield f"{workload} {words}: {'; '.join(counted)}"


def guest_domains(guest: RemoteSystem) -> dict[str, str]:
    """Return the domains of a guest by CPU and level, each as the simulator prints it."""
    files: dict[str, dict[str, str]] = {}
    listing = guest.run(f"grep -r '' {DEBUG_FOLDER}/domains").out.decode()
    for domain, key, value in _FILE.findall(listing):
        files.setdefault(domain, {})[key] = value
    spans = _spans(guest.run("dmesg").out.decode())
    lines = {}
    for domain in sorted(files, key=lambda name: [int(part) for part in re.findall(r"\d+", name)]):
        words = [f"{key}={files[domain].get(key, '')}" for key in _DOMAIN_KEYS]
        lines[domain] = " ".join(" ".join([*words, spans.get(domain, "")]).split())
    return lines


def _spans(log: str) -> dict[str, str]:
    """Read the kernel's log: each domain's span and groups; the last time it was built counts.

    Another message may come between a domain's groups, which then go on in a line of their own.
    """
    spans: dict[str, str] = {}
    cpu = domain = ""
    for line in log.splitlines():
        if found := _CPU.search(line):
            cpu = f"cpu{found[1]}"
        elif found := _SPAN.search(line):
            domain = f"{cpu}/domain{found[1]}"
            spans[domain] = f"span={found[2]}"
        elif domain and (parts := _GROUP.findall(line)):
            groups = ",".join(f"{{{span}}}" for span in parts)
            spans[domain] += f",{groups}" if "groups=" in spans[domain] else f" groups={groups}"
    return spans


def simulated_domains(lines: Sequence[str]) -> dict[str, str]:
    """Return the domains that the simulator prints, by their first word's path."""
    named = (" ".join(line.split()).partition("/name=") for line in lines)
    return {domain: f"name={rest}" for domain, _, rest in named}


def _by_place(words: Sequence[str]) -> dict[str, str]:
    """Key a list's words by their place, so that the order counts too."""
    return {f"word {place}": word for place, word in enumerate(words, start=1)}


def _cpus(results: Mapping[str, float]) -> dict[str, str]:
    return {name: f"CPU {value:.0f}" for name, value in results.items()}
