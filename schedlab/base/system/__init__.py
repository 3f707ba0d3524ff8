"""The operating system as the lab sees it: files to read and write, programs to run.

`LocalSystem` is the machine we stand on, `RemoteSystem` one that a shell reaches, `SshSystem` one
that ssh does; `EmulatedSystem` is made of recorded files.
"""

from schedlab.base.system.local import LocalSystem
from schedlab.base.system.process import Child, Exit, Launch
from schedlab.base.system.remote import RemoteSystem
from schedlab.base.system.ssh import SshSystem, hosts_known
from schedlab.base.system.system import Running, System

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
