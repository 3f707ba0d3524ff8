"""Finding the commit of a range at which something changed, on simulated machines."""
