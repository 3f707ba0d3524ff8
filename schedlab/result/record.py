"""What one run left behind, as the store keeps it and the reports read it."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from schedlab.benchmarks.metric import LARGEST

Status = Literal["ok", "failed"]
TOO_SHORT = "too short: "
"""How the caveat of a run begins that is not judged; the names of what had not settled follow."""
BRIEF = "brief: "
"""How the caveat of a run begins whose measured window is far shorter than a clock of the kernel;
it is judged all the same."""
Amount = Annotated[float, Field(ge=0, le=LARGEST)]
"""A time or share, still a number when it is multiplied for a report."""


@dataclass(frozen=True)
class RunKey:
    """Which run of a plan: benchmark case, variant and block; warm-up blocks count from -1 down."""

    case: str
    variant: str
    block: int

    @property
    def warmup(self) -> bool:
        """Return whether the run only warms the machine up and counts for nothing."""
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
    seconds: Amount = 0.0
    """Duration by the monotonic clock."""
    exit_status: int | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    counters: dict[str, float] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    """Every knob the plan touches, as read back just before this run."""
    draws: dict[str, float] = field(default_factory=dict)
    """Of a simulated run: the positions (0..1) of the machine's figures within their ranges."""
    trace: str = ""
    """Of a simulated run: the hash of all the kernel did and when; equal runs have equal ones."""
    caveats: list[str] = field(default_factory=list)
    """Why the figures need care, e.g. a capped metric; never certified equal, or not judged."""
    busy_before: Amount | None = None
    """CPU share (0..1 of all CPUs) of other work in the window before the run."""
    busy_during: Amount | None = None
    """CPU share (0..1 of all CPUs) of other work while the run lasted."""
    cpu_seconds: Amount | None = None
    """CPU time the run's own processes used, its server and its load among them."""
    raw: str = ""
    """Folder of the raw output, relative to the result folder."""

    @property
    def too_short(self) -> str:
        """What had not settled in the run, so that it is not judged; empty if nothing."""
        return self._caveat(TOO_SHORT)

    @property
    def brief(self) -> str:
        """Why the run's window says little about slow clocks; empty if it is long enough."""
        return self._caveat(BRIEF)

    def _caveat(self, kind: str) -> str:
        texts = (text for text in self.caveats if text.startswith(kind))
        return next(texts, "").removeprefix(kind)


@dataclass(frozen=True)
class Fit:
    """The size with which a benchmark's runs take about the wanted seconds."""

    parameter: str
    value: int
    seconds: float
    """The wanted ones."""
    found: str
    """How it was found, as a sentence."""
