"""Simulators for the tests of the engine: builds, scenarios, tables and hostile input."""
