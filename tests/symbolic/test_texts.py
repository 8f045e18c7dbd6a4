"""Unknown texts: what Python's texts do, and nothing that only tuples or numbers do."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from itertools import product
from typing import Any

import pytest

from alphanpi.symbolic import every, first, is_sorted, last, length, replaced, same_values
from alphanpi.symbolic.faults import NotExpressibleError, RaisesError
from alphanpi.symbolic.reasoning import Reasoning
from alphanpi.symbolic.states import as_constants, differences, known, pinned

TEXTS = ["".join(letters) for size in range(4) for letters in product("ab", repeat=size)] + ["é", "b\x00", "aZ"]
PAIRS = [
    ("", ""),
    ("ab", "ab"),
    ("aab", "ab"),
    ("b", "é"),
    ("é", "b"),
    ("b", "aa"),
    ("ba", "b"),
    ("b\x00", "aZ"),
    ("a", "aa"),
]


class Letter(StrEnum):
    A = "a"


OPERATIONS = {
    "same": lambda t, u: t == u,
    "differ": lambda t, u: t != u,
    "a known text": lambda t, u: t == "ab",
    "from the left": lambda t, u: "ab" == t,  # noqa: SIM300
    "one of an enumeration": lambda t, u: length(t) > 0 and t[0] == Letter.A != u,
    "letters": lambda t, u: length(t) > 0 and length(u) > 0 and t[0] == u[0],
    "a letter and a text": lambda t, u: length(t) > 0 and t[0] == u,
    "one of some letters": lambda t, u: length(t) > 0 and t[0] in ("b", "é"),
    "order of letters": lambda t, u: length(t) > 0 and length(u) > 0 and t[0] < u[0] <= "b",
    "order with a known one": lambda t, u: length(t) > 0 and t[0] <= "b" and t[0] > "Z",
    "part": lambda t, u: t[1:] == u if length(t) > 1 else t[:0] == u[:0],
    "joined": lambda t, u: t + u == u + t,
    "joined with a known one": lambda t, u: "a" + t == u + "b",
    "true": lambda t, u: bool(t) and not u,
    "every": lambda t, u: every(0, length(t), lambda k: t[k] == "a"),
    "first": lambda t, u: first(0, length(t), lambda k: t[k] == "b") == 1,
    "last": lambda t, u: last(0, length(t), lambda k: every(0, length(u), lambda n: u[n] == t[k])) >= 1,
    "no number": lambda t, u: t == 1 or t == 0,
    "no tuple": lambda t, u: t == () or t == ("a",),
    "nothing": lambda t, u: t == None or t != None,  # noqa: E711
}


def on(operation, texts):
    return bool(operation(*texts))


@pytest.mark.parametrize("name", OPERATIONS)
def test_what_really_happens_is_what_is_possible(name):
    operation = OPERATIONS[name]
    for one, other in PAIRS:
        really = bool(operation(one, other))
        reasoning = Reasoning()

        def described(reasoning=reasoning, reals=(one, other)):
            texts = [reasoning.text() for _ in reals]
            for text, real in zip(texts, reals, strict=True):
                reasoning.paths.add(*pinned(reasoning, text, real))
            return on(operation, texts)

        assert really in set(reasoning.paths.ways(described))
        constants = [as_constants(reasoning, reasoning.text(), text) for text in (one, other)]
        assert set(reasoning.paths.ways(partial(on, operation, constants))) == {really}


@pytest.mark.parametrize("name", OPERATIONS)
def test_what_some_texts_do_is_possible_for_unknown_ones(name):
    operation, reasoning = OPERATIONS[name], Reasoning()
    found = set(reasoning.paths.ways(lambda: bool(operation(reasoning.text(), reasoning.text()))))
    assert found >= {bool(operation(*texts)) for texts in product(TEXTS, repeat=2)}


REFUSED = {
    "hash": lambda t, v: hash(t),
    "len": lambda t, v: len(t),
    "loop": lambda t, v: list(t),
    "contains": lambda t, v: "a" in t,
    "find": lambda t, v: t.find("a"),
    "isinstance": lambda t, v: isinstance(t, str),
    "format": lambda t, v: f"{t}",
    "repeated": lambda t, v: t * 2,
    "bits": lambda t, v: t % 2,
    "step": lambda t, v: t[::-1],
    "order": lambda t, v: t < "ab",
    "replaced": lambda t, v: replaced(t, 0, 1),
    "sorted": lambda t, v: is_sorted(t),
    "with a tuple": lambda t, v: same_values(t, v),
    "compared by a tuple": lambda t, v: v == t,
    "joined to a tuple": lambda t, v: v + t,
}


def asked_for(function: Callable[[Any, Any], Any]) -> list[Any]:
    """What a function of an unknown text and an unknown tuple returns, on all ways."""
    reasoning = Reasoning()
    return list(reasoning.paths.ways(lambda: function(reasoning.text(), reasoning.numbers())))


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_meaning_is_refused_also_if_the_error_is_caught(name):
    def caught(t, v):
        try:
            REFUSED[name](t, v)
        except BaseException:
            return "swallowed"

    for function in (REFUSED[name], caught):
        with pytest.raises(NotExpressibleError):
            asked_for(function)


@pytest.mark.parametrize("wrong", [lambda t: t[0], lambda t: t[:1], lambda t: t + 1, lambda t: 1 + t, lambda t: ord(t)])
def test_errors_that_texts_raise_are_errors(wrong):
    with pytest.raises((RaisesError, TypeError)):
        asked_for(lambda text, _: wrong(text))


def test_texts_are_made_known_and_compared_with_general_states():
    reasoning = Reasoning()

    def begun() -> Any:
        text: Any = reasoning.text()
        word = reasoning.text()
        reasoning.paths.add(*pinned(reasoning, word, "né"))
        return (text, word) if length(text) == 3 and text[1] == "x" and text[0] == text[2] else None

    for state in reasoning.paths.ways(begun):
        if state is not None:
            text, word = known(state, reasoning.paths.known_model())
            assert word == "né"
            assert len(text) == 3
            assert text[1] == "x"
            assert text[0] == text[2]
    general = (reasoning.text(), reasoning.numbers())
    assert not list(differences(general, ("abc", (1, 2)), lambda one, other: one == other))
    for state in (("abc", "abc"), ((1, 2), (1, 2)), (1, (1, 2))):
        assert list(differences(general, state, lambda one, other: one == other))
