"""Programs of this host that something needs."""

import shutil
from collections.abc import Mapping

from schedlab.base.errors import HostError, SchedlabError
from schedlab.base.words import listing


def need_programs(
    packages: Mapping[str, str], what: str, kind: type[SchedlabError] = HostError
) -> None:
    """Refuse, with the error `kind`, what needs programs that are not installed.

    Args:
        packages: the Debian packages that have each program; of a path, the program is that file.
        what: who needs them, as a subject: `a guest`.
        kind: the error to raise.
    """
    missing = {name: package for name, package in packages.items() if shutil.which(name) is None}
    if missing:
        several = len(missing) > 1
        wanted = dict.fromkeys(missing.values())
        raise kind(
            f"{listing([*missing])} {'are' if several else 'is'} not installed; {what} needs"
            f" {'them' if several else 'it'}.\n  Install: apt-get install {' '.join(wanted)}"
        )
