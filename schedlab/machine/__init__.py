"""Machines: the model and its file, reading one from sysfs, drawing it, sources of its figures."""
