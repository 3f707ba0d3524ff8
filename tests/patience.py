"""How long a test waits before it takes something for hung: far longer than any machine needs."""

PATIENCE_SECONDS = 900
