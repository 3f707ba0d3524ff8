"""Tests of schedlab.recording."""
