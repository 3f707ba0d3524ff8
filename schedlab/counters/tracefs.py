"""Where a kernel shows its tracepoints."""

TRACEFS = ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")
"""Where tracefs is mounted: by itself, or with debugfs."""


def tracepoint_file(folder: str, event: str) -> str:
    """Return the file that a mounted tracefs has of a tracepoint, as `sched:sched_switch`."""
    return f"{folder}/events/{event.replace(':', '/')}/id"
