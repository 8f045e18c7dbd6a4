"""String matching: what may be done, what counts as done, and the naive way."""

from __future__ import annotations

from collections.abc import Iterator
from operator import eq

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphanpi.engine.config import SearchConfig
from alphanpi.engine.requests import Request
from alphanpi.engine.search import Search
from alphanpi.environment import scene
from alphanpi.environment.specification import STOP
from alphanpi.environments.string_matching import NOWHERE, UNANSWERED, StringMatching, Texts
from alphanpi.errors import UsageError
from tests.helpers.instances import some
from tests.helpers.solutions import ScriptedEvaluator, Steps, View, execute

ENVIRONMENT = StringMatching()


def match_here(see: View, size: int) -> Steps:
    while see.same:
        see = yield "ADVANCE"
    yield STOP


def search(see: View, size: int) -> Steps:
    see = yield "MATCH_HERE"
    if see.pattern_passed:
        yield "FOUND"
    elif see.text_passed:
        yield "NOT_FOUND"
    else:
        yield "SEARCH on rest"
    yield STOP


SOLUTIONS = {"MATCH_HERE": match_here, "SEARCH": search}


def answer(text: str, pattern: str) -> int:
    ended: Texts = execute(ENVIRONMENT, "SEARCH", Texts(text, pattern), SOLUTIONS)
    return ended.answer


@given(text=st.text("abc", max_size=40), pattern=st.text("abc", min_size=1, max_size=4))
@some
def test_naive_matching_finds_the_first_occurrence(text, pattern):
    assert answer(text, pattern) == text.find(pattern)


def test_long_texts():
    assert answer("ab" * 1000 + "aab", "baab") == 1999
    assert answer("ab" * 1000, "baab") == NOWHERE
    assert answer("a" * 300, "a" * 300) == 0


def test_a_search_that_does_not_compare_is_noticed():
    def hasty(see, size):
        yield "ADVANCE"
        yield "FOUND"
        yield STOP

    with pytest.raises(AssertionError, match="SEARCH: from"):
        execute(ENVIRONMENT, "SEARCH", Texts("ba", "a"), {"SEARCH": hasty})


def test_engine_follows_the_solution():
    engine = Search(ENVIRONMENT, ScriptedEvaluator(ENVIRONMENT, SOLUTIONS), SearchConfig(c_level=0.0))
    (trace,) = engine.run([Request("SEARCH", Texts("abaab", "aab"))])
    assert trace.success
    assert trace.final.answer == 2


def test_post_conditions_accept_the_right_result_only():
    before = Texts("bbabaab", "aba", start=1)
    right = before._replace(start=2)._replace(passed=3)
    assert ENVIRONMENT.post("MATCH_HERE", before._replace(start=2), right)
    assert ENVIRONMENT.post("MATCH_HERE", before, before)  # b is no a
    for passed in range(3):
        assert not ENVIRONMENT.post("MATCH_HERE", before._replace(start=2), right._replace(passed=passed))
    assert not ENVIRONMENT.post("MATCH_HERE", before._replace(start=2), right._replace(answer=2))
    for passed in range(4):
        for said in (UNANSWERED, NOWHERE, *range(7)):
            after = before._replace(passed=passed, answer=said)
            assert ENVIRONMENT.post("SEARCH", before, after) == (said == 2)
    assert not ENVIRONMENT.post("SEARCH", before, before._replace(start=2, answer=2))
    assert ENVIRONMENT.post("SEARCH", before._replace(start=3), before._replace(start=3, answer=NOWHERE))


def test_what_is_seen_and_legal():
    cases = {  # pattern passed so far: what is seen, what SEARCH may do
        Texts("ab", "ac"): ((1, 0, 0), {"ADVANCE", "MATCH_HERE", "SEARCH on rest"}),
        Texts("ab", "ac", passed=1): ((0, 0, 0), {"ADVANCE", "SEARCH on rest"}),
        Texts("ab", "ac", passed=2): ((0, 1, 1), {"FOUND", "NOT_FOUND", "SEARCH on rest"}),
        Texts("ab", "a", passed=1): ((0, 1, 0), {"FOUND", "SEARCH on rest"}),
        Texts("a", "ab", passed=1): ((0, 0, 1), {"NOT_FOUND", "SEARCH on rest"}),
        Texts("a", "b", start=1): ((0, 0, 1), {"NOT_FOUND", "MATCH_HERE"}),
        Texts("a", "a", answer=0): ((1, 0, 0), {"ADVANCE"}),
    }
    for state, (seen, allowed) in cases.items():
        assert ENVIRONMENT.observe(state) == seen
        legal = ENVIRONMENT.legal("SEARCH", state)
        names = {name for name, may in zip(ENVIRONMENT.library.names, legal, strict=True) if may}
        assert names == {STOP, *allowed}, state


def test_the_rest_has_the_pattern_at_its_beginning():
    caller = Texts("abc", "bc", passed=1)
    inner = ENVIRONMENT.enter(caller, "SEARCH on rest", "SEARCH")
    assert inner == Texts("abc", "bc", start=1)
    ended = inner._replace(passed=2, answer=1)
    assert ENVIRONMENT.leave(caller, ended, "SEARCH on rest", "SEARCH") == caller._replace(answer=1)


def way(state: Texts) -> tuple[int, tuple[bool, ...], int]:
    return len(state.pattern), tuple(map(eq, state.text, state.pattern)), state.text.find(state.pattern)


def words(length: int) -> Iterator[str]:
    """Every way in which letters can be the same: each is one of those before it, or the next of the alphabet."""
    if length == 0:
        yield ""
        return
    for shorter in words(length - 1):
        for letter in "abcdefgh"[: len(set(shorter)) + 1]:
            yield shorter + letter


@pytest.mark.parametrize("size", range(4))
def test_starts_have_every_way_to_be_the_same_with_any_letters(size):
    states = list(ENVIRONMENT.enumerate("SEARCH", size))
    ways = {way(state) for state in states}
    assert len(ways) == len(states)
    both = (word for length in range(1, size + 2) for word in words(size + length))
    assert ways == {way(Texts(word[:size], word[size:])) for word in both}


@pytest.mark.parametrize("program", ["MATCH_HERE", "SEARCH"])
def test_outcomes_hold_what_solutions_lead_to(program):
    for seed in range(30):
        before = ENVIRONMENT.initial(program, seed % 6, np.random.default_rng(seed))
        ended = execute(ENVIRONMENT, program, before, SOLUTIONS)
        outcomes = list(ENVIRONMENT.outcomes(program, before))
        assert ended in outcomes
        assert all(ENVIRONMENT.post(program, before, after) for after in outcomes)


def test_base_cases_are_those_without_a_recursive_call():
    def called(text, pattern):
        rests = 0

        def counted(see, size):
            nonlocal rests
            rests += 1
            return search(see, size)

        execute(ENVIRONMENT, "SEARCH", Texts(text, pattern), {**SOLUTIONS, "SEARCH": counted})
        return rests > 1

    for text, pattern in (("ab", "ab"), ("ab", "abc"), ("ab", "b"), ("", "a"), ("a", "b"), ("aab", "ab")):
        assert ENVIRONMENT.base_case("SEARCH", Texts(text, pattern)) != called(text, pattern)


def test_text():
    state = ENVIRONMENT.parse("SEARCH", "bar in a bar")
    assert state == Texts("a bar", "bar")
    assert ENVIRONMENT.format(state) == "bar in a bar"
    assert ENVIRONMENT.format(Texts("abac", "bac", start=1, passed=2)) == "ba|c in ba|c"
    assert ENVIRONMENT.parse("SEARCH", "a in") == Texts("", "a")
    assert ENVIRONMENT.result("SEARCH", state._replace(answer=2), ()) == "at position 2"
    assert ENVIRONMENT.result("SEARCH", state._replace(answer=NOWHERE), ()) == "nowhere"
    assert ENVIRONMENT.result("MATCH_HERE", state._replace(passed=2), ()) == "2 of 3 letters fit"


@pytest.mark.parametrize("text", ["", "abc", " in abc", "in abc"])
def test_text_that_cannot_be_read(text):
    with pytest.raises(UsageError, match="write for example"):
        ENVIRONMENT.parse("SEARCH", text)


@pytest.mark.parametrize("state", [Texts("", "a"), Texts("abab", "ab", 3, 1), Texts("a" * 99, "b", 9)])
@pytest.mark.parametrize("said", [UNANSWERED, NOWHERE, 0])
def test_picture(state, said):
    assert scene.problems(ENVIRONMENT.render(state._replace(answer=said))) == []
