"""The parts of a patch that are compiled nowhere, never called, or mean less in the simulator."""

import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from schedlab.base.words import listing
from schedlab.kernels.configuration import MODELS
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
_DECLARED = re.compile(r"^\s*(?:(?:static|volatile|extern)\s+)*(\w+)\s+(\w+)[^()=]*(?:=.*)?;")
"""The type and name of a field or a variable, not of a pointer to one."""
_OPTION = re.compile(r"\bCONFIG_(\w+)")
_OFFERED = re.compile(r"^config (\w+)")
"""In a Kconfig file."""
_ASKED = re.compile(r"^\s*#\s*(?:el)?if|\bIS_[A-Z]+\(")
_ONCE = re.compile(r"\b(?:READ|WRITE)_ONCE\((?:[^(),]*(?:->|\.))?(\w+)")
_BIT = re.compile(
    r"\b_*(?:test_and_)?(?:set|clear|change)_bit\([^,]*,\s*&?(?:[^(),]*(?:->|\.))?(\w+)"
)
_NEW_WORD = re.compile(
    r"^\s*(?:(?:static|volatile|extern|unsigned|long|const)\s+)*\w+\s+\**(\w+)[^()]*;"
)
_STATIC = re.compile(
    r"^\s*static\s(?!.*\b(?:const|__read_mostly|__ro_after_init)\b)[\w\s*]*?\b(\w+)\s*"
    r"(?:\[[^\]]*\]\s*)*(?:=.*)?;"
)
_STRUCT = re.compile(r"^(?:@@ .*@@ |[ +])(?:typedef )?struct (\w+) \{")
_ENDS = re.compile(r"^(?:@@ |[ +]\})")
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
            yield new_source(patch.name, change.path)
    if strange := _strange_options(patch, engine):
        yield _off(patch.name, strange)
    yield from in_vain(patch, engine)


def new_source(name: str, path: str) -> str:
    """Return a sentence on a source that only a Makefile of the kernel's names."""
    return (
        f"{name}: {path} is a new source that nothing includes: the simulator does not compile it"
        " (it reads no Makefile of the kernel's)."
    )


def in_vain(patch: Patch, engine: Engine) -> Iterator[str]:
    """Yield what the sources that are compiled ask in vain: initcalls, and what has limits."""
    for change in patch.changes:
        for call in _uncalled(change, engine):
            yield f"{patch.name}: {change.path}: the simulator does not call its {call}()."
    yield from _limits(patch, engine)


def _limits(patch: Patch, engine: Engine) -> Iterator[str]:
    """Yield what a patch uses more than before, and the simulator has not as a kernel has it."""
    limits = tomllib.loads((engine.folder / _LIMITS).read_text(encoding="utf-8"))["limit"]
    types = {name for limit in limits for name in limit.get("types", ())}
    structs = {name for limit in limits for name in limit.get("structs", ())}
    sides: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for change in patch.changes:
        for added, code, struct in _changed_lines(change):
            sides[added].update(_CALL.findall(code))
            sides[added].update(_words(code, types, struct in structs))
    new = sides[True] - sides[False]
    for limit in limits:
        names = [f"{name}()" for name in limit.get("names", ()) if new[f"{name}("]]
        if limit.get("shared"):
            words = [word.removesuffix(" shared") for word in new if word.endswith(" shared")]
            names += sorted(word for word in words if new[f"{word} declared"])
        if names:
            each = " each" if len(names) > 1 else ""
            yield (
                f"{patch.name}: {listing(names)}{each} {limit['what']}"
                " (docs/internals/engine.md, Limits)."
            )


def _changed_lines(change: FileChange) -> Iterator[tuple[bool, str, str]]:
    """Yield each changed line: whether it is added, its code, and the struct that it is in."""
    struct = ""
    for line in change.text:
        if _ENDS.match(line):
            struct = ""
        if found := _STRUCT.match(line):
            struct = found[1]
        if line[:1] in ("+", "-"):
            yield line[:1] == "+", _COMMENT.sub(" ", line[1:]), struct


def _words(code: str, types: Collection[str], shared: bool) -> Iterator[str]:
    """Yield the words that a line declares, and those that it shows to be shared by CPUs.

    Args:
        code: the line.
        types: of which every word is.
        shared: it is in a struct of which all CPUs have the same one.
    """
    for word in _NEW_WORD.findall(code):
        yield f"{word} declared"
        if shared:
            yield f"{word} shared"
    for word in _ONCE.findall(code) + _BIT.findall(code):
        yield f"{word} shared"
    found = [word for kind, word in _DECLARED.findall(code) if kind in types]
    for word in dict.fromkeys(found + _STATIC.findall(code)):
        yield from (f"{word} declared", f"{word} shared")


def _strange_options(patch: Patch, engine: Engine) -> list[str]:
    """Return the options that a patch brings into the code and that the engine does not know."""
    sides: dict[bool, set[str]] = {True: set(), False: set()}
    for change in patch.changes:
        code = [line[1:] for line in change.text]
        if change.path.endswith((".c", ".h")):
            asked = _asked_options(code)
        else:
            asked = [_OFFERED.findall(line) for line in code]
        for line, options in zip(change.text, asked, strict=True):
            if line[:1] in ("+", "-"):
                sides[line[:1] == "+"].update(options)
    return _unknown(sides[True] - sides[False], engine)


def lost_options(name: str, tree: Path, engine: Engine) -> str:
    """Return what a tree's scheduler asks for that the engine does not know; empty if nothing."""
    options: set[str] = set()
    for file in sorted((tree / "kernel/sched").glob("**/*.[ch]")):
        text = file.read_text(encoding="utf-8", errors="replace").splitlines()
        options.update(*_asked_options(text))
    unknown = _unknown(options, engine)
    return _off(name, unknown) if unknown else ""


def _off(name: str, options: Sequence[str]) -> str:
    named = listing([f"CONFIG_{option}" for option in options])
    return (
        f"{name}: {named}: the simulator has no such option, so it is off, and what"
        " depends on it is not compiled (engine/options.toml)."
    )


def _asked_options(lines: Sequence[str]) -> list[list[str]]:
    """Return the options that each line asks for; a condition may go on behind a backslash."""
    asked, goes_on = [], False
    for line in lines:
        asks = goes_on or bool(_ASKED.search(line))
        asked.append(_OPTION.findall(line) if asks else [])
        goes_on = asks and line.rstrip().endswith("\\")
    return asked


def _unknown(options: set[str], engine: Engine) -> list[str]:
    options = options - MODELS.keys()
    for file in _KNOWN_IN if options else ():
        words = (engine.folder / file).read_text(encoding="utf-8").replace("CONFIG_", " ")
        options = options - set(re.findall(r"[A-Z0-9][A-Z0-9_]*", words))
    return sorted(options)


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
