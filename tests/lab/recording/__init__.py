"""Tests of schedlab.lab.recording."""
