"""Contracts: the states in which calls may end, and the invariants that the agent's own runs keep."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from alphanpi.environment.guard import Guard, shown
from alphanpi.environment.specification import Environment
from alphanpi.environment.unknown import Order
from alphanpi.errors import SpecificationError, UsageError

MOST_REMEMBERED = 200_000
"""Outcomes remembered at most; then all are forgotten."""
_SEARCHED = 4  # outcomes of a call that are looked through one by one


class _Outcomes:
    """The outcomes of one call, their views, and for which the post-condition was seen to hold."""

    __slots__ = ("listed", "states", "tested", "views")

    def __init__(self, states: list[Any], views: list[Hashable]) -> None:
        self.states = states
        self.views = views
        self.tested = [False] * len(states)
        self.listed: dict[Any, bool] = {}  # the states again, once anybody looks for one among many


class Contracts:
    """The post-states of calls: what the environment allows, restricted to the invariants found so far."""

    def __init__(self, environment: Environment[Any]) -> None:
        # Unknown values cannot be hashed, and who explores hashes the states that calls begin in.
        self.guard = Guard(environment, hashed_by_caller=True)
        self.order = Order()
        self.invariants: dict[str, set[Hashable]] = {}
        """For programs with a relative view, the views of all outcomes of the agent's own runs."""
        self.several: set[str] = set()
        """Programs of which some call was seen to have more than one outcome."""
        self._remembered: dict[tuple[str, Any], _Outcomes] = {}
        self._states = 0  # remembered

    def strengthened(self, program: str, entry: Any) -> list[Any]:
        """The states in which a call may end, as far as the agent's own runs have been shown to stay within them."""
        outcomes = self._outcomes(program, entry)
        known = self.invariants.get(program, ())
        only = len(outcomes.states) == 1  # then no invariant can say more
        allowed = [number for number, view in enumerate(outcomes.views) if only or view is None or view in known]
        for number in allowed:
            if not outcomes.tested[number]:
                self._require_allowed(program, entry, outcomes, number)
        return [outcomes.states[number] for number in allowed]

    def allowed(self, program: str, entry: Any) -> list[Any]:
        """Every state in which a call may end, whatever the agent's own runs do."""
        outcomes = self._outcomes(program, entry)
        for number, tested in enumerate(outcomes.tested):
            if not tested:
                self._require_allowed(program, entry, outcomes, number)
        return outcomes.states

    def view(self, program: str, after: Any) -> Hashable:
        """An outcome relative to its problem; None where the environment has no such view."""
        return self.guard.relative(program, after)

    def require_listed(self, program: str, start: Any, final: Any) -> None:
        """A run that satisfies the post-condition must end in one of the outcomes callers are given."""
        outcomes = self._outcomes(program, start)
        if len(outcomes.states) > _SEARCHED and not outcomes.listed:
            for after in outcomes.states:
                self.order.keep(outcomes.listed, after, True)
        if outcomes.listed and self.order.find(outcomes.listed, final):
            return
        if not any(final == after for after in outcomes.states):
            raise SpecificationError(
                f"{self.guard.name}: outcomes of {program} begun in {shown(start)} lacks {shown(final)}, "
                "which the post-condition allows"
            )

    def _outcomes(self, program: str, entry: Any) -> _Outcomes:
        """Every state in which a call may end, as the specification has it; made once for each call."""
        key = (program, entry)
        remembered: _Outcomes | None = self.order.find(self._remembered, key)
        if remembered is not None:
            return remembered
        asked = self.order.asked
        try:
            states = list(self.guard.outcomes(program, entry))
        except NotImplementedError:
            raise UsageError(
                f"{self.guard.name} cannot be verified: give it a method outcomes(program, before), every state in "
                "which a call may end; see docs/verification.md"
            ) from None
        outcomes = _Outcomes(states, [self.view(program, after) for after in states])
        if len(states) > 1:
            self.several.add(program)
        if self.order.asked == asked:  # else they depend on what is known of the values at this moment
            self._states += 1 + len(states)
            if self._states > MOST_REMEMBERED:
                self._remembered.clear()
                self._states = 1 + len(states)
            self.order.keep(self._remembered, key, outcomes)
        return outcomes

    def _require_allowed(self, program: str, entry: Any, outcomes: _Outcomes, number: int) -> None:
        asked = self.order.asked
        if not self.guard.post(program, entry, outcomes.states[number]):
            raise SpecificationError(
                f"{self.guard.name}: outcomes of {program} begun in {shown(entry)} gives "
                f"{shown(outcomes.states[number])}, where the post-condition is false"
            )
        outcomes.tested[number] = self.order.asked == asked
