"""What the kernel counted beside every run, all of it system-wide.

System-wide, because a task's own counts miss migrations done by idle and softirq balancing.
"""
