"""schedlab: the laboratory for Linux CPU-scheduler changes."""

__version__ = "0.2.0"
