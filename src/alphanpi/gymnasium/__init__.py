"""Programs as Gymnasium environments: the same problems for flat agents, which have neither calls nor a hierarchy.

Importing this package registers every environment that is known by id as `alphanpi/ID-v0`:

    import gymnasium
    import alphanpi.gymnasium

    environment = gymnasium.make("alphanpi/hanoi-v0", program="HANOI", size=2)
"""

from __future__ import annotations

from alphanpi.support.optional import MissingPackageError

try:
    import gymnasium  # noqa: F401 - without it, nothing here can be used
except ModuleNotFoundError as error:
    raise MissingPackageError("alphanpi.gymnasium needs gymnasium: pip install 'alphanpi[gymnasium]'") from error

from alphanpi.gymnasium.flat import FlatEnvironment, Sizes
from alphanpi.gymnasium.registering import register_all

__all__ = ["FlatEnvironment", "Sizes", "register_all"]

register_all()
