"""Sysctls: `kernel.numa_balancing = 0`."""

from schedlab.settings.knob import FileKnob


def knob(name: str) -> FileKnob:
    """Give the knob of a sysctl named with dots or slashes."""
    path = name if "/" in name else name.replace(".", "/")
    return FileKnob(f"/proc/sys/{path}", name)
