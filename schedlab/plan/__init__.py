"""A plan: what is run, how often, in which order of values. Models alone, nothing is run here."""
