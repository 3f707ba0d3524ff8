"""`schedlab docs`: the manual, as it comes with this schedlab."""

import click

from schedlab.base.data import manual_pages
from schedlab.base.errors import UsageError, nearest
from schedlab.cli.names import PAGE


@click.command("docs")
@click.argument("page", required=False, type=PAGE)
def docs(page: str | None) -> None:
    """Show a page of the manual, or list the pages.

    \b
    schedlab docs
    schedlab docs plans
    """
    pages = manual_pages()
    if page is None:
        for name, path in pages.items():
            title = path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
            click.echo(f"{name:16} {title}")
        return
    name = page.removeprefix("docs/").removesuffix(".md")
    if name not in pages:
        folder, _, alone = name.rpartition("/")
        if alone in pages and pages[alone].parent.name == folder:
            name = alone
    if name not in pages:
        raise UsageError(
            f"the manual has no page '{page}'.{nearest(name, pages)}\n  It has: {', '.join(pages)}."
        )
    click.echo_via_pager(pages[name].read_text(encoding="utf-8"))
