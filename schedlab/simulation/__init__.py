"""What a simulator is given, and what it answers.

`scenario` makes a scenario of a benchmark's model and a variant's settings, `outcome` reads the
result, `readers` and `without_effect` say where a setting was never asked for.
"""
