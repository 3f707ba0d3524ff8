"""Scenarios as regression tests: what a kernel's scheduler must do, on which machines.

A check is a TOML file (`check`); its runs are simulated and traced (`run`), and its expectations
(`expect/`, one module a kind) judge each trace as it is read (`trace`, `timeline`).
"""
