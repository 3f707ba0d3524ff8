"""A kernel for tests whose sysctls make something of the values written to them."""

import random
from pathlib import Path

from schedlab.base.system import LocalSystem

ORIGINAL = {
    **{f"kernel.{kind}_{i}": "60" for kind in ("spell", "round", "clamp", "grant") for i in (0, 1)},
    "kernel.flag": "N",
    "kernel.cpus": "0-3",
    "kernel.mask": "0f",
    "kernel.refuse": "60",
    "kernel.half": "60",
    "kernel.oneway": "60",
    "kernel.text_0": "(none)",
    "kernel.text_1": "|/bin/true  -a [x]\t",
    "kernel.text_2": "FACE",
    "kernel.stubborn": "60",
    "vm.dirty_ratio": "20",
    "vm.dirty_bytes": "0",
    "vm.overcommit_ratio": "0",
    "vm.overcommit_kbytes": "4096",
    "net.ipv4.ip_forward": "0",
    "net.ipv4.conf.all.forwarding": "0",
    "net.ipv4.conf.eth0.forwarding": "1",
    "net.ipv4.conf.lo.forwarding": "0",
    "net.ipv4.neigh.lo.base_reachable_time": "30",
    "net.ipv4.neigh.lo.base_reachable_time_ms": "30500",
}
FORWARDING = [name for name in ORIGINAL if "forward" in name]


class FakeKernel(LocalSystem):
    """Sysctls that respell, round, clamp, grant in part, refuse, and clear each other."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self._random = random.Random(str(root))

    def make(self) -> None:
        for name, value in ORIGINAL.items():
            self.place_of(name).parent.mkdir(parents=True, exist_ok=True)
            self.place_of(name).write_text(value)

    def place_of(self, name: str) -> Path:
        return self.path(f"/proc/sys/{name.replace('.', '/')}")

    def values(self) -> dict[str, str]:
        return {name: self.place_of(name).read_text() for name in ORIGINAL}

    def state_folder(self) -> Path:
        return self.path("/var/lib/schedlab")

    def end_tagged(self, tag: str) -> int:
        return 0

    def write(self, path: str, text: str) -> None:
        name = path.removeprefix("/proc/sys/").replace("/", ".")
        for value in self._stages(name, text):
            self.place_of(name).write_bytes(value.encode(errors="surrogateescape"))

    def _stages(self, name: str, text: str) -> list[str]:
        if name == "kernel.flag":
            if text not in ("0", "1", "Y", "N", "on"):
                raise OSError(22, "Invalid argument")
            return ["Y" if text in ("1", "Y", "on") else "N"]
        if name.startswith("kernel.text"):
            return [text]
        if name == "kernel.cpus":
            return [{"0-1,2": "0-2", "1,0": "0-1"}.get(text, text)]
        if name == "kernel.mask":
            return [text[-2:].zfill(2)]
        digits = text.removeprefix("0") if text != "0" and not text.startswith("0x") else text
        number = int(digits, 8 if digits != text else 0)
        if name.startswith("kernel.round_") and number != 60:
            return [str(1 << max(number - 1, 0).bit_length())]
        if name.startswith("kernel.clamp"):
            return [str(min(number, 100))]
        if name.startswith("kernel.grant"):
            return [str(number if number <= 60 else self._random.randint(60, number))]
        refused = {
            "kernel.refuse": number > 70,
            "kernel.half": number > 70,
            "kernel.oneway": number == 60,
            "vm.dirty_bytes": number < 8192,
        }
        if refused.get(name):
            if name == "kernel.half":
                self.place_of(name).write_text("65")
            raise OSError(22, "Invalid argument")
        if name == "kernel.stubborn":
            return []
        if name.endswith("base_reachable_time"):
            self.place_of(f"{name}_ms").write_text(f"{number}000")
        if name.endswith("base_reachable_time_ms"):
            self.place_of(name.removesuffix("_ms")).write_text(str(number // 1000))
        if name in FORWARDING[:2] and str(number) != self.place_of(name).read_text():
            for other in FORWARDING:
                self.place_of(other).write_text(str(number))
        clears = {
            "vm.dirty_bytes": "vm.dirty_ratio",
            "vm.dirty_ratio": "vm.dirty_bytes",
            "vm.overcommit_ratio": "vm.overcommit_kbytes",
            "vm.overcommit_kbytes": "vm.overcommit_ratio",
        }
        if name in clears and str(number) != self.place_of(name).read_text():
            self.place_of(clears[name]).write_text("0")
        return [str(number)]
