"""One call of make: what goes in, and where what it makes is."""

from dataclasses import dataclass
from pathlib import Path

from schedlab.kernels.schedulers import Scheduler
from schedlab.kernels.shelf import Recipe

PROGRAM = "schedsim"


@dataclass(frozen=True)
class Part:
    """One call of make: what goes in, and where its objects are."""

    objects: Path
    variables: dict[str, str]
    recipe: Recipe
    scheduler: Scheduler | None = None

    @property
    def what(self) -> str:
        """Return its name for people."""
        scheduler = f" with {self.scheduler.name}" if self.scheduler else ""
        return f"{self.recipe.name} ({self.recipe.config}){scheduler}"

    @property
    def program(self) -> Path:
        """Return where make leaves the simulator."""
        return Path(self.variables.get("SCX_OUT", self.objects)) / PROGRAM
