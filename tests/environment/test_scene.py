"""Pictures of states: whole, with ids that stay, and faults named."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from hypothesis import given

from alphanpi.environment.guard import Guard
from alphanpi.environment.scene import Scene, circle, line, problems, rectangle, text
from alphanpi.environments.hanoi import Hanoi
from alphanpi.environments.recursive_sorting import RecursiveSorting
from alphanpi.errors import SpecificationError
from tests.helpers.instances import some, sublists, towers
from tests.helpers.paths import DOCS

SORTING = RecursiveSorting("compare")
HANOI = Hanoi()


def by_id(scene: Scene) -> dict:
    return {shape.id: shape for shape in scene.shapes}


@some
@given(towers(largest=12))
def test_a_disk_lies_on_its_pillar_and_above_larger_ones(state):
    scene = HANOI.render(state)
    assert not problems(scene)
    shapes = by_id(scene)
    for disk, pillar in enumerate(state.position):
        shape, pole = shapes[f"disk-{disk + 1}"], shapes[f"pillar-{'ABC'[pillar]}"]
        assert shape.x + shape.width / 2 == pytest.approx(pole.x + pole.width / 2)
        assert shape.faded == (disk >= state.disks)
        for larger in range(disk + 1, len(state.position)):
            if state.position[larger] == pillar:
                assert shape.y + shape.height <= shapes[f"disk-{larger + 1}"].y
    for role, name in enumerate(("source", "auxiliary", "target")):
        chip, pole = shapes[f"role-{name}"], shapes[f"pillar-{'ABC'[state.roles[role]]}"]
        assert chip.x + chip.width / 2 == pytest.approx(pole.x + pole.width / 2)


@some
@given(sublists())
def test_bars_stand_in_order_and_pointers_never_meet(state):
    scene = SORTING.render(state)
    assert not problems(scene)
    bars = sorted((shape for shape in scene.shapes if shape.id.startswith("value-")), key=lambda shape: shape.x)
    assert [int(bar.id.split("-")[1]) for bar in bars] == list(state.values)
    assert [bar.faded for bar in bars] == [not state.start <= place <= state.end for place in range(len(bars))]
    first, second = by_id(scene)["pointer 1"], by_id(scene)["pointer 2"]
    assert first.y + first.height <= second.y
    assert by_id(scene)["current"].width > 0


@some
@given(sublists())
def test_an_exchange_moves_two_bars_and_nothing_else(state):
    if len(set(state.values)) < len(state.values) or state.p1 == state.p2:
        return
    before, after = by_id(SORTING.render(state)), by_id(SORTING.render(SORTING.SWAP(state)))
    assert before.keys() == after.keys()
    moved = {name for name in before if before[name].x != after[name].x}
    values = (state.values[state.p1], state.values[state.p2])
    assert moved == {f"{kind}-{value}-0" for kind in ("value", "number") for value in values}


def test_the_example_of_the_documentation_is_a_picture():
    text = (DOCS / "report.md").read_text()
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert code is not None
    names: dict = {"Row": object}
    exec(code[1], names)
    row = SimpleNamespace(lights=(0, 1, 1), position=1, start=1)
    scene = names["render"](None, row)
    assert not problems(scene)
    assert [shape.faded for shape in scene.shapes] == [True, False, False, False]


def test_wrong_scenes_are_described():
    good = rectangle("a", 0, 0, 4, 4)
    assert problems(Scene(10, 10, (good, circle("b", 1, 1, 1), line("c", (0, 0), (1, 1)), text("d", 1, 1, "x")))) == []
    assert problems(Scene(10, 10, (good, good))) == ["two shapes have the id 'a'"]
    assert "no area" in problems(Scene(0, 10, ()))[0]
    assert "not a usable coordinate" in problems(Scene(1, 1, (good._replace(x=float("nan")),)))[0]
    assert "tone 2" in problems(Scene(1, 1, (good._replace(tone=2),)))[0]


def test_faults_of_render_are_reported_with_the_state():
    class Twice(Hanoi):
        def render(self, state):
            return Scene(1, 1, (rectangle("a", 0, 0, 1, 1), rectangle("a", 0, 0, 1, 1)))

    class NotAScene(Hanoi):
        def render(self, state):
            return "A: 1"

    state = HANOI.parse("HANOI", "2")
    with pytest.raises(SpecificationError, match="Twice: render: two shapes have the id 'a' \\(state Towers"):
        Guard(Twice()).render(state)
    with pytest.raises(SpecificationError, match="it returned a str, not a Scene"):
        Guard(NotAScene()).render(state)
