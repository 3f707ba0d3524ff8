"""The journal of a long comparison: what is done is kept, so that it can be gone on with."""

import json
from pathlib import Path
from typing import Any


class Journal:
    """What is done of a long comparison, a line of JSON each, so that it can be gone on with."""

    def __init__(self, path: Path, about: str) -> None:
        """Read what is there of the same comparison; the journal of another one is replaced.

        Args:
            path: the file.
            about: what must be the same, such as the machine and the simulator's build.
        """
        self._path = path
        self._found: dict[str, Any] = {}
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        entries = [entry for line in lines if (entry := _entry(line)) is not None]
        if not entries or entries[0] != {"about": about}:
            entries = [{"about": about}]
        self._found = {entry["key"]: entry["value"] for entry in entries[1:] if "key" in entry}
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(f"{json.dumps(entry)}\n" for entry in entries)
        path.write_text(text, encoding="utf-8")  # without a line that was cut off

    def __contains__(self, key: str) -> bool:
        """Return whether something is done."""
        return key in self._found

    def __getitem__(self, key: str) -> Any:
        """Return what was put there."""
        return self._found[key]

    def put(self, key: str, value: Any) -> None:
        """Add something that is done."""
        self._found[key] = value
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "value": value}) + "\n")

    def end(self) -> None:
        """Remove the file: all is done."""
        self._path.unlink(missing_ok=True)


def _entry(line: str) -> Any:
    """Return a line's entry; None of one that was cut off."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
