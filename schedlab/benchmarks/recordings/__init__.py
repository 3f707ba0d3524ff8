"""Recorded workloads in other forms, loaded when a file has one."""
