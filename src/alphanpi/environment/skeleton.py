"""The skeleton `alphanpi new-env` writes: a small environment that passes the check and can be learned."""

from __future__ import annotations

import builtins
import importlib.util
import keyword
import re
from pathlib import Path

from alphanpi.environment.guard import shown
from alphanpi.errors import UsageError
from alphanpi.support.files import write_atomically

_LONGEST_NAME = 60
_TAKEN = frozenset(("State", "NamedTuple", "Environment", *dir(builtins)))  # as a class, it would hide another

_SKELETON = '''"""{title}: describe in one line what is to be learned."""

from typing import NamedTuple

from alphanpi import Environment, action, program


class State(NamedTuple):
    """Everything there is to know. States are values: hashable, never changed in place."""

    position: int
    goal: int
    start: int  # where the current problem begins; a recursive call moves it


def without_first_step(state):
    """The smaller problem an inner call of WALK sees, or None where there is none."""
    if state.position == state.start + 1 <= state.goal:
        return state._replace(start=state.position)
    return None


class {name}(Environment[State]):
    """Walk to the goal, one step at a time, by recursion."""

    # What the agent sees: one name per entry of an observation.
    fields = ("at_start", "at_goal")

    # Sizes to learn from, to validate on, and to test generalisation with.
    train_sizes = (1, 2, 3)
    validation_size = 6
    test_sizes = (10, 100, 1000)

    # Atomic actions: the body is the effect. `pre` says where the action is legal.
    @action(pre=lambda state: state.position < state.goal)
    def FORWARD(self, state):
        """One step forward."""
        return state._replace(position=state.position + 1)

    @action(pre=lambda state: state.position > state.start)
    def BACK(self, state):
        """One step back."""
        return state._replace(position=state.position - 1)

    # Programs to be learned: the body is the test of what must be true afterwards, and of what must not have changed.
    # `depth` is the most actions of one call, STOP included. A recursive program needs `shrink` and `restore`.
    @program(
        level=1,
        depth=4,
        pre=lambda state: state.position == state.start,
        recursive=True,
        shrink=without_first_step,
        restore=lambda caller, callee: callee._replace(start=caller.start),
    )
    def WALK(self, before, after):
        """Reach the goal."""
        return after == before._replace(position=before.goal)

    def initial(self, program, size, rng):
        """A state of that size that satisfies the program's pre-condition; draw from `rng` only."""
        start = int(rng.integers(10))
        return State(position=start, goal=start + size - 1, start=start)

    def observe(self, state):
        """One small integer or bool per field, about the current problem only."""
        return (state.position == state.start, state.position == state.goal)

    def size(self, state):
        """Size of the current problem; a recursive call must make it smaller."""
        return state.goal - state.start + 1

    # Optional: lets users type instances and read results.
    def parse(self, program, text):
        """Read a number of steps."""
        return State(position=0, goal=int(text), start=0)

    def format(self, state):
        """Write a state."""
        return f"{{state.position}} of {{state.goal}}"
'''


def new_env(name: str, folder: str | Path = ".") -> tuple[Path, str]:
    """Write a skeleton environment; returns the file and the name of its class. An existing file is left alone."""
    words = [word for word in re.split(r"[^0-9A-Za-z]+", name) if word]
    module, class_name = "_".join(words).lower(), "".join(word[0].upper() + word[1:] for word in words)
    if not class_name.isidentifier() or not name.isascii() or keyword.iskeyword(module) or len(name) > _LONGEST_NAME:
        raise UsageError(
            f"{shown(name)} does not make a class name; use at most {_LONGEST_NAME} letters, digits, '-' and '_', a "
            "letter first"
        )
    path = Path(folder) / f"{module}.py"
    if path.exists() or path.is_symlink():
        raise UsageError(f"{path} is there already; choose another name or folder")
    if class_name in _TAKEN or importlib.util.find_spec(module) is not None:
        raise UsageError(f"{name!r} means something else in Python, or in the file itself; choose another name")
    write_atomically(path, _SKELETON.format(name=class_name, title=" ".join(words).capitalize()))
    return path, class_name
