"""Programs that call each other are verified together, by induction over the measure."""

from __future__ import annotations

from alphanpi.verification import verify_evaluator
from tests.helpers.stripes import Intended, Stripes


def verdicts(evaluator, **members) -> dict[str, str]:
    environment = type("Striped", (Stripes,), members)()
    certificate = verify_evaluator(environment, evaluator, max_size=6)
    return {record.name: f"{record.verdict} {record.to_size}" for record in certificate.programs}


def test_a_group_keeps_its_contracts_together():
    assert verdicts(Intended(Stripes())) == {
        "PAINT": "SATURATED 6",
        "LIGHT_FIRST": "SATURATED 6",
        "DARK_FIRST": "SATURATED 6",
    }


def test_who_calls_a_wrong_program_of_its_group_is_right_below_it_alone():
    found = verdicts(Intended(Stripes(), DARK_FIRST="DARK_FIRST on further"))
    assert found["DARK_FIRST"] == "REFUTED 2"
    assert found["LIGHT_FIRST"] == "BOUNDED 1"


def test_calls_that_go_round_without_an_end_are_no_induction():
    endless = {"measure": lambda self, program, state: len(state.boards)}
    found = verdicts(Intended(Stripes()), **endless)
    assert found["PAINT"] == "SATURATED 6"
    assert found["DARK_FIRST"] == found["LIGHT_FIRST"] == "BOUNDED 1"
