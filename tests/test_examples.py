"""The notebook and the scripts in `examples/` do what they show."""

from __future__ import annotations

import json
import runpy

from tests.helpers.notebooks import executed
from tests.helpers.paths import EXAMPLES

NOTEBOOK = EXAMPLES / "hanoi.ipynb"
MOST_BYTES = 60_000


def test_the_notebook_learns_proves_and_exports(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    cells = executed(NOTEBOOK)
    values = {type(cell.value).__name__: cell for cell in cells if cell.value is not None}
    assert values["Outcome"].value.completed
    assert "<img" in values["Agent"].html
    assert values["TracedExecution"].value.success
    assert all(score.rate == 1 for score in values["Scores"].value)
    assert values["Certificate"].value.proved
    printed = capsys.readouterr().out
    assert "move disk 1 from A to C" in printed
    assert "def hanoi(game):" in printed


def test_the_notebook_is_small_and_its_outputs_are_there():
    content = json.loads(NOTEBOOK.read_text())
    assert NOTEBOOK.stat().st_size < MOST_BYTES
    shown = [cell for cell in content["cells"] if cell["cell_type"] == "code" and cell["outputs"]]
    assert len(shown) >= 6
    assert all(output["output_type"] != "error" for cell in shown for output in cell["outputs"])
    assert "/" + "home" not in NOTEBOOK.read_text()


def test_an_evaluator_of_ones_own(capsys, monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    runpy.run_path(str(EXAMPLES / "own_evaluator.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert "40 of 40" in printed
    assert "def all_on(" in printed
