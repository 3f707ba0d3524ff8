"""How right the simulator is: the same workloads here and simulated, constants measured here.

`single` runs one load on a target, `calibration` finds a machine file's costs for
this host, `comparison` compares the two, workload by workload.
"""
