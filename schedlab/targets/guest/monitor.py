"""QEMU's monitor, as far as the lab needs it: a guest stopped and continued."""

import json
import socket
from pathlib import Path
from typing import IO

from schedlab.base.errors import SystemLost

_PATIENCE_SECONDS = 30.0


class Monitor:
    """Speaks QMP with one QEMU."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(_PATIENCE_SECONDS)
        self._socket.connect(str(path))
        self._lines: IO[str] = self._socket.makefile("r")
        self._lines.readline()
        self._command("qmp_capabilities")

    def stop(self) -> None:
        """Stop the guest: its time stands still as well."""
        self._command("stop")

    def cont(self) -> None:
        """Resume the guest."""
        self._command("cont")

    def close(self) -> None:
        """Close the connection."""
        self._lines.close()
        self._socket.close()

    def _command(self, name: str) -> None:
        try:
            self._socket.sendall(json.dumps({"execute": name}).encode())
            while "return" not in json.loads(self._lines.readline() or '{"return": ""}'):
                pass
        except OSError as error:
            raise SystemLost(f"QEMU does not answer to '{name}'.") from error
