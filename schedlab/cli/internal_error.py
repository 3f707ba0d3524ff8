"""The last resort for an unexpected error: one message, and the traceback for those who fix it.

Text from elsewhere, which both may hold, reaches no terminal as it is.
"""

import os
import tempfile
import traceback

from schedlab.base.printable import printable, printable_lines
from schedlab.cli.echo import echo

TRACEBACK = "SCHEDLAB_TRACEBACK"
"""The variable of the environment that asks for the traceback itself."""
_LONGEST = 300


def report_defect(error: Exception) -> None:
    """Print what happened, and keep its traceback in a file or, where asked for, print it."""
    text = "".join(traceback.format_exception(error)).encode(errors="backslashreplace").decode()
    if os.environ.get(TRACEBACK) == "1":
        echo(text, err=True)
    words = printable(str(error).encode(errors="backslashreplace").decode())
    words = words if len(words) <= _LONGEST else f"{words[: _LONGEST - 3]}..."
    echo(
        f"schedlab: internal error: {type(error).__name__}: {words}"
        "\n  This is a defect of schedlab, and results so far are kept. Report it to its"
        f" maintainers with the command line and the traceback{_kept(text)}.",
        err=True,
    )


def _kept(text: str) -> str:
    """Write a traceback to a file of its own and return where it is, or how to see it."""
    if os.environ.get(TRACEBACK) == "1":
        return ""
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="schedlab-error-", suffix=".txt", encoding="utf-8", delete=False
        ) as file:
            file.write(f"{printable_lines(text)}\n")
    except OSError:
        return f" that {TRACEBACK}=1 prints"
    return f" in {file.name}"
