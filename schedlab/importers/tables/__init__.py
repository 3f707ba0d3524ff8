"""Shapes of tables in plain text: one module a shape."""
