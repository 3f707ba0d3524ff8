"""The parts of a patch that are compiled nowhere, never called, or mean less in the simulator."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator

from schedlab.base.words import listing
from schedlab.kernels.engine import Engine
from schedlab.kernels.patches import FileChange, Patch

_INITCALL = re.compile(
    r"^\+\s*((?:early|pure|core|postcore|arch|subsys|fs|rootfs|device|late)_initcall(?:_sync)?"
    r"|module_init)\(",
    re.M,
)
_CALLED_OF = re.compile(r"KEEP\(\*/(\S+?)\.o\(\.initcall7\.init\)")
_SCRIPT = "scripts/sched.ld"
_COMMENT = re.compile(r"/\*.*?(?:\*/|$)|//.*|^\s*\*\s.*")
_CALL = re.compile(r"\b\w+\(")
_DECLARED = re.compile(r"^\s*(?:(?:static|volatile|extern)\s+)*(\w+)\s+\w+[^()]*;")
"""A field or a variable, not a pointer to one."""
_OPTION = re.compile(r"\bCONFIG_(\w+)")
_ASKED = re.compile(r"^[+-]\s*#\s*(?:el)?if|\bIS_[A-Z]+\(")
_LIMITS = "limits.toml"
_KNOWN_IN = ("include/autoconf.h.in", "options.toml", "scripts/generate")
"""Where the engine names the options that its builds have or may have."""


def unseen(patch: Patch, engine: Engine) -> Iterator[str]:
    """Yield what a patch has in vain: sources, options, initcalls, and what the simulator lacks."""
    added = "\n".join(line for change in patch.changes for line in change.text if line[:1] == "+")
    for change in patch.changes:
        name = change.path.rpartition("/")[2]
        if not change.creates or not name.endswith(".c") or change.path in engine.sources:
            continue
        if not re.search(rf'#\s*include\s+["<](?:\S*/)?{re.escape(name)}[">]', added):
            yield (
                f"{patch.name}: {change.path} is a new source that nothing includes: the simulator"
                " does not compile it (it reads no Makefile of the kernel's)."
            )
    if strange := _strange_options(patch, engine):
        named = listing([f"CONFIG_{option}" for option in strange])
        yield (
            f"{patch.name}: {named}: the simulator has no such option, so it is off, and what"
            " depends on it is not compiled (engine/options.toml)."
        )
    for change in patch.changes:
        for call in _uncalled(change, engine):
            yield f"{patch.name}: {change.path}: the simulator does not call its {call}()."
    yield from _limits(patch, engine)


def _limits(patch: Patch, engine: Engine) -> Iterator[str]:
    """Yield what a patch uses more than before, and the simulator has not as a kernel has it."""
    sides: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for change in patch.changes:
        for line in change.text:
            if line[:1] in ("+", "-"):
                code = _COMMENT.sub(" ", line[1:])
                sides[line[:1] == "+"].update(_CALL.findall(code) + _DECLARED.findall(code))
    new = sides[True] - sides[False]
    for limit in tomllib.loads((engine.folder / _LIMITS).read_text(encoding="utf-8"))["limit"]:
        names = [f"{name}()" for name in limit.get("names", ()) if new[f"{name}("]]
        names += [name for name in limit.get("types", ()) if new[name]]
        if names:
            yield (
                f"{patch.name}: {listing(names)} {limit['what']}"
                " (docs/internals/engine.md, Limits)."
            )


def _strange_options(patch: Patch, engine: Engine) -> list[str]:
    """Return the options that a patch brings into the code and that the engine does not know."""
    sides: dict[bool, set[str]] = {True: set(), False: set()}
    for change in patch.changes:
        if change.path.endswith((".c", ".h")):
            for line in filter(_ASKED.search, change.text):
                sides[line[:1] == "+"].update(_OPTION.findall(line))
    new = sides[True] - sides[False]
    for file in _KNOWN_IN if new else ():
        words = (engine.folder / file).read_text(encoding="utf-8").replace("CONFIG_", " ")
        new -= set(re.findall(r"[A-Z0-9][A-Z0-9_]*", words))
    return sorted(new)


def _uncalled(change: FileChange, engine: Engine) -> list[str]:
    """Return the initcalls that a patch adds to a file whose initcalls are not run."""
    calls = _INITCALL.findall("\n".join(change.text))
    if not calls:
        return []
    script = (engine.folder / _SCRIPT).read_text(encoding="utf-8")
    places = [place.replace("*", r"[^/]*") for place in _CALLED_OF.findall(script)]
    if any(re.fullmatch(rf"(?:.*/)?{place}\.c", change.path) for place in places):
        return []
    return list(dict.fromkeys(calls))
