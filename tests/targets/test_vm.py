"""Guests: the shape QEMU gets of a machine, their files, and one that is really booted."""

import gzip
import json
import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from schedlab.base.data import machine_file
from schedlab.base.errors import SchedlabError, SystemLost, UsageError
from schedlab.kernels import KernelError
from schedlab.kernels.progress import Watch
from schedlab.lab.accuracy.kernel import VERBOSE, aspects
from schedlab.lab.accuracy.validation import real_kernel, simulated_kernel
from schedlab.lab.recording.recorder import PROGRAMS, Request
from schedlab.lab.recording.recorder import record as make_recording
from schedlab.lab.recording.setup import HEAD, read_setup
from schedlab.machine.here import describe
from schedlab.machine.model import Machine, find_machine
from schedlab.machine.standin import completed
from schedlab.plan.plan import BenchmarkEntry, Plan
from schedlab.result.store import Store
from schedlab.settings.variant import Variant, parse_variant
from schedlab.targets.choice import opened_system
from schedlab.targets.guest import kernel as guest_kernel
from schedlab.targets.guest.guest import QEMU
from schedlab.targets.guest.initramfs import Initramfs
from schedlab.targets.guest.kernel import (
    Kernel,
    find_kernel,
    kernel_config,
    newest,
    variants_kernel,
)
from schedlab.targets.guest.shape import shape_of
from schedlab.targets.vm import Booted, VmSession, VmTarget
from tests.helpers import builds
from tests.helpers.command_line import Cli

SERIES = "6.1"


def machine(**topology: object) -> Machine:
    return Machine.model_validate({"name": "m", "cpus": "0-7", "topology": topology})


def kernel_or_skip() -> None:
    if shutil.which(QEMU) is None:
        pytest.skip(f"{QEMU} is not installed (Debian package qemu-system-x86)")
    try:
        find_kernel(SERIES, Watch())
    except SchedlabError as why:
        pytest.skip(f"no kernel of Debian's for guests: {str(why).splitlines()[0]}")


def test_sockets_cores_threads_and_nodes() -> None:
    shape = shape_of(find_machine("small-2n-smt2"))
    assert shape.options()[:4] == ["-smp", "8,sockets=2,cores=2,threads=2", "-m", "2048M"]
    options = " ".join(shape.options())
    assert "node,nodeid=0,cpus=0-3,memdev=m0" in options
    assert "node,nodeid=1,cpus=4-7,memdev=m1" in options
    assert "dist,src=0,dst=1,val=20" in options
    assert not shape.not_shown


def test_a_package_of_several_caches_is_as_many_sockets() -> None:
    shape = shape_of(machine(core=["0,4", "1,5", "2,6", "3,7"], llc=["0-1,4-5", "2-3,6-7"]))
    assert (shape.sockets, shape.cores, shape.threads) == (2, 2, 2)
    assert shape.nodes == ((0, 1, 2, 3, 4, 5, 6, 7),)
    assert shape.not_shown == (
        "packages with several last-level caches are as many sockets",
        "CPUs are numbered thread by thread, core by core",
    )


def test_nodes_are_numbered_as_the_guest_does() -> None:
    shape = shape_of(
        machine(
            core=["0,4", "1,5", "2,6", "3,7"],
            package=["0-1,4-5", "2-3,6-7"],
            node=["0-1,4-5", "2-3,6-7"],
            distance=[[10, 32], [32, 10]],
        )
    )
    assert shape.nodes == ((0, 1, 2, 3), (4, 5, 6, 7))
    assert "dist,src=1,dst=0,val=32" in shape.options()


@pytest.mark.parametrize(
    "levels", [{"core": ["0-1", *"234567"]}, {"llc": ["0-2", "3-7"], "package": ["0-2", "3-7"]}]
)
def test_what_qemu_cannot_show_is_refused(levels: dict[str, list[str]]) -> None:
    with pytest.raises(UsageError, match="QEMU's cores all have the same number of threads"):
        shape_of(machine(**levels))


def test_boot_options_are_a_setting_of_guests_only() -> None:
    variant = parse_variant("iso: cmdline isolcpus=2,3 nohz_full=2,3; kernel=mine")
    assert (variant.cmdline, variant.kernel) == ("isolcpus=2,3 nohz_full=2,3", "mine")


def test_an_initramfs_holds_programs_with_their_libraries(tmp_path: Path) -> None:
    archive = Initramfs()
    archive.add_program(Path("/bin/sh").resolve(), "/bin/sh")
    archive.write(tmp_path / "initramfs")
    content = (tmp_path / "initramfs").read_bytes()
    assert content.startswith(b"070701") and len(content) % 4 == 0
    for name in (b"bin/sh\0", b"libc.so.6\0", b"dev/console\0", b"TRAILER!!!\0"):
        assert name in content
    assert Path("/bin/sh").read_bytes() in content


@pytest.mark.parametrize(
    ("packages", "wanted"),
    [
        (["linux-image-6.1.0-9-cloud-amd64", "linux-image-6.1.0-56-cloud-amd64"], 1),
        (["linux-image-7.3.10-cloud-amd64", "linux-image-7.3.4-cloud-amd64"], 0),
        (["linux-binary-7.3.4-cloud-amd64", "linux-image-7.3.4-cloud-amd64"], 0),
        (["linux-image-7.3.4-cloud-amd64", "linux-binary-7.3.4-cloud-amd64"], 1),
        (["linux-binary-7.3.4-cloud-amd64", "linux-image-7.3.5-cloud-amd64"], 1),
    ],
)
def test_the_newest_kernel_of_a_series(packages: list[str], wanted: int) -> None:
    assert newest(packages) == packages[wanted]


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="no dpkg-deb here")
def test_a_package_that_the_user_gives_has_its_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, files in {
        "linux-image-6.13.0-mine": ["boot/vmlinuz-6.13.0-mine"],
        "empty": [],
    }.items():
        root = tmp_path / name
        (root / "DEBIAN").mkdir(parents=True)
        (root / "DEBIAN/control").write_text(
            f"Package: {name}\nVersion: 1\nArchitecture: amd64\n"
            "Maintainer: me <me@example.org>\nDescription: a kernel\n"
        )
        for file in files:
            (root / file).parent.mkdir()
            (root / file).write_text(name)
        subprocess.run(["dpkg-deb", "-b", root, f"{root}.deb"], check=True, capture_output=True)
    package = f"{tmp_path}/linux-image-6.13.0-mine.deb"
    assert parse_variant(f"mine: kernel={package}").kernel == package
    for _ in range(2):
        for kernel in (find_kernel(package, Watch()), variants_kernel(package, Watch())):
            assert kernel.file.read_text() == "linux-image-6.13.0-mine"
            assert kernel.title == package
    with pytest.raises(KernelError, match=r"empty\.deb has no \*\*/vmlinuz"):
        find_kernel(f"{tmp_path}/empty.deb", Watch())
    (tmp_path / "broken.deb").write_text("garbage")
    with pytest.raises(KernelError, match=r"broken\.deb cannot be unpacked: dpkg-deb: error"):
        find_kernel(f"{tmp_path}/broken.deb", Watch())
    with pytest.raises(UsageError, match=r"none\.deb: there is no such kernel image"):
        variants_kernel("none.deb", Watch())


def test_a_variants_series_without_a_boot_image_is_debians(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path))
    debians = Kernel(tmp_path / "vmlinuz", "Debian's")
    monkeypatch.setattr(guest_kernel, "find_kernel", lambda which, watch: debians)
    assert variants_kernel("6.12", Watch()) == debians
    with pytest.raises(KernelError, match="mine"):
        variants_kernel("mine", Watch())


def test_a_kernels_configuration_lies_where_libbpf_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """scx_central asks for CONFIG_HZ: without the file it is not loaded."""
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path))
    image = tmp_path / "debian" / "linux-image-6.12.9-1" / "boot" / "vmlinuz-6.12.9"
    config = image.with_name("config-6.12.9")
    config.parent.mkdir(parents=True)
    config.touch()
    assert kernel_config(Kernel(image, ""), Watch()) == {"boot/config-6.12.9": config}
    assert kernel_config(Kernel(tmp_path / "bzImage", ""), Watch()) == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "vm:6.1"], "a guest needs a machine to show; name one with --machine"),
        (["--target", "vm:/none", "--machine", "small-2n-smt2"], "there is no such kernel image"),
        (["--machine", "small-2n-smt2"], "only the target vm:KERNEL takes a machine"),
        (["--variant", "x: cmdline quiet", "--no-counters"], "a host has booted already"),
    ],
)
def test_what_cannot_be_asked_for(
    cli: Cli, tmp_path: Path, options: list[str], message: str
) -> None:
    given = ["run", "--benchmark", "SysBenchCpu:time=1", "--output", tmp_path / "out", *options]
    status, _, err = cli(*given, *(() if "--variant" in options else ("--aa",)))
    assert status == 2
    assert message in err


def test_the_same_plan_runs_in_a_guest(cli: Cli, tmp_path: Path) -> None:
    kernel_or_skip()
    out, half = tmp_path / "out", tmp_path / "half.toml"
    whole = machine_file("small-2n-smt2").read_text()
    fewer = whole.replace("cpus = 8 ", "cpus = 4 ").replace('"0-3", "4-7"', '"0-1", "2-3"')
    half.write_text(fewer)  # each CPU takes its time to boot
    asked = (
        *("run", "--target", f"vm:{SERIES}", "--machine", half),
        *("--benchmark", "HackbenchPipeThreads:groups=1,loops=20"),
        *("--variant", "base", "--variant", "nb: sysctl kernel.numa_balancing=0; NO_WA_IDLE"),
        *("--blocks", 2, "--warmup", 0, "--counters", "tracepoints,procstat", "--output", out),
    )
    status, text, err = cli(*asked)
    if "panicked or hangs" in err:  # as an emulated guest on a busy host does now and then
        status, text, err = cli(*asked)
    assert status == 0, err
    store = Store.open(out)
    assert store.machine.nr_cpus == 4
    assert [len(core) for core in store.machine.groups("core")] == [2, 2]
    assert len(store.machine.groups("node")) == 2
    assert store.machine.groups("llc") == store.machine.groups("node")
    assert store.environment["Kernel release"].startswith(f"{SERIES}.")
    assert store.environment["Kind"] in " ".join(text.split())
    for record in store.records():
        assert record.status == "ok", record.error
        assert record.metrics["time"] > 0
        assert record.counters["context-switches"] > 100
        assert record.counters["sched:sched_migrate_task"] > 0
        base = record.key.variant == "base"
        assert record.settings == {
            "kernel.numa_balancing": "1" if base else "0",
            "sched_feature WA_IDLE": "WA_IDLE" if base else "NO_WA_IDLE",
        }
        assert (out / record.raw / "stdout.txt").read_text().startswith("Running")


def test_a_command_is_recorded_in_a_guest(tmp_path: Path) -> None:
    """Its shell takes lines longer than an interactive one's 4,095 bytes, as perf's are."""
    kernel_or_skip()
    if shutil.which("perf") is None:
        pytest.skip("perf is not installed (Debian package linux-perf)")
    file = tmp_path / "guest.gz"
    asked = Request(1.0, ("hackbench", "-g", "1", "-f", "2", "-l", "2"), light=True)
    wanted = (*PROGRAMS, "hackbench")
    with opened_system(f"vm:{SERIES}", "smp4", wanted, Watch()) as guest:
        assert guest.capture(("echo", "x" * 9000)).stdout == f"{'x' * 9000}\n"
        assert make_recording(guest, asked, tmp_path, file).lines > 100
    head, *lines = gzip.decompress(file.read_bytes()).decode().splitlines()
    setup = read_setup(json.loads(head.removeprefix(HEAD)))
    assert setup and setup.machine and setup.machine.nr_cpus == 4
    assert setup.kernel.startswith(f"{SERIES}.") and setup.restricted_to == "the command"
    assert setup.descriptors_before and setup.inherited
    assert any("sched:sched_switch:" in line and "hackbench" in line for line in lines)


def test_a_guest_is_recorded_with_a_command_only(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "guest.gz"
    for asked, message in (
        (("--target", "vm:6.1", "--machine", "smp4"), "a guest is booted for a COMMAND"),
        (("--target", "vm:6.1", "--", "true"), "a guest needs a machine to show"),
        (("--target", "sim:smp4", "--", "true"), "sim:smp4 is not a host"),
        (("--machine", "smp4", "--", "true"), "only the target vm:KERNEL takes a machine"),
    ):
        status, _, err = cli("record", "--output", file, *asked)
        assert (status, message in err) == (2, True), err
        assert not file.exists()


def test_a_guest_that_hangs_before_the_first_run_is_booted_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kernel_or_skip()
    target = VmTarget(SERIES, "small-2n-smt2", [Variant(name="base")], Watch())
    booted = target.booted(Variant(name="base"))
    plan = Plan(
        benchmark=[BenchmarkEntry(name="SysBenchCpu")],
        variant=[Variant(name="base"), Variant(name="nb", sysctl={"kernel.numa_balancing": "0"})],
    )
    session = VmSession(target, plan, [], tmp_path, {v.name: booted for v in plan.variant})
    asked: list[Booted] = []

    def hangs_once(what: Booted) -> None:
        asked.append(what)
        if len(asked) == 1:
            raise SystemLost("the guest hangs")

    monkeypatch.setattr(session, "_session", hangs_once)
    session.begin(["one"])
    assert asked == [booted, booted]
    assert session.notices == ["one", f"{booted.title} was booted again: the guest hangs"]


def test_the_simulator_does_as_the_kernel_and_a_panic_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel_or_skip()
    builds.build(SERIES)
    variant = Variant(name="base", cmdline=VERBOSE)
    simulated = Variant(name="simulated", kernel=SERIES)
    target = VmTarget(SERIES, "small-2n-smt2", [variant], Watch())
    with closing(target.guests):
        guest = target.guest(variant)
        machine = completed(describe(guest)).machine
        monkeypatch.setenv("SCHEDLAB_CACHE", str(builds.CACHE))
        try:
            with real_kernel(guest) as there, simulated_kernel(machine, simulated, Watch()) as here:
                found = list(aspects(there, here))
        except SystemLost as error:  # on a busy host an emulated CPU may stand still for a minute
            if "soft lockup" not in str(error):
                raise
            pytest.skip("the emulated guest stood still: soft lockup")
        for aspect in found:
            assert not aspect.differences
            assert len(aspect.guest) >= 10
        with pytest.raises(SystemLost, match=r"(?s)killed.*Its console:.*sysrq"):
            guest.run("echo c >/proc/sysrq-trigger")
        assert not guest.alive
