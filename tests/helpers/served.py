"""A benchmark of a server and a load that asks it, and a lab in a process of its own to run it.

Run as `python -m tests.helpers.served ROOT WORDS...`: `schedlab WORDS...`, with the lab's state and
lock below ROOT. Server and load write their process ids to ROOT/pids; the load waits while there is
ROOT/wait.
"""

import sys
from pathlib import Path

import schedlab.base.system.ssh
import schedlab.targets.host
from schedlab.base.system import LocalSystem
from schedlab.benchmarks.benchmark import Benchmark, Command
from schedlab.benchmarks.metric import Metric
from schedlab.benchmarks.server import ADDRESS, PORT, Server
from schedlab.benchmarks.tool import Tool
from schedlab.cli import main

USUAL_PORT = 27431
STATE_THERE = "$XDG_CACHE_HOME/state"
"""The folder of the lock at the far end, which is not that of this host."""
_TIME = Metric("time", "s", "lower", "Time (sec)")
_SERVER = """
import os, socket, sys
open("ROOT/pids", "a").write(f"{os.getpid()}\\n")
with socket.create_server((sys.argv[1], int(sys.argv[2]))) as listening:
    print("ready to answer", flush=True)
    while True:
        asking, peer = listening.accept()
        asking.sendall(b"yes")
        asking.close()
"""
_LOAD = """
import os, pathlib, socket, sys, time
root = pathlib.Path("ROOT")
open(root / "pids", "a").write(f"{os.getpid()}\\n")
def answer(address):
    with socket.create_connection((address, int(sys.argv[2]))) as asking:
        return asking.recv(10).decode()
try:
    print("elsewhere:", answer("127.0.0.1"))
except OSError:
    print("elsewhere: nobody")
said = answer(sys.argv[1])
(root / "asked").touch()
while (root / "wait").exists():
    time.sleep(0.02)
print("answer:", said)
print("Time: 1.0")
"""


def asked(root: Path) -> Benchmark:
    """Return the benchmark."""

    def build() -> Command:
        server, load = (script.replace("ROOT", str(root)) for script in (_SERVER, _LOAD))
        return Command(
            *(sys.executable, "-c", load, ADDRESS, PORT),
            server=Server((sys.executable, "-c", server, ADDRESS, PORT), USUAL_PORT),
        )

    return Benchmark(
        name="Asked",
        summary="Asks a server once.",
        tool=Tool(sys.executable, package="python3"),
        tools=(),
        metrics=(_TIME,),
        parse=lambda output: {_TIME: output.number_after("Time:")},
        build=build,
        defaults={},
    )


class Here(LocalSystem):
    """This host, as a lab sees it that is alone and another host than the far one."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self._state = root / "state"

    def state_folder(self) -> Path:
        return self._state

    def boot_id(self: LocalSystem) -> str:
        return "another"


if __name__ == "__main__":
    from schedlab.benchmarks.benchmark import REGISTRY

    root = Path(sys.argv.pop(1))
    REGISTRY["Asked"] = asked(root)
    schedlab.base.system.ssh._STATE_THERE = STATE_THERE
    schedlab.targets.host.system = lambda which="": Here(root)
    # The hosts that labs of other tests have left something on are none of this one's.
    LocalSystem.state_folder = lambda _: root / "state"  # type: ignore[method-assign]
    LocalSystem.boot_id = Here.boot_id  # type: ignore[method-assign,assignment]
    main()
