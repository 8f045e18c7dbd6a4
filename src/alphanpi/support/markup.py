"""HTML for notebooks: small, without script or style sheet, so that it is shown wherever a notebook is."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

_LEFT = ' style="text-align: left"'


def text(value: object) -> str:
    """A value as text inside an element."""
    return html.escape(str(value).encode("utf-8", "replace").decode("utf-8"))


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; all that is in it is text."""
    first = "".join(f"<th{_LEFT}>{text(cell)}</th>" for cell in head)
    rest = "".join(f"<tr>{''.join(f'<td{_LEFT}>{text(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{first}</tr></thead><tbody>{rest}</tbody></table>"


def facts(pairs: Iterable[tuple[str, object]]) -> str:
    """A table of names and values."""
    rows = "".join(f"<tr><th{_LEFT}>{text(name)}</th><td{_LEFT}>{text(value)}</td></tr>" for name, value in pairs)
    return f"<table><tbody>{rows}</tbody></table>"
