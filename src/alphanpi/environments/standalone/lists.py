"""Lists with two pointers for exported modules. The function above the marker stands in for the learned one."""

from __future__ import annotations

import sys


def bubblesort(items: Items) -> None:
    """Sort the list."""
    raise NotImplementedError


# ---- runtime: everything below is copied into exported modules


class Items:
    """The values from `start` to `end`, with two pointers; smaller problems share values and pointers."""

    def __init__(self, values: list[int], pointers: list[int], start: int, end: int) -> None:
        self.values = values
        self.pointers = pointers
        self.start = start
        self.end = end

    def without_first(self) -> Items:
        """The same list without its first element."""
        return Items(self.values, self.pointers, self.start + 1, self.end)

    def without_last(self) -> Items:
        """The same list without its last element."""
        return Items(self.values, self.pointers, self.start, self.end - 1)

    def ptr_1_l(self) -> None:
        """Pointer 1 to the left."""
        self.pointers[0] -= 1

    def ptr_2_l(self) -> None:
        """Pointer 2 to the left."""
        self.pointers[1] -= 1

    def ptr_1_r(self) -> None:
        """Pointer 1 to the right."""
        self.pointers[0] += 1

    def ptr_2_r(self) -> None:
        """Pointer 2 to the right."""
        self.pointers[1] += 1

    def swap(self) -> None:
        """Exchange the two values pointed at."""
        i, j = self.pointers
        self.values[i], self.values[j] = self.values[j], self.values[i]

    def __str__(self) -> str:
        places = " and ".join(str(pointer + 1) for pointer in self.pointers)
        return f"{' '.join(str(value) for value in self.values)}   pointers at {places}"

    @property
    def p1_value(self) -> int:
        """The value at pointer 1."""
        return self.values[self.pointers[0]]

    @property
    def p2_value(self) -> int:
        """The value at pointer 2."""
        return self.values[self.pointers[1]]

    @property
    def p1_value_greater(self) -> bool:
        """Whether the value at pointer 1 is the greater one."""
        i, j = self.pointers
        return self.values[i] > self.values[j]

    @property
    def values_equal(self) -> bool:
        """Whether both pointers are at equal values."""
        i, j = self.pointers
        return self.values[i] == self.values[j]

    @property
    def p1_at_start(self) -> bool:
        """Whether pointer 1 is at the first element."""
        return self.pointers[0] == self.start

    @property
    def p1_at_end(self) -> bool:
        """Whether pointer 1 is at the last element."""
        return self.pointers[0] == self.end

    @property
    def p2_at_start(self) -> bool:
        """Whether pointer 2 is at the first element."""
        return self.pointers[1] == self.start

    @property
    def p2_at_end(self) -> bool:
        """Whether pointer 2 is at the last element."""
        return self.pointers[1] == self.end

    @property
    def same_position(self) -> bool:
        """Whether both pointers are at the same element."""
        return self.pointers[0] == self.pointers[1]

    @property
    def sorted(self) -> bool:
        """Whether the values are in ascending order."""
        return all(self.values[i] <= self.values[i + 1] for i in range(self.start, self.end))


def sort(values: list[int]) -> list[int]:
    """The values in ascending order."""
    items = Items(list(values), [0, 0], 0, len(values) - 1)
    if len(values) > 1:
        bubblesort(items)
    return items.values


if __name__ == "__main__":
    text = " ".join(sys.argv[1:])
    try:
        numbers = [int(word) for word in text.replace(",", " ").split()]
    except ValueError:
        sys.exit(f"{text!r} is not a list of integers; write for example '5 3 9 1'")
    if not numbers:
        sys.exit("the list is empty; write for example '5 3 9 1'")
    print(*sort(numbers))
