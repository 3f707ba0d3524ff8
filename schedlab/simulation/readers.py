"""Where the kernel asks its sched features: what has to run for one to change anything."""

from collections.abc import Iterator

from schedlab.settings.variant import Variant
from schedlab.simulation.scenario import shown

_FEATURE = "sched_feature "
"""How the name of a feature begins among a variant's settings."""

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


def what_was_missing(baseline: Variant, other: Variant) -> str:
    """Return what is known of why two variants did not differ, setting by setting."""
    return "; ".join(_reasons(baseline, other))


def _reasons(baseline: Variant, other: Variant) -> Iterator[str]:
    if baseline.kernel != other.kernel:
        yield (
            "computation inside the other kernel's code takes no simulated time"
            " (docs/internals/engine.md), so only other decisions, locks or cache lines would show"
        )
    changed = dict(set(shown(baseline).items()) ^ set(shown(other).items()))
    features = {name.removeprefix(_FEATURE) for name in changed if name.startswith(_FEATURE)}
    if asked := list(_asked(sorted(features))):
        rest = "did not run, or decided the same either way"
        yield f"{', '.join(asked)}; {'that' if len(asked) == 1 else 'these'} {rest}"
    known = {f"{_FEATURE}{name}" for name in features if name in READ_IN}
    if unknown := sorted(changed.keys() - known):
        yield f"which part of the kernel reads {' and '.join(unknown)} is not known to us"


def _asked(features: list[str]) -> Iterator[str]:
    for feature in features:
        if functions := READ_IN.get(feature):
            yield f"{feature} is asked in {' and '.join(f'{name}()' for name in functions)}"
