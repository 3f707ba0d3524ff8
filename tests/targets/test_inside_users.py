"""Everywhere a name from elsewhere becomes a path here: hostile ones, each at its place."""

import io
import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest

import schedlab.targets.cluster
from schedlab.base.errors import OutsideError
from schedlab.base.system import LocalSystem
from schedlab.base.system.inside import parts
from schedlab.benchmarks.enclosure import Enclosure
from schedlab.kernels import KernelError, debian
from schedlab.kernels.debian import package_file
from schedlab.kernels.progress import Watch
from schedlab.kernels.unpacking import pour
from schedlab.plan.plan import Plan
from schedlab.plan.sweep import points
from schedlab.result.record import RunKey
from schedlab.targets.cluster import simulate
from schedlab.targets.emulated import EmulatedSystem
from schedlab.targets.sim_program import Call
from schedlab.targets.target import folder_name
from tests.helpers.command_line import Cli


def test_files_that_come_to_a_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = SimpleNamespace(local_directory=str(tmp_path))
    monkeypatch.setattr(schedlab.targets.cluster, "get_worker", lambda: worker)
    paths = [tmp_path / name for name in ("program", "machine", "scenario", "result")]
    call = Call(*paths, seed=1)
    for program, files in (("x", {"../victim": b"x"}), ("x", {"/victim": b"x"}), ("../sh", {})):
        with pytest.raises(OutsideError, match="a call of lab mine: the name"):
            simulate("mine", program, call, files, 1.0)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["../victim", "/victim", "a\nb", ""])
def test_files_that_go_with_a_run(name: str, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with pytest.raises(OutsideError, match=r"theirs\.json: the name"):
        Enclosure(name, "text", "theirs.json").put(tmp_path / "run")
    assert not (tmp_path / "victim").exists()


def test_a_document_whose_name_would_lead_elsewhere(cli: Cli, tmp_path: Path) -> None:
    document = tmp_path / "...md"
    output = tmp_path / "one" / "two"
    status, _, errors = cli("import", document, tmp_path / "b.md", "--output", output)
    assert status == 2
    assert f"{document}: the name '..' has '..' in it" in errors
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kernel", ["..", "x" * 300])
def test_results_of_a_sweep(kernel: str) -> None:
    plan = Plan.model_validate(
        {
            "target": "sim:smp4",
            "suite": "hackbench",
            "variant": [{"name": "a"}, {"name": "b"}],
            "sweep": {"kernel": ["6.1", kernel]},
        }
    )
    names = list(points(plan))
    assert len(names) == 2
    assert all(parts(name, "a sweep's result") == [name] for name in names)


def test_labels_become_one_folder_each() -> None:
    for label in ("../../x", "a/b", "a\0b", "a\nb\x1b[31m", "/etc"):
        assert not set(folder_name("00001", RunKey(label, "base", 0))) & set("/\0\n\x1b ")


def test_links_of_an_emulated_host_stay_in_its_copy(tmp_path: Path) -> None:
    victim = tmp_path / "swappiness"
    victim.write_text("60\n")
    knobs = tmp_path / "host" / "root" / "proc/sys/vm"
    knobs.mkdir(parents=True)
    (tmp_path / "host/host.toml").write_text('title = "hostile"\n')
    (knobs / "swappiness").symlink_to(victim)
    (knobs / "dirty").symlink_to(tmp_path)
    (knobs / "fine").symlink_to("real")
    (knobs / "real").write_text("1\n")
    system = EmulatedSystem(tmp_path / "host")
    for path in ("/proc/sys/vm/swappiness", "/proc/sys/vm/dirty/swappiness", "/../swappiness"):
        with pytest.raises(OutsideError):
            system.write(path, "1")
        with pytest.raises(OutsideError):
            system.read(path)
    assert victim.read_text() == "60\n"
    system.write("/proc/sys/vm/fine", "2")
    assert system.read("/proc/sys/vm/real") == "2"
    assert LocalSystem().path("/proc/../etc") == Path("/proc/../etc"), "this host's own"


def test_a_package_whose_name_or_version_would_lead_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, version, file in (
        ("../x", "1", "x.deb"),
        ("x", "1/../../..", "x.deb"),
        ("x", "1", "../x.deb"),
        ("x", "1", "/x.deb"),
    ):
        package = debian._Package(name, version, None, file, 1)
        monkeypatch.setattr(debian, "_offered", lambda *_, package=package: package)
        with pytest.raises(OutsideError, match=r"apt's package .*: the name"):
            package_file(name, "boot/vmlinuz-*", tmp_path / "cache", Watch())
        assert not list(tmp_path.rglob("*.deb"))


def test_a_package_whose_kernel_is_a_link_that_leads_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = debian._Package("linux-image", "1", None, "x.deb", 1)
    monkeypatch.setattr(debian, "_offered", lambda *_: package)
    boot = tmp_path / "linux-image-1/boot"
    boot.mkdir(parents=True)
    (boot / "vmlinuz-1").symlink_to("/etc/passwd")
    with pytest.raises(OutsideError, match=r"apt's package linux-image: .* by a link"):
        package_file("linux-image", "boot/vmlinuz-*", tmp_path, Watch())


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, target
    made.size = 1 if kind == tarfile.REGTYPE else 0
    return made


@pytest.mark.parametrize(
    "members",
    [
        [member("linux/../../victim")],
        [member("linux/a/../../../victim")],
        [member("linux/out", tarfile.SYMTYPE, ".."), member("linux/out/victim")],
        [member("linux/out", tarfile.SYMTYPE, "{top}"), member("linux/out/victim")],
        [member("linux/hard", tarfile.LNKTYPE, "../private"), member("linux/hard")],
        [member("linux/hard", tarfile.LNKTYPE, "{top}/private"), member("linux/hard")],
    ],
)
def test_a_tarball_of_a_tree(members: list[tarfile.TarInfo], tmp_path: Path) -> None:
    """GNU tar unpacks trees; what it does with such names is held here."""
    (tmp_path / "private").write_text("before")
    folder = tmp_path / "one"
    folder.mkdir()
    archive = tmp_path / "linux.tar"
    with tarfile.open(archive, "w") as tar:
        for each in members:
            each.linkname = each.linkname.format(top=tmp_path)
            tar.addfile(each, io.BytesIO(b"x"))
    argv = ["tar", "-x", "-f", "-", "--strip-components=1", "-C", str(folder), "linux"]
    with pytest.raises(KernelError, match="cannot be unpacked"):
        for _ in pour(archive, [argv]):
            pass
    assert {path.name for path in tmp_path.iterdir()} == {"private", "one", "linux.tar"}
    assert (tmp_path / "private").read_text() == "before"
    assert not (tmp_path / "private").stat().st_nlink > 1
