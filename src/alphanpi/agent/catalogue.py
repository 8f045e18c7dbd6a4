"""The agents that come with the package: what each does, and what is known of it."""

from __future__ import annotations

import shlex
from typing import Any, NamedTuple

from alphanpi.agent.loading import PRETRAINED, pretrained, weights_path
from alphanpi.environment.registration import registration
from alphanpi.environment.registry import load
from alphanpi.runs.records import CARD_FILE, StoredScore
from alphanpi.support.limits import percent
from alphanpi.support.record import LooseRecord, Text, read_record

_MODES = {"greedy": "without search", "planning": "with search"}


class PublishedCard(LooseRecord):
    """What is read of a pretrained agent's card."""

    environment: Text
    options: dict[str, Any]
    command: Text
    training_seconds: float
    verdict: Text
    scores: tuple[StoredScore, ...]


class PretrainedAgent(NamedTuple):
    """An agent that comes with the package."""

    name: str  # as `load` takes it
    environment: str
    options: dict[str, Any]
    summary: str
    programs: tuple[str, ...]
    verdict: str  # of its certificate
    scores: tuple[StoredScore, ...]
    command: str  # that trained it
    training_seconds: float
    example: str  # a command to try

    @property
    def success(self) -> str:
        """How often the last program succeeded, in words."""
        said = []
        for mode, how in _MODES.items():
            rows = [row for row in self.scores if (row.program, row.mode) == (self.programs[-1], mode)]
            if rows:
                share = sum(row.successes for row in rows) / sum(row.episodes for row in rows)
                said.append(f"{percent(share)} {how} at sizes {', '.join(str(row.size) for row in rows)}")
        return "; ".join(said)


def agents() -> list[PretrainedAgent]:
    """The agents that `load` finds as `pretrained:NAME`, with what their cards say."""
    return [_described(name) for name in pretrained()]


def _described(name: str) -> PretrainedAgent:
    full = f"{PRETRAINED}{name}"
    card = read_record(weights_path(full).with_name(CARD_FILE), PublishedCard)
    kind = load(card.environment)
    programs = tuple(program.name for program in kind.library.learned)
    example = registration(card.environment).example
    words = ["alphanpi", "run", full, programs[-1], *([] if example is None else [example])]
    return PretrainedAgent(
        name=full,
        environment=card.environment,
        options=card.options,
        summary=(kind.__doc__ or "").strip().split("\n")[0],
        programs=programs,
        verdict=card.verdict,
        scores=card.scores,
        command=card.command,
        training_seconds=card.training_seconds,
        example=shlex.join(words),
    )
