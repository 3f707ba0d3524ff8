"""Settings that the simulated kernels take and that change nothing there, each with the reason."""

from collections.abc import Iterator
from dataclasses import dataclass

from schedlab.settings.knob import feature_name
from schedlab.settings.sched_debug import DEBUG_FOLDER
from schedlab.settings.variant import Variant

_SERIES = ("6.1", "6.12", "7.3")
_LATER = ("6.12", "7.3")


@dataclass(frozen=True)
class WithoutEffect:
    """A sched feature, a tunable of debugfs (its name there) or a sysctl (with dots)."""

    name: str
    reason: str
    series: tuple[str, ...] = _SERIES

    @property
    def path(self) -> str | None:
        """Return the file of a tunable or a sysctl, None for a feature."""
        if self.name.isupper():
            return None
        if "." in self.name:
            return f"/proc/sys/{self.name.replace('.', '/')}"
        return f"{DEBUG_FOLDER}/{self.name}"


_WARNING = "it only has the kernel print a warning about latency"
_TIERS = "it is about memory of different speed, and all simulated memory is of one kind"

WITHOUT_EFFECT = (
    WithoutEffect(
        "DOUBLE_TICK",
        "6.12's tick does nothing more for a task that has an HRTICK timer",
        ("6.12",),
    ),
    WithoutEffect("LATENCY_WARN", _WARNING),
    WithoutEffect(
        "NONTASK_CAPACITY",
        "CPU time of interrupts and of other guests is not accounted apart"
        " (IRQ_TIME_ACCOUNTING and PARAVIRT_TIME_ACCOUNTING are not configured)",
    ),
    WithoutEffect(
        "PARANOID_AVG",
        "it only shortens a sum that would overflow, and with simulated weights none does",
        ("7.3",),
    ),
    WithoutEffect(
        "RT_RUNTIME_SHARE",
        "from 6.12 on only RT_GROUP_SCHED throttles real-time tasks, and it is not configured",
        _LATER,
    ),
    WithoutEffect(
        "WARN_DOUBLE_CLOCK",
        "it only checks the kernel's own code; a run in which the check warns fails",
    ),
    WithoutEffect("latency_warn_ms", _WARNING),
    WithoutEffect("latency_warn_once", _WARNING),
    WithoutEffect("numa_balancing/hot_threshold_ms", _TIERS),
    WithoutEffect("kernel.numa_balancing_promote_rate_limit_MBps", _TIERS, _LATER),
    WithoutEffect("verbose", "it only has the kernel print messages", ("6.1",)),
)


def without_effect(variant: Variant, series: str) -> Iterator[str]:
    """Return a sentence for each setting of a variant that changes nothing in a series."""
    named = {feature_name(word) for word in variant.sched_features}
    named |= {name.replace("/", ".") for name in variant.sysctl} | set(variant.sched)
    for each in WITHOUT_EFFECT:
        if each.name in named and series in each.series:
            yield f"{each.name} has no effect in the simulator: {each.reason}"
