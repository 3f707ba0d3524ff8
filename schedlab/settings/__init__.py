"""What a variant changes: the kinds of settings, and their knobs on a host.

A knob is one value in a kernel file that can be read, written and put back.
"""
