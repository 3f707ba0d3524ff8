"""What a seed of runs can be."""

LARGEST_SEED = 2**63 - 1
