"""An environment file as a user writes it, as short as it can be."""

from __future__ import annotations

import textwrap

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
