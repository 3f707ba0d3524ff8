"""Boots of a host that ssh reaches: a daemon of our own that comes back as another boot."""

import os
import shutil
import threading
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import schedlab.base.system.ssh
import schedlab.lab.boots
from schedlab.base.errors import HostError
from schedlab.base.system import LocalSystem
from schedlab.lab.boots import boot_order, run_boots
from schedlab.lab.result import Lab, begin, finish, prepare, reopen
from schedlab.plan.plan import Plan
from schedlab.settings.variant import Variant
from tests.helpers.far_host import SSHD, FarHost

OLD, NEW = "6.1.0-25-amd64", "6.12.48-amd64"


class Box(FarHost):
    """A host with a boot_id and a kernel's release of its own, which boots when it is asked to."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, apart=True)
        files = {"boot_id": "random/boot_id", "release": "osrelease"}
        mounts = [f"mount --bind {folder}/{a} /proc/sys/kernel/{b}" for a, b in files.items()]
        self._apart += ["sh", "-c", f'{" && ".join(mounts)} && exec "$@"', "sh"]
        self._root = folder
        self.asked = folder / "asked"
        os.mkfifo(self.asked)
        self.comes_back = True
        self.hangs: list[int] = []
        """Which boots, by their number from 1 on, never come up."""
        self.wrong = 0
        """How many boots come back with another kernel."""
        self.boots: list[str] = []
        self._set(OLD)

    def _set(self, release: str) -> None:
        (self._root / "boot_id").write_text(f"{uuid.uuid4()}\n")
        (self._root / "release").write_text(f"{release}\n")

    def serve(self) -> None:
        """Boot whenever a release is written into the pipe, until an empty line is."""
        while release := self.asked.read_text().strip():
            self.boots.append(release)
            self.down()
            if self.comes_back and len(self.boots) not in self.hangs:
                self._set("4.19.0" if self.wrong else release)
                self.wrong = max(self.wrong - 1, 0)
                self.up()


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Box]:
    if not (SSHD.exists() and shutil.which("ssh")) or os.geteuid() != 0:
        pytest.skip("no ssh or sshd here, or no root to make a host with files of its own")
    monkeypatch.setattr(schedlab.base.system.ssh, "_STATE_THERE", "$XDG_CACHE_HOME/state")
    monkeypatch.setattr(schedlab.lab.boots, "_POLL_SECONDS", 0.1)
    host = Box(tmp_path / "box")
    monkeypatch.setenv("PATH", host.path)
    host.up()
    serving = threading.Thread(target=host.serve)
    serving.start()
    yield host
    host.asked.write_text("\n")
    serving.join()
    host.down()
    shutil.rmtree(LocalSystem().state_folder() / "ssh" / host.name, ignore_errors=True)


def plan(box: Box, **reboot: str) -> Plan:
    return Plan.model_validate(
        {
            "target": f"ssh:{box.name}",
            "benchmark": [
                {
                    "name": "own",
                    "command": "echo time: 2.5",
                    "metrics": [
                        {"name": "time", "regex": "time: (.*)", "unit": "s", "better": "lower"}
                    ],
                }
            ],
            "variant": [
                {"name": "old", "boot": {"Kernel release": OLD}},
                {"name": "new", "boot": {"Kernel release": NEW}},
            ],
            "blocks": {"looks": [1], "warmup": 0, "settle": "10ms"},
            "counters": [],
            "reboot": {"reboot_command": f"echo $SCHEDLAB_KERNEL >{box.asked}", **reboot},
        }
    )


def test_a_host_is_booted_by_turns_and_a_wrong_kernel_is_asked_for_again(
    box: Box, tmp_path: Path
) -> None:
    box.wrong = 1
    series = plan(box)
    with closing(run_boots(series, 2, tmp_path / "series")) as store:
        assert [record.error for record in store.records()] == [""] * 4
        assert len({boot.id for boot in store.boots}) == 4
        assert any("came back with kernel 4.19.0 in place" in line for line in store.notices)
    wanted = [OLD if variant.name == "old" else NEW for variant in boot_order(series, 2)]
    assert box.boots == [wanted[0], *wanted]


def test_a_host_that_never_comes_back_is_reported(box: Box, tmp_path: Path) -> None:
    box.comes_back = False
    series = plan(box, limit="1s", power_command=f"touch {tmp_path}/switched")
    with pytest.raises(HostError, match=r"(?s)boot 1 of 4 .*not back after 1 s.*cannot be reached"):
        run_boots(series, 2, tmp_path / "series")
    assert (tmp_path / "switched").exists()


def test_a_power_switch_brings_a_host_back_and_the_series_goes_on(box: Box, tmp_path: Path) -> None:
    """The second boot hangs; the switch boots the kernel that was chosen."""
    box.hangs = [2]
    last, switched = tmp_path / "last", tmp_path / "switched"
    series = plan(
        box,
        limit="8s",
        reboot_command=f"echo $SCHEDLAB_KERNEL >{last}; cat {last} >{box.asked}",
        power_command=f"echo $SCHEDLAB_HOST >>{switched}; cat {last} >{box.asked}",
    )
    with closing(run_boots(series, 2, tmp_path / "series")) as store:
        assert [record.error for record in store.records()] == [""] * 4
        assert len({boot.id for boot in store.boots}) == 4
    assert switched.read_text() == f"{box.name}\n"
    wanted = [OLD if variant.name == "old" else NEW for variant in boot_order(series, 2)]
    assert box.boots == [*wanted[:2], *wanted[1:]]


def test_a_host_that_reboots_by_itself_ends_the_plan_which_goes_on_with_that_boot(
    box: Box, tmp_path: Path
) -> None:
    """The run under way counts for nothing, and is made again."""
    runs, boots = tmp_path / "runs", f"echo {OLD} >{box.asked}; sleep 60"
    asks = f"echo run >>{runs}; [ $(wc -l <{runs}) != 2 ] || {{ {boots}; }}"
    own = plan(box).benchmark[0].model_copy(update={"command": f"sh -c '{asks}; echo time: 2.5'"})
    variants = [{"name": "a"}, {"name": "b", "env": {"X": "1"}}]
    alone = plan(box).model_copy(
        update={
            "benchmark": (own,),
            "variant": tuple(Variant.model_validate(each) for each in variants),
            "reboot": None,
        }
    )
    folder = tmp_path / "result"
    lab = Lab()
    target, cases = prepare(alone, lab)
    with pytest.raises(HostError, match=f"ssh:{box.name}: was rebooted; its settings are those"):
        finish(begin(alone, cases, target, folder, lab), lab)
    resumed = finish(reopen(folder, lab), lab)
    with closing(resumed) as store:
        assert [record.error for record in store.records()] == [""] * 2
    assert box.boots == [OLD]
