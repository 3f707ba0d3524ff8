"""Pages that need no network: templates whose text stays text."""

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from schedlab.base.printable import printable

if TYPE_CHECKING:
    from jinja2 import Environment

_SEAM = re.compile(r"(?<=[:,=])(?=\w)|(?<=[_./-])(?=[a-zA-Z])|(?<=[a-z0-9])(?=[A-Z])")
"""Between the parts of a benchmark's or a counter's name."""


@cache
def environment() -> "Environment":
    """Return the templates, compiled once; what is put into them is escaped and made printable."""
    # Only here: it takes a tenth of a second to load, which no command without a page should cost.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("schedlab.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["breakable"] = breakable
    return made


def breakable(name: str) -> Markup:
    """Return a name that a browser may break between its parts, where it has no room."""
    return Markup("<wbr>").join(_SEAM.split(printable(name)))


def _printable(value: Any) -> Any:
    """Write out what a browser would not show or obey; markup of our own stays."""
    return value if isinstance(value, Markup) else printable(str(value))
