"""A search tree for the terminal, for Graphviz, and as JSON."""

from __future__ import annotations

from typing import Any

from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from alphanpi.engine.inspection import Decision, TreeEdge, TreeNode
from alphanpi.guard import Guard
from alphanpi.reporting.searches import kept_nodes
from alphanpi.spec import Environment

TEXT_NODES = 40


class Shown:
    """A decision cut to its most visited nodes."""

    def __init__(self, decision: Decision, environment: Environment[Any], limit: int) -> None:
        self.decision = decision
        self.show = Guard(environment).format
        self.library = environment.library
        self.kept = kept_nodes(decision, limit)
        self.inside = set(self.kept)
        self.path = _principal(decision)

    @property
    def left_out(self) -> int:
        """Nodes that are not shown."""
        return len(self.decision.nodes) - len(self.kept)


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


def numbers(shown: Shown) -> Table:
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


def rich_tree(shown: Shown) -> Tree:
    """The tree as indented lines; the best path is bold."""
    decision = shown.decision
    root = Tree(f"[bold]{decision.root.visits:,} visits[/]  [dim]{escape(shown.show(decision.root.state))}[/]")
    branches = {0: root}
    for number in shown.kept:
        for edge in sorted(decision.nodes[number].edges, key=lambda edge: -edge.visits):
            if edge.visits == 0:
                continue
            branch = branches[number].add(_line(shown, number, edge))
            if edge.child in shown.inside:
                branches[edge.child] = branch
    return root


def _line(shown: Shown, number: int, edge: TreeEdge) -> str:
    label = f"{edge.action} {edge.visits:,}"
    if (number, edge.action) in shown.path:
        label = f"[bold green]{label}[/]"
    tail = f"  P {edge.prior:.3f}  Q {edge.q:.3f}"
    if edge.failed:
        tail += "  [red]failed[/]"
    elif edge.child is not None:
        tail += f"  [dim]{escape(shown.show(shown.decision.nodes[edge.child].state))}[/]"
    return label + tail


def dot(shown: Shown) -> str:
    """The tree for Graphviz."""
    lines = [
        "digraph search {",
        "  rankdir=LR;",
        '  node [shape=box, style="rounded", fontname="monospace", fontsize=10];',
        '  edge [fontname="monospace", fontsize=9];',
    ]
    for number in shown.kept:
        node = shown.decision.nodes[number]
        lines.append(f"  n{number} [label={_quoted(shown.show(node.state))}];")
        for place, edge in enumerate(node.edges):
            if edge.visits == 0:
                continue
            target = f"n{edge.child}"
            if edge.child not in shown.inside:
                target = f"e{number}_{place}"
                lines.append(f"  {target} [label={_quoted(_ending(edge))}, style=dashed];")
            best = ", color=blue, penwidth=2" if (number, edge.action) in shown.path else ""
            text = f"{edge.action}\n{edge.visits}  Q {edge.q:.3f}"
            lines.append(f"  n{number} -> {target} [label={_quoted(text)}{best}];")
    return "\n".join([*lines, "}"]) + "\n"


def _ending(edge: TreeEdge) -> str:
    if edge.failed:
        return "failed"
    return "left out" if edge.child is not None else "end"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def tree_object(shown: Shown, program: str, simulations: int) -> dict[str, Any]:
    """The tree as JSON, nodes by number; what was cut is counted."""
    decision = shown.decision
    place = {number: row for row, number in enumerate(shown.kept)}

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
        "left_out": shown.left_out,
        "nodes": [one(decision.nodes[number]) for number in shown.kept],
    }
