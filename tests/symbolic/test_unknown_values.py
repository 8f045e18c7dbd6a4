"""Unknown values: all ways through a function of them, and no way to make them known by accident."""

from __future__ import annotations

import copy
import functools
import pickle
import time
from itertools import count
from typing import Any

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from alphanpi.symbolic import every, exchanged, first, fold, is_sorted, last, length, replaced, same_values, swept
from alphanpi.symbolic.faults import EffortError, NotExpressibleError, RaisesError
from alphanpi.symbolic.reasoning import Reasoning


def in_order(a, b):
    return (b, a) if a > b else (a, b)


def rest_swept(values):
    return swept(values[1:], 0, length(values) - 1, in_order)


def before_parts_swept(v, w):
    """Nothing of what is swept is in what is counted."""
    if not 2 <= length(v) <= length(w):
        return False
    return same_values((w + rest_swept(v) + rest_swept(w))[: length(v) - 1], v[: length(v) - 1])


few = st.lists(st.integers(0, 3), min_size=0, max_size=4).map(tuple)


def ways(function):
    """What a function of an unknown number and an unknown tuple returns, on all ways."""
    reasoning = Reasoning()
    return list(reasoning.paths.ways(lambda: function(reasoning.number(), reasoning.numbers())))


def test_what_is_behind_a_part_says_nothing_about_its_values():
    reasoning = Reasoning()
    found = reasoning.paths.ways(
        lambda: bool(before_parts_swept(described(reasoning, (3, 1)), described(reasoning, (0, 1))))
    )
    assert False in set(found)


def test_both_answers_of_an_open_question_are_gone_and_impossible_ones_are_not():
    assert sorted(ways(lambda x, _: (bool(x > 3), bool(x > 5)))) == [(False, False), (True, False), (True, True)]


def test_a_question_that_was_answered_or_follows_from_a_known_value_is_not_asked_again():
    reasoning = Reasoning()

    def asked():
        x: Any = reasoning.number()
        values: Any = reasoning.numbers()
        if length(values) <= 5:
            return None
        answers = tuple(bool(values[4] == digit) for digit in (0, 1, 2, 0, 1, 2))
        return answers, bool(x > 3), bool(x > 3), bool(2 * x > 6)

    found = {result for result in reasoning.paths.ways(asked) if result is not None}
    digits = [tuple(digit == value for digit in (0, 1, 2, 0, 1, 2)) for value in range(4)]
    assert found == {(answers, more, more, more) for answers in digits for more in (False, True)}
    assert reasoning.paths.queries < 40


def test_what_python_computes_is_computed():
    assert ways(lambda x, _: bool(2 * x + 1 == 2 * (x + 1) - 1)) == [True]
    assert sorted(set(ways(lambda x, _: bool((x % 3) in (0, 1, 2)) and bool(3 * (x // 3) + x % 3 == x)))) == [True]
    assert sorted(set(ways(lambda x, _: bool(max(x, 3) >= 3) and bool(min(x, 3) <= x) and bool(abs(x) >= x)))) == [True]
    pair = (1, 2)
    assert sorted(set(ways(lambda x, v: bool((v + pair)[length(v)] == 1)))) == [True]


@functools.cache
def cached(value):
    return value


def matched(values):
    match values:
        case ():
            return "nothing"
        case (first, *_):
            return first


REFUSED = {
    "hash": lambda x, v: hash(x),
    "cache": lambda x, v: cached(x),
    "set": lambda x, v: x in {1, 2},
    "dict": lambda x, v: {1: 2}.get(x),
    "int": lambda x, v: int(x),
    "float": lambda x, v: float(x),
    "str": lambda x, v: str(x),
    "repr": lambda x, v: repr((x,)),
    "f-string": lambda x, v: f"{x}",
    "isinstance": lambda x, v: isinstance(x, int),
    "deepcopy": lambda x, v: copy.deepcopy((x,)),
    "copy": lambda x, v: copy.copy(x),
    "pickle": lambda x, v: pickle.dumps(x),
    "range": lambda x, v: range(x),
    "place in a known tuple": lambda x, v: (1, 2)[x],
    "len": lambda x, v: len(v),
    "loop": lambda x, v: list(v),
    "unpacking": lambda x, v: (*v,),
    "sorted": lambda x, v: sorted(v),
    "sum": lambda x, v: sum(v),
    "contains": lambda x, v: x in v,
    "attribute": lambda x, v: hasattr(x, "bit_length"),
    "bits": lambda x, v: x ^ 1,
    "power": lambda x, v: 2**x,
    "float arithmetic": lambda x, v: x + 0.5,
    "unknown divisor": lambda x, v: 7 // x,
    "step": lambda x, v: v[::2],
    "match": lambda x, v: matched(v),
    "a tuple of other numbers": lambda x, v: v == (1.0, 2),
}


@pytest.mark.parametrize("name", REFUSED)
def test_whatever_would_make_a_value_known_is_refused_also_if_the_error_is_caught(name):
    function = REFUSED[name]

    def caught(x, v):
        try:
            function(x, v)
        except Exception:
            return "handled"
        except BaseException:  # what no environment should do, and one may
            return "swallowed"
        return "not noticed"

    for wrapped in (function, caught):
        with pytest.raises(NotExpressibleError):
            ways(wrapped)


def test_a_place_outside_of_a_tuple_is_an_error_and_not_a_value():
    with pytest.raises(RaisesError):
        ways(lambda x, v: v[x])
    with pytest.raises(RaisesError):
        ways(lambda x, v: v[:x])
    with pytest.raises(RaisesError):
        ways(lambda x, v: bool(every(0, length(v), lambda k: v[k + 1] == 0)))
    assert ways(lambda x, v: bool(every(1, length(v), lambda k: v[k - 1] == v[k - 1]))) == [True]


@pytest.mark.parametrize("look", [lambda x, v: v[x], lambda x, v: bool(every(0, length(v), lambda k: v[k + 1] == 0))])
def test_an_error_that_is_caught_is_no_answer(look):
    """`values[-1]` is a value to Python, and no error that anything may do."""

    def caught(x, v):
        try:
            return look(x, v)
        except:  # noqa: E722
            return 0

    with pytest.raises(NotExpressibleError, match="catching"):
        ways(caught)


def described(reasoning, values):
    """An unknown tuple that turns out to be a known one."""
    made = reasoning.numbers()
    reasoning.paths.add(made.size == len(values))
    for place, value in enumerate(values):
        reasoning.paths.add(made.at(z3.IntVal(place)) == value)
    return made


OPERATIONS = {
    "every": lambda v, w: every(0, length(v), lambda k: v[k] >= 1),
    "first": lambda v, w: first(0, length(v), lambda k: v[k] == 2) == 1,
    "fold": lambda v, w: fold(lambda total, k: 2 * total + v[k], 1, 0, length(v)) == 5,
    "fold backwards": lambda v, w: fold(lambda total, k: 2 * total + v[k], 0, 0, length(v), backwards=True) == 5,
    "same": lambda v, w: v == w,
    "differ": lambda v, w: v != w,
    "part": lambda v, w: length(v) >= 2 and v[1:] == w[: length(w)],
    "joined": lambda v, w: v + w == w + v,
    "sorted": lambda v, w: is_sorted(v),
    "same values": lambda v, w: same_values(v, w),
    "same values joined": lambda v, w: length(v) >= 2 and same_values(v[:1] + (w + v[1:]), w + v),
    "same values moved": lambda v, w: length(v) >= 2 and same_values(v[:1] + (2,) + v[2:], w),  # noqa: RUF005
    "same values before parts swept": lambda v, w: before_parts_swept(v, w),
    "sorted joined": lambda v, w: is_sorted(v + (1,) + w),  # noqa: RUF005
    "swept": lambda v, w: swept(v, 0, length(v), lambda a, b: (b, a) if a > b else (a, b)) == w,
    "exchanged": lambda v, w: length(v) >= 2 and exchanged(v, 0, 1) == w,
    "replaced": lambda v, w: length(v) >= 1 and replaced(v, 0, 2) == w,
}


@pytest.mark.parametrize("name", OPERATIONS)
@settings(max_examples=12, deadline=None)
@given(few, few)
def test_what_really_happens_is_among_what_is_possible(name, one, other):
    """The tuples are unknown, and known only through facts: all lemmas and all uses of facts take part."""
    operation = OPERATIONS[name]
    reasoning = Reasoning()
    found = set(reasoning.paths.ways(lambda: bool(operation(described(reasoning, one), described(reasoning, other)))))
    assert bool(operation(one, other)) in found
    constants = set(reasoning.paths.ways(lambda: bool(operation(reasoning.constant(one), reasoning.constant(other)))))
    assert constants == {bool(operation(one, other))}


def test_lemmas_about_sweeps_hold_for_every_length_and_wrong_ones_are_not_shown():
    def swept_tuple(v):
        return swept(v, 0, length(v), in_order)

    assert set(ways(lambda _, v: bool(same_values(swept_tuple(v), v)))) == {True}
    assert set(ways(lambda _, v: bool(is_sorted(swept_tuple(v))))) == {True, False}
    assert set(ways(lambda _, v: bool(length(v) == 0) or bool(same_values(replaced(v, 0, v[0] + 1), v)))) == {
        True,
        False,
    }


def test_a_function_that_does_not_ask_the_same_twice_is_noticed():
    asked = []

    def fickle(x, v):
        asked.append(1)
        return bool(x > 0) if len(asked) % 2 else bool(every(0, x, lambda k: k >= 5))

    with pytest.raises(NotExpressibleError):
        ways(fickle)


def test_moving_a_value_keeps_which_values_there_are_and_leaving_one_out_does_not():
    def moved(k, v, left_out):
        n = length(v)
        if not 0 <= k < n:
            return True
        return bool(same_values(v[:k] + (v[n - 1],) + v[k : n - 1 - left_out], v[:n]))  # noqa: RUF005

    assert set(ways(lambda k, v: moved(k, v, 0))) == {True}
    assert False in ways(lambda k, v: moved(k, v, 1) if k < length(v) - 1 else True)


def test_inserting_into_a_sorted_tuple_leaves_it_sorted_where_it_is_the_right_place():
    def inserted(v, x, off):
        if not is_sorted(v):
            return True
        place = last(0, length(v), lambda k: v[k] <= x) + 1 - off
        return place < 0 or bool(is_sorted(v[:place] + (x,) + v[place:]))  # noqa: RUF005

    assert set(ways(lambda x, v: inserted(v, x, 0))) == {True}
    assert False in ways(lambda x, v: inserted(v, x, 1))


def test_an_order_of_the_ends_of_a_part_is_asked_for_and_its_length_is_plain():
    found = ways(lambda x, v: length(v[x : length(v) - 1]) if 0 <= x < length(v) else None)
    assert all(str(size.term).count("If") == 0 for size in found if size is not None)


@pytest.mark.parametrize("ask", [lambda x, k: bool(x > k), lambda x, k: bool(every(0, x, lambda place: place < k))])
def test_the_time_limit_holds_inside_a_single_way(ask):
    began = time.monotonic()
    reasoning = Reasoning(deadline=began + 0.3)

    def endless():
        number = reasoning.number()
        for place in count():
            ask(number, place)

    with pytest.raises(EffortError):
        list(reasoning.paths.ways(endless))
    assert time.monotonic() - began < 3


def test_the_time_limit_holds_inside_a_single_question():
    """Pigeons and holes: of little to say, and of much to decide."""
    began = time.monotonic()
    reasoning = Reasoning(deadline=began + 0.3)
    reasoning.paths.solver.set("rlimit", 0)

    def pigeons():
        numbers: list[Any] = [reasoning.number() for _ in range(30)]
        reasoning.paths.add(z3.Distinct(*[number.term for number in numbers]))
        reasoning.paths.add(*[z3.And(number.term >= 0, number.term < 29) for number in numbers])
        return bool(numbers[0] > 3)

    with pytest.raises(EffortError):
        list(reasoning.paths.ways(pigeons))
    assert time.monotonic() - began < 5


def test_what_was_seen_of_one_place_says_nothing_of_another():
    """A first place that is found on one way only, and supposed when others are looked for."""
    reasoning = Reasoning()
    paths = reasoning.paths

    def found(values):
        return bool(first(0, length(values), lambda place: values[place] == 1) > 2)

    for number, one, other in paths.ways(lambda: (reasoning.number(), reasoning.numbers(), reasoning.numbers())):
        asked = functools.partial(lambda number, one: found(one) if number > 0 else None, number, one)
        seen = [(answer, paths.answers()) for answer in paths.ways(asked)]
        assert [answer for answer, _ in seen] == [True, False, None]
        for _, condition in seen:
            if condition is not None:
                with paths.supposing(condition):
                    assert set(paths.ways(functools.partial(found, other))) == {True, False}


def test_bits_of_numbers_are_refused():
    assert sorted(ways(lambda x, _: bool((x > 0) & (x < 2)))) == [False, True]
    for function in (lambda x, _: (x > 0) & x, lambda x, _: x | (x > 0), lambda x, _: (x > 0) ^ 1):
        with pytest.raises(NotExpressibleError):
            ways(function)
