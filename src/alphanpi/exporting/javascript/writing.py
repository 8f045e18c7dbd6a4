"""A checked Python module as JavaScript that was compared with it, if there is a node to do so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from alphanpi.environment.specification import Environment
from alphanpi.exporting.behaviour import Case
from alphanpi.exporting.clock import Clock
from alphanpi.exporting.javascript.assembling import assembled
from alphanpi.exporting.javascript.checking import NodeChecker, NodeComparison, node
from alphanpi.exporting.render import Renderer, wrapped

NOT_RUN = "node is not on the PATH, so the JavaScript was translated from the checked Python, but not run"


class WrittenJavaScript(NamedTuple):
    """The text, and what a user should know about it."""

    text: str
    warnings: tuple[str, ...]


def written(
    python: str, environment: Environment[Any], renderer: Renderer, cases: Sequence[Case], clock: Clock
) -> WrittenJavaScript:
    """Translate, compare, and say so in the head of the file."""
    library = environment.library
    clock.doing("translating to JavaScript")
    draft = assembled(python, library)
    if node() is None:
        return WrittenJavaScript(assembled(python, library, wrapped(f"NOT RUN: {NOT_RUN}.")), (NOT_RUN,))
    clock.doing(f"comparing {len(cases):,} runs in node")
    compared = NodeChecker(python, draft, environment, renderer).compare(cases, clock)
    deep = _too_deep(compared)
    note = wrapped(
        f"Translated from the Python module of this export, and run in node {compared.version} on {compared.cases:,} "
        f"of the same starts: the same {compared.actions:,} actions and the same final states.{deep and f' {deep}.'}"
    )
    return WrittenJavaScript(assembled(python, library, note), (deep,) if deep else ())


def _too_deep(compared: NodeComparison) -> str:
    if not compared.too_deep:
        return ""
    return (
        f"{compared.too_deep:,} of these starts nest calls deeper than JavaScript's usual stack, which holds some "
        "10,000 of them: there it needs more, with node --stack-size"
    )
