"""Published results in, result folders out: one module a shape of document."""
