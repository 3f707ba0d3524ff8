"""Pages that need no network: templates whose text stays text."""

from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from schedlab.base.printable import printable

if TYPE_CHECKING:
    from jinja2 import Environment


def environment() -> "Environment":
    """Return the templates; what is put into them is escaped and made printable."""
    # Only here: it takes a tenth of a second to load, which no command without a page should cost.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("schedlab.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _printable(value: Any) -> Any:
    """Write out what a browser would not show or obey; markup of our own stays."""
    return value if isinstance(value, Markup) else printable(str(value))
