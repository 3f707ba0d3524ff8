"""The parts of a patch that are compiled nowhere, never called, or mean less in the simulator."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
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
_DECLARED = re.compile(r"^\s*(?:(?:static|volatile|extern)\s+)*(\w+)\s+\w+[^()]*;")
"""A field or a variable, not a pointer to one."""
_OPTION = re.compile(r"\bCONFIG_(\w+)")
_ASKED = re.compile(r"^\s*#\s*(?:el)?if|\bIS_[A-Z]+\(")
_ONCE = re.compile(r"\b(?:READ|WRITE)_ONCE\((?:[^(),]*(?:->|\.))?(\w+)")
_NEW_WORD = re.compile(
    r"^\s*(?:(?:static|volatile|extern|unsigned|long|const)\s+)*\w+\s+(\w+)[^()]*;"
)
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
    sides: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for change in patch.changes:
        for line in change.text:
            if line[:1] in ("+", "-"):
                code = _COMMENT.sub(" ", line[1:])
                found = _CALL.findall(code) + _DECLARED.findall(code)
                found += [f"{word} once" for word in _ONCE.findall(code)]
                found += [f"{word} declared" for word in _NEW_WORD.findall(code)]
                sides[line[:1] == "+"].update(found)
    new = sides[True] - sides[False]
    words = [word.removesuffix(" once") for word in new if word.endswith(" once")]
    shared = sorted(word for word in words if new[f"{word} declared"])
    for limit in tomllib.loads((engine.folder / _LIMITS).read_text(encoding="utf-8"))["limit"]:
        names = [f"{name}()" for name in limit.get("names", ()) if new[f"{name}("]]
        names += [name for name in limit.get("types", ()) if new[name]]
        names += shared if limit.get("shared") else []
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
            asked = _asked_options([line[1:] for line in change.text])
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
