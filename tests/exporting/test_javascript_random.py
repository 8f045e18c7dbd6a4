"""Random Python and its translation do the same."""

from __future__ import annotations

import pytest

from tests.helpers.random_python import RandomPython
from tests.helpers.translations import assert_same, needs_node

pytestmark = needs_node


@pytest.mark.parametrize(("kind", "count"), [("expression", 500), ("function", 250)])
def test_random_python_and_its_translation_do_the_same(kind, count, tmp_path):
    names = [f"case_{number}" for number in range(count)]
    source = "\n\n".join(getattr(RandomPython(seed), kind)(name) for seed, name in enumerate(names))
    results = assert_same(source, names, tmp_path)
    assert sum(what == "value" for what, _ in results) > len(names) / 3
    assert sum(what == "raises" for what, _ in results) > len(names) / 50
