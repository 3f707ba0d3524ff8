"""The levels of a topology, from SMT siblings outwards."""

from typing import Literal, get_args

Level = Literal["core", "cluster", "llc", "package", "node"]
LEVELS: tuple[Level, ...] = get_args(Level)
