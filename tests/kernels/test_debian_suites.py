"""Debian's other suites, with an apt that only pretends."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from schedlab.kernels import KernelError
from schedlab.kernels.debian import _find
from schedlab.kernels.progress import Watch
from schedlab.kernels.shelf import Shelf

APT_GET = """\
#!/bin/sh
for word; do case $word in
	Dir::Etc::SourceParts=*) suite=$(sed -n 's/^Suites: //p' "${word#*=}/suite.sources");;
esac; done
echo "$1 ${suite:-host}" >> @LOG@
case $1 in
indextargets) cat @FOLDER@/targets;;
update)
	echo "$@" > @FOLDER@/updated
	[ "$suite" != sid ] || { echo "E: The repository 'sid' is not there"; exit 100; };;
download) grep "^'[^ ]* linux-source-7.3_" @FOLDER@/${suite:-host} 2>/dev/null || exit 100;;
esac
"""
APT_CACHE = """\
#!/bin/sh
for word; do case $word in
	Dir::Etc::SourceParts=*) suite=$(sed -n 's/^Suites: //p' "${word#*=}/suite.sources");;
esac; done
cat @FOLDER@/${suite:-host}-names 2>/dev/null
"""
HELPER = """\
#!/bin/sh
case $2 in
*/stable-backports/*) name=trixie-backports;; */stable/*) name=trixie;;
*/testing/*) name=forky;; */unstable/*) name=sid;;
esac
[ -z "$name" ] || echo "Codename: $name" > "$3"
"""
TARGETS = """\
http://one.example/debian-security/ Debian Debian-Security
http://two.example/others/ Others Debian
http://three.example/debian/ Debian Debian
"""
OFFER = "'http://x/linux-source-7.3.deb' linux-source-7.3_7.3.4-1%7ebpo13+1_all.deb 100 SHA256:0\n"


@pytest.fixture
def apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of what this apt knows: the host's lists, those of a suite, its mirrors."""
    for name, text in (
        ("apt-get", APT_GET),
        ("apt-cache", APT_CACHE),
        ("apt-helper", HELPER),
    ):
        program = tmp_path / name
        text = text.replace("@FOLDER@", str(tmp_path)).replace("@LOG@", str(tmp_path / "log"))
        program.write_text(text)
        program.chmod(0o755)
    (tmp_path / "targets").write_text(TARGETS)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr("schedlab.kernels.suites._HELPER", str(tmp_path / "apt-helper"))
    return tmp_path


def found(apt: Path) -> tuple[str, list[str]]:
    """Return the version found and the suites that were read."""
    (apt / "log").unlink(missing_ok=True)
    package = _find("linux-source-7.3", Shelf(apt / "cache"), Watch())
    read = [line.split()[1] for line in (apt / "log").read_text().splitlines() if "update" in line]
    return package.version, read


def test_what_the_host_offers_comes_first(apt: Path) -> None:
    (apt / "host").write_text(OFFER)
    assert found(apt) == ("7.3.4-1~bpo13+1", [])


def test_the_first_suite_that_has_it(apt: Path) -> None:
    (apt / "forky").write_text(OFFER.replace("%7ebpo13+1", ""))
    assert found(apt) == ("7.3.4-1", ["trixie-backports", "trixie", "forky"])
    (apt / "trixie-backports").write_text(OFFER)
    assert found(apt) == ("7.3.4-1~bpo13+1", ["trixie-backports"])
    sources = apt / "cache/kernels/apt/stable-backports/sources.d/suite.sources"
    assert "URIs: http://three.example/debian/\n" in sources.read_text()


def test_a_suite_that_cannot_be_read(apt: Path) -> None:
    (apt / "experimental").write_text(OFFER)
    assert found(apt)[1][-2:] == ["sid", "experimental"]
    (apt / "experimental").unlink()
    with pytest.raises(KernelError, match="was not found, and these lists") as raised:
        found(apt)
    assert "\n  Debian sid: The repository 'sid' is not there" in str(raised.value)


def test_a_series_that_no_suite_has(apt: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    helper = (apt / "apt-helper").read_text().replace("name=sid", "name=unstable")
    (apt / "apt-helper").write_text(helper)
    (apt / "host-names").write_text("linux-source-6.1 - the kernel's source\n")
    (apt / "forky-names").write_text("linux-source-6.12 - newer\nlinux-source-7.2 - newest\n")
    with pytest.raises(KernelError) as raised:
        found(apt)
    assert str(raised.value).splitlines()[:2] == [
        "linux-source-7.3: neither apt's lists nor Debian's stable-backports, stable, testing,"
        " unstable and experimental have it.",
        "  There are: linux-source-6.1, linux-source-6.12, linux-source-7.2.",
    ]


def test_no_mirror_of_debian(apt: Path) -> None:
    (apt / "targets").write_text(TARGETS.splitlines()[1])
    with pytest.raises(KernelError, match=r"apt does not offer linux-source-7\.3"):
        found(apt)


@pytest.mark.skipif(not shutil.which("apt-config"), reason="apt is not installed")
def test_no_hook_of_the_host_runs(apt: Path) -> None:
    """A usual one drops all downloads of the host's apt, which may be installing them."""
    (apt / "trixie-backports").write_text(OFFER)
    found(apt)
    option, file, *_ = (apt / "updated").read_text().split()[1:]
    (apt / "host.conf").write_text('APT::Update::Post-Invoke { "rm -f /of-the-host/*.deb"; };\n')
    settings = subprocess.run(
        ["apt-config", "dump", option, file],
        env=os.environ | {"APT_CONFIG": str(apt / "host.conf")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "APT::Update::Post-Invoke" in settings.stdout
    assert "/of-the-host" not in settings.stdout
