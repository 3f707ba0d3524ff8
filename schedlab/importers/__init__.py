"""Published tables in, results out: one module a shape."""
