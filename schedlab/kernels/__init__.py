"""Kernels for the simulator: trees the user has, patches on them, and what is built of both.

A *base* is a kernel tree of a supported series; a *recipe* is a base with patches and a
configuration; a *build* is the simulator made of a recipe, cached by its content.
"""

from schedlab.base.errors import SchedlabError


class KernelError(SchedlabError):
    """A kernel tree or patch is refused, or the simulator cannot be built of it."""


class HostRefused(KernelError):
    """A full disk, a killed compiler or a missing tool: it says nothing about what was built."""


class EngineChanged(KernelError):
    """The simulator's own sources changed while something was built of them."""
