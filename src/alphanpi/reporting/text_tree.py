"""A search tree for the terminal, for Graphviz, and as JSON."""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple, TextIO

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from alphanpi.engine.inspection import Decision, TreeEdge, TreeNode
from alphanpi.environment.guard import Guard
from alphanpi.environment.specification import Environment
from alphanpi.reporting.searches import kept_nodes

_WIDEST = 10_000  # of a line that is not shown on a terminal


class Place(NamedTuple):
    """An edge of a tree: a node, and which of its edges."""

    node: int
    edge: int


class ShownTree:
    """A decision cut to its most visited nodes; what ends a path, STOP or a failed call, counts as a node, too."""

    def __init__(self, decision: Decision, environment: Environment[Any], limit: int) -> None:
        self.decision = decision
        self.show = Guard(environment).format
        self.limit = limit
        self.path = _principal(decision)
        self.places = _most_visited(decision, limit - 1)
        visited = sum(edge.visits > 0 for node in decision.nodes for edge in node.edges)
        self.left_out = visited - len(self.places)

    def edges(self, node: int) -> list[tuple[Place, TreeEdge]]:
        """Those of a node that are shown, the most visited first."""
        found = [(Place(node, place), edge) for place, edge in enumerate(self.decision.nodes[node].edges)]
        return sorted((item for item in found if item[0] in self.places), key=lambda item: -item[1].visits)


def _most_visited(decision: Decision, limit: int) -> set[Place]:
    """The most visited edges that hang together with the root."""
    chosen: set[Place] = set()
    queue: list[tuple[int, Place]] = []

    def open_node(number: int) -> None:
        for place, edge in enumerate(decision.nodes[number].edges):
            if edge.visits > 0:
                heapq.heappush(queue, (-edge.visits, Place(number, place)))

    open_node(0)
    while queue and len(chosen) < limit:
        _, place = heapq.heappop(queue)
        chosen.add(place)
        child = decision.nodes[place.node].edges[place.edge].child
        if child is not None:
            open_node(child)
    return chosen


def tree_console(file: TextIO | None = None) -> Console:
    """Where trees are printed: only a terminal is too narrow for any line."""
    console = Console(file=file)
    if not console.is_terminal:
        console.width = _WIDEST
    return console


def _principal(decision: Decision) -> set[tuple[int, str]]:
    """The action that was taken, then the most visited one of each node: (node, action)."""
    path: set[tuple[int, str]] = set()
    node = 0
    action = decision.taken
    while True:
        edge = next(edge for edge in decision.nodes[node].edges if edge.action == action)
        path.add((node, action))
        if edge.child is None or not decision.nodes[edge.child].edges:
            return path
        node = edge.child
        best = max(decision.nodes[node].edges, key=lambda edge: (edge.visits, edge.prior))
        if best.visits == 0:
            return path
        action = best.action


def numbers(shown: ShownTree) -> Table:
    """The root's actions with everything that is compared."""
    table = Table("", "action", "visits", "prior", "Q", "U", "L", "Q + U + L", box=None, padding=(0, 2))
    for edge in sorted(shown.decision.root.edges, key=lambda edge: -edge.visits):
        taken = edge.action == shown.decision.taken
        table.add_row(
            "●" if taken else "",
            edge.action + (" (failed)" if edge.failed else ""),
            f"{edge.visits:,}",
            *(f"{value:.3f}" for value in (edge.prior, edge.q, edge.u, edge.level, edge.total)),
            style="bold" if taken else None,
        )
    return table


class Cropped:
    """A tree of which every line is printed: those a terminal is too narrow for end with an ellipsis."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segments in console.render_lines(self.tree, options.update(width=_WIDEST), pad=False):
            line = Text.assemble(*((segment.text, segment.style or "") for segment in segments), no_wrap=True)
            line.rstrip()
            line.truncate(options.max_width, overflow="ellipsis")
            yield line


def rich_tree(shown: ShownTree) -> Cropped:
    """The tree as indented lines; the best path is bold."""
    decision = shown.decision
    root = Tree(_line((f"{decision.root.visits:,} visits", "bold"), (shown.show(decision.root.state), "dim")))
    queue = [(0, root)]
    for number, branch in queue:
        for _, edge in shown.edges(number):
            grown = branch.add(_edge_line(shown, number, edge))
            if edge.child is not None:
                queue.append((edge.child, grown))
    return Cropped(root)


def _edge_line(shown: ShownTree, number: int, edge: TreeEdge) -> Text:
    best = "bold green" if (number, edge.action) in shown.path else ""
    parts = [(f"{edge.action} {edge.visits:,}", best), (f"P {edge.prior:.3f}  Q {edge.q:.3f}", "")]
    if edge.failed:
        parts.append(("failed", "red"))
    elif edge.child is not None:
        parts.append((shown.show(shown.decision.nodes[edge.child].state), "dim"))
    return _line(*parts)


def _line(*parts: tuple[str, str]) -> Text:
    """Parts with their styles, as they are: text of an environment is no markup."""
    return Text("  ", no_wrap=True).join([Text(text, style) for text, style in parts])


def dot(shown: ShownTree) -> str:
    """The tree for Graphviz."""
    lines = [
        "digraph search {",
        "  rankdir=LR;",
        '  node [shape=box, style="rounded", fontname="monospace", fontsize=10];',
        '  edge [fontname="monospace", fontsize=9];',
        f"  n0 [label={_quoted(shown.show(shown.decision.root.state))}];",
    ]
    queue = [0]
    for number in queue:
        for place, edge in shown.edges(number):
            target, label, style = f"e{number}_{place.edge}", _ending(edge), ", style=dashed"
            if edge.child is not None:
                target, label, style = f"n{edge.child}", shown.show(shown.decision.nodes[edge.child].state), ""
                queue.append(edge.child)
            best = ", color=blue, penwidth=2" if (number, edge.action) in shown.path else ""
            text = f"{edge.action}\n{edge.visits}  Q {edge.q:.3f}"
            lines.append(f"  {target} [label={_quoted(label)}{style}];")
            lines.append(f"  n{number} -> {target} [label={_quoted(text)}{best}];")
    return "\n".join([*lines, "}"]) + "\n"


def _ending(edge: TreeEdge) -> str:
    return "failed" if edge.failed else "end"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def tree_object(shown: ShownTree, program: str, simulations: int) -> dict[str, Any]:
    """The tree as JSON, nodes by number and with all their edges; nodes that were cut are counted."""
    decision = shown.decision
    kept = kept_nodes(decision, shown.limit)
    place = {number: row for row, number in enumerate(kept)}

    def one(node: TreeNode) -> dict[str, Any]:
        return {
            "state": shown.show(node.state),
            "depth": node.depth,
            "visits": node.visits,
            "value": node.value,
            "edges": [
                {**edge._asdict(), "child": None if edge.child is None else place.get(edge.child)}
                for edge in node.edges
            ],
        }

    return {
        "program": program,
        "step": decision.step,
        "simulations": simulations,
        "choice": decision.choice,
        "taken": decision.taken,
        "left_out": len(decision.nodes) - len(kept),
        "nodes": [one(decision.nodes[number]) for number in kept],
    }
