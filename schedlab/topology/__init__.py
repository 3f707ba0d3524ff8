"""Machines: reading one from sysfs, writing its file, drawing it."""
