"""schedlab: the laboratory for Linux CPU-scheduler changes."""

__version__ = "0.1.0"
