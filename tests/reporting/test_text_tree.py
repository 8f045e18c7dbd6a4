"""Trees of searches as text, graph and data."""

from __future__ import annotations

import io
import json
import re

import pytest
from rich.console import Console

import alphanpi
from alphanpi.errors import UsageError
from alphanpi.reporting import tree_page
from alphanpi.reporting.text_tree import ShownTree, dot, rich_tree, tree_console, tree_object
from tests.helpers.paths import DOCS


@pytest.mark.parametrize("format_", ["text", "dot", "json"])
def test_tree_in_every_format(run, tmp_path, format_):
    arguments = ("tree", "pretrained:hanoi", "HANOI", 3, "--step", 2, "--simulations", 60, "--format", format_)
    code, out, _ = run(*arguments)
    assert code == 0
    assert "HANOI" in out
    file = tmp_path / "tree"
    run(*arguments, "-o", file)
    assert file.read_text().strip()
    if format_ == "json":
        tree = json.loads(out)
        assert tree == json.loads(file.read_text())
        assert (tree["program"], tree["step"], tree["taken"]) == ("HANOI", 1, "HANOI")
        assert tree["nodes"][0]["visits"] == sum(edge["visits"] for edge in tree["nodes"][0]["edges"])
        decision = alphanpi.tree("pretrained:hanoi", "HANOI", "3", step=2, simulations=60)
        assert [edge.visits for edge in decision.root.edges] == [e["visits"] for e in tree["nodes"][0]["edges"]]
    elif format_ == "dot":
        assert out.startswith("digraph")
        assert out.count("{") == out.count("}") == 1
        assert "color=blue" in out
    else:
        assert re.search(r"● +HANOI", out)


@pytest.mark.parametrize("nodes", [1, 2, 4, 17])
def test_tree_prints_as_many_nodes_as_asked_for_and_counts_the_others(run, nodes):
    arguments = ("tree", "pretrained:hanoi", "HANOI", 3, "--simulations", 300)
    _, whole, _ = run(*arguments, "--nodes", 10**9)
    assert "left out" not in whole
    printed = [line for line in whole.splitlines() if re.search(r"── |^\d+ visits  ", line)]
    _, out, _ = run(*arguments, "--nodes", nodes)
    lines = [line for line in out.splitlines() if re.search(r"── |^\d+ visits  ", line)]
    assert len(lines) == nodes
    assert f"… {len(printed) - nodes} nodes left out; --nodes shows more" in out
    _, graph, _ = run(*arguments, "--nodes", nodes, "--format", "dot")
    assert len(re.findall(r"^  [ne]\S+ \[label", graph, re.MULTILINE)) == nodes
    assert graph.count(" -> ") == nodes - 1
    _, data, _ = run(*arguments, "--nodes", nodes, "--format", "json")
    assert len(json.loads(data)["nodes"]) == nodes


def test_the_documented_tree_is_what_is_printed(run):
    lines = (DOCS / "report.md").read_text(encoding="utf-8").splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("    $ alphanpi tree"))
    code, out, _ = run(*lines[first].split()[2:])
    printed = [line.rstrip() for line in out.splitlines()]
    assert code == 0
    assert [line[4:] for line in lines[first + 1 : first + 1 + len(printed)]] == printed


def test_steps_are_counted_from_1():
    for make_tree in (alphanpi.tree, tree_page):
        with pytest.raises(UsageError, match="step 0: actions are counted from 1"):
            make_tree("pretrained:hanoi", "HANOI", "2", step=0)


def test_tree_and_trace_show_long_states_wholly_or_with_an_ellipsis(run, tmp_path, monkeypatch):
    state = "A: 7 6 5 4 3 2 1   B: -   C: -"
    for command in (["tree", "--simulations", 12], ["trace", "--limit", 40]):
        _, out, _ = run(command[0], "pretrained:hanoi", "HANOI", 7, *command[1:])
        lines = [line for line in out.splitlines() if "A: " in line]
        assert lines
        assert all(re.search(r"A: [\d -]+   B: [\d -]+   C: [\d -]+$", line) for line in lines)
        assert any(line.endswith(state) for line in lines)
    decision = alphanpi.tree("pretrained:hanoi", "HANOI", "7", simulations=12)
    screen = io.StringIO()
    terminal = Console(file=screen, width=40, force_terminal=True, color_system=None)
    terminal.print(rich_tree(ShownTree(decision, alphanpi.make("hanoi"), 40)))
    cut = [line for line in screen.getvalue().splitlines() if "A: 7" in line]
    assert all(line.endswith("…") or line.endswith("C: -") for line in cut)
    assert any(line.endswith("…") for line in cut)


def test_text_of_an_environment_is_neither_markup_nor_a_surrogate(tmp_path):
    class Odd(type(alphanpi.make("hanoi"))):  # type: ignore[misc]
        def format(self, state):
            return f"[red]{state.disks}[/]\nbelow \ud800"

    decision = alphanpi.tree("pretrained:hanoi", "HANOI", "2", simulations=10)
    shown = ShownTree(decision, Odd(), 10)
    screen = io.StringIO()
    tree_console(screen).print(rich_tree(shown))
    text = screen.getvalue()
    text.encode()
    assert "[red]2[/]" in text
    assert "below ?" in text
    dot(shown).encode()
    json.dumps(tree_object(shown, "HANOI", 10), ensure_ascii=False).encode()


@pytest.mark.parametrize("width", [*range(20, 64, 5), 80])
def test_no_part_of_a_state_is_dropped_without_an_ellipsis_at_any_width(width):
    decision = alphanpi.tree("pretrained:hanoi", "HANOI", "5", step=3, simulations=40)
    environment = alphanpi.make("hanoi")
    wide, narrow = io.StringIO(), io.StringIO()
    shown = ShownTree(decision, environment, 60)
    tree_console(wide).print(rich_tree(shown))
    Console(file=narrow, width=width, force_terminal=True, color_system=None).print(rich_tree(shown))
    whole, cut = ([line.rstrip() for line in one.getvalue().splitlines()] for one in (wide, narrow))
    assert len(whole) == len(cut)
    for expected, line in zip(whole, cut, strict=True):
        assert len(line) <= width
        assert line == expected or (line.endswith("…") and expected.startswith(line[:-1]))
