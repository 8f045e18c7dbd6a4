"""An environment file as a user writes it, as short as it can be."""

from __future__ import annotations

import textwrap
from pathlib import Path

from alphanpi import SearchConfig
from alphanpi.agent.loading import describe
from alphanpi.agent.weights import write_weights
from alphanpi.environment.registry import make
from alphanpi.network.model import create_network
from tests.helpers.modules import USERS, forget

COUNTDOWN = textwrap.dedent(
    '''
    from alphanpi import Environment, action, program


    class Countdown(Environment[int]):
        """Counts down."""

        fields = ("zero",)

        @action(pre=lambda state: state > 0)
        def DOWN(self, state):
            return state - 1

        @program(level=1, depth=8)
        def EMPTY(self, before, after):
            return after == 0

        def initial(self, program, size, rng):
            return size

        def observe(self, state):
            return (state == 0,)

        def size(self, state):
            return state

        def parse(self, program, text):
            return int(text)
    '''
)


def write_countdown(folder: Path, members: str = "", weights: bool = True) -> Path:
    """Write the environment with other members; beside it, weights that know nothing, so that the folder is a run."""
    path = folder / "mine.py"
    text = f"import itertools\nimport sys\nfrom pathlib import Path\n{COUNTDOWN}"  # which members use
    path.write_text(text)
    environment = make(str(path))
    if weights:
        network = create_network(environment, 0)
        card = describe(str(path), {}, environment, network, SearchConfig(), 0)
        write_weights(folder / "model.safetensors", network, card)
    forget(f"{USERS}mine")
    path.write_text(text + textwrap.indent(textwrap.dedent(members), "    "))
    return path
