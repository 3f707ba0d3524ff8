"""Series of boots: order, what comes back, what does not, and going on after the lab died."""

import json
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

import schedlab.lab.boots
import schedlab.targets.booting.ssh
from schedlab.base.errors import HostError, SystemLost, UsageError
from schedlab.base.system import Exit, Launch, LocalSystem
from schedlab.judging.analysis import analyse
from schedlab.lab.boots import boot_order, resume_boots, run_boots
from schedlab.plan.plan import Plan
from schedlab.plan.reboot import Reboot
from schedlab.targets.booting import Seen, Usual, Wanted, machine_of
from schedlab.targets.booting.ssh import SshMachine, grub_entry
from schedlab.targets.choice import find_target
from schedlab.targets.emulated import EmulatedSystem
from schedlab.targets.target import Target
from tests.helpers.command_line import Cli
from tests.helpers.emulated import emulated_host, program
from tests.helpers.patience import PATIENCE_SECONDS

OLD, NEW = "5.7.0-rc5+", "6.1.0"
VARIANTS = [
    {"name": "old", "boot": {"Kernel release": OLD}},
    {"name": "new", "boot": {"Kernel release": NEW, "Kernel command line": "psi=0"}},
]


def plan(**changes: Any) -> Plan:
    return Plan.model_validate(
        {
            "target": "ssh:box",
            "benchmark": [{"name": "SysBenchCpu"}],
            "variant": VARIANTS,
            "blocks": {"looks": [2], "warmup": 0},
            "counters": [],
            **changes,
        }
    )


class Killed(BaseException):
    """The end of the lab."""


class Box:
    """An emulated host that boots at once into what it is asked for, or into what a test says."""

    name = "ssh:box"

    def __init__(self, folder: Path) -> None:
        # Each boot is worth what it is: the new kernel is 20 % faster.
        effect = {"file": "/proc/sys/kernel/osrelease", "holds": NEW, "times": 1.2}
        cpu = program(
            *("sysbench cpu", "sysbench-cpu", "4503.79"),
            value=1000.0, noise=0.001, effect=[effect],
        )  # fmt: skip
        self.host = emulated_host(folder, programs=[cpu])
        self.boots: list[str] = []
        self.powered = 0
        self.comes_back: list[Callable[[Wanted], Wanted | None]] = []
        """What becomes of the next boots; as wanted when none is left."""
        self.away = False
        self.asked_for = 0
        """How often it is still looked for in vain."""
        self._set(Wanted("", OLD))

    def _set(self, wanted: Wanted) -> None:
        root = self.host / "root/proc"
        (root / "sys/kernel/osrelease").write_text(f"{wanted.release}\n")
        (root / "sys/kernel/random/boot_id").write_text(f"boot-{len(self.boots)}\n")
        (root / "cmdline").write_text(f"quiet {' '.join(wanted.options)}\n")

    def check(self, wanted: Sequence[Wanted], usual: Usual | None = None) -> Usual:
        return usual or Usual(release=self.seen().release)

    def seen(self) -> Seen:
        self.asked_for -= 1
        if self.away or self.asked_for >= 0:
            raise SystemLost("ssh:box: cannot be reached. Connection refused")
        read = self.target().machine and self.host / "root/proc"
        release = (read / "sys/kernel/osrelease").read_text().strip()
        line = (read / "cmdline").read_text().strip()
        return Seen((read / "sys/kernel/random/boot_id").read_text().strip(), release, line)

    def boot(self, wanted: Wanted) -> None:
        self.boots.append(wanted.variant)
        comes = self.comes_back.pop(0)(wanted) if self.comes_back else wanted
        if comes is None:
            self.away = True
        else:
            self._set(comes)

    def power(self) -> bool:
        self.powered += 1
        self.away = self.powered > 1
        self._set(Wanted("", OLD))
        return True

    def target(self) -> Target:
        return find_target(f"emulated:{self.host}")


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Box:
    monkeypatch.setattr(schedlab.lab.boots, "_POLL_SECONDS", 0.01)
    return Box(tmp_path / "box")


def test_boots_are_rounds_of_all_variants_in_both_orders() -> None:
    order = [variant.name for variant in boot_order(plan(), 6)]
    pairs = list(zip(order[::2], order[1::2], strict=True))
    assert {frozenset(pair) for pair in pairs} == {frozenset(("old", "new"))}
    assert sum(pair[0] == "old" for pair in pairs) == 3
    assert order == [variant.name for variant in boot_order(plan(), 6)]


def test_a_series_boots_by_turns_and_boots_are_judged(box: Box, tmp_path: Path) -> None:
    series = plan()
    with closing(run_boots(series, 6, tmp_path / "series", machine=box)) as store:
        assert box.boots == [variant.name for variant in boot_order(series, 6)]
        [outcome] = analyse(store).outcomes
        assert outcome.verdict.word == "better"
        assert outcome.verdict.n == (6, 6), "boots, of two runs each"
        assert len(store.records()) == 24
        assert any("12 boots made by the lab, by turns" in line for line in store.notices)
        assert not any("no variant says so" in line for line in store.notices)
    made = json.loads((tmp_path / "series/boots.json").read_text())["made"]
    assert [each["state"] for each in made] == ["done"] * 12
    assert len({each["boot_id"] for each in made}) == 12


def test_what_comes_back_wrong_is_asked_for_again(box: Box, tmp_path: Path) -> None:
    box.comes_back = [lambda _: Wanted("", "4.19.0")]
    with closing(run_boots(plan(), 2, tmp_path / "series", machine=box)) as store:
        wrong = next(line for line in store.notices if "came back with" in line)
    assert "came back with kernel 4.19.0 in place of" in wrong and "attempt 1 of 2" in wrong
    assert len(box.boots) == 5


def test_what_always_comes_back_wrong_ends_the_series(box: Box, tmp_path: Path) -> None:
    box.comes_back = [lambda wanted: wanted] + [lambda _: Wanted("", "4.19.0")] * 2
    with pytest.raises(HostError, match=r"boot 2 of 4 .* came back with kernel 4\.19\.0.*2 times"):
        run_boots(plan(), 2, tmp_path / "series", machine=box)
    with closing(resume_boots(tmp_path / "series", machine=box)) as store:
        assert len(store.records()) == 8
    assert len(box.boots) == 6


def test_another_variants_option_is_a_wrong_boot(box: Box, tmp_path: Path) -> None:
    box.comes_back = [lambda wanted: Wanted("", wanted.release, ("psi=0",))] * 4
    with pytest.raises(HostError, match=r"psi=0 on its command line, which is another variant's"):
        run_boots(plan(), 2, tmp_path / "series", machine=box)


def test_a_machine_that_does_not_come_back_has_its_power_switched(box: Box, tmp_path: Path) -> None:
    box.comes_back = [lambda _: None]
    series = plan(reboot={"limit": "50ms"})
    with closing(run_boots(series, 2, tmp_path / "series", machine=box)) as store:
        assert any("power_command was called" in line for line in store.notices)
    assert box.powered == 1


def test_a_machine_that_never_comes_back_is_reported(box: Box, tmp_path: Path) -> None:
    box.comes_back, box.powered = [lambda _: None], 1
    with pytest.raises(HostError) as caught:
        run_boots(plan(reboot={"limit": "50ms"}), 2, tmp_path / "series", machine=box)
    said = str(caught.value)
    assert said.startswith("ssh:box: boot 1 of 4 [")
    assert "not back after 0 s. Last heard: ssh:box: cannot be reached. Connection refused" in said
    assert f"schedlab boots --resume {tmp_path / 'series'}" in said


def test_a_machine_that_ignores_the_request_keeps_its_power(box: Box, tmp_path: Path) -> None:
    box.comes_back = [lambda _: Wanted("", OLD)]
    box._set = lambda wanted: None  # type: ignore[method-assign]
    with pytest.raises(HostError) as caught:
        run_boots(plan(reboot={"limit": "50ms"}), 2, tmp_path / "series", machine=box)
    assert "It still runs the boot before (boot-0)" in str(caught.value)
    assert "Look why it did not go down" in str(caught.value)
    assert box.powered == 0


def test_a_command_that_fails_says_how_the_series_goes_on(box: Box, tmp_path: Path) -> None:
    def fails(wanted: Wanted) -> None:
        raise HostError("reboot_command: ended with 255: exit 255")

    box.boot = fails  # type: ignore[method-assign]
    with pytest.raises(HostError) as caught:
        run_boots(plan(), 2, tmp_path / "series", machine=box)
    said = str(caught.value)
    assert said.startswith("ssh:box: boot 1 of 4 [") and "ended with 255" in said
    assert f"schedlab boots --resume {tmp_path / 'series'}" in said


@pytest.mark.parametrize("asked", [True, False], ids=["booted", "not asked"])
def test_a_lab_that_died_in_mid_boot_is_gone_on_with(
    box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: bool
) -> None:
    """The boot comes about while no lab is there, or the lab died before it asked."""
    monkeypatch.setattr(schedlab.lab.boots, "_UNDER_WAY_SECONDS", 0.05)
    boot = box.boot

    def die(wanted: Wanted) -> None:
        if len(box.boots) == 2:
            if asked:
                boot(wanted)
            raise Killed
        boot(wanted)

    monkeypatch.setattr(box, "boot", die)
    with pytest.raises(Killed):
        run_boots(plan(), 2, tmp_path / "series", machine=box)
    made = json.loads((tmp_path / "series/boots.json").read_text())["made"]
    assert [each["state"] for each in made] == ["done", "done", "asked"]
    monkeypatch.setattr(box, "boot", boot)
    with closing(resume_boots(tmp_path / "series", machine=box)) as store:
        assert len(store.records()) == 8
        assert asked == any("had come about while no lab" in line for line in store.notices)
    assert box.boots == [variant.name for variant in boot_order(plan(), 2)]


def test_a_lab_that_is_back_before_the_machine_waits_for_it(
    box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedlab.lab.boots, "_UNDER_WAY_SECONDS", 0.05)
    boot = box.boot

    def die(wanted: Wanted) -> None:
        boot(wanted)
        if len(box.boots) == 3:
            raise Killed

    monkeypatch.setattr(box, "boot", die)
    with pytest.raises(Killed):
        run_boots(plan(), 2, tmp_path / "series", machine=box)
    box.asked_for = 12  # longer than one waits that was never asked
    with closing(resume_boots(tmp_path / "series", machine=box)) as store:
        assert len(store.records()) == 8
        assert any("boot 3 of 4" in line and "had come about" in line for line in store.notices)
    assert box.boots == [variant.name for variant in boot_order(plan(), 2)]


def test_a_boot_whose_runs_fail_does_not_end_the_series(
    box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What failed is told and not judged; the boots are made once all the same."""
    execute = EmulatedSystem.execute

    def fails(self: EmulatedSystem, launch: Launch) -> Exit:
        if self.kernel_release() != NEW:
            return execute(self, launch)
        launch.stdout.write_text("")
        launch.stderr.write_text("out of pipes")
        return Exit(status=3, seconds=0.0, cpu_seconds=0.0)

    monkeypatch.setattr(EmulatedSystem, "execute", fails)
    with closing(run_boots(plan(), 2, tmp_path / "series", machine=box)) as store:
        failed = [record.key.variant for record in store.records() if record.status == "failed"]
        assert set(failed) == {"new"}
        assert len(store.records()) == 8
        told = [line for line in store.notices if "[new]: 2 runs failed: SysBenchCpu: " in line]
    assert len(told) == 2 and all("out of pipes" in line for line in told)
    assert box.boots == [variant.name for variant in boot_order(plan(), 2)]


def test_runs_of_a_boot_that_were_cut_off_are_made_at_a_new_one(
    box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedlab.lab.boots, "_UNDER_WAY_SECONDS", 0.05)

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(schedlab.lab.boots, "run_results", die)
        with pytest.raises(Killed):
            run_boots(plan(), 2, tmp_path / "series", machine=box)
    with closing(resume_boots(tmp_path / "series", machine=box)) as store:
        assert len(store.records()) == 8
    assert len(box.boots) == 4, "the machine is still at the boot that was asked for"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"target": "host"}, "the lab boots ssh:HOST and vm:KERNEL, not host"),
        (
            {"variant": [{"name": "a"}, {"name": "b", "boot": {"NUMA nodes": "8"}}]},
            "cannot boot a machine into NUMA nodes",
        ),
        (
            {"variant": [{"name": "a"}, {"name": "b", "boot": {"Kernel release": "6.1;rm"}}]},
            "'6.1;rm' is not a kernel's release",
        ),
        ({"target": "vm:6.12", "machine": "smp4", "reboot": {}, "variant": [
            {"name": "a"}, {"name": "b", "cmdline": "psi=0"}]}, "started for each boot"),
    ],
)  # fmt: skip
def test_what_the_lab_cannot_boot_is_refused(
    changes: dict[str, Any], why: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=why):
        run_boots(plan(**changes), 2, tmp_path / "series")
    assert not (tmp_path / "series").exists()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "--boots N is missing"),
        (("--boots", 0), "each variant needs at least 2 boots"),
        (("--boots", 2, "--target", "vm:"), "no target is called 'vm:'"),
        (("--boots", 2, "--target", "ssh:x"), "kernel has no meaning on a host"),
        (("--boots", 2, "--target", "sim:x"), "the lab boots ssh:HOST and vm:KERNEL, not sim:x"),
    ],
)
def test_a_preview_refuses_what_a_series_would(
    words: tuple[object, ...], why: str, cli: Cli
) -> None:
    status, out, err = cli("boots", "demo-misfit", "--dry-run", *words)
    assert (status, out, why in err) == (2, "", True), err


def test_a_folder_that_is_no_series_is_refused(tmp_path: Path, cli: Cli) -> None:
    status, _, err = cli("boots", "--resume", tmp_path)
    assert (status, "not a series of boots" in err) == (2, True)
    (tmp_path / "boots.json").write_text('{"plan": 3}')
    status, _, err = cli("boots", "--resume", tmp_path)
    assert (status, "not a series of boots" in err) == (2, True)


def test_a_dry_run_lists_the_boots(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "plan.toml").write_text(plan().to_toml())
    status, out, err = cli("boots", tmp_path / "plan.toml", "--boots", 2, "--dry-run")
    assert status == 0, err
    lines = out.splitlines()
    assert len(lines) == 4
    assert "new: kernel 6.1.0 with psi=0" in lines[0] + lines[1]


GRUB = """
menuentry 'Debian GNU/Linux' --class debian $menuentry_id_option 'gnulinux-simple-UUID' {
	linux	/boot/vmlinuz-6.12.0-9-amd64 root=UUID=1 ro quiet
}
submenu 'Advanced options for Debian' $menuentry_id_option 'gnulinux-advanced-UUID' {
	menuentry 'Debian GNU/Linux, with Linux 6.12.0-9-amd64' --class debian $menuentry_id_option 'gnulinux-6.12.0-9-amd64-advanced-UUID' {
		linux	/boot/vmlinuz-6.12.0-9-amd64 root=UUID=1 ro quiet
	}
	menuentry 'Debian GNU/Linux, with Linux 6.1.0-25-amd64 (recovery mode)' --class debian $menuentry_id_option 'gnulinux-6.1.0-25-amd64-recovery-UUID' {
		linux	/boot/vmlinuz-6.1.0-25-amd64 root=UUID=1 ro single
	}
	menuentry 'Debian GNU/Linux, with Linux 6.1.0-25-amd64' --class debian $menuentry_id_option 'gnulinux-6.1.0-25-amd64-advanced-UUID' {
		linux	/boot/vmlinuz-6.1.0-25-amd64 root=UUID=1 ro quiet
	}
}
menuentry 'UEFI Firmware Settings' $menuentry_id_option 'uefi-firmware' {
	fwsetup
}
"""  # noqa: E501


def test_grubs_entry_of_a_kernel_is_not_its_recovery_mode() -> None:
    entry = "gnulinux-advanced-UUID>gnulinux-6.1.0-25-amd64-advanced-UUID"
    assert grub_entry(GRUB, "6.1.0-25-amd64") == entry
    with pytest.raises(
        HostError, match=r"no entry for kernel 6\.1\.0; it has: 6\.12.*, 6\.1\.0-25"
    ):
        grub_entry(GRUB, "6.1.0")


class Shell:
    """What SshMachine asks of a system, and the commands it got."""

    def __init__(self, files: dict[str, str], tools: Sequence[str], root: bool = True) -> None:
        self.files, self.tools, self.root = files, tools, root
        self.ran: list[str] = []
        self.taken = False

    def __call__(self, which: str) -> "Shell":
        return self

    def is_root(self) -> bool:
        return self.root

    def which(self, tool: str) -> str | None:
        return tool if tool in self.tools else None

    def exists(self, path: str) -> bool:
        return path in self.files

    def read(self, path: str) -> str:
        return self.files[path]

    def read_or(self, path: str, default: str) -> str:
        return self.files.get(path, default)

    def boot_id(self) -> str:
        return "one"

    def kernel_release(self) -> str:
        return OLD

    @contextmanager
    def held(self) -> Iterator[None]:
        if self.taken:
            raise HostError("another schedlab runs there")
        yield

    def copy_there(self, file: Path) -> str:
        self.files[f"/there/{file.name}"] = file.read_text()
        return f"/there/{file.name}"

    def capture(self, argv: Sequence[str]) -> Any:
        self.ran.append(" ".join(argv))
        return type("Done", (), {"returncode": 0})

    def run(self, script: str) -> None:
        self.ran.append(script)


WANTED = [Wanted("old", "6.12.0-9-amd64"), Wanted("new", "6.1.0-25-amd64")]
BOOT = {f"/boot/{name}-{each.release}": "" for name in ("vmlinuz", "initrd.img") for each in WANTED}


def ssh_machine(monkeypatch: pytest.MonkeyPatch, shell: Shell, **reboot: object) -> SshMachine:
    monkeypatch.setattr("schedlab.targets.booting.ssh.SshSystem", shell)
    return SshMachine("box", Reboot.model_validate(reboot), schedlab.lab.boots.Lab().watcher)


def test_grub_is_asked_for_one_boot(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = Shell({"/boot/grub/grub.cfg": GRUB}, ["grub-reboot"])
    machine = ssh_machine(monkeypatch, shell)
    machine.check(WANTED)
    assert shell.ran == [], "looking changes nothing"
    machine.boot(WANTED[1])
    assert shell.ran[0] == f"grub-reboot {grub_entry(GRUB, '6.1.0-25-amd64')}"
    assert "systemctl reboot || reboot" in shell.ran[1]
    with pytest.raises(HostError, match="no entry for kernel 5"):
        machine.check([Wanted("x", "5")])
    with pytest.raises(UsageError, match="for psi=0 use by = 'kexec'"):
        machine.check([Wanted("x", options=("psi=0",))])


def test_kexec_boots_with_the_usual_options_and_the_variants(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shell = Shell({"/proc/cmdline": "root=/dev/sda1 psi=0 quiet", **BOOT}, ["kexec"])
    machine = ssh_machine(monkeypatch, shell, by="kexec")
    tuned = Wanted("tuned", WANTED[0].release, ("psi=0",))
    machine.check([*WANTED, tuned])
    machine.boot(WANTED[1])
    machine.boot(tuned)
    assert shell.ran[0] == (
        "kexec -l /boot/vmlinuz-6.1.0-25-amd64 --command-line=root=/dev/sda1 quiet"
        " --initrd=/boot/initrd.img-6.1.0-25-amd64"
    )
    assert "--command-line=root=/dev/sda1 quiet psi=0 " in shell.ran[2]
    assert "systemctl kexec || kexec -e" in shell.ran[3]
    with pytest.raises(HostError, match="/boot/vmlinuz-5 is not there"):
        machine.check([Wanted("x", "5")])


def test_kexec_boots_an_image_that_is_not_installed_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    image = tmp_path / "bzImage"
    image.write_text("a kernel")
    files = {"/proc/cmdline": "root=/dev/sda1", f"/boot/initrd.img-{OLD}": "", **BOOT}
    shell = Shell(files, ["kexec"])
    images = {"6.13.0-mine": str(image)}
    machine = ssh_machine(monkeypatch, shell, by="kexec", images=images)
    machine.check([WANTED[0], Wanted("mine", "6.13.0-mine")])
    assert "/there/bzImage" not in shell.files, "looking copies nothing"
    machine.boot(Wanted("mine", "6.13.0-mine"))
    assert shell.files["/there/bzImage"] == "a kernel"
    assert shell.ran[0] == (
        f"kexec -l /there/bzImage --command-line=root=/dev/sda1 --initrd=/boot/initrd.img-{OLD}"
    )
    with pytest.raises(UsageError, match=r"no variant has the boot 'Kernel release' = '6\.13"):
        machine.check(WANTED)
    image.unlink()
    with pytest.raises(UsageError, match="bzImage: there is no such kernel image"):
        machine.check([Wanted("mine", "6.13.0-mine")])
    with pytest.raises(ValueError, match="only kexec boots them"):
        Reboot(images=images)


def test_a_machine_on_which_another_lab_runs_is_not_booted(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = Shell({"/boot/grub/grub.cfg": GRUB}, ["grub-reboot"])
    for reboot in ({}, {"reboot_command": "false"}):
        machine = ssh_machine(monkeypatch, shell, **reboot)
        machine.check(WANTED)
        shell.taken = True
        with pytest.raises(HostError, match="another schedlab runs there"):
            machine.boot(WANTED[1])
        shell.taken = False
    assert shell.ran == []


def test_the_labs_own_machine_is_not_booted(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = ssh_machine(monkeypatch, Shell({}, []), reboot_command="false")
    monkeypatch.setattr(LocalSystem, "boot_id", lambda self: "one")
    with pytest.raises(UsageError, match="ssh:box is the machine this lab runs on"):
        machine.check(WANTED)


def test_by_kexec_the_usual_kernel_is_that_of_the_beginning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also for a lab that goes on while something else runs."""
    files = {"/proc/cmdline": "root=/dev/sda1 quiet", f"/boot/vmlinuz-{OLD}": "", **BOOT}
    wanted = [Wanted("base"), WANTED[1]]
    shell = Shell(files, ["kexec"])
    usual = ssh_machine(monkeypatch, shell, by="kexec").check(wanted)
    shell.files["/proc/cmdline"] = "single debug"
    monkeypatch.setattr(Shell, "kernel_release", lambda self: WANTED[1].release)
    again = ssh_machine(monkeypatch, shell, by="kexec")
    assert again.check(wanted, usual) == usual
    again.boot(wanted[0])
    assert shell.ran[0] == f"kexec -l /boot/vmlinuz-{OLD} --command-line=root=/dev/sda1 quiet"
    with pytest.raises(UsageError, match=r"variant base: .* of variant new; name its release"):
        ssh_machine(monkeypatch, shell, by="kexec").check(wanted)


def test_one_lab_at_a_time_makes_a_series(box: Box, tmp_path: Path) -> None:
    boot, said = box.boot, list[str]()

    def another(wanted: Wanted) -> None:
        with pytest.raises(HostError) as caught:
            resume_boots(tmp_path / "series", machine=box)
        said.append(str(caught.value))
        boot(wanted)

    box.boot = another  # type: ignore[method-assign]
    run_boots(plan(), 2, tmp_path / "series", machine=box).close()
    assert len(said) == 4 and all("another schedlab" in line for line in said)


def test_a_guest_is_booted_once_for_each_boot(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its runs end it: looking at it afterwards must not boot another."""
    booted: list[str] = []

    class Guests:
        def close(self) -> None:
            pass

    class FakeVm:
        def __init__(self, which: str, machine: str, variants: Sequence[Any], _: object) -> None:
            self.guests = Guests()

        def guest(self, variant: Any) -> Shell:
            booted.append(variant.name)
            return Shell({"/proc/cmdline": variant.cmdline}, [])

    monkeypatch.setattr("schedlab.targets.booting.vm.VmTarget", FakeVm)
    variants = [{"name": "base"}, {"name": "psi", "cmdline": "psi=0"}]
    guests = plan(target="vm:6.12", machine="smp4", variant=variants)
    machine, wanted = machine_of(guests, schedlab.lab.boots.Lab().watcher)
    for each in wanted:
        machine.boot(each)
        assert machine.seen().differs(each, []) == ""
        assert machine.seen().line == " ".join(each.options)
    assert booted == ["base", "psi"]


@pytest.mark.parametrize(
    ("tools", "root", "why"),
    [([], True, "apt-get install grub2-common"), (["grub-reboot"], False, "only root boots it")],
)
def test_a_host_that_cannot_be_booted_is_refused(
    monkeypatch: pytest.MonkeyPatch, tools: list[str], root: bool, why: str
) -> None:
    machine = ssh_machine(monkeypatch, Shell({"/boot/grub/grub.cfg": GRUB}, tools, root))
    with pytest.raises(HostError, match=why):
        machine.check(WANTED)


def test_what_a_users_command_leaves_in_the_background_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(schedlab.targets.booting.ssh, "_COMMAND_SECONDS", PATIENCE_SECONDS)
    pid = tmp_path / "pid"
    kept = f"sleep {2 * PATIENCE_SECONDS} & echo $! >{pid}"
    machine = ssh_machine(monkeypatch, Shell({}, [], root=False), reboot_command=kept)
    machine.check(WANTED)
    try:
        machine.boot(WANTED[1])
    finally:
        os.kill(int(pid.read_text()), signal.SIGTERM)


def test_the_users_commands_are_called_with_what_is_wanted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = "echo $SCHEDLAB_HOST $SCHEDLAB_VARIANT $SCHEDLAB_KERNEL $SCHEDLAB_OPTIONS"
    machine = ssh_machine(
        monkeypatch,
        Shell({}, [], root=False),
        reboot_command=f"{told} >{tmp_path}/told",
        power_command="echo 'no such outlet' >&2; exit 4",
    )
    machine.check(WANTED)
    machine.boot(Wanted("new", NEW, ("psi=0", "nosmt")))
    assert (tmp_path / "told").read_text() == f"box new {NEW} psi=0 nosmt\n"
    with pytest.raises(HostError, match="power_command: ended with 4: no such outlet"):
        machine.power()
