"""What a simulator is given, and what it answers.

`scenario` makes a scenario of a benchmark's model and a variant's settings, `outcome` reads the
result, `without_effect` names the settings that change nothing there.
"""
