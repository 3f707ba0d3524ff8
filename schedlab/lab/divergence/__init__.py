"""Two variants with the same seed, side by side: where their decisions part, and how often.

`decisions` reads the scheduler's decisions out of a trace, `search` compares two streams of them,
`runs` simulates both variants while they are compared, `wording` says what differs and `timeline`
writes both for Perfetto.
"""
