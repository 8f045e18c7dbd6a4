"""Write docs/gallery.md: every environment that comes with the package, from its registration and its pictures."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

import alphanpi
from alphanpi import STOP, Program
from alphanpi.environment.registration import registration
from alphanpi.environment.registry import Listing

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "gallery.md"
VERIFIED = ROOT / "results" / "verified.json"
PICTURES = ("images/gallery", "images")
HEAD = """# Gallery

What comes with the package. Each is one Python file that says what must be true before and after each program; how it
is done was learned. A `*` marks programs that may call themselves. All of it is defined in full in
[the built-in environments](environments.md). Two more are small enough to begin with:
[a row of lights](../examples/lights.py) and [binary addition](../examples/adder.py), which
[your own environment](custom_environment.md) explains line by line. What others report on the same tasks stands
[below](#beside-others).

<!-- written by scripts/gallery.py, from here to "Beside others" -->
"""

BY_HAND = "\n## Beside others\n"  # and all that follows


def page() -> str:
    """The page as it should be."""
    listings = [one for one in alphanpi.available() if one.environment is not None and _own(one)]
    verified = json.loads(VERIFIED.read_text())["results"]
    entries = [_entry(one, [run for run in verified if run["case"] == one.id]) for one in listings]
    return "".join([HEAD, *entries, *PAGE.read_text().partition(BY_HAND)[1:]])


def _own(listing: Listing) -> bool:
    return str(registration(listing.id).target).startswith("alphanpi.")


def _entry(listing: Listing, verified: list[Mapping[str, Any]]) -> str:
    assert listing.environment is not None
    library, known = listing.environment.library, registration(listing.id)
    entries = [one for one in library if one.name != STOP and one.target is None]
    calls = ", ".join(f"`{one.name}`" for one in library if one.target is not None)
    names = [", ".join(_name(one) for one in entries if one.level == level) for level in range(library.levels + 1)]
    levels = [f"level {level}: {programs}" for level, programs in enumerate(names) if level > 0]
    source = Path(str(inspect.getsourcefile(listing.environment))).relative_to(ROOT).as_posix()
    top = library.learned[-1].name
    lines = [f"\n## {listing.id}\n", f"{listing.summary}\n"]
    pictures = [f"{folder}/{listing.id}.svg" for folder in PICTURES]
    found = next((picture for picture in pictures if (PAGE.parent / picture).is_file()), None)
    lines += [] if found is None else [f"![{top} at work]({found})\n"]
    options = ", ".join(f"{name} `{value}`" for name, value in listing.options.items())
    lines += [f"- Actions: {names[0]}", f"- To be learned: {'; '.join(levels)}"]
    lines += [f"- Calls with a part or an argument: {calls}"] if calls else []
    lines += [f"- Options: {options}"] if options else []
    if verified:
        proved, seconds = sum(run["proved"] for run in verified), median(run["training_seconds"] for run in verified)
        ways = " or ".join(sorted({run["verdict"] for run in verified if run["proved"]}))
        lines += [
            f"- Trained until verified: {ways} at every size in {proved} of {len(verified)} seeds, after "
            f"{seconds:.1f} s in the median ([figures](verification.md#training-until-verified))"
        ]
    lines += [f"- Source: [{source}](../{source})"]
    more = f"gallery/{listing.id}.md"
    lines += [f"- [How it is said, and what was learned]({more})", ""] if (PAGE.parent / more).is_file() else [""]
    weights = ROOT / "src" / "alphanpi" / "pretrained" / listing.id
    lines += ["```sh", f"alphanpi train {listing.id} --out runs/{listing.id}"]
    if weights.is_dir():
        lines.append(f'alphanpi report pretrained:{listing.id} --program {top} --input "{known.example}"')
    return "\n".join([*lines, "```"]) + "\n"


def _name(entry: Program) -> str:
    return f"`{entry.name}`{'*' if entry.recursive else ''}"


if __name__ == "__main__":
    PAGE.write_text(page())
