"""Debian's other suites, read by apt into lists of our own: nothing of the system changes.

A Debian 12 keeps linux-source of its own series only. Newer ones are in the backports of the
present stable release, in testing, unstable and experimental, on the mirror that the host's apt
already uses.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from schedlab.kernels.process import output
from schedlab.kernels.progress import Watch

SUITES = ("stable-backports", "stable", "testing", "unstable", "experimental")
"""Where a series is looked for, in this order; the first suite that has it is taken."""

_HELPER = "/usr/lib/apt/apt-helper"
_CODENAME = re.compile(r"^Codename: ([a-z-]+)$", re.M)
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_NO_HOOKS = """\
// What the host does after an update of its own lists, such as dropping its downloads, would hit
// an installation that is under way.
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
"""
_TARGET = re.compile(r"^(\S+) (\S+) (\S+)$", re.M)


@dataclass(frozen=True)
class Suite:
    """One suite, with lists of its own."""

    name: str
    folder: Path
    mirror: str

    @property
    def options(self) -> tuple[str, ...]:
        """What makes apt use this suite's lists, and no others."""
        settings = {
            "Dir::Etc::SourceList": "/dev/null",
            "Dir::Etc::SourceParts": self.folder / "sources.d",
            "Dir::State::Lists": self.folder / "lists",
            "Dir::Cache": self.folder / "cache",
            "Acquire::Languages": "none",
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
            # Root's apt would fetch as a user of its own, who may not write here.
            "APT::Sandbox::User": "root",
        }
        return tuple(word for key, value in settings.items() for word in ("-o", f"{key}={value}"))

    @property
    def codename(self) -> str:
        """The name under which mirrors keep it; `stable` is another suite from time to time.

        Mirrors that cache know the suites people name, and may have an old copy of the others.
        """
        if self.name == "experimental":  # whose code name nobody uses
            return self.name
        file = self.folder / "InRelease"
        file.unlink(missing_ok=True)
        output([_HELPER, "download-file", f"{self.mirror}dists/{self.name}/InRelease", str(file)])
        found = _CODENAME.search(file.read_text(errors="replace")) if file.is_file() else None
        return found[1] if found else self.name

    def read(self, watch: Watch) -> str:
        """Read the suite's lists with apt; return what went wrong, or nothing."""
        for made in ("sources.d", "lists/partial", "cache/archives/partial"):
            (self.folder / made).mkdir(parents=True, exist_ok=True)
        codename = self.codename
        hooks = self.folder / "no-hooks.conf"
        hooks.write_text(_NO_HOOKS)
        signed = f"Signed-By: {_KEYRING}\n" if _KEYRING.exists() else ""
        (self.folder / "sources.d" / "suite.sources").write_text(
            f"Types: deb\nURIs: {self.mirror}\nSuites: {codename}\nComponents: main\n{signed}"
        )
        with watch.task(f"reading the lists of Debian {codename}"):
            status, printed = output(["apt-get", "update", "-c", str(hooks), *self.options])
        wrong = [line for line in printed.splitlines() if line.startswith(("E:", "W: Failed"))]
        if status and not wrong:
            wrong = ["E: apt-get update failed"]
        return f"Debian {codename}: {wrong[0].partition(' ')[2]}" if wrong else ""


def mirror() -> str:
    """Return the address of the Debian mirror of the host's apt, empty if it has none."""
    fields = "$(REPO_URI) $(ORIGIN) $(LABEL)"
    _, printed = output(["apt-get", "indextargets", "--format", fields, "Created-By: Packages"])
    found = (address for address, *rest in _TARGET.findall(printed) if rest == ["Debian", "Debian"])
    return next(found, "")


def suites(folder: Path) -> Iterator[Suite]:
    """Return the suites to look in, with their lists below a folder; none without a mirror."""
    at = mirror()
    for name in SUITES if at else ():
        yield Suite(name, folder / name, at)
