"""How right the simulator is: the same workloads here and simulated, constants measured here.

`worlds` runs one workload natively or simulated, `calibration` finds a machine file's costs for
this host, `comparison` compares the two, workload by workload.
"""
