"""The search's formulas, against numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphanpi import make
from alphanpi.engine import hashing, scoring


def test_level_terms_of_sorting():
    library = make("sorting").library
    terms = scoring.level_terms(library, 3.0)
    rows = {program.name: row for row, program in enumerate(library.learned)}
    sort, bubble, shift = (terms[rows[name]] for name in ("BUBBLESORT", "BUBBLE", "RSHIFT"))
    assert sort[library.index_of("STOP")] == pytest.approx(3 * math.exp(-1))
    assert sort[library.index_of("RESET")] == pytest.approx(3 * math.exp(-1))  # one level down
    assert sort[library.index_of("RSHIFT")] == pytest.approx(3 * math.exp(-2))
    assert sort[library.index_of("SWAP")] == pytest.approx(3 * math.exp(-3))
    assert bubble[library.index_of("SWAP")] == pytest.approx(3 * math.exp(-2))
    assert shift[library.index_of("SWAP")] == pytest.approx(3 * math.exp(-1))


def test_level_term_of_a_program_for_itself():
    library = make("hanoi").library
    terms = scoring.level_terms(library, 3.0)
    assert terms[0, library.index_of("HANOI")] == pytest.approx(3 * math.exp(-1))


def test_upper_confidence():
    # 0.5 * 0.4 * sqrt(9) / (1 + 2) = 0.2
    assert scoring.upper_confidence(0.5, 0.4, 3.0, 2) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("actions", "recursions", "could_recurse", "value"),
    [
        (1, 0, False, 0.97),
        (1, 0, True, 0.07),
        (4, 0, True, 0.97**4 - 0.9),
        (8, 2, True, 0.97**8),
    ],
)
def test_success_value(actions, recursions, could_recurse, value):
    assert scoring.success_value(0.97, actions, 0.9, recursions, could_recurse) == pytest.approx(value)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30), st.floats(0, 5))
def test_soft_maximum_is_the_papers_q(values, temperature):
    weights = [math.exp(temperature * v) for v in values]
    literal = sum(w / sum(weights) * v for v, w in zip(values, weights, strict=True))
    running = scoring.soft_maximum(sum(weights), sum(v * w for v, w in zip(values, weights, strict=True)))
    assert running == pytest.approx(literal, abs=1e-12)
    assert np.mean(values) - 1e-9 <= running <= max(values) + 1e-9


@given(st.dictionaries(st.tuples(st.integers(0, 2**31 - 1), st.integers(0, 2**31 - 1)), st.integers(0, 2**31 - 1)))
def test_hash_map_behaves_like_a_dictionary(entries):
    table = hashing.empty(4)
    for (high, low), value in entries.items():
        key = np.array([hashing.pair_key(high, low)], np.int64)
        table = hashing.insert(table, key, np.array([value], np.int32))
    for (high, low), value in entries.items():
        assert hashing.get(table.keys, table.values, hashing.pair_key(high, low)) == value
    absent = next(n for n in range(len(entries) + 1) if (n, n) not in entries)
    assert hashing.get(table.keys, table.values, hashing.pair_key(absent, absent)) == hashing.ABSENT
    assert table.used[0] == len(entries)
