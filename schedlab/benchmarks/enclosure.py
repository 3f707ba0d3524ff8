"""A file that goes with a run: it lies in the run's folder, and so in the result."""

from dataclasses import dataclass
from pathlib import Path

from schedlab.base.errors import writing
from schedlab.base.system.inside import inside


@dataclass(frozen=True)
class Enclosure:
    """What a command or a simulated workload reads by `name` in its folder."""

    name: str
    text: str
    source: str
    """Where it came from, for messages."""

    def put(self, folder: Path) -> None:
        """Write it into a folder; HostError where that fails."""
        path = inside(folder, self.name, self.source)
        with writing(path):
            path.write_text(self.text, encoding="utf-8", errors="surrogateescape")
