"""The curriculum rises when everything up to its level is learned."""

from __future__ import annotations

from alphanpi import make
from alphanpi.learn.config import CurriculumConfig
from alphanpi.learn.curriculum import Curriculum


def is_ready(curriculum: Curriculum) -> bool:
    return curriculum.ready


def test_curriculum_needs_all_programs_up_to_the_level():
    library = make("sorting").library
    curriculum = Curriculum(library, CurriculumConfig(threshold=0.9))
    level_1 = [program.name for program in curriculum.unlocked]
    assert level_1 == ["RSHIFT", "LSHIFT", "COMPSWAP"]
    good = {name: [True] * 10 for name in level_1}
    curriculum.update({**good, "COMPSWAP": [True] * 8 + [False] * 2})
    assert "COMPSWAP at 80%" in curriculum.explain()
    assert not is_ready(curriculum)
    curriculum.update(good)
    assert is_ready(curriculum)
    curriculum.advance()
    assert curriculum.level == 2
    assert [program.name for program in curriculum.unlocked] == [*level_1, "RESET", "BUBBLE"]
