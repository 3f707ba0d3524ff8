"""Where each figure of a machine file comes from: the comments beside it.

A comment belongs to the key or table of its line, or to the one right below it. A TOML parser
drops comments; this reads just enough of TOML to know which key a comment stands at.
"""

import re
from collections import Counter
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""(?P<text>\"{3}(?:\\.|[^\\])*?\"{3}|'{3}.*?'{3}|"(?:\\.|[^"\\\n])*"|'[^'\n]*')"""
    r"""|\#(?P<comment>[^\n]*)|(?P<opening>[\[{])|(?P<closing>[\]}])|(?P<end>\n)|(?P<other>[^"'#\[\]{}\n]+|.)""",
    re.DOTALL,
)


def read(text: str) -> dict[str, str]:
    """Return comments by key path: `cost.tick`, `cpu[0].capacity`, `idle.state[1]`."""
    found: dict[str, str] = {}
    seen: Counter[str] = Counter()
    table = ""
    for code, comments in _statements(text):
        if code.startswith("[["):
            array = code.strip("[] ")
            path = table = f"{array}[{seen[array]}]"
            seen[array] += 1
        elif code.startswith("["):
            path = table = code.strip("[] ")
        else:
            key = code.partition("=")[0].strip()
            path = f"{table}.{key}" if table else key
        if comments:
            found[path] = "; ".join(comments)
    return found


def _statements(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each key or header with the comments above, behind and inside it."""
    code, comments, depth = "", list[str](), 0
    for token in _TOKEN.finditer(f"{text}\n"):
        match token.lastgroup:
            case "comment":
                comments.append(token["comment"].strip())
            case "end" if not depth and code.strip():
                yield code.strip(), comments
                code, comments = "", []
            case "end" if not depth and token.string[token.start() - 1 : token.start()] == "\n":
                comments = []  # An empty line: what stood above it belongs to nothing.
            case "end":
                pass
            case kind:
                depth += (kind == "opening") - (kind == "closing")
                code += token[0]
