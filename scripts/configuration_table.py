"""Write the table of configuration keys into docs/training.md, from the configuration models and the presets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alphanpi.learn.config import TrainConfig
from alphanpi.learn.presets import preset
from alphanpi.support.config import Config

PAGE = Path(__file__).parents[1] / "docs" / "training.md"
BEGIN, END = "<!-- configuration keys: begin -->", "<!-- configuration keys: end -->"


def descriptions() -> dict[str, str]:
    """What each key means, by `section.key`."""
    found = {}
    for name, field in TrainConfig.model_fields.items():
        if isinstance(field.default, Config):
            inner = type(field.default).model_fields.items()
            found.update({f"{name}.{key}": str(item.description) for key, item in inner})
        else:
            found[name] = str(field.description)
    return found


def table() -> str:
    """All keys with their values in both presets; a value that Hanoi changes is given in brackets."""
    values = [preset(name).flat() for name in ("default", "paper")]
    hanoi = [preset(name, "hanoi").flat() for name in ("default", "paper")]
    lines = ["| key | default | paper | meaning |", "|---|---|---|---|"]
    for key, meaning in descriptions().items():
        cells = [
            _shown(usual[key]) + ("" if usual[key] == special[key] else f" ({_shown(special[key])})")
            for usual, special in zip(values, hanoi, strict=True)
        ]
        lines.append(f"| `{key}` | {cells[0]} | {cells[1]} | {meaning} |")
    return "\n".join(lines)


def renewed(page: str) -> str:
    """The page with the table as it should be."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


def _shown(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text()))
