"""What the paper reports (Tables 1 to 3 of Pierrot et al., 2019): success by size, one agent each."""

from __future__ import annotations

PAPER: dict[tuple[str, str], dict[int, float]] = {
    ("hanoi", "planning"): dict.fromkeys((2, 5, 10, 12), 1.0),
    ("hanoi", "greedy"): dict.fromkeys((2, 5, 10, 12), 1.0),
    ("sorting", "planning"): {10: 1.0, 20: 1.0, 60: 0.95, 100: 0.4},
    ("sorting", "greedy"): {10: 0.85, 20: 0.85, 60: 0.4, 100: 0.1},
    ("recursive-sorting", "planning"): {10: 1.0, 20: 1.0, 60: 1.0, 100: 1.0},
    ("recursive-sorting", "greedy"): {10: 0.7, 20: 0.6, 60: 0.35, 100: 0.1},
    ("flat-sorting", "planning"): {3: 0.94, 4: 0.42, 5: 0.1, 6: 0.01},
    ("flat-sorting", "greedy"): {3: 0.78, 4: 0.22, 5: 0.05, 6: 0.01},
}


def in_the_paper(environment: str, program: str, mode: str, size: int) -> float | None:
    """The paper's success, which is of each environment's topmost program."""
    if program not in ("HANOI", "BUBBLESORT"):
        return None
    return PAPER.get((environment, mode), {}).get(size)
