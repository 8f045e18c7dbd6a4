"""An environment that is slow for reasons that have nothing to do with processors."""

from __future__ import annotations

import time

from alphanpi.environments.lists import PointedList
from alphanpi.environments.recursive_sorting import RecursiveSorting

SECONDS = 0.001


class WaitingSorting(RecursiveSorting):
    """Recursive sorting whose actions take a millisecond each, as if something else had to answer."""

    def act(self, state: PointedList, action: str) -> PointedList:
        """Wait, then do it."""
        time.sleep(SECONDS)
        return super().act(state, action)
