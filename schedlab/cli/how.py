"""Options on how a plan is run that are not part of the plan."""

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schedlab.lab.result import Lab


@dataclass(frozen=True)
class How:
    """The options of `schedlab run` that are not of the plan."""

    resume: Path | None = None
    jobs: int | None = None
    cluster: str | None = None
    dry_run: bool = False
    output: Path | None = None
    fail_on: str | None = None
    plan_file: Path | None = None
    """The file of the plan that is named, if one is."""

    def lab(self) -> "Lab":
        """Return how plans are run, with progress on standard error."""
        from schedlab.cli.watcher import ConsoleWatcher
        from schedlab.lab.result import Lab

        return Lab(self.jobs, self.cluster, ConsoleWatcher(), invocation(), self.plan_file)


def invocation() -> str:
    """Return the command line as a shell would take it."""
    return shlex.join(["schedlab", *sys.argv[1:]])


def given_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given; 0 and an empty text are values too."""
    return {
        key: value
        for key, value in options.items()
        if value is not None and value is not False and value != ()
    }
