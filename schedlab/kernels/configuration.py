"""A kernel's configuration, and what the simulator makes of it.

A fragment has lines as a kernel's .config: `CONFIG_X=y`, `CONFIG_X=n`, `# CONFIG_X is not set`.
Which options mean something here, and why others do not, is engine/options.toml; what stands
nowhere there is ignored, unless it looks like one of them and the tree does not have it.
"""

import difflib
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from schedlab.base.errors import nearest
from schedlab.base.files import read_bytes
from schedlab.base.system.system import natural
from schedlab.base.words import listing
from schedlab.kernels import KernelError
from schedlab.kernels.engine import Engine
from schedlab.kernels.kconfig import HZ, HZ_USUAL, Preempt

_LINE = re.compile(r"CONFIG_(\w+)=(.*)|# CONFIG_(\w+) is not set")
_DEFAULT = re.compile(r"^#define CONFIG_(\w+) 1$", re.M)
_SHIPPED = re.compile(r"([a-z]+)-([\d.]+)\.config")
_NUMBER = re.compile(r"^#define CONFIG_(\w+) (\d+)$", re.M)
_HZ = re.compile(r"HZ_(\d+)")
MODELS: dict[str, Preempt] = {
    "PREEMPT_VOLUNTARY": "voluntary",
    "PREEMPT_LAZY": "lazy",
    "PREEMPT": "full",
    "PREEMPT_NONE": "none",
}
_MOST_BYTES = 1 << 22
"""No configuration is larger."""
_HEADER = 1000
"""Of a file: its first lines are in there."""
_NAMED_IN = ("kernel/sched", "kernel/time", "include/linux", "mm")
"""Where a tree names the options that a build can choose."""
_BY_KCONFIG = "# Automatically generated file; DO NOT EDIT."
"""On top of a whole .config: the kernel's own tool has written it, and misspells nothing."""
_ALIKE = 0.85
"""How much of a misspelt name and the right one is the same; `PSSI` and `PSI` are 0.86."""


@dataclass(frozen=True)
class Configuration:
    """What a build takes of a configuration."""

    name: str = ""
    """`debian-6.12`, or the user's file."""
    hz: int | None = None
    preempt: Preempt | None = None
    options: tuple[str, ...] = ()
    """What differs from engine/include/autoconf.h.in, as `PSI=y`."""
    left_out: tuple[str, ...] = ()
    """What it has and the simulator does not; with `=n`, the other way round."""


@dataclass(frozen=True)
class _Options:
    """engine/options.toml, and the defaults of include/autoconf.h.in."""

    choice: dict[str, list[str]]
    meant: dict[str, str]
    selects: dict[str, list[str]]
    selects_where: dict[str, dict[str, str]]
    needs: dict[str, list[str]]
    excludes: dict[str, list[str]]
    one_of: dict[str, list[str]]
    always: dict[str, str]
    kept: dict[str, str]
    refused: dict[str, str]
    never: dict[str, str]
    number: dict[str, str]
    beside: dict[str, str]
    defaults: frozenset[str]
    numbers: dict[str, str]

    def selected(self, tree: Path) -> dict[str, list[str]]:
        """Return what comes with which option in a tree."""
        found = {option: list(parts) for option, parts in self.selects.items()}
        for option, where in self.selects_where.items():
            file = tree / where["file"]
            if file.is_file() and where["word"].encode() in file.read_bytes():
                found.setdefault(option, []).append(where["option"])
        return found

    @classmethod
    def of(cls, engine: Engine) -> "_Options":
        options = tomllib.loads((engine.folder / "options.toml").read_text(encoding="utf-8"))
        ours = (engine.folder / "include/autoconf.h.in").read_text(encoding="utf-8")
        numbers = dict(_NUMBER.findall(ours))
        return cls(**options, defaults=frozenset(_DEFAULT.findall(ours)), numbers=numbers)

    @property
    def known(self) -> frozenset[str]:
        tables = (self.choice, self.always, self.kept, self.refused, self.never, MODELS)
        rules = (self.selects, self.needs, self.excludes)
        named = {
            part for rule in rules for option, parts in rule.items() for part in (option, *parts)
        }
        named.update(*self.one_of.values())
        return frozenset().union(*tables, named - {*self.beside, *self.number})


def read_configuration(
    which: str, engine: Engine, series: str, tree: Path, offered: Sequence[Preempt]
) -> Configuration:
    """Return what a build takes of a configuration.

    Args:
        which: `debian`, `upstream`, or a file.
        engine: says which options mean something.
        series: of the tree, for which of the shipped ones.
        tree: what is to be built of; an option it does not have is left out.
        offered: its preemption models, the usual one first.

    Raises:
        KernelError: there is no such configuration, it contradicts itself, or the simulator
            cannot be that.
    """
    file = _find(which, engine, series)
    options = _Options.of(engine)
    said = _read(file, options, tree)
    name = file.stem if file.parent == engine.folder / "configs" else file.name

    hz, preempt = _tick_rate(file, said), _model(file, said, offered)
    for option, why in options.always.items():
        if said.get(option) == "n":
            raise KernelError(f"{file}: CONFIG_{option}=n cannot be simulated: {why}.")
    for option, why in options.refused.items():
        if said.get(option) == "y":
            raise KernelError(f"{file}: CONFIG_{option}=y cannot be simulated: {why}.")
    _check_agree(file, said, options, tree)
    chosen = _choose(file, said, options)
    named = _named(tree, [option for option, on in chosen.items() if on and option in said])
    for option, why in options.meant.items():
        if said.get(option) == "y" and option not in named:
            raise KernelError(f"{file}: CONFIG_{option}=y: this kernel has no such option: {why}.")
    on = [option for option in options.selects if chosen.get(option)]
    come = {part for option in on for part in options.selects[option]}
    left_out = [
        option for option in options.never if said.get(option) == "y" and option not in come
    ]
    left_out += [f"{option}=n" for option in options.kept if said.get(option) == "n"]
    left_out += [f"{option}=n" for option in options.beside if said.get(option) == "n"]
    left_out += [
        f"{option}={said[option]}"
        for option in options.number
        if said.get(option, options.numbers[option]) != options.numbers[option]
    ]
    left_out += [
        option for option, on in chosen.items() if on and option in said and option not in named
    ]
    differ = {
        option: on
        for option, on in chosen.items()
        if on != (option in options.defaults) and option not in left_out
    }
    return Configuration(
        name=name,
        hz=hz,
        preempt=preempt,
        options=tuple(f"{option}={'y' if on else 'n'}" for option, on in sorted(differ.items())),
        left_out=tuple(sorted(left_out)),
    )


def _tick_rate(file: Path, said: Mapping[str, str]) -> int | None:
    """Return the tick rate that a file asks for."""
    hz = {int(name[3:]) for name, value in said.items() if _HZ.fullmatch(name) and value == "y"}
    hz |= {int(value) for name, value in said.items() if name == "HZ"}
    if len(hz) > 1:
        raise _contradiction(file, (f"HZ={rate}" for rate in sorted(hz)), "one tick rate")
    rate = next(iter(hz), HZ_USUAL)
    if rate not in HZ:
        offered = listing([str(each) for each in HZ])
        raise KernelError(f"{file}: the kernel has no tick rate of {rate} Hz; it has {offered}.")
    if said.get(f"HZ_{rate}") == "n":
        if hz:
            raise _contradiction(file, (f"HZ={rate}", f"HZ_{rate}=n"), "one tick rate")
        raise KernelError(
            f"{file}: CONFIG_HZ_{rate}=n, and no other tick rate is named; add such as"
            " CONFIG_HZ_1000=y."
        )
    return rate if hz else None


def _model(file: Path, said: Mapping[str, str], offered: Sequence[Preempt]) -> Preempt | None:
    """Return the preemption model that a file asks for."""
    picked = [name for name in MODELS if said.get(name) == "y"]
    if len(picked) > 1:
        raise _contradiction(file, (f"{model}=y" for model in picked), "one preemption model")
    if picked and MODELS[picked[0]] not in offered:
        raise KernelError(
            f"{file}: CONFIG_{picked[0]}=y: this tree has no preemption model"
            f" '{MODELS[picked[0]]}'; it has {listing(offered)}."
        )
    default = next(name for name, model in MODELS.items() if model == offered[0])
    if not picked and said.get(default) == "n":
        raise KernelError(f"{file}: CONFIG_{default}=n, and no other preemption model is chosen.")
    return MODELS[picked[0]] if picked else None


def _check_agree(file: Path, said: Mapping[str, str], options: _Options, tree: Path) -> None:
    """Refuse options of which one selects or excludes another that is said to be otherwise."""
    on = {option: value == "y" for option, value in said.items()}
    apart = [(option, other) for option, others in options.excludes.items() for other in others]
    for among in (*apart, *options.one_of.values()):
        both = [option for option in among if on.get(option)]
        if len(both) > 1:
            named = (f"{option}=y" for option in both)
            raise _contradiction(file, named, "a kernel is built with one of them")
    selects = options.selected(tree)
    come = {part for option in on if on[option] for part in selects.get(option, ())}
    for among in options.one_of.values():
        if on.get(among[0]) is False and not any(on.get(one) or one in come for one in among):
            raise KernelError(
                f"{file}: CONFIG_{among[0]}=n, and none of {listing(among[1:])} is chosen."
            )
    for rule, words in ((selects, "comes with"), (options.needs, "needs")):
        for option, parts in rule.items():
            missing = [part for part in parts if not on.get(part, True)]
            if on.get(option) and missing:
                lines = (f"{option}=y", *(f"{part}=n" for part in missing))
                raise _contradiction(file, lines, f"{option} {words} {listing(missing)}")


def choices(engine: Engine) -> tuple[str, ...]:
    """Return the options that a build may be made with or without."""
    return tuple(sorted(_Options.of(engine).choice))


def tell_left_out(configuration: Configuration, say: Callable[[str], None]) -> None:
    """List what a configuration has and the build does not."""
    if configuration.left_out:
        say(
            f"{configuration.name}: not simulated: {', '.join(configuration.left_out)}"
            " (docs/manual/kernels.md, Configuration)."
        )


def _find(which: str, engine: Engine, series: str) -> Path:
    """Return the file: of those shipped, the nearest series', an older one of its own number first.

    What 6.x calls usual, 7.x may not have at all.
    """
    shipped: dict[str, list[tuple[str, Path]]] = {}
    for path in (engine.folder / "configs").glob("*.config"):
        if found := _SHIPPED.fullmatch(path.name):
            shipped.setdefault(found[1], []).append((found[2], path))
    if which in shipped:
        listed = sorted(shipped[which], key=lambda of: natural(of[0]))
        older = [of for of in listed if natural(of[0]) <= natural(series)]
        newer = [of for of in listed if of not in older]
        alike = [of for of in older if of[0].partition(".")[0] == series.partition(".")[0]]
        return (alike[-1:] or newer[:1] or older[-1:])[0][1]
    file = Path(which)
    if not file.is_file():
        raise KernelError(
            f"{which}: no such configuration.{nearest(which, sorted(shipped))}"
            f"\n  Give {', '.join(sorted(shipped))}, or a file with lines such as CONFIG_PSI=y."
        )
    return file


def _read(file: Path, options: _Options, tree: Path) -> dict[str, str]:
    """Return what a file says of the options we know; others are none of the scheduler's."""
    text = read_bytes(file, _MOST_BYTES, KernelError).decode("utf-8", errors="replace")
    said: dict[str, str] = {}
    strange: dict[str, int] = {}
    known = options.known
    ours = _BY_KCONFIG not in text[:_HEADER]
    for number, line in enumerate(text.splitlines(), 1):
        found = _LINE.fullmatch(line.strip())
        if not found:
            if line.strip() and not line.lstrip().startswith("#"):
                raise KernelError(
                    f"{file}: line {number}: not a line of a kernel's configuration: {line[:60]!r}."
                    "\n  It has lines such as CONFIG_PSI=y or '# CONFIG_PSI is not set'."
                )
            continue
        name, value = (found[1], found[2].strip()) if found[1] else (found[3], "n")
        rate = name == "HZ" or _HZ.fullmatch(name)
        if name not in known and not rate:
            strange.setdefault(name, number)
            if not (name in options.number or (ours and name in options.beside)):
                continue
        if name == "HZ" or name in options.number:
            if not value.isdecimal():
                where = f"{file}: line {number}"
                raise KernelError(f"{where}: CONFIG_{name}={value}: it takes a number.")
        elif value not in ("y", "n"):
            raise KernelError(f"{file}: line {number}: CONFIG_{name}={value}: it takes y or n.")
        if said.setdefault(name, value) != value:
            raise _contradiction(file, (f"{name}={said[name]}", f"{name}={value}"), "one value")
    if ours:
        _refuse_misspelt(file, strange, options, tree)
    return said


def _refuse_misspelt(file: Path, strange: dict[str, int], options: _Options, tree: Path) -> None:
    """Refuse a name that is almost one of the scheduler's, and that the tree does not have.

    Nobody sets those that begin with HAVE_ or ARCH_: they are the architecture's.
    """
    ours = sorted(options.known | {"HZ", *(f"HZ_{rate}" for rate in HZ)})
    meant = {
        name: close[0]
        for name in strange
        if name not in {*options.beside, *options.number}
        and not name.startswith(("HAVE_", "ARCH_"))
        and (close := _alike(name, ours))
    }
    for name in sorted(meant.keys() - _named(tree, meant), key=strange.__getitem__):
        raise KernelError(
            f"{file}: line {strange[name]}: this kernel has no option CONFIG_{name}."
            f" Did you mean CONFIG_{meant[name]}?"
        )


def _alike(name: str, ours: list[str]) -> list[str]:
    """Return the option that was meant: one that is nearly the same, or whose name ends so."""
    close = difflib.get_close_matches(name, ours, n=1, cutoff=_ALIKE)
    return close or [option for option in ours if option.endswith(f"_{name}")][:1]


def _choose(file: Path, said: dict[str, str], options: _Options) -> dict[str, bool]:
    """Return every choice, on or off; one that is not named falls with what it needs."""
    chosen = {
        option: said.get(option, "y" if option in options.defaults else "n") == "y"
        for option in options.choice
    }
    fell = True
    while fell:
        fell = False
        for option, needs in options.choice.items():
            missing = [need for need in needs if not chosen.get(need, said.get(need) != "n")]
            if not chosen[option] or not missing:
                continue
            if said.get(option) == "y":
                unsaid = [need for need in missing if need not in said]
                if unsaid:
                    raise KernelError(
                        f"{file}: CONFIG_{option}=y needs"
                        f" {listing([f'CONFIG_{need}=y' for need in unsaid])}, which it does not"
                        " have and the simulator has not by itself."
                    )
                raise _contradiction(
                    file,
                    (f"{option}=y", *(f"{need}=n" for need in missing)),
                    f"{option} needs {listing(needs)}",
                )
            chosen[option] = False
            fell = True
    return chosen


def _named(tree: Path, options: Iterable[str]) -> set[str]:
    """Return those options that a tree names."""
    wanted = set(options)
    found: set[str] = set()
    for part in _NAMED_IN:
        for path in (tree / part).rglob("*"):
            if wanted == found:
                return found
            if path.suffix not in (".c", ".h") and not path.name.startswith("Kconfig"):
                continue
            text = path.read_bytes()
            found |= {
                option
                for option in wanted - found
                if re.search(rb"\b(?:CONFIG_|config )%s\b" % option.encode(), text)
            }
    return found


def _contradiction(file: Path, lines: Iterable[str], rule: str) -> KernelError:
    options = " and ".join(f"CONFIG_{line}" for line in lines)
    return KernelError(f"{file}: {options} contradict each other: {rule}.")
