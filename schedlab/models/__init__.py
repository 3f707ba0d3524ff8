"""How a benchmark becomes a scenario of the simulator.

A benchmark's *model* stands beside its command in `schedlab.benchmarks`; `model` says what one
is, `scenario` makes a scenario of it and a variant's settings, `outcome` reads the result.
"""
