"""The operating system as the lab sees it: files to read and write, programs to run.

`LocalSystem` is the machine we stand on; `EmulatedSystem` is made of recorded files.
"""

from schedlab.system.local import LocalSystem
from schedlab.system.process import Child, Exit, Launch

__all__ = ["Child", "Exit", "Launch", "LocalSystem"]
