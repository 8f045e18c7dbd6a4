"""Text of other people in source code: whatever a name or description holds, it stays a piece of text.

Everything that an export writes into Python or DOT without having made it itself passes through `escaped`.
"""

from __future__ import annotations

import keyword
import re
import unicodedata

_NAMED = {"\\": "\\\\", '"': '\\"', "\n": "\\n"}


def escaped(text: str, keep: str = "") -> str:
    """The text between double quotes of a Python string; characters of `keep` stay as they are."""
    return "".join(char if char in keep else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    if char in _NAMED:
        return _NAMED[char]
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def literal(text: str) -> str:
    """A Python string."""
    return f'"{escaped(text)}"'


def docstring(text: str) -> str:
    """A Python string in triple quotes, of several lines where the text has several; its value is the text."""
    body = re.sub(r'"(?="|\Z)', r"\"", escaped(text, keep='"\n'))
    return f'"""{body}"""'


def one_line(text: str) -> str:
    """The text for a sentence: nothing in it can begin a line or hide from a reader."""
    return "".join(char if char in '"\\' else _escaped(char) for char in text)


def dot_string(lines: list[str]) -> str:
    """A label in Graphviz, which reads backslashes and HTML entities in it."""
    shown = [escaped(one_line(line)).replace("&", "&amp;") for line in lines]
    if any(line.startswith(" ") for line in lines):
        return '"' + "".join(f"{line}\\l" for line in shown) + '"'  # indented, so to the left
    return '"' + "\\n".join(shown) + '"'


def is_name(text: str) -> bool:
    """Whether Python reads the text as a name, and as this one."""
    return text.isidentifier() and not keyword.iskeyword(text) and unicodedata.normalize("NFKC", text) == text
