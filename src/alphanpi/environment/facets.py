"""What an environment may offer beyond learning, by purpose; nothing here is needed to learn."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from alphanpi.environment.scene import Scene
from alphanpi.environment.standalone import Standalone
from alphanpi.environment.step import Step
from alphanpi.symbolic.base import Unknowns

if TYPE_CHECKING:
    from alphanpi.environment.cutoff import Cutoff

State = TypeVar("State", bound=Hashable)


class Textual(Generic[State]):
    """How users type instances, and read states and results."""

    size_unit: tuple[str, str] = ("", "")
    """What a size counts, one and several of it, such as ("disk", "disks"); pages show it beside sizes."""

    def parse(self, program: str, text: str) -> State:
        """Read an instance a user typed."""
        raise NotImplementedError

    def format(self, state: State) -> str:
        """Write a state the way a user reads it."""
        return str(state)

    def result(self, program: str, final: State, actions: Sequence[Step]) -> str:
        """What a user wants to read after a run; `actions` are its atomic steps, where they were kept."""
        return self.format(final)


class Pictured(Generic[State]):
    """How states are drawn."""

    def render(self, state: State) -> Scene | None:
        """A picture of the state; None: it is shown as text."""
        return None


class Verifiable(Generic[State]):
    """What `verify` needs: all starts, all ends of a call, and why small sizes tell of all."""

    def enumerate(self, program: str, size: int) -> Iterator[State]:
        """Every state of that size in which the program may start, up to the environment's symmetry; for `verify`."""
        raise NotImplementedError

    def templates(self, program: str, size: int, values: Sequence[Any]) -> Iterator[State]:
        """The same starts around values given, one for each place; for environments that only compare values."""
        raise NotImplementedError

    def outcomes(self, program: str, before: State) -> Iterator[State]:
        """Every state in which a call begun in `before` may end: the contract `verify` puts in its place."""
        raise NotImplementedError

    def relative(self, program: str, after: State) -> Hashable | None:
        """What the end of a call looks like whatever the size, where `outcomes` leaves more open than one state."""
        return None

    def cutoff(self) -> Cutoff | None:
        """The lemma by which a verification up to some size holds for every size, if there is one."""
        return None


class Provable(Generic[State]):
    """What `verify` needs to prove programs at every size by itself, with z3: the most general state there can be."""

    def symbolic(self, unknown: Unknowns) -> State:
        """A state of which nothing is known: `unknown.number()`, `.numbers()` and `.truth()` in place of its values."""
        raise NotImplementedError

    def valid(self, state: State) -> bool:
        """What is true of all states there can be, also inside calls; a proof is about all states that are valid."""
        return True

    def invariants(self, program: str, before: State, state: State) -> Iterable[bool]:
        """What may be true over and over again in a call that loops, always as many statements; none is believed."""
        return ()


class Exportable(Generic[State]):
    """What exported code may use."""

    derived: tuple[str, ...] = ()
    """Names of further conditions that follow from an observation; exported code may use them."""

    def derive(self, observation: Sequence[int]) -> Sequence[int]:
        """The values of the derived conditions, one small integer or bool for each name in `derived`."""
        raise NotImplementedError

    def standalone(self) -> Standalone[State] | None:
        """The environment as plain Python source, so that exported programs run on their own."""
        return None
