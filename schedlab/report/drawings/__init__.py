"""Drawings of pages, apart from the shapes: loading what draws them takes long."""
