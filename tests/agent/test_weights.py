"""Weights with a wrong card or wrong tensors are refused in one line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from tests.helpers.commands import assert_one_line
from tests.helpers.tiny import newest


def rewrite(file: Path, card=None, tensors=None) -> None:
    """Write weights anew with another card, a text, or other tensors."""
    with safe_open(file, framework="pt") as opened:
        metadata = opened.metadata()["alphanpi"]
    changed = json.dumps(card(json.loads(metadata))) if callable(card) else card
    content = load_file(file)
    save_file(content if tensors is None else tensors(content), file, {"alphanpi": changed or metadata})


@pytest.mark.parametrize(
    ("card", "message"),
    [
        (lambda card: [card], "input should be an object"),
        ("null", "input should be an object"),
        ('"text"', "input should be an object"),
        ("{}", "field 'environment': field required"),
        ("nonsense", "not JSON"),
        (lambda card: {**card, "extra": 1}, "field 'extra'"),
        (lambda card: {key: value for key, value in card.items() if key != "search"}, "field 'search'"),
        (lambda card: {**card, "options": 5}, "field 'options'"),
        (lambda card: {**card, "network": 5}, "field 'network'"),
        (lambda card: {**card, "network": {**card["network"], "memory": "3"}}, "field 'network.memory'"),
        (lambda card: {**card, "network": {**card["network"], "memory": 10**9}}, "memory"),
        (lambda card: {**card, "network": {**card["network"], "memory": 60_000}}, "field 'network.memory'"),
        (lambda card: {**card, "network": {**card["network"], "memory": 4}}, "expected ["),
        (lambda card: {**card, "search": {**card["search"], "c_puct": -1}}, "field 'search.c_puct'"),
        (lambda card: {**card, "seed": -1}, "field 'seed'"),
        (lambda card: {**card, "library": "STOP"}, "field 'library'"),
        (lambda card: {**card, "fields": ["other"]}, "with other observation fields"),
        (lambda card: {**card, "version": 7}, "with other version"),
        (lambda card: {**card, "environment": "hannoi"}, "unknown environment"),
        (lambda card: {**card, "environment": "a\0b.py"}, "environment"),
        (lambda card: {**card, "environment": 3 * "🚀" + ":E"}, "environment"),
    ],
)
def test_a_wrong_model_card_is_one_line(run, finished, tmp_path, card, message):
    file = tmp_path / "model.safetensors"
    shutil.copy(newest(finished) / "model.safetensors", file)
    rewrite(file, card)
    assert_one_line(run("run", file, "HANOI", "1"), message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tensors: {name: t for name, t in tensors.items() if name != "core.bias_ih"}, "missing tensors: core.b"),
        (lambda tensors: {**tensors, "more": torch.zeros(1)}, "unknown tensors: more"),
        (lambda tensors: {**tensors, "core.bias_ih": torch.zeros(5)}, "core.bias_ih is [5] float32; expected [12]"),
        (lambda tensors: {**tensors, "core.bias_ih": torch.zeros(12, dtype=torch.float16)}, "[12] float16"),
        (lambda tensors: {**tensors, "core.bias_ih": torch.full((12,), torch.nan)}, "no finite numbers"),
        (lambda tensors: {}, "missing tensors: "),
    ],
)  # fmt: skip
def test_wrong_tensors_are_one_line(run, finished, tmp_path, change, message):
    file = tmp_path / "model.safetensors"
    shutil.copy(newest(finished) / "model.safetensors", file)
    rewrite(file, tensors=change)
    assert_one_line(run("run", file, "HANOI", "1"), message)
