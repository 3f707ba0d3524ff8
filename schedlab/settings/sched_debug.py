"""Scheduler features and knobs in debugfs, wherever this kernel keeps them.

Since 5.13 both live in /sys/kernel/debug/sched/; before, features had a file of their own and
the knobs were sysctls named kernel.sched_*.
"""

from schedlab.base.system import System
from schedlab.settings.knob import ChoiceKnob, FeatureKnob, FileKnob, feature_name

DEBUG_FOLDER = "/sys/kernel/debug/sched"
FEATURES = f"{DEBUG_FOLDER}/features"
X86 = "x86/"
"""Beside sched/ in debugfs: has sched_itmt_enabled since 6.14, a sysctl before."""
_FEATURES_BEFORE_5_13 = "/sys/kernel/debug/sched_features"


def features_path(system: System) -> str:
    """Return the place of the features file in this kernel."""
    return _FEATURES_BEFORE_5_13 if system.exists(_FEATURES_BEFORE_5_13) else FEATURES


def feature_knob(system: System, word: str) -> FeatureKnob:
    """Return the knob that `NAME` or `NO_NAME` turns."""
    return FeatureKnob(features_path(system), feature_name(word))


def debug_path(name: str) -> str:
    """Return the file of a scheduler tunable; `x86/NAME` is the architecture's."""
    folder = DEBUG_FOLDER if not name.startswith(X86) else DEBUG_FOLDER.rpartition("/")[0]
    return f"{folder}/{name}"


def debug_knob(system: System, name: str) -> FileKnob:
    """Return the knob of a scheduler tunable such as `base_slice_ns`."""
    before_5_13 = f"/proc/sys/kernel/sched_{name}"
    if not system.exists(DEBUG_FOLDER) and system.exists(before_5_13):
        return FileKnob(before_5_13, f"sched {name}")
    return ChoiceKnob(debug_path(name), f"sched {name}")
