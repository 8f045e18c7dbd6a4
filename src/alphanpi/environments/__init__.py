"""The built-in environments, one file each, and what belongs to each of them alone: the paper's, then others.

Hanoi is searched with more noise, as in the paper. Sorting without hierarchy has no exam on lists ten times as long.

Published scores are those of Tables 1 to 3 of the paper (Pierrot et al., 2019), of one agent each.
"""

from __future__ import annotations

from alphanpi.environment.registration import PublishedScores, Registration, add

_LIST = "5 3 8 1 9 2 7"
_RECURSIVE_SORTING = "alphanpi.environments.recursive_sorting:RecursiveSorting"
_RECURSIVE_SCORES = (
    PublishedScores("BUBBLESORT", "planning", {10: 1.0, 20: 1.0, 60: 1.0, 100: 1.0}),
    PublishedScores("BUBBLESORT", "greedy", {10: 0.7, 20: 0.6, 60: 0.35, 100: 0.1}),
)

add(
    Registration(
        "hanoi",
        "alphanpi.environments.hanoi:Hanoi",
        example="4",
        presets={
            "default": {"search.noise_fraction": 0.5, "search.noise_concentration": 0.5},
            "paper": {"paper.simulations": 1500, "paper.noise_fraction": 0.5, "paper.noise_concentration": 0.5},
        },
        published=tuple(
            PublishedScores("HANOI", mode, dict.fromkeys((2, 5, 10, 12), 1.0)) for mode in ("planning", "greedy")
        ),
    )
)
add(
    Registration(
        "sorting",
        "alphanpi.environments.sorting:Sorting",
        example=_LIST,
        published=(
            PublishedScores("BUBBLESORT", "planning", {10: 1.0, 20: 1.0, 60: 0.95, 100: 0.4}),
            PublishedScores("BUBBLESORT", "greedy", {10: 0.85, 20: 0.85, 60: 0.4, 100: 0.1}),
        ),
    )
)
add(
    Registration(
        "recursive-sorting",
        _RECURSIVE_SORTING,
        example=_LIST,
        published=_RECURSIVE_SCORES,
    )
)
add(
    Registration(
        "recursive-sorting-compare",
        _RECURSIVE_SORTING,
        options={"observation": "compare"},
        example=_LIST,
        published=_RECURSIVE_SCORES,
    )
)
add(
    Registration(
        "flat-sorting",
        "alphanpi.environments.flat_sorting:FlatSorting",
        example="3 1 2",
        presets={"default": {"validation.far_exam_factor": 0}},
        published=(
            PublishedScores("BUBBLESORT", "planning", {3: 0.94, 4: 0.42, 5: 0.1, 6: 0.01}),
            PublishedScores("BUBBLESORT", "greedy", {3: 0.78, 4: 0.22, 5: 0.05, 6: 0.01}),
        ),
    )
)
add(Registration("insertion-sort", "alphanpi.environments.insertion_sort:InsertionSort", example=_LIST))
add(Registration("merge-sort", "alphanpi.environments.merge_sort:MergeSort", example=_LIST))
add(Registration("quicksort", "alphanpi.environments.quicksort:Quicksort", example=_LIST))
add(
    Registration(
        "topological-sort", "alphanpi.environments.topological_sort:TopologicalSort", example="1:2,5 2:4,5 3:5"
    )
)
add(Registration("brackets", "alphanpi.environments.brackets:Brackets", example="([]{()})"))
add(
    Registration(
        "binary-search",
        "alphanpi.environments.binary_search:BinarySearch",
        example="7 in 2 3 5 7 11 13 17 19",
    )
)
add(
    Registration(
        "string-matching",
        "alphanpi.environments.string_matching:StringMatching",
        example="aba in abbabaab",
    )
)
add(Registration("addition", "alphanpi.environments.addition:Addition", example="9275+848"))
