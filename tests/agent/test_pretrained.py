"""The agents in the package do what their cards say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import alphanpi
from alphanpi.agent.evaluation import evaluate
from alphanpi.agent.loading import load, pretrained, weights_path
from alphanpi.errors import UsageError

NAMES = ["hanoi", "recursive-sorting", "recursive-sorting-compare", "sorting"]
LARGEST = {"hanoi": 10, "recursive-sorting": 20, "recursive-sorting-compare": 20, "sorting": 20}


def test_all_agents_are_there():
    assert pretrained() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_cards_scores_are_reproduced(name):
    """Exactly: same instances, same outcome. Large sizes are left to the benchmark."""
    card = json.loads((Path(weights_path(f"pretrained:{name}")).parent / "card.json").read_text())
    agent = load(f"pretrained:{name}")
    assert agent.card.seed == card["seed"]
    checked = 0
    for score in card["scores"]:
        if score["size"] <= LARGEST[name]:
            [now] = evaluate(
                agent, score["program"], [score["size"]], episodes=score["episodes"], mode=score["mode"], seed=1000
            )
            assert (now.successes, now.episodes) == (score["successes"], score["episodes"])
            checked += 1
    assert checked >= 4


def test_agents_run_on_what_a_user_types():
    assert alphanpi.load("pretrained:recursive-sorting-compare").run("BUBBLESORT", "5 3 9 1") == "1 3 5 9"
    assert alphanpi.load("pretrained:recursive-sorting").run("BUBBLESORT", "5 3 9 1", "planning") == "1 3 5 9"
    moves = alphanpi.load("pretrained:hanoi").run("HANOI", "3").splitlines()
    assert len(moves) == 7
    assert moves[0] == "move disk 1 from A to C"


def test_an_unknown_agent_is_named_with_those_there_are():
    with pytest.raises(UsageError, match="there are hanoi, recursive-sorting"):
        load("pretrained:quicksort")
