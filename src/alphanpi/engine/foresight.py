"""What a search will ask for next: asked for together, it waits less often.

What is known never changes a result, only how often a search has to wait.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from alphanpi.engine.histories import Histories
from alphanpi.engine.tables import FAILED, NONE, STOP_ACTION, UNKNOWN
from alphanpi.engine.world import World

FARTHEST = 256  # most actions followed ahead of a search
_MOST_CALLS = 6  # of the program that is followed; the more, the likelier that the search goes another way


class Missing(NamedTuple):
    """Evaluations that are to be made in one go, each once and in order."""

    evaluations: dict[tuple[int, int], None]  # (context, observation)
    foresees_evaluations: bool  # compiled code that evaluates by itself needs none ahead of time


class _Caller(NamedTuple):
    """A call that waits for one inside of it, on the caller's own state, to end."""

    program: int
    entry: int
    history: int
    action: int


class Foresight(NamedTuple):
    """Fills what the environment can tell, and notes what is missing otherwise."""

    world: World
    histories: Histories
    missing: Missing

    def follow(self, state: int, program: int, entry: int, context: int) -> None:
        """Have everything ready for the most probable actions from a state on, into some calls and out of them again.

        A search with few simulations goes that way nearly always, and then waits once where it would wait many times.
        """
        world, histories, _ = self
        histories.notice()
        # Run millions of times: what is there is looked up without a call.
        atomic, programs, observed, legal_sets = world.atomic, world.programs, world.observed, world.legal_sets
        known, favourites, following = histories.known_rows, histories.favourites, histories.following
        callees = world.library.callees
        callers: list[_Caller] = []
        calls = 0
        for _ in range(FARTHEST):
            legal = legal_sets.get(state * programs + program) or world.fill_legal(state, program)
            history = known.get((context << 32) | observed[state])
            if history is None:
                self._foresee_evaluation(context, state)
                return
            action = favourites.get((history, legal.number))
            if action is None:
                action = histories.favourite(history, legal)
            if action == STOP_ACTION:
                if not world.find_post(entry, state, program) or not callers:
                    return
                program, entry, history, action = callers.pop()
            elif action < atomic:
                state = world.fill_action(state, action)
            else:
                calls += not callers
                if calls > _MOST_CALLS:
                    return
                callee = callees[action]
                change = world.frame_change(program, action)
                entered = state if change == NONE else world.fill_entered(state, change)
                result = world.outcome(entered, callee)
                if result == FAILED:
                    return
                if result == UNKNOWN:
                    if change == NONE:
                        callers.append(_Caller(program, entry, history, action))
                    else:
                        callers.clear()  # where the caller goes on is not known before the call has ended
                    world.fill_depth(entered, callee)
                    state, program, entry, context = entered, callee, entered, callee
                    continue
                state = result if change == NONE else world.fill_left(state, result, change)
            context = following(history, action, world.observations)

    def look_ahead(self, state: int, program: int, context_after: Callable[[int], int]) -> None:
        """Have everything ready for all actions at a node, which an exploring search will try soon.

        Only what STOP is worth is left out: most nodes are never visited often enough to ask for it.
        """
        successors = self.world.successors(state, program)
        if self.missing.foresees_evaluations:
            moves = self.world.fill_legal(state, program).moves
            for action, after in zip(moves, successors, strict=True):
                self._foresee_evaluation(context_after(action), after)

    def begin(self, state: int, program: int, ahead: bool) -> None:
        """Have everything ready for the start of a call; for all actions there, or for the most probable ones."""
        if ahead:
            self.world.successors(state, program)
            self._foresee_evaluation(program, state)  # programs begin in the contexts of their numbers
        else:
            self.follow(state, program, state, program)

    def _foresee_evaluation(self, context: int, state: int) -> None:
        if self.missing.foresees_evaluations:
            self.histories.notice()
            observation = self.world.observed[state]
            if self.histories.known(context, observation) is None:
                self.missing.evaluations[context, observation] = None
