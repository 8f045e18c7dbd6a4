"""What a check hands back: findings, each of a broken rule, and what could not be checked."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from alphanpi.environment.guard import RAISED, shown
from alphanpi.errors import AlphaNPIError, SpecificationError

_FINDINGS_PER_RULE = 3


class Finding(NamedTuple):
    """One place where an environment breaks a rule."""

    rule: str
    program: str | None
    message: str
    state: str = ""

    def __str__(self) -> str:
        subject = f"{self.program}: " if self.program else ""
        where = f" (state {self.state})" if self.state and self.state not in self.message else ""
        return f"{self.rule}: {subject}{self.message}{where}"


@dataclass(frozen=True)
class CheckReport:
    """The result of a check; an environment is in order when there are no findings."""

    environment: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]  # what could not be checked, and why; what is allowed and may surprise
    states: int  # different states looked at

    @property
    def ok(self) -> bool:
        """Whether no rule was found broken."""
        return not self.findings

    def __str__(self) -> str:
        count = len(self.findings)
        verdict = "no findings" if self.ok else f"{count} finding{'s' if count > 1 else ''}"
        lines = [f"{self.environment}: {verdict} in {self.states} states"]
        lines += [f"  {finding}" for finding in self.findings]
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)


class Collector:
    """Gathers findings, only the first few of each rule and program."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.notes: list[str] = []
        self._noted: set[str] = set()
        self._count: Counter[tuple[str, str | None]] = Counter()

    def add(self, rule: str, program: str | None, message: str, state: Any = None) -> None:
        """Record a broken rule, unless it is known or there are enough of its kind."""
        finding = Finding(rule, program, _one_line(message), "" if state is None else _one_line(shown(state)))
        if self.full(rule, program) or finding in self.findings:
            return
        self._count[rule, program] += 1
        self.findings.append(finding)

    def note(self, text: str, state: Any = None) -> None:
        """Record what could not be checked, or what is allowed and may surprise; one state is enough."""
        if text not in self._noted:
            self._noted.add(text)
            self.notes.append(_one_line(text if state is None else f"{text} (state {shown(state)})"))

    def full(self, rule: str, program: str | None) -> bool:
        """Whether there are findings enough of that rule and program."""
        return self._count[rule, program] >= _FINDINGS_PER_RULE

    @contextmanager
    def catching(self, program: str | None, state: Any = None, member: str = "") -> Iterator[None]:
        """Turn an error of the environment into a finding and give up the rest of the block.

        Comparing, hashing and copying states runs code of the environment too, and no guard stands around that.
        """
        try:
            yield
        except AlphaNPIError as error:
            rule = "specification" if isinstance(error, SpecificationError) else "raises"
            self.add(rule, program, str(error), state)
        except RAISED as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{frame.filename}:{frame.lineno}: " + (f"{member}: " if member else "")
            self.add("raises", program, f"{where}{type(error).__name__}: {error}", state)


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())
