"""One program of an environment as a Gymnasium environment: atomic actions and STOP, a reward of 1 for success."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from alphanpi.environment.facets import Pictured
from alphanpi.environment.given import GivenEnvironment, as_environment
from alphanpi.environment.guard import Guard
from alphanpi.environment.instances import state_of
from alphanpi.errors import UsageError
from alphanpi.support import limits

Sizes = int | Sequence[int] | None
Observation = NDArray[np.int16]
MOST_STEPS = 1000
_STOP = 0  # its place in every library
_MODES = ("ansi", "rgb_array")
_INT16 = np.iinfo(np.int16)


class FlatEnvironment(gymnasium.Env[Observation, np.int64]):
    """A program as one decision problem, without calls.

    An episode begins in a state that the environment draws for the program, and ends with STOP: reward 1 if the
    post-condition holds, else 0; no other step is rewarded. `info["action_mask"]` says which actions are legal. One
    that is not leaves the state as it is.
    """

    metadata: dict[str, Any] = {"render_modes": list(_MODES), "render_fps": 4}  # noqa: RUF012 - Gymnasium's own type

    def __init__(
        self,
        environment: GivenEnvironment,
        program: str | None = None,
        size: Sizes = None,
        max_steps: int = MOST_STEPS,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        """Make it.

        Args:
            environment: Id, path/to/file.py:ClassName, package.module:ClassName, a class, or an instance.
            program: The topmost one if omitted.
            size: Of the problems; of several, one is drawn for each episode. If omitted, the training sizes.
            max_steps: An episode of more is truncated.
            render_mode: `ansi`, a line of text, or `rgb_array`, a picture where the environment draws one.
            **options: Of the environment, for example observation="compare".
        """
        self.guard = Guard(as_environment(environment, **options))
        library = self.guard.library
        self.program = library.learned[-1].name if program is None else program
        entry = library.named(self.program)
        if entry.atomic:
            raise UsageError(f"{self.program} is an atomic action; give a program")
        self.sizes = self._checked_sizes(size, entry.minimum_size)
        self.max_steps = limits.whole("max_steps", max_steps, most=limits.MOST_ACTIONS)
        pictured = type(self.guard.environment).render is not Pictured.render
        modes = _MODES if pictured else _MODES[:1]
        if render_mode not in (None, *modes):
            why = "is unknown" if render_mode not in _MODES else f"needs a method render(state) of {self.guard.name}"
            raise UsageError(f"render mode {render_mode!r} {why}; there is {' and '.join(modes)}")
        self.metadata = {**self.metadata, "render_modes": list(modes)}
        self.render_mode = render_mode
        self.actions = library.names[: library.atomic_count]
        self.action_space = spaces.Discrete(len(self.actions))
        fields = len(self.guard.environment.fields)
        self.observation_space = spaces.Box(_INT16.min, _INT16.max, (fields,), np.int16)
        self.start: Any = None
        self.state: Any = None
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode; `options` may name a `size`, or an `instance`: what `Agent.run` takes, or a state."""
        super().reset(seed=seed)
        wanted = dict(options or {})
        instance, size = wanted.pop("instance", None), wanted.pop("size", None)
        if wanted:
            raise UsageError(f"reset: unknown options {', '.join(wanted)}; there are size and instance")
        if instance is not None:
            self.state = state_of(self.guard, self.program, instance)
            if not self.guard.pre(self.program, self.state, None):
                raise UsageError(f"{self.program}: its pre-condition does not hold in {instance!r:.80}")
        else:
            least = self.guard.library.named(self.program).minimum_size
            sizes = self.sizes if size is None else self._checked_sizes(size, least)
            self.state = self.guard.initial(self.program, int(self.np_random.choice(sizes)), self.np_random)
        self.start, self._steps = self.state, 0
        return self._observation(), self._info()

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Do an atomic action, or stop."""
        if self.state is None:
            raise UsageError("step before reset: begin an episode with reset()")
        chosen = int(action)
        if not 0 <= chosen < len(self.actions):
            raise UsageError(f"action {action}: there are 0 to {len(self.actions) - 1}: {', '.join(self.actions)}")
        self._steps += 1
        success = False
        if chosen == _STOP:
            success = self.guard.post(self.program, self.start, self.state)
        elif self.action_masks()[chosen]:
            self.state = self.guard.act(self.state, self.actions[chosen])
        stopped = chosen == _STOP
        truncated = not stopped and self._steps >= self.max_steps
        info = self._info()
        if stopped or truncated:
            info["is_success"] = success
        return self._observation(), float(success), stopped, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal now; sb3-contrib's MaskablePPO asks for it by this name."""
        return np.array(self.guard.legal(self.program, self.state)[: len(self.actions)], dtype=np.bool_)

    def render(self) -> Any:
        """The state as `render_mode` says."""
        if self.render_mode is None or self.state is None:
            return None
        if self.render_mode == "ansi":
            return self.guard.format(self.state)
        scene = self.guard.render(self.state)
        if scene is None:
            raise UsageError(f"{self.guard.name} has no picture of its states: give it a method render(state)")
        try:
            from alphanpi.reporting.raster import pixels
        except ImportError:
            raise UsageError("pictures need Pillow: pip install pillow") from None
        return pixels(scene)

    def _observation(self) -> Observation:
        return np.array(self.guard.observe(self.state), dtype=np.int16)

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks().astype(np.int8), "size": self.guard.size(self.state)}

    def _checked_sizes(self, given: Sizes, least: int) -> list[int]:
        name = self.program
        if given is None:
            trained = self.guard.library.named(self.program).sizes_to_train(self.guard.environment.train_sizes)
            known = [size for size in trained if size >= least]
            return known or [least]
        sizes = [limits.size(f"{name}: size", size) for size in ([given] if isinstance(given, int) else given)]
        if not sizes or min(sizes) < least:
            raise UsageError(f"{name}: sizes {sizes}: give one or more, from {least} on")
        return sizes
