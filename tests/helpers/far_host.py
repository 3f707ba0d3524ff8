"""This host as another one: an ssh daemon of our own, on a port and with keys of its own."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

SSHD = Path("/usr/sbin/sshd")


class FarHost:
    """An ssh daemon, and an `ssh` that knows it by a name."""

    def __init__(self, folder: Path, apart: bool = False) -> None:
        """Make its keys; one that is `apart` has processes of its own, as another host has."""
        folder.mkdir(exist_ok=True)
        self._apart = (
            ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"] if apart else []
        )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.name = f"far-{self.port}"
        self._folder = folder
        self._daemon: subprocess.Popen[bytes] | None = None
        for key in ("host", "user"):
            argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)]
            subprocess.run(argv, check=True)
        (folder / "authorized").write_text((folder / "user.pub").read_text())
        public = (folder / "host.pub").read_text()
        (folder / "known").write_text(f"[127.0.0.1]:{self.port} {public}")
        (folder / "sshd_config").write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\n"
            f"AuthorizedKeysFile {folder}/authorized\nStrictModes no\nUsePAM no\n"
            f"PidFile none\nPermitRootLogin yes\nSetEnv XDG_CACHE_HOME={folder}/cache\n"
        )
        self.config = folder / "config"
        self.config.write_text(
            f"Host {self.name}\n HostName 127.0.0.1\n Port {self.port}\n"
            f" IdentityFile {folder}/user\n IdentitiesOnly yes\n"
            f" UserKnownHostsFile {folder}/known\n"
        )
        bin_ = folder / "bin"
        bin_.mkdir()
        (bin_ / "ssh").write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {folder}/config "$@"\n')
        (bin_ / "ssh").chmod(0o755)
        self.path = f"{bin_}:{os.environ['PATH']}"
        """Where `ssh` is the one that knows this host."""

    def up(self) -> None:
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        argv = [*self._apart, str(SSHD), "-D", "-e", "-f", str(self._folder / "sshd_config")]
        with (self._folder / "log").open("ab") as log:
            self._daemon = subprocess.Popen(argv, stderr=log)
        while True:
            with socket.socket() as asking:
                if asking.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            assert self._daemon.poll() is None, (self._folder / "log").read_text()
            time.sleep(0.02)

    def down(self) -> None:
        """Cut every connection at once, and take no more."""
        if self._daemon:
            for pid in self._sessions(self._daemon.pid):
                with contextlib.suppress(ProcessLookupError):  # it ended by itself meanwhile
                    os.kill(pid, signal.SIGKILL)
            self._daemon.kill()
            self._daemon.wait()
            self._daemon = None

    def _sessions(self, daemon: int) -> list[int]:
        """Return the daemon's own processes, without the shells and programs below them."""
        found = []
        for child in Path(f"/proc/{daemon}/task/{daemon}/children").read_text().split():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                if Path(f"/proc/{child}/comm").read_text().startswith("sshd"):
                    found += [int(child), *self._sessions(int(child))]
        return found
