"""The functions of a kernel's scheduler that read a setting, found in its sources."""

import re
from collections.abc import Iterator
from pathlib import Path

from schedlab.kernels.patches import patched_text, read_patch
from schedlab.kernels.shelf import Recipe, Shelf

_FOLDER = Path("kernel/sched")
_SHOWS = "debug.c"
"""It prints and sets the scheduler's variables; nothing is decided there."""
_TO_THE_END = re.compile(r"//[^\n]*")
_FUNCTION = re.compile(r"(?!static_|DEFINE|EXPORT|\W)[\w\s*]*?\b(\w+)\((?!\()[^;]*$")
"""The head of a function in the kernel's style: it begins at the margin."""
_MACRO = re.compile(r"#\s*define\s+(\w+)\(")
_SET_BY_HANDLER = {
    "numa_balancing": "sched_numa_balancing",
    "sched_schedstats": "sched_schedstats",
    "sched_rr_timeslice_ms": "sched_rr_timeslice",
    "tunable_scaling": "sysctl_sched_tunable_scaling",
}
"""What the handler of a file sets, where its entry names no variable that the scheduler reads.

From core.c (set_numabalancing_state, set_schedstats), rt.c (sched_rr_handler) and debug.c
(sched_scaling_write) of 6.12.
"""


class SchedulerSources:
    """The sources of a recipe's scheduler, with its patches applied."""

    def __init__(self, recipe: Recipe, shelf: Shelf) -> None:
        """Read them; there are none where the tree is gone."""
        tree = shelf.base(recipe.base).tree
        paths = [path.relative_to(tree) for path in sorted((tree / _FOLDER).glob("*.[ch]"))]
        self._texts = {path.name: (tree / path).read_text("utf-8", "replace") for path in paths}
        if not self._texts:
            return
        patches = [read_patch(shelf.patch_file(copy)) for copy in recipe.patches]
        for path in {change.path for patch in patches for change in patch.changes}:
            if Path(path).parent == _FOLDER:
                self._texts[Path(path).name] = patched_text(tree, patches, path)

    def of_feature(self, name: str) -> tuple[str, ...]:
        """Return the functions that ask for a sched feature."""
        return self._asking(re.compile(rf"\bsched_feat\({re.escape(name)}\)"))

    def of_file(self, name: str) -> tuple[str, ...]:
        """Return the functions that read what a sysctl or a file of debugfs sets."""
        variable, handler = self._entry(name)
        variable = _SET_BY_HANDLER.get(name, variable)
        if not variable:
            return ()
        key = rf"\bstatic_branch_(un)?likely\(&{variable}\)"
        value = rf"(?<![&\w.>]){variable}\b(?!\s*=[^=])"
        found = self._asking(re.compile(f"{key}|{value}"))
        return tuple(function for function in found if function != handler)

    def _entry(self, name: str) -> tuple[str, str]:
        """Return the variable and the handler that the entry of a file names."""
        quoted = f'"{re.escape(name)}"'
        entry = re.compile(rf"\.procname\s*=\s*{quoted}[^}}]*")
        created = re.compile(rf"debugfs_create_\w+\({quoted},[^;]*?&(\w+)\);")
        for text in self._texts.values():
            if found := entry.search(text):
                variable = re.search(r"\.data\s*=\s*&(\w+)", found[0])
                handler = re.search(r"\.proc_handler\s*=\s*(\w+)", found[0])
                return variable[1] if variable else "", handler[1] if handler else ""
            if made := created.search(text):
                return made[1], ""
        return "", ""

    def _asking(self, words: re.Pattern[str]) -> tuple[str, ...]:
        """Return the functions and macros with code that matches, sorted."""
        texts = (text for name, text in self._texts.items() if name != _SHOWS)
        found = (each for text in texts if words.search(text) for each in _in_text(text, words))
        return tuple(sorted(set(found)))


def _in_text(text: str, words: re.Pattern[str]) -> Iterator[str]:
    bare = _without_comments(text)
    function = macro = ""
    for line in bare.splitlines():
        if defined := _MACRO.match(line):
            macro = defined[1]
        elif not macro and (head := _FUNCTION.match(line)):
            function = head[1]
        inside = macro or function
        if inside and words.search(line):
            yield inside
        if not line.endswith("\\"):
            macro = ""
        if line.startswith("}"):
            function = ""


def _without_comments(text: str) -> str:
    """Return the code, on the lines where it was; what begins a comment that never ends is none."""
    parts = []
    begin = 0
    while (at := text.find("/*", begin)) >= 0:
        end = text.find("*/", at + 2)
        end = len(text) if end < 0 else end + 2
        parts += [text[begin:at], "\n" * text.count("\n", at, end)]
        begin = end
    return _TO_THE_END.sub("", "".join([*parts, text[begin:]]))
