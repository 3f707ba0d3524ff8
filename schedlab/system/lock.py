"""One lab a host: an abstract socket is the lock, so it ends with its process, however it ends."""

import socket
import struct

from schedlab.errors import HostError


class HostLock:
    """Held from entry to exit of a `with` block."""

    def __init__(self, name: str) -> None:
        """Take the lock's name."""
        self._address = f"\0schedlab:{name}"
        self._socket: socket.socket | None = None

    def __enter__(self) -> None:
        """Take the lock.

        Raises:
            HostError: another lab runs on this host.
        """
        held = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            held.bind(self._address)
            held.listen()
        except OSError:
            held.close()
            raise HostError(
                f"another schedlab runs on this host{self._holder()}; two would measure each other."
                "\n  Wait for its end, or stop it with Ctrl-C: its results are kept."
            ) from None
        self._socket = held

    def __exit__(self, *_: object) -> None:
        """Give the lock back."""
        if self._socket:
            self._socket.close()

    def _holder(self) -> str:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
            try:
                asking.settimeout(1)
                asking.connect(self._address)
                packed = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            except OSError:
                return ""
        return f" (process {struct.unpack('3i', packed)[0]})"
