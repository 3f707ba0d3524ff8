"""What one run left behind, as the store keeps it and the reports read it."""

from dataclasses import dataclass, field
from typing import Literal

Status = Literal["ok", "failed"]


@dataclass(frozen=True)
class RunKey:
    """Which run of a plan: benchmark case, variant and block; warm-up blocks count from -1 down."""

    case: str
    variant: str
    block: int

    @property
    def warmup(self) -> bool:
        """Tell whether the run only warms the machine up and counts for nothing."""
        return self.block < 0


@dataclass
class RunRecord:
    """One execution of a benchmark: what was asked, what was set, what came out."""

    key: RunKey
    position: int
    """How many runs of this result came before: the run order."""
    seed: int
    command: str
    """The exact command line, with wrappers, as a shell would take it."""
    status: Status = "ok"
    error: str = ""
    """Why a failed run failed."""
    started: str = ""
    """Wall clock at start, ISO 8601 with zone."""
    seconds: float = 0.0
    """Duration by the monotonic clock."""
    exit_status: int | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    counters: dict[str, float] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    """Every knob the plan touches, as read back just before this run."""
    caveats: list[str] = field(default_factory=list)
    """Why the figures need care, e.g. a capped metric; never certified equal."""
    busy_before: float | None = None
    """CPU share (0..1 of all CPUs) of other work in the window before the run."""
    busy_during: float | None = None
    """CPU share (0..1 of all CPUs) of other work while the run lasted."""
    cpu_seconds: float | None = None
    """CPU time the run's own processes used."""
    raw: str = ""
    """Folder of the raw output, relative to the result folder."""
