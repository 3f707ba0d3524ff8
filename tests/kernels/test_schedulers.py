"""Sources of sched_ext schedulers: what belongs to one, and which paths are refused."""

import subprocess
from pathlib import Path

import pytest

from schedlab.kernels import KernelError
from schedlab.kernels.progress import Watch
from schedlab.kernels.schedulers import Scheduler, find_scheduler
from schedlab.kernels.scx_programs import ScxPrograms
from schedlab.kernels.shelf import Base


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Base:
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path / "cache"))
    for file in ("kernel/sched/core.c", "kernel/sched/ext.c", "tools/sched_ext/scx_simple.c"):
        (tmp_path / "tree" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / file).touch()
    origin = "a folder"
    tree = tmp_path / "tree"
    return Base(name="t", series="7.3", release="7.3.4", origin=origin, tree=tree, reach=())


def test_a_header_in_any_folder_and_of_any_name_belongs_to_it(tmp_path: Path) -> None:
    """An edited header is another scheduler: its simulator is linked anew."""
    source, header, other = (tmp_path / name for name in ("s/x.bpf.c", "s/sub/own.h", "c/o.inc"))
    for file in (source, header, other):
        file.parent.mkdir(exist_ok=True, parents=True)
    source.write_text('#include "sub/own.h"\n')
    header.write_text('#include "../../c/o.inc"\n')
    other.write_text("#define A 1\n")
    contents = [Scheduler(source).content]
    other.write_text("#define A 2\n")
    contents.append(Scheduler(source).content)
    header.write_text("\n" + header.read_text())
    contents.append(Scheduler(source).content)
    assert len(set(contents)) == 3


@pytest.mark.parametrize("name", ["x`id`.bpf.c", "x;id;y.bpf.c", "x(1).bpf.c", "x*.bpf.c"])
def test_a_name_that_a_shell_reads_otherwise_is_refused(
    tmp_path: Path, base: Base, name: str
) -> None:
    (tmp_path / name).touch()
    with pytest.raises(KernelError, match="in the path: make and the compiler cannot work with"):
        find_scheduler(str(tmp_path / name), True, base)


def test_what_a_guest_cannot_be_given_is_refused(tmp_path: Path, base: Base) -> None:
    """A scheduler without a program in the tree, and a kernel without types."""
    image = tmp_path / "bzImage"
    elf = tmp_path / "elf"
    subprocess.run(["gcc", "-shared", "-nostdlib", "-x", "c", "/dev/null", "-o", elf], check=True)
    packed = subprocess.run(["gzip", "-c", elf], capture_output=True, check=True).stdout
    image.write_bytes(b"a loader" + packed)
    programs = ScxPrograms(base, image, Watch())
    with pytest.raises(KernelError, match="t has no program for the scheduler 'lavd'"):
        programs.loader("lavd")
    with pytest.raises(KernelError, match="this kernel has no types for BPF; it takes CONFIG_DEB"):
        programs.types()
    image.write_bytes(b"nothing that is packed")
    with pytest.raises(KernelError, match="cannot be unpacked"):
        programs.types()
