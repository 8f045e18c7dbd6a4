"""Whether code is general, or a loop written out as far as it was seen.

In code with a real loop or recursion, short calls already use every part. Where a loop is written out, each longer
call needs a part of its own, and the last parts are used by the longest calls alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from alphanpi.exporting.automaton import automaton, step
from alphanpi.exporting.minimise import Learned
from alphanpi.exporting.tree import CallTrace

_MANY_LENGTHS = 8  # calls of fewer different lengths need not be a loop


def written_out(learned: Learned, places: list[int], longest: int | None, traces: Iterable[CallTrace]) -> bool:
    """Whether parts of the code are used only by calls more than half as long as the longest.

    Args:
        learned: The code.
        places: Where its features are in the letters of the traces.
        longest: The most steps a call may take, if that is a number; where some do, none are longer.
        traces: Calls of the agent.
    """
    states = automaton(learned.block)
    shortest: dict[tuple[int, int], int] = {}  # state, number of its transition -> length of a call
    lengths = set()
    for trace in sorted(traces, key=len):
        lengths.add(len(trace))
        state: int | None = 0
        for letter, action in trace:
            if state is None:
                break
            taken = step(states, state, tuple(letter[place] for place in places))
            shortest.setdefault((state, states[state].index(taken)), len(trace))
            # The code may be wrong here; others find that.
            state = taken.following if taken.action == action else None
    complete = longest is not None and max(lengths) >= longest
    return not complete and len(lengths) >= _MANY_LENGTHS and max(shortest.values()) > max(lengths) / 2
