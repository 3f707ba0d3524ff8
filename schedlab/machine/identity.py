"""What a machine is called: processor, architecture and memory, from procfs and device tree.

Nothing here tells one machine of a kind from another: no host name, no serial number.
"""

import re

from schedlab.base.system import System

CPUINFO = "/proc/cpuinfo"
_DEVICE_TREE_MODEL = "/proc/device-tree/model"

_ARM_PARTS = {
    (0x41, 0xD03): "Cortex-A53",
    (0x41, 0xD04): "Cortex-A35",
    (0x41, 0xD05): "Cortex-A55",
    (0x41, 0xD07): "Cortex-A57",
    (0x41, 0xD08): "Cortex-A72",
    (0x41, 0xD09): "Cortex-A73",
    (0x41, 0xD0A): "Cortex-A75",
    (0x41, 0xD0B): "Cortex-A76",
    (0x41, 0xD0C): "Neoverse-N1",
    (0x41, 0xD0D): "Cortex-A77",
    (0x41, 0xD40): "Neoverse-V1",
    (0x41, 0xD41): "Cortex-A78",
    (0x41, 0xD44): "Cortex-X1",
    (0x41, 0xD49): "Neoverse-N2",
    (0x41, 0xD4F): "Neoverse-V2",
    (0x48, 0xD01): "Kunpeng-920",
    (0x50, 0x000): "X-Gene",
    (0xC0, 0xAC3): "Ampere-1",
}
"""Implementer and part number, as in the kernel's arch/arm64/include/asm/cputype.h."""


def processor(system: System) -> str:
    """Return the processor's name; several, joined, where CPUs differ; else empty."""
    cpuinfo = system.read_or(CPUINFO, "")
    for key in ("model name", "cpu", "uarch", "cpu model"):
        named = re.findall(rf"^{key}\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
        if named:
            return " + ".join(dict.fromkeys(_tidy(name) for name in named))
    implementers = re.findall(r"^CPU implementer\s*:\s*(\w+)$", cpuinfo, re.MULTILINE)
    parts = re.findall(r"^CPU part\s*:\s*(\w+)$", cpuinfo, re.MULTILINE)
    names = [
        _ARM_PARTS.get((int(who, 16), int(part, 16)), f"Arm implementer {who} part {part}")
        for who, part in zip(implementers, parts, strict=False)
    ]
    return " + ".join(dict.fromkeys(names))


def board(system: System) -> str:
    """Return the board's name from its device tree, or nothing."""
    return system.read_or(_DEVICE_TREE_MODEL, "").strip("\0 \n")


def architecture(system: System) -> str:
    """Return the architecture as `uname -m` does; the kernel shows it in procfs since 6.1."""
    name = system.read_or("/proc/sys/kernel/arch", "")
    return name or system.capture(("uname", "-m")).stdout.strip() or "unknown"


def memory_gib(system: System) -> int | None:
    """Return the memory the kernel manages, in GiB, at least 1; None where it is not known."""
    match = re.search(r"^MemTotal:\s+(\d+) kB", system.read_or("/proc/meminfo", ""), re.MULTILINE)
    return max(1, round(int(match[1]) / 1024 / 1024)) if match else None


def slug(text: str) -> str:
    """Make a machine's name of words: small letters, digits and dashes."""
    words = re.sub(r"\b\d+-core processor\b", "", text.lower())
    return re.sub(r"[^a-z0-9]+", "-", words).strip("-") or "machine"


def _tidy(name: str) -> str:
    """Drop what the maker or the kernel adds to the processor's name."""
    plain = re.sub(r"\((R|TM|r|tm|architected|raw)\)|, altivec supported| CPU(?= @)|@.*$", "", name)
    return re.sub(r"\s+", " ", plain).strip()
