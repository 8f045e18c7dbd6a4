"""Reading records from files: one loader, which trusts nothing that is in them.

A file is read as a whole, up to a size; its text is UTF-8 and JSON, without duplicate keys and without numbers that
are none; and all its fields are there, of the right types and within bounds. What is wrong is said in one line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from alphanpi.errors import UsageError

MOST_BYTES = 64 * 2**20
_SHOWN = 60

Count = Annotated[int, Field(ge=0, lt=2**63)]
NonNegative = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Text = Annotated[str, Field(max_length=1_000_000)]


class Record(BaseModel):
    """Base of all records that are read from files."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class LooseRecord(Record):
    """A record of which only some fields are of interest here."""

    model_config = ConfigDict(extra="ignore")


R = TypeVar("R", bound=BaseModel)


def read_record(path: Path, kind: type[R], cure: str = "") -> R:
    """The record in a JSON file; a UsageError says what is wrong with it, and what to do."""
    return parsed_record(read_bytes(path, cure), kind, str(path), cure)


def parsed_record(content: bytes | str, kind: type[R], where: str, cure: str = "") -> R:
    """A record from JSON; `where` says where it was found."""
    try:
        text = content.decode("utf-8") if isinstance(content, bytes) else content
        json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
        return kind.model_validate_json(text, strict=True)
    except ValidationError as error:
        refuse(where, reason(error), cure, error)
    except RecursionError as error:
        refuse(where, "nested too deeply", cure, error)
    except UnicodeDecodeError as error:
        refuse(where, f"not UTF-8: byte {error.start}", cure, error)
    except ValueError as error:
        refuse(where, f"not JSON: {error}", cure, error)


def read_bytes(path: Path, cure: str = "", most: int = MOST_BYTES) -> bytes:
    """The content of a regular file that is not too large."""
    try:
        if not path.is_file():
            refuse(str(path), "not a file" if path.exists() else "there is no such file", cure)
        with path.open("rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        refuse(str(path), error.strerror or str(error), cure, error)
    if len(content) > most:
        refuse(str(path), f"larger than {most:,} bytes", cure)
    return content


def reason(error: ValidationError) -> str:
    """The first fault that pydantic found, in words."""
    first = error.errors(include_url=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    message = first["msg"][:1].lower() + first["msg"][1:]
    given = first["input"]
    shown = "" if isinstance(given, (dict, list)) or first["type"] == "missing" else f", not {_short(given)}"
    return f"field {field!r}: {message}{shown}" if field else message


def refuse(where: str, what: str, cure: str = "", cause: BaseException | None = None) -> NoReturn:
    """The one line about a file that cannot be used."""
    raise UsageError(f"{where}: cannot be read: {what}" + (f"; {cure}" if cure else "")) from cause


def lines(content: bytes) -> Iterator[bytes]:
    """The lines of a file with a record in each."""
    yield from (line for line in content.split(b"\n") if line.strip())


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise ValueError(f"key {_short(key)} occurs twice")
        made[key] = value
    return made


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")
