"""Wrong specifications are refused, and the refusal names the program and the rule."""

from __future__ import annotations

import numpy as np
import pytest

from alphanpi.environment import registry
from alphanpi.environment.guard import Guard
from alphanpi.environment.specification import STOP, Environment, action, program
from alphanpi.environments.recursive_sorting import RecursiveSorting
from alphanpi.errors import EnvironmentFault, SpecificationError


class Complete(Environment[int]):
    """A counter; what the refused ones below are variations of."""

    fields = ("zero",)

    @action(pre=lambda state: state > 0)
    def DOWN(self, state):
        """One less."""
        return state - 1

    @program(level=1, depth=4, pre=lambda state: state > 0)
    def STEP(self, before, after):
        """Go down.

        More is not part of the summary.
        """
        return after == before - 1

    def initial(self, program, size, rng):
        return size

    def observe(self, state):
        return (state == 0,)

    def size(self, state):
        return state


def shrink(state):
    return state - 1 if state > 1 else None


def restore(caller, callee):
    return callee


# -------------------------------------------------------------------- declarations


def duplicate_name():
    class Broken(Complete):
        @action()
        def UP(self, state):
            return state + 1

        @action()  # type: ignore[no-redef]
        def UP(self, state):  # noqa: F811
            return state + 2


def name_taken_by_another_member():
    class Broken(Complete):
        @action()
        def UP(self, state):
            return state + 1

        UP = 3  # type: ignore[assignment] # noqa: F811


def level_gap():
    class Broken(Complete):
        @program(level=3, depth=4)
        def FAR(self, before, after):
            return True


def recursive_without_shrink():
    class Broken(Complete):
        @program(level=2, depth=4, recursive=True, restore=restore)
        def AGAIN(self, before, after):
            return True


def recursive_without_restore():
    class Broken(Complete):
        @program(level=2, depth=4, recursive=True, shrink=shrink)
        def AGAIN(self, before, after):
            return True


def shrink_without_recursion():
    class Broken(Complete):
        @program(level=2, depth=4, shrink=shrink)
        def AGAIN(self, before, after):
            return True


def restore_without_recursion():
    class Broken(Complete):
        @program(level=2, depth=4, restore=restore)
        def AGAIN(self, before, after):
            return True


def missing_post():
    class Broken(Complete):
        AGAIN = program(level=1, depth=4)


def missing_effect():
    class Broken(Complete):
        UP = action()


def stop_declared():
    class Broken(Complete):
        @action()
        def STOP(self, state):
            return state


def name_of_the_base_class():
    class Broken(Complete):
        @program(level=1, depth=4)
        def observe(self, before, after):  # type: ignore[override]
            return True


def negative_level():
    class Broken(Complete):
        @program(level=-1, depth=4)
        def AGAIN(self, before, after):
            return True


def no_room_for_stop():
    class Broken(Complete):
        @program(level=1, depth=0)
        def AGAIN(self, before, after):
            return True


def program_at_level_zero():
    class Broken(Complete):
        @program(level=0, depth=1)
        def AGAIN(self, before, after):
            return True


@pytest.mark.parametrize(
    ("declare", "name", "rule"),
    [
        (duplicate_name, "UP", "duplicate name"),
        (name_taken_by_another_member, "UP", "duplicate name"),
        (level_gap, "FAR", "level gap"),
        (recursive_without_shrink, "AGAIN", "without a way to shrink"),
        (recursive_without_restore, "AGAIN", "without a way back"),
        (shrink_without_recursion, "AGAIN", "say recursive=True"),
        (restore_without_recursion, "AGAIN", "say recursive=True"),
        (missing_post, "AGAIN", "missing post-condition"),
        (missing_effect, "UP", "missing effect"),
        (stop_declared, "STOP", "cannot be declared"),
        (name_of_the_base_class, "observe", "belongs to the Environment class"),
        (negative_level, "AGAIN", "level -1 is not allowed"),
        (no_room_for_stop, "AGAIN", "no room for STOP"),
        (program_at_level_zero, "AGAIN", "level 0 is not allowed"),
    ],
)
def test_wrong_declaration_is_refused(declare, name, rule):
    with pytest.raises(SpecificationError) as refusal:
        declare()
    assert f"{name}: " in str(refusal.value)
    assert rule in str(refusal.value)


def test_missing_members_are_named():
    class Bare(Environment[int]):
        @program(level=1, depth=2)
        def STEP(self, before, after):
            return True

    with pytest.raises(SpecificationError, match="Bare: missing members: initial, observe, size"):
        registry.create(Bare)  # type: ignore[type-abstract]


def test_environment_without_programs_is_refused():
    class Idle(Environment[int]):
        @action()
        def UP(self, state):
            return state + 1

    with pytest.raises(SpecificationError, match="Idle: it declares no program"):
        registry.create(Idle)  # type: ignore[type-abstract]


@pytest.mark.parametrize(
    ("names", "rule"),
    [
        ((), "must name every entry"),
        (("zero", 1), "must name every entry"),
        (("zero", "zero"), "duplicate name"),
    ],
)
def test_wrong_fields_are_refused(names, rule):
    class Broken(Complete):
        fields = names

    with pytest.raises(SpecificationError, match=f"Broken: `fields`.*{rule}"):
        registry.create(Broken)


# -------------------------------------------------------------------- the library


def test_library_has_stop_then_actions_then_programs_by_level():
    class Ordered(Complete):
        @program(level=2, depth=4)
        def SECOND(self, before, after):
            return True

        @action()
        def UP(self, state):
            return state + 1

        @program(level=1, depth=4)
        def FIRST(self, before, after):
            return True

    library = Ordered.library
    assert library.names == (STOP, "DOWN", "UP", "STEP", "FIRST", "SECOND")
    assert library.atomic_count == 3
    assert [entry.name for entry in library.learned] == ["STEP", "FIRST", "SECOND"]
    assert library.levels == 2
    assert [library.index_of(name) for name in library.names] == list(range(6))
    assert [entry.name for entry in library] == [entry.name for entry in library[0:6]]
    assert library.named("STEP").summary == "Go down."


def test_library_order_of_the_paper():
    actions = ("PTR_1_L", "PTR_2_L", "PTR_1_R", "PTR_2_R", "SWAP")
    programs = ("RSHIFT", "LSHIFT", "COMPSWAP", "RESET", "BUBBLE", "BUBBLESORT")
    assert RecursiveSorting.library.names == (STOP, *actions, *programs)


def test_callable_by():
    library = RecursiveSorting.library
    lower = library.names[:6]
    for name in ("RSHIFT", "LSHIFT", "COMPSWAP"):
        assert tuple(entry.name for entry in library.callable_by(name)) == lower
    assert tuple(entry.name for entry in library.callable_by("RESET")) == (*library.names[:9], "RESET")
    assert tuple(entry.name for entry in library.callable_by("BUBBLESORT")) == library.names


def test_unknown_program_is_refused_with_the_names_there_are():
    with pytest.raises(SpecificationError, match="no program 'STEPP'; there are STOP, DOWN, STEP"):
        Complete.library.index_of("STEPP")


def test_a_subclass_may_replace_and_remove_declarations():
    class Other(Complete):
        STEP = None  # type: ignore[assignment]

        @program(level=1, depth=9)
        def WALK(self, before, after):
            return True

    class Deeper(Complete):
        @program(level=1, depth=7)
        def STEP(self, before, after):
            return False

    assert Other.library.names == (STOP, "DOWN", "WALK")
    assert Deeper.library.named("STEP").depth == 7
    assert Complete.library.named("STEP").depth == 4


# -------------------------------------------------------------------- guarded calls


def guard_of(**members):
    return Guard(type("Broken", (Complete,), members)())


@pytest.mark.parametrize(
    ("observation", "rule"),
    [
        ((), "0 entries for 1 fields"),
        ((1, 2), "2 entries for 1 fields"),
        ((0.5,), "field 'zero' is 0.5, a float"),
        (("1",), "field 'zero' is '1', a str"),
        ((None,), "field 'zero' is None"),
        (([1],), "field 'zero' is [1], a list"),
        ((40_000,), "field 'zero' is 40000, out of"),
        ((-40_000,), "field 'zero' is -40000, out of"),
    ],
)
def test_wrong_observation_is_refused(observation, rule):
    with pytest.raises(SpecificationError) as refusal:
        guard_of(observe=lambda self, state: observation).observe(3)
    assert str(refusal.value).startswith("Broken: observe")
    assert rule in str(refusal.value)
    assert "state 3" in str(refusal.value)


@pytest.mark.parametrize("value", [True, 1, np.int64(1), np.bool_(True)])
def test_small_integers_and_bools_are_observations(value):
    assert guard_of(observe=lambda self, state: (value,)).observe(3) == (1,)


@pytest.mark.parametrize("state", [[1], {"a": 1}, ([],)])
def test_unhashable_state_is_refused(state):
    guard = guard_of(
        initial=lambda self, program, size, rng: state,
        act=lambda self, given, action: state,
        enter=lambda self, given, program, caller=None: state,
        leave=lambda self, given, callee, program, caller=None: state,
    )
    for what, call in (
        ("STEP at size 2", lambda: guard.initial("STEP", 2, np.random.default_rng(0))),
        ("action DOWN in state 5", lambda: guard.act(5, "DOWN")),
        ("entering STEP from STEP in state 5", lambda: guard.enter(5, "STEP", "STEP")),
        ("leaving STEP for STEP in state 5", lambda: guard.leave(6, 5, "STEP", "STEP")),
    ):
        with pytest.raises(SpecificationError, match="unhashable state") as refusal:
            call()
        assert what in str(refusal.value)


def test_action_that_returns_nothing_is_refused():
    guard = guard_of(act=lambda self, state, action: None)
    with pytest.raises(SpecificationError, match="action DOWN: it returned None instead of a state"):
        guard.act(5, "DOWN")


@pytest.mark.parametrize("result", [None, 1, "yes"])
def test_post_that_returns_no_bool_is_refused(result):
    class Broken(Complete):
        @program(level=1, depth=4)
        def STEP(self, before, after):
            return result

    with pytest.raises(SpecificationError, match=f"Broken: STEP: its post-condition returned {result!r}"):
        Guard(Broken()).post("STEP", 2, 1)


def test_post_may_return_a_numpy_bool():
    class Fine(Complete):
        @program(level=1, depth=4)
        def STEP(self, before, after):
            return np.bool_(after < before)

    assert Guard(Fine()).post("STEP", 2, 1) is True


def test_depth_function_that_leaves_no_room_is_refused():
    class Broken(Complete):
        @program(level=1, depth=lambda state: state - 3)
        def STEP(self, before, after):
            return True

    assert Guard(Broken()).depth("STEP", 5) == 2
    with pytest.raises(SpecificationError, match="Broken: STEP: depth 0 leaves no room"):
        Guard(Broken()).depth("STEP", 3)


def raising(self, *arguments):
    raise ZeroDivisionError("boom")


@pytest.mark.parametrize(
    ("member", "call", "what"),
    [
        (
            "initial",
            lambda guard: guard.initial("STEP", 2, np.random.default_rng(0)),
            "initial state of STEP at size 2",
        ),
        ("observe", lambda guard: guard.observe(5), "observe in state 5"),
        ("act", lambda guard: guard.act(5, "DOWN"), "action DOWN in state 5"),
        (
            "pre",
            lambda guard: guard.pre("DOWN", 5, "STEP"),
            "pre-condition of DOWN called by STEP in state 5",
        ),
        ("post", lambda guard: guard.post("STEP", 6, 5), "post-condition of STEP begun in 6 in state 5"),
        ("enter", lambda guard: guard.enter(5, "STEP", "STEP"), "entering STEP from STEP in state 5"),
        ("leave", lambda guard: guard.leave(6, 5, "STEP", "STEP"), "leaving STEP for STEP in 6 in state 5"),
        ("depth", lambda guard: guard.depth("STEP", 5), "depth of STEP in state 5"),
        ("size", lambda guard: guard.size(5), "size in state 5"),
        ("measure", lambda guard: guard.measure("STEP", 5), "measure of STEP in state 5"),
    ],
)
def test_fault_names_place_program_and_state(member, call, what):
    guard = guard_of(**{member: raising})
    line = raising.__code__.co_firstlineno + 1
    with pytest.raises(EnvironmentFault) as fault:
        call(guard)
    assert str(fault.value).endswith(f"Broken: {what}: ZeroDivisionError: boom")
    assert f"test_specification.py:{line}: " in str(fault.value)
