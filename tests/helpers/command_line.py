"""The command line as tests call it."""

from collections.abc import Callable

Cli = Callable[..., tuple[int, str, str]]
"""Takes the words of a command; gives its status, output and errors."""
