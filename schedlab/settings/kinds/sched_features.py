"""Sched features: `NAME` or `NO_NAME` in the features file of debugfs."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator

from schedlab.base.system import System
from schedlab.base.validation import repeated
from schedlab.settings.knob import Knob, feature_name
from schedlab.settings.sched_debug import FEATURES, feature_knob
from schedlab.settings.setting import ListSetting, Simulated, WithoutEffect, setting

_FEATURE = re.compile(r"[A-Z][A-Z0-9_]*")

READ_IN = {
    "ALT_PERIOD": ("sched_slice",),
    "ATTACH_AGE_LOAD": ("attach_entity_cfs_rq", "set_task_rq_fair"),
    "BASE_SLICE": ("sched_slice",),
    "CACHE_HOT_BUDDY": ("task_hot",),
    "DELAY_DEQUEUE": ("dequeue_entity",),
    "DELAY_ZERO": ("finish_delayed_dequeue_entity", "requeue_delayed_entity"),
    "DOUBLE_TICK": ("entity_tick",),
    "GENTLE_FAIR_SLEEPERS": ("place_entity",),
    "HRTICK": ("__schedule", "hrtick_enabled_fair"),
    "HRTICK_DL": ("__schedule", "hrtick_enabled_dl"),
    "LAST_BUDDY": ("check_preempt_wakeup",),
    "LB_MIN": ("detach_tasks",),
    "NEXT_BUDDY": ("check_preempt_wakeup", "check_preempt_wakeup_fair"),
    "NI_RANDOM": ("sched_balance_newidle",),
    "NONTASK_CAPACITY": ("update_rq_clock_task",),
    "PICK_BUDDY": ("pick_next_entity",),
    "PLACE_DEADLINE_INITIAL": ("place_entity",),
    "PLACE_LAG": ("place_entity",),
    "PLACE_REL_DEADLINE": ("dequeue_entity", "place_entity"),
    "PREEMPT_SHORT": ("did_preempt_short", "do_preempt_short"),
    "RT_PUSH_IPI": ("pull_rt_task",),
    "RT_RUNTIME_SHARE": ("balance_runtime", "do_sched_rt_period_timer"),
    "RUN_TO_PARITY": ("pick_eevdf",),
    "SIS_PROP": ("select_idle_cpu",),
    "SIS_UTIL": ("select_idle_cpu", "update_idle_cpu_scan"),
    "START_DEBIT": ("place_entity",),
    "TTWU_QUEUE": ("ttwu_queue_wakelist",),
    "UTIL_EST": ("cpu_util", "util_est_dequeue", "util_est_enqueue", "util_est_update"),
    "UTIL_EST_FASTUP": ("util_est_update",),
    "WAKEUP_PREEMPTION": ("check_preempt_wakeup", "check_preempt_wakeup_fair"),
    "WA_BIAS": ("wake_affine_weight",),
    "WA_IDLE": ("wake_affine",),
    "WA_WEIGHT": ("wake_affine",),
}
"""The functions of kernel/sched that ask for a feature, of 6.1 and 6.12 together."""


def _feature(text: str) -> str:
    if not _FEATURE.fullmatch(text) or not feature_name(text):
        raise ValueError(f"'{text}' is not a sched feature; use NAME or NO_NAME, in capitals")
    return text


class _Switched(Simulated):
    """A feature in a scenario; it is read back from the words of the features file."""

    def read_back(self, text: str) -> str:
        return " ".join(set(text.split()) & {self.key, f"NO_{self.key}"})


@setting
class SchedFeatures(ListSetting[str]):
    """Sched features, on or off."""

    rank = 20
    name = "sched feature"
    key = "sched_features"
    value = tuple[Annotated[str, AfterValidator(_feature)], ...]
    syntax = "[NO_]FEATURE"
    example = "NO_WA_IDLE"
    toml = 'sched_features = ["NO_WA_IDLE"]'
    help = "a sched feature, on (`NAME`) or off (`NO_NAME`)"
    without_effect = (
        WithoutEffect(
            "DOUBLE_TICK",
            "6.12's tick does nothing more for a task that has an HRTICK timer",
            ("6.12",),
        ),
        WithoutEffect("LATENCY_WARN", "it only has the kernel print a warning about latency"),
        WithoutEffect(
            "NONTASK_CAPACITY",
            "CPU time of interrupts and of other guests is not accounted apart"
            " (IRQ_TIME_ACCOUNTING and PARAVIRT_TIME_ACCOUNTING are not configured)",
        ),
        WithoutEffect(
            "PARANOID_AVG",
            "it only shortens a sum that would overflow, and with simulated weights none does",
            ("7.2", "7.3"),
        ),
        WithoutEffect(
            "RT_RUNTIME_SHARE",
            "from 6.12 on only RT_GROUP_SCHED throttles real-time tasks, and it is not configured",
            ("6.12", "7.2", "7.3"),
        ),
        WithoutEffect(
            "WARN_DOUBLE_CLOCK",
            "it only checks the kernel's own code; a run in which the check warns fails",
        ),
    )

    @property
    def head(self) -> str:
        """Return nothing: a word in capitals is a feature."""
        return ""

    def begins(self, word: str) -> bool:
        """Return whether the word is a feature."""
        return _FEATURE.fullmatch(word) is not None

    def offered(self) -> Iterable[str]:
        """Return the features of the series that are tested, on and off."""
        known = {*READ_IN, *(each.name for each in self.without_effect)}
        return [f"{no}{name}" for name in sorted(known) for no in ("", "NO_")]

    def parse(self, words: Sequence[str]) -> object:
        """Take the words as features."""
        return list(words)

    def written(self, value: tuple[str, ...]) -> Iterable[str]:
        """Write the words."""
        return value

    def thing(self, entry: Any) -> object:
        """Return the feature."""
        return feature_name(str(entry))

    def check(self, value: tuple[str, ...]) -> None:
        """Refuse a feature that is there twice."""
        if twice := repeated(map(feature_name, value)):
            raise ValueError(f"{self.key} sets {twice} twice")

    def knobs(self, system: System, value: tuple[str, ...]) -> Iterator[tuple[Knob, str]]:
        """Yield the knob of each feature."""
        return ((feature_knob(system, word), word) for word in value)

    def simulated(self, value: tuple[str, ...]) -> Iterator[Simulated]:
        """Yield each feature as on or off."""
        for word in value:
            name = feature_name(word)
            yield _Switched(
                table="features",
                key=name,
                value=word == name,
                label=f"sched_feature {name}",
                shown=word,
                place=FEATURES,
                read_in=READ_IN.get(name, ()),
            )
