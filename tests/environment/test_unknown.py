"""Unknown values: whatever is not a comparison shows, however it is hidden."""

from __future__ import annotations

import copy
import functools
import pickle
from typing import Any, NamedTuple

import pytest

from alphanpi.environment.cutoff import Cutoff
from alphanpi.environment.specification import STOP, Environment, action, program
from alphanpi.environment.unknown import Choices, Order
from alphanpi.errors import SpecificationError
from alphanpi.verification.verifier import Verifier
from tests.helpers.solutions import ScriptedEvaluator
from tests.helpers.verdicts import explore_evaluator


class Row(NamedTuple):
    values: tuple[Any, ...]


def swapped(state):
    return Row((state.values[-1], *state.values[1:-1], state.values[0]))


class Ends(Environment[Row]):
    """The first and the last value of a row are put in order."""

    fields = ("greater",)
    quirk: Any = None  # what the post-condition asks of a value before it looks closer

    @action()
    def SWAP(self, state):
        return swapped(state)

    @program(level=1, depth=3, minimum_size=2)
    def ORDER(self, before, after):
        first, last = after.values[0], after.values[-1]
        if self.quirk is not None and not self.quirk(first, last):
            return True  # nobody looks
        return first <= last and after in (before, swapped(before))

    def initial(self, program, size, rng):
        return Row(tuple(int(value) for value in rng.integers(10, size=size)))

    def templates(self, program, size, values):
        yield Row(tuple(values))

    def outcomes(self, program, before):
        yield from (state for state in (before, swapped(before)) if self.post(program, before, state))

    def observe(self, state):
        return (state.values[0] > state.values[-1],)

    def size(self, state):
        return len(state.values)

    def cutoff(self):
        return Cutoff("By nature.", {"ORDER": 4}, (), lambda environment, rng: None)


def in_order(see, size):
    if see.greater:
        yield "SWAP"
    yield STOP


def nothing(see, size):
    yield STOP


def caught(errors):
    """A test whether something can be done with a value, which swallows what is raised."""

    def swallow(function):
        def quirk(first, last):
            try:
                function(first)
            except errors:
                return False
            return True

        return quirk

    return swallow


_IDS: dict[Any, Any] = {}


def compared_by_id(first, last):
    return _IDS.setdefault((id(first), id(last)), first > last)


cached = functools.cache(lambda first: True)

# Of what is done with a value, each says "this is a number" of integers, and let a wrong agent pass on unknown ones.
QUIRKS = {
    "hash": (caught(TypeError)(hash), r"hash\(\)"),
    "cache": (caught(Exception)(cached), r"hash\(\)"),
    "set": (caught(TypeError)(lambda value: {value}), r"hash\(\)"),
    "str": (caught(TypeError)(lambda value: len(str(value)) == 1 or 1 / 0), r"str\(\)"),
    "format": (caught(TypeError)(lambda value: f"{value}"), r"format\(\)"),
    "repr": (lambda first, last: repr(first).isdigit(), r"repr\(\)"),
    "isinstance": (caught(BaseException)(lambda value: isinstance(value, int)), r"isinstance\(\)"),
    "attribute": (lambda first, last: hasattr(first, "bit_length"), "its attribute bit_length"),
    "arithmetic": (caught(TypeError)(lambda value: value + 0), r"add\(\)"),
    "reflected": (caught(TypeError)(lambda value: 0 - value), r"sub\(\)"),
    "index": (caught(Exception)(range), r"index\(\)"),
    "truth": (caught(TypeError)(bool), r"bool\(\)"),
    "constant": (caught(TypeError)(lambda value: value < 5), "a comparison with a value of type int"),
    "equality": (caught(TypeError)(lambda value: value == "five"), "a comparison with a value of type str"),
    "pickle": (caught(Exception)(pickle.dumps), r"reduce_ex\(\)"),
    "type": (lambda first, last: type(first) is int, "more than comparisons of values plays a role"),
    "id": (compared_by_id, "more than comparisons of values plays a role"),
}


def verified(environment, body=nothing):
    return explore_evaluator(environment, ScriptedEvaluator(environment, {"ORDER": body}))


@pytest.mark.parametrize("name", QUIRKS)
def test_what_is_done_with_a_value_besides_comparing_it_is_named(name):
    quirk, message = QUIRKS[name]
    _IDS.clear()
    environment = type("Quirky", (Ends,), {"quirk": staticmethod(quirk)})()
    with pytest.raises(SpecificationError, match=message):
        verified(environment)


def test_without_a_quirk_right_is_proved_and_wrong_is_refuted():
    assert verified(Ends(), in_order).proved
    assert verified(Ends()).verdict == "REFUTED"


def test_copies_are_the_same_values():
    class Copies(Ends):
        def observe(self, state):
            first, last = copy.deepcopy(state.values)[0], copy.copy(state.values[-1])
            return (first > last,)

    assert verified(Copies(), in_order).proved
    assert verified(Copies()).verdict == "REFUTED"


def test_what_examine_of_a_condition_does_counts_too():
    from alphanpi.environment.cutoff import Condition

    def peeks(state):
        try:
            hash(state)
        except TypeError:
            return True
        return True

    class Peeking(Ends):
        def cutoff(self):
            return Cutoff(
                "By nature.",
                {"ORDER": 4},
                (Condition("ORDER", "true", 2, "steps", peeks),),
                lambda environment, rng: None,
            )

    with pytest.raises(SpecificationError, match=r"hash\(\) of a value"):
        verified(Peeking(), in_order)


class Ordered(Ends):
    """Legal only where the ends are out of order: a pre-condition that compares values."""

    @program(level=1, depth=3, minimum_size=2, pre=lambda state: state.values[0] > state.values[-1])
    def ORDER(self, before, after):
        return after == swapped(before)

    def initial(self, program, size, rng):
        values = sorted(int(value) for value in rng.choice(100, size=size, replace=False))
        return Row(tuple(reversed(values)))

    def outcomes(self, program, before):
        yield swapped(before)


class Sifted(Ordered):
    """The same, where `templates` itself compares."""

    def templates(self, program, size, values):
        if values[0] > values[-1]:
            yield Row(tuple(values))


@pytest.mark.parametrize("kind", [Ordered, Sifted])
def test_starts_may_depend_on_comparisons(kind):
    environment = kind()
    certificate = verified(environment, in_order)
    assert certificate.proved, certificate.programs[0].reasons
    assert [size.sequences for size in certificate.programs[0].sizes] == [1, 1, 1]  # never in order
    assert verified(environment).verdict == "REFUTED"


def test_a_start_that_no_values_allow_is_refused():
    class Never(Ends):
        @program(level=1, depth=3, minimum_size=2, pre=lambda state: len(state.values) > 2)
        def ORDER(self, before, after):
            return True

    with pytest.raises(SpecificationError, match=r"at size 2 hold .*, where its pre-condition is false"):
        verified(Never(), in_order)


def test_integers_agree_with_what_is_known():
    import random

    rng = random.Random(0)
    for _ in range(300):
        order = Order(5)
        order.begin(Choices(tuple(rng.randrange(2) for _ in range(20))))
        pairs = [(rng.randrange(5), rng.randrange(5)) for _ in range(rng.randrange(9))]
        answers = [order.values[i] < order.values[j] for i, j in pairs]
        for numbers in (order.example(), order.drawn(rng)):
            assert [numbers[i] < numbers[j] for i, j in pairs] == answers


def test_states_are_renamed_and_looked_up_by_name():
    order = Order(3)
    order.begin(Choices())
    first, second, third = order.values
    known: dict[Any, Any] = {}
    order.keep(known, (first, second), "kept")
    assert order.find(known, order.canonical((third, first))) == "kept"
    assert order.find(known, (second, first)) is None
    assert order.concrete(Row((third, first, third)), (7, 8, 9)) == Row((9, 7, 9))
    assert (order.asked, order.misused) == (0, [])
    order.end()
    with pytest.raises(TypeError, match="a comparison outside of any run"):
        first < second  # noqa: B015 - the comparison is the test


def test_outcomes_are_made_once_for_each_call():
    made = []

    class Counting(Ends):
        def templates(self, program, size, values):
            raise NotImplementedError

        def enumerate(self, program, size):
            yield from (Row((*range(size - 1), last)) for last in (0, size))
            yield from (Row((*range(size - 1), last)) for last in (0, size))

        def outcomes(self, program, before):
            made.append(before)
            return super().outcomes(program, before)

    environment = Counting()
    verifier = Verifier(environment, ScriptedEvaluator(environment, {"ORDER": in_order}), tried=False)
    verifier.verify()
    assert len(made) == len(set(made)) == 6
