"""What the numbers of a plan can be at most."""

LARGEST_SEED = 2**63 - 1

MOST_LOOKS = 100
MOST_BLOCKS = 100_000
"""Far more than any comparison needs (docs/internals/statistics.md)."""
