"""The one thing that stopped make, read from what it printed."""

import re
from collections.abc import Sequence
from pathlib import Path

from schedlab.kernels.engine import Engine
from schedlab.kernels.part import Part

_COMPILER_ERROR = re.compile(r"^(\S+?):(\d+):(?:\d+:)? (?:fatal )?[Ee]rror: (.*)$", re.M)
"""The compiler's, or the assembler's."""
_HOOKED = re.compile(r'error: pasting "SHIM_DECLARES_" and "(\S+)"((?:(?!error:).)*)', re.S)
"""A call that engine/hooked/hook.h cannot make a call of its own."""
_DECLARED = re.compile(
    r"hook\.h:\d+:\d+: error: expected identifier or '\('((?:(?!error:).)*)", re.S
)
"""A declaration that it took for a call."""
_EXPANDED = re.compile(r"^(\S+?):(\d+):\d+: note: in expansion of macro .(\w+)", re.M)
_ARITY = re.compile(r'macro "\w+" (?:requires|passed) ')
_ARGUMENT = re.compile(r"passing argument \d+ of |too (?:few|many) arguments to function ")
_ASSERTED = re.compile(r"static assertion failed: \"(.*)\"$", re.M)
_SCHEDULER = re.compile(r"^scx: (.*)$", re.M)
"""Why a scheduler is refused (engine/scripts/scx/native.py)."""


def what_failed(part: Part, printed: Sequence[str], engine: Engine) -> str:
    """Return the one thing that stopped make."""
    what, objects, scheduler = part.what, part.objects, part.scheduler
    text = "".join(f"{line}\n" for line in printed)
    listed = re.search(r"^undefined (data )?symbols.*:\n((?:\w+\n)+)", text, re.M)
    if listed:
        names = ", ".join(listed[2].split())
        if listed[1]:
            return f"{what} needs data the engine does not have: {names}."
        stubs = engine.folder / "stubs.txt"
        return (
            f"{what} calls functions the engine does not have: {names}."
            f"\n  If no run reaches them, add them to {stubs}; else the engine must answer them."
        )
    if "jansson.h: No such file" in text:
        return f"{what}: jansson is not installed.\n  Install: apt-get install libjansson-dev"
    if refused := _SCHEDULER.search(text):
        return f"{refused[1]}."
    asserted = _ASSERTED.search(text)
    if asserted:
        return f"{what}: {asserted[1]}"
    hooked = _HOOKED.search(text)
    if hooked and (expanded := _EXPANDED.findall(hooked[2])):
        sign, (file, line, name) = hooked[1], expanded[-1]
        return (
            f"{what}: {file.removeprefix(f'{objects}/src/')}:{line}: an argument of"
            f" {name}() begins with '{sign}'."
            f"\n  The simulator sees the calls of {name}() by a macro, whose arguments have to"
            f" begin with a name: give it a variable."
        )
    declared = _DECLARED.search(text)
    if declared and (expanded := _EXPANDED.findall(declared[1])):
        file, line, name = expanded[-1]
        return (
            f"{what}: {file.removeprefix(f'{objects}/src/')}:{line}: {name}() is declared"
            " with a first parameter of a type whose name the simulator does not know."
            f"\n  Add its first word to those of {engine.folder / 'hooked/hook.h'}."
        )
    error = _COMPILER_ERROR.search(text)
    if error and scheduler and scheduler.has(Path(error[1])):
        return (
            f"{scheduler.name} does not compile against {part.recipe.name}:"
            f" {error[1]}:{error[2]}: {error[3]}"
        )
    if error:
        hooked_call = _at_a_hook(text[error.start() :], error, engine.folder / "hooked")
        file, line, name = hooked_call or (error[1], error[2], "")
        file = file.removeprefix(f"{objects}/src/")
        if name:
            return (
                f"{what}: {file}:{line}: the simulator sees the calls of {name}() by a macro"
                f" (engine/hooked), which cannot pass this one on: {error[3]}"
                f"\n  Do the patches change what {name}() takes or returns?"
            )
        return f"{what} does not compile: {file}:{line}: {error[3]}"
    linker = re.search(r"undefined reference to [`']?([\w.]+)", text)
    if linker:
        return f"{what} does not link: {linker[1]} is undefined."
    if absent := re.search(r"No rule to make target '[^']*/k/([^']+)\.o'", text):
        return f"{what} needs {absent[1]}.c, which its tree does not have."
    last = [line for line in printed if line.strip() and not line.startswith("  ")]
    return f"{what} could not be built: {last[-1] if last else 'make failed'}"


def _at_a_hook(text: str, error: "re.Match[str]", hooked: Path) -> tuple[str, str, str] | None:
    """Return file, line and function of the call that a hook cannot pass on, if that is an error.

    Args:
        text: what the compiler said, from the error on.
        error: where it is, as the compiler has it, and what.
        hooked: the folder of the hooks.
    """
    of_macro = _ARITY.match(error[3])
    following = text.partition("\n")[2]
    if not of_macro:
        following = re.split(r"^\S+: (?:error|warning): ", following, flags=re.M)[0]
    calls = [
        (file, line, name)
        for file, line, name in _EXPANDED.findall(following)
        if not file.startswith(f"{hooked}/")
    ]
    if of_macro:
        calls = [call for call in calls if call[:2] == (error[1], error[2])]
    elif not error[1].startswith(f"{hooked}/") and not _ARGUMENT.match(error[3]):
        return None
    return calls[0] if calls and f"{hooked}/" in following else None
