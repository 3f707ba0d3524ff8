"""What a variant changes on a host: one module per kind of setting, each giving knobs.

A knob is one value in a kernel file that can be read, written and put back.
"""
