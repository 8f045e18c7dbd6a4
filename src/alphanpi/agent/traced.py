"""An execution that shows itself."""

from __future__ import annotations

from alphanpi.agent.interpreter import Execution
from alphanpi.environment.guard import Guard
from alphanpi.support.markup import text

_MOST_STEPS = 300
_LONGEST_STATE = 120


class TracedExecution(Execution):
    """An execution with its program and the environment's way to write states: in a notebook, a tree of calls."""

    program: str
    guard: Guard

    @classmethod
    def of(cls, execution: Execution, program: str, guard: Guard) -> TracedExecution:
        """The same execution."""
        made = cls._make(execution)
        made.program, made.guard = program, guard
        return made

    def _repr_html_(self) -> str:
        parts = [f"<details open><summary><b>{text(self.program)}</b> {self._ending()}</summary>"]
        library, opened = self.guard.library, 1
        for step in self.steps[:_MOST_STEPS]:
            parts += ["</details>"] * (opened - step.depth - 1)
            opened = min(opened, step.depth + 1)
            line = f"{text(step.action)} <span style='opacity: 0.6'>{text(self._written(step.state))}</span>"
            if library.named(step.action).atomic:
                parts.append(f"<div style='margin-left: 1.1em'>{line}</div>")
            else:
                style = "style='margin-left: 1.1em'"
                parts.append(f"<details {style}{' open' if step.depth < 1 else ''}><summary>{line}</summary>")
                opened += 1
        left_out = self.actions - min(len(self.steps), _MOST_STEPS)
        parts += ["</details>"] * opened
        parts += [f"<div>… {left_out:,} more steps</div>"] if left_out else []
        return f"<div style='font-family: monospace; white-space: pre-wrap'>{''.join(parts)}</div>"

    def _ending(self) -> str:
        how = "solved" if self.success else f"failed ({self.failure.name.lower()})"
        return text(f"{how} in {self.actions:,} actions: {self._written(self.final)}")

    def _written(self, state: object) -> str:
        written = self.guard.format(state)
        return written if len(written) <= _LONGEST_STATE else f"{written[:_LONGEST_STATE]}…"
