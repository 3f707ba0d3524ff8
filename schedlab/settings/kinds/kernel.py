"""The kernel of a simulated machine or a guest."""

from schedlab.settings.setting import WordSetting, because, setting
from schedlab.settings.text import KernelName


@setting
class Kernel(WordSetting):
    """A tree or build of `schedlab kernel`."""

    rank = 110
    name = key = "kernel"
    value = KernelName | None
    syntax = "kernel=NAME"
    example = "kernel=ilb-util"
    toml = 'kernel = "ilb-util"'
    help = (
        "the kernel: a tree or build of `schedlab kernel` (docs/manual/kernels.md); in a guest also"
        " a package (docs/manual/vm.md)"
    )
    where = frozenset({"sim", "vm"})
    elsewhere = because("a host runs the kernel it has booted", "host")
    shared = False

    @property
    def head(self) -> str:
        """Return the name as an option has it."""
        return f"{self.name}="
