"""Write the table of configuration keys into docs/training.md, from the models of both presets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alphanpi.support.config import Config
from alphanpi.training.presets import preset

PAGE = Path(__file__).parents[1] / "docs" / "training.md"
BEGIN, END = "<!-- configuration keys: begin -->", "<!-- configuration keys: end -->"


def descriptions(model: type[Config]) -> dict[str, str]:
    """What each key means, by `section.key`."""
    found = {}
    for name, field in model.model_fields.items():
        if isinstance(field.default, Config):
            inner = type(field.default).model_fields.items()
            found.update({f"{name}.{key}": str(item.description) for key, item in inner})
        else:
            found[name] = str(field.description)
    return found


def table(name: str) -> str:
    """All keys of a preset with their values; one that Hanoi changes is given in brackets."""
    usual, hanoi = preset(name), preset(name, "hanoi").flat()
    lines = [f"| key | {name} | meaning |", "|---|---|---|"]
    for key, meaning in descriptions(type(usual)).items():
        value = usual.flat()[key]
        shown = _shown(value) + ("" if value == hanoi[key] else f" ({_shown(hanoi[key])})")
        lines.append(f"| `{key}` | {shown} | {meaning} |")
    return "\n".join(lines)


def renewed(page: str) -> str:
    """The page with the table as it should be."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table('default')}\n\n{table('paper')}\n\n{END}{after}"


def _shown(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text()))
