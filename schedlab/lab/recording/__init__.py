"""Recordings of real or simulated systems: traces in, workloads and statistics out."""
