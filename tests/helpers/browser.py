"""Looking at our pages: parsed strictly, and shown by a real browser."""

import subprocess
from html.parser import HTMLParser

from tests.helpers.patience import PATIENCE_SECONDS

VOID = {"br", "link", "meta", "wbr"}


class Page(HTMLParser):
    """Checks that every element is closed, and keeps what tests ask for."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def values(self, attribute: str) -> list[str]:
        return [value for _, attrs in self.tags if (value := attrs.get(attribute)) is not None]


def run_browser(command: list[str], *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*command, *more], capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
