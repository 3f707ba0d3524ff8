"""The operating system as the lab sees it: files to read and write, programs to run.

`LocalSystem` is the machine we stand on, `RemoteSystem` one that a shell reaches, `SshSystem` one
that ssh does; `EmulatedSystem` is made of recorded files.
"""

from schedlab.system.local import LocalSystem
from schedlab.system.process import Child, Exit, Launch
from schedlab.system.remote import RemoteSystem
from schedlab.system.ssh import SshSystem, hosts_known
from schedlab.system.system import Running, System

__all__ = [
    "Child",
    "Exit",
    "Launch",
    "LocalSystem",
    "RemoteSystem",
    "Running",
    "SshSystem",
    "System",
    "hosts_known",
]
