"""What members of an environment have to answer in a proof, as its guard asks for in real runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from alphanpi.support import limits
from alphanpi.symbolic.reasoning import Reasoning
from alphanpi.symbolic.values import UnknownClaim, UnknownNumber, UnknownTruth

_TRUTHS = (bool, np.bool_, UnknownTruth, UnknownClaim)


def truth(reasoning: Reasoning, answer: Any) -> Any:
    """What a post-condition may answer."""
    if not issubclass(type(answer), _TRUTHS):
        reasoning.refuse(f"a post-condition that returns {answer!r}, and neither True nor False")
    return answer


def limit(reasoning: Reasoning, depth: Any) -> Any:
    """What a depth may be; that it is 1 or more is shown elsewhere."""
    if issubclass(type(depth), UnknownNumber):
        return depth
    if not issubclass(type(depth), (int, np.integer)) or depth > limits.MOST_DEPTH:
        reasoning.refuse(f"a depth of {depth!r}, which is no whole number up to {limits.MOST_DEPTH:,}")
    return depth
