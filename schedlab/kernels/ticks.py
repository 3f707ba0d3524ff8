"""The tick rates that the kernel's own configuration offers."""

from typing import Literal, get_args

Hz = Literal[100, 250, 300, 1000]
HZ: tuple[Hz, ...] = get_args(Hz)
HZ_USUAL: Hz = 250
