"""The package's verbs as methods of an agent.

They are looked up in the public API when they are called: what shows, proves and exports agents is built upon them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import alphanpi

if TYPE_CHECKING:
    from alphanpi import Certificate, Decision, Export, Picture, ReportRecord, Scores
    from alphanpi.agent.agent import Agent
    from alphanpi.environment.instances import Instance


class Verbs:
    """`agent.verify()` is `alphanpi.verify(agent)`, and likewise for the others; they take the same arguments."""

    def evaluate(self, program: str | None = None, sizes: Sequence[int] | None = None, **settings: Any) -> Scores:
        """Measure success by size; see `alphanpi.evaluate`."""
        return alphanpi.evaluate(self._agent, program, sizes, **settings)

    def verify(self, **settings: Any) -> Certificate:
        """Prove the programs, or find a counter-example; see `alphanpi.verify`."""
        return alphanpi.verify(self._agent, **settings)

    def export(
        self,
        out: str | Path | None = None,
        format: Literal["python", "javascript", "json", "dot"] = "python",  # noqa: A002 - the name of the option
        **settings: Any,
    ) -> Export:
        """The programs as source code; see `alphanpi.export`."""
        return alphanpi.export(self._agent, out=out, format=format, **settings)

    def report(self, out: str | Path | None = None, **settings: Any) -> ReportRecord:
        """A page that shows the agent; see `alphanpi.report`."""
        return alphanpi.report(self._agent, out, **settings)

    def render(
        self,
        program: str | None = None,
        instance: Instance = None,
        out: str | Path = "render.svg",
        **settings: Any,
    ) -> Picture:
        """An animated picture of a run; see `alphanpi.render`."""
        return alphanpi.render(self._agent, program, instance, out, **settings)

    def tree(self, program: str | None = None, instance: Instance = None, **settings: Any) -> Decision:
        """The search tree of one decision; see `alphanpi.tree`."""
        return alphanpi.tree(self._agent, program, instance, **settings)

    def _repr_html_(self) -> str:
        from alphanpi.reporting.cards import agent_card

        return agent_card(self._agent)

    @property
    def _agent(self) -> Agent:
        return cast("Agent", self)
