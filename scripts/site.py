"""What the documentation site has besides the files of docs/: hooks of MkDocs, which mkdocs.yml names.

README.md, SECURITY.md, CHANGELOG.md and results/ are pages, too. Links are written as they work in the repository, and
are led here to where their target is on the site: a page, or, for a source file, a page that shows it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import alphanpi

ROOT = Path(__file__).parents[1]
DOCS = "docs"
REPOSITORY_PAGES = {"README.md": "index.md", "SECURITY.md": "security.md", "CHANGELOG.md": "changelog.md"}
API_PAGE = "api.md"
OTHERS = "Guides"
_LINK = re.compile(r"(?P<before>\]\()(?P<path>[^)#\s:]+)(?P<anchor>#[^)\s]*)?(?P<after>\))")
_CODE = re.compile(r"^(?P<fence>```|~~~).*?^(?P=fence)[^\n]*$|^(?: {4}|\t)[^\n]*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_FENCES = {".py": "python", ".toml": "toml", ".sh": "sh"}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put pages that mkdocs.yml does not name at the end of the guides."""
    docs = Path(config.docs_dir)
    named = set(_named(config.nav))
    more = [
        page for page in sorted(file.relative_to(docs).as_posix() for file in docs.rglob("*.md")) if page not in named
    ]
    for entry in config.nav or []:
        if isinstance(entry, dict) and OTHERS in entry:
            entry[OTHERS] += more
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the repository, the sources that pages show, and the Python reference."""
    sources = {file.src_uri: f"{DOCS}/{file.src_uri}" for file in files.documentation_pages()}
    for source, uri in _repository_pages().items():
        files.append(File.generated(config, uri, content=(ROOT / source).read_text()))
        sources[uri] = source
    files.append(File.generated(config, API_PAGE, content=reference()))
    for source in sources.values():
        for target in _targets(source):
            uri = _site_uri(target)
            if (ROOT / target).is_file() and files.get_file_from_path(uri) is None:
                files.append(File.generated(config, uri, content=_shown(target)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links to where their targets are on the site; what is not there stays, and MkDocs complains."""
    source = next((one for one, uri in _repository_pages().items() if uri == page.file.src_uri), None)
    where = posixpath.dirname(source or f"{DOCS}/{page.file.src_uri}")

    def led(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(where, link["path"]))
        if not (ROOT / target).is_file():
            return link[0]
        path = posixpath.relpath(_site_uri(target), posixpath.dirname(page.file.src_uri) or ".")
        return f"{link['before']}{path}{link['anchor'] or ''}{link['after']}"

    return "".join(part if code else _LINK.sub(led, part) for code, part in _parts(markdown))


def reference() -> str:
    """A page with every public name, described by its docstring. None is loaded for it: that would load PyTorch."""
    names = sorted(alphanpi.__all__, key=str.lower)
    parts = {
        "Functions": [name for name in names if name.islower()],
        "Classes and errors": [name for name in names if not name.islower() and not name.isupper()],
    }
    lines = ["# Python", "", "What is below is imported as `alphanpi.NAME`; commands and functions share their names."]
    for title, members in parts.items():
        lines += ["", f"## {title}", "", *(f"::: alphanpi.{name}\n" for name in members)]
    return "\n".join(lines) + "\n"


def _named(nav: Any) -> Iterator[str]:
    """The pages of a navigation."""
    if isinstance(nav, str):
        yield nav
    for entry in nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else ():
        yield from _named(entry)


def _repository_pages() -> dict[str, str]:
    results = {
        f"results/{file.name}": f"results/{'index.md' if file.name == 'README.md' else file.name}"
        for file in sorted((ROOT / "results").glob("*.md"))
    }
    return {**REPOSITORY_PAGES, **results}


def _targets(source: str) -> Iterator[str]:
    """Files of the repository to which a page links."""
    for code, part in _parts((ROOT / source).read_text()):
        if not code:
            for link in _LINK.finditer(part):
                yield posixpath.normpath(posixpath.join(posixpath.dirname(source), link["path"]))


def _parts(markdown: str) -> Iterator[tuple[bool, str]]:
    """The text in pieces, and whether each is code, in which nothing is a link."""
    end = 0
    for code in _CODE.finditer(markdown):
        yield False, markdown[end : code.start()]
        yield True, code[0]
        end = code.end()
    yield False, markdown[end:]


def _site_uri(target: str) -> str:
    """Where a file of the repository is on the site."""
    pages = _repository_pages()
    if target in pages:
        return pages[target]
    if target.startswith(f"{DOCS}/"):
        return target.removeprefix(f"{DOCS}/")
    return f"source/{target}.md" if Path(target).suffix in _FENCES else f"source/{target}"


def _shown(target: str) -> Any:
    """A file as it is, or a page that shows it."""
    path = ROOT / target
    fence = _FENCES.get(path.suffix)
    if fence is None:
        return path.read_bytes()
    return f"# {target}\n\n```{fence}\n{path.read_text().rstrip()}\n```\n"
