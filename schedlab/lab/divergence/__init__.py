"""Two variants with the same seed, side by side to the first decision that differs.

`decisions` reads the scheduler's decisions out of a trace, `search` compares two streams of them,
`runs` simulates both variants while they are compared.
"""
