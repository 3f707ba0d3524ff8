"""A result: what runs left behind, stored, merged, by boot."""
