"""The documentation: a site that builds and asks nobody for anything, and commands that exist."""

from __future__ import annotations

import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

import pytest

import alphanpi
from alphanpi.cli import app, learning
from tests.helpers.paths import DOCS, ROOT, SOURCE

PAGES = sorted([*DOCS.rglob("*.md"), *(ROOT / name for name in ("README.md", "SECURITY.md", "CHANGELOG.md"))])
_COMMAND = re.compile(r"^(?:    |\t)\s*(?:\$ )?(alphanpi [^\n]*(?:\\\n[^\n]*)*)$", re.MULTILINE)
_LOADED = re.compile(r"""<(?:script|img|iframe|source)[^>]*\ssrc=["']?([^"'\s>]+)|<link[^>]*\shref=["']?([^"'\s>]+)""")


_NOT_TYPED = re.compile(r"\[[^\]]*\]|\.\.\.|>.*|;.*| \| .*")  # left out, or the shell's


class Command(NamedTuple):
    """A command line that a page shows."""

    page: str
    line: str


def commands() -> Iterator[Command]:
    for page in PAGES:
        for found in _COMMAND.finditer(page.read_text()):
            yield Command(str(page.relative_to(ROOT)), found[1].replace("\\\n", " ").partition("  #")[0])


def test_every_command_that_is_shown_can_be_typed():
    wrong = []
    for page, line in commands():
        words = shlex.split(_NOT_TYPED.sub("", re.sub(r"\$\w+", "0", line)))[1:]
        try:
            app.parse_args(learning.take_overrides(words), exit_on_error=False, print_error=False)
        except SystemExit:
            continue  # --help
        except Exception as error:
            wrong.append(f"{page}: {line}: {error}")
    assert wrong == []
    assert len(list(commands())) > 60


def test_an_evaluator_of_ones_own_does_what_the_tutorial_says(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "tutorials" / "researcher.md").read_text(), re.DOTALL)
    [block] = [block for block in blocks if "class Rules" in block]
    exec(compile(block, "researcher.md", "exec"), {})
    said, found = capsys.readouterr().out.splitlines()
    assert said == "PROVED (machine)"
    assert found.startswith("True ['SWAP_A_T', 'HANOI'")


def test_the_gallery_shows_every_environment_as_it_is():
    """To renew the page: python scripts/gallery.py."""
    page = runpy.run_path(str(ROOT / "scripts" / "gallery.py"))["page"]()
    assert page == (DOCS / "gallery.md").read_text()
    assert "\n## hanoi\n" in page


@pytest.mark.parametrize("name", ["lights", "adder"])
def test_the_guide_to_proofs_shows_what_makes_the_examples_provable(name):
    page = (DOCS / "verification.md").read_text()
    source = (ROOT / "examples" / f"{name}.py").read_text()
    shown = dict(zip(["lights", "adder"], re.findall(r"```diff\n(.*?)```", page, re.DOTALL), strict=True))[name]
    for change in shown.split("\n\n"):
        new = [line[1:] for line in change.splitlines() if line.startswith("+")]
        assert source.count("\n".join(new)) == 1, change
    if name == "lights":
        assert len(re.findall(r"^\+.+", shown, re.MULTILINE)) == 12
        assert "Twelve lines are new" in page


def test_the_page_on_lemmas_shows_one_that_is_there():
    [shown] = re.findall(r"```python\n(.*?)```", (DOCS / "lemmas.md").read_text(), re.DOTALL)
    assert shown in (SOURCE / "environments" / "hanoi.py").read_text()


def test_readme_names_every_page():
    readme = (ROOT / "README.md").read_text()
    for page in DOCS.rglob("*.md"):
        assert f"({page.relative_to(ROOT)})" in readme


def test_the_site_builds_without_a_warning_and_asks_nobody_for_anything(tmp_path):
    pytest.importorskip("mkdocs", reason="MkDocs is not installed; `pip install .[docs]` to test the site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (built.returncode, built.stdout) == (0, ""), built.stderr
    pages = {str(page.relative_to(tmp_path)): page.read_text() for page in tmp_path.rglob("*.html")}
    assert "Specify, don't program." in pages["index.html"]
    for file in DOCS.rglob("*.md"):
        assert f'href="{file.relative_to(DOCS).with_suffix(".html").as_posix()}"' in pages["index.html"], file
    for name in alphanpi.__all__:
        if name != "STOP":
            assert f'id="alphanpi.{name}"' in pages["api.html"], name
    for name, page in pages.items():
        asked = [found[1] or found[2] for found in _LOADED.finditer(page)]
        assert [address for address in asked if re.match("(https?:)?//", address)] == [], name
    for style in tmp_path.rglob("*.css"):
        assert not re.search(r"""(url\(|@import)\s*["']?(https?:)?//""", style.read_text()), style
    assert "ALL_ON" in pages["source/examples/lights.py.html"]
