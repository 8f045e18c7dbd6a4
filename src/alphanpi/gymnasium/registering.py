"""The environments known by id, under Gymnasium's names."""

from __future__ import annotations

import gymnasium

from alphanpi.environment.registration import registrations

NAMESPACE = "alphanpi"
VERSION = 0  # of the flat view, not of the environment


def register_all() -> None:
    """Register every environment that is known by id and is not registered yet; nothing is loaded."""
    for identifier in registrations():
        name = f"{NAMESPACE}/{identifier}-v{VERSION}"
        if name not in gymnasium.registry:
            gymnasium.register(
                name, entry_point="alphanpi.gymnasium:FlatEnvironment", kwargs={"environment": identifier}
            )
