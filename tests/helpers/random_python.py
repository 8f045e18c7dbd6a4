"""Random programs in the part of Python that is translated to JavaScript."""

from __future__ import annotations

import random
from collections.abc import Callable

_TEXTS = ("", "a", "5 3 9", "ab,cd", " x ", "0110", "é😀z", "-12", "A\n'b\"")


class RandomPython:
    """Writes expressions of a kind, and functions made of them; all that they use exists."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def _one(self, *ways: Callable[[], str]) -> str:
        return self._random.choice(ways)()

    def integer(self, depth: int) -> str:
        """An int, or what raises an error on the way."""
        if depth <= 0:
            return self._random.choice(
                ["i", "j", str(self._random.choice([0, 1, 2, 3, 7, 10, -1, -4, 2**31, 2**53, 10**20]))]
            )
        one, less = self._one, depth - 1
        arithmetic = self._random.choice(["+", "-", "*", "//", "%", "&", "|", "^"])
        return one(
            lambda: f"({self.integer(less)} {arithmetic} {self.integer(less)})",
            lambda: f"({self.integer(less)} {arithmetic} {self.integer(less)})",
            lambda: f"(-{self.integer(less)})",
            lambda: f"(~{self.integer(less)})",
            lambda: f"(({self.integer(less)}) % 50 << ({self.integer(less)}) % 9)",
            lambda: f"(({self.integer(less)}) >> ({self.integer(less)}) % 9)",
            lambda: f"(({self.integer(less)}) % 7) ** (({self.integer(less)}) % 5)",
            lambda: f"len({self.container(less)})",
            lambda: f"abs({self.integer(less)})",
            lambda: f"sum({self.integers(less)})",
            lambda: f"min({self.integer(less)}, {self.integer(less)})",
            lambda: f"max({self.integers(less)}, default={self.integer(less)})",
            lambda: f"{self.integers(less)}[{self.integer(less)} % 5]",
            lambda: f"({self.integer(less)} if {self.boolean(less)} else {self.integer(less)})",
            lambda: f"int({self.text(less)})",
            lambda: f"int({self.integer(less)} / 3.5)",
            lambda: f"{self.integers(less)}.count({self.integer(less)})",
            lambda: f"divmod({self.integer(less)}, {self.integer(less)})[{self._random.choice([0, 1])}]",
            lambda: f"({self.boolean(less)} + {self.integer(less)})",
            lambda: f"({self.integer(less)} or {self.integer(less)})",
            lambda: f"{self.mapping(less)}.get({self.integer(less)}, {self.integer(less)})",
        )

    def boolean(self, depth: int) -> str:
        """True or false."""
        if depth <= 0:
            return self._random.choice(["True", "False", "i < j", "not xs"])
        less = depth - 1
        relation = self._random.choice(["<", "<=", ">", ">=", "==", "!="])
        kind = self._random.choice([self.integer, self.text, self.integers, self.pair])
        return self._one(
            lambda: f"({kind(less)} {relation} {kind(less)})",
            lambda: f"({self.integer(less)} {relation} {self.integer(less)} < {self.integer(less)})",
            lambda: f"({self.boolean(less)} and {self.boolean(less)})",
            lambda: f"({self.boolean(less)} or not {self.boolean(less)})",
            lambda: f"({self.integer(less)} in {self.integers(less)})",
            lambda: f"({self.text(less)} not in {self.text(less)})",
            lambda: f"({self.container(less)} == {self.container(less)})",
            lambda: f"bool({self.container(less)})",
            lambda: f"any(k > {self.integer(less)} for k in {self.integers(less)})",
            lambda: f"all({self.boolean(less)} for k in {self.integers(less)} if k)",
            lambda: f"isinstance({self.container(less)}, (list, str))",
            lambda: f"({self.integer(less)} / 2 == {self.integer(less)})",
        )

    def integers(self, depth: int) -> str:
        """A list of ints."""
        if depth <= 0:
            return self._random.choice(["xs", "[1, 2, 3, 4, 5]", "[]", "list(range(i % 7, 9, 2))", "[3, -1, 3]"])
        less = depth - 1
        number = lambda: self._random.choice(["", str(self._random.randint(-4, 4)), f"{self.integer(less)} % 4"])  # noqa: E731
        return self._one(
            lambda: f"({self.integers(less)} + {self.integers(less)})",
            lambda: f"{self.integers(less)}[{number()}:{number()}]",
            lambda: f"{self.integers(less)}[{number()}:{number()}:{self._random.choice([1, 2, -1, -2])}]",
            lambda: f"sorted({self.integers(less)}, key=lambda k: (k % 3, -k), reverse={self.boolean(less)})",
            lambda: f"[k + {self.integer(less)} for k in {self.integers(less)} if k % 2]",
            lambda: f"[a * b for a in {self.integers(less)} for b in range(a % 3)]",
            lambda: f"[a - b for a, b in zip({self.integers(less)}, {self.integers(less)})]",
            lambda: f"[a + b for a, b in enumerate(reversed({self.integers(less)}))]",
            lambda: f"list({self.pair(less)})",
            lambda: f"({self.integers(less)} * ({self.integer(less)} % 3))",
            lambda: f"[*{self.integers(less)}, {self.integer(less)}]",
            lambda: f"list(map(abs, {self.integers(less)}))",
            lambda: f"sorted(set({self.integers(less)}) {self._random.choice('-|&^')} set({self.integers(less)}))",
            lambda: f"[ord(c) for c in {self.text(less)}]",
            lambda: f"({self.integers(less)} or [{self.integer(less)}])",
        )

    def pair(self, depth: int) -> str:
        """A tuple of two ints."""
        return f"({self.integer(depth - 1)}, {self.integer(depth - 1)})"

    def text(self, depth: int) -> str:
        """A str."""
        if depth <= 0:
            return self._random.choice(["s", *map(repr, _TEXTS)])
        less = depth - 1
        method = self._random.choice(
            ["strip()", "upper()", "lower()", "replace('a', 'bc')", "rjust(7, '.')", "center(8)", "zfill(5)"]
        )
        spec = self._random.choice(["", ":d", ":5", ":<6", ":^+9", ":05", ":b", ":x", ":,", "!r"])
        return self._one(
            lambda: f"({self.text(less)} + {self.text(less)})",
            lambda: f"str({self.container(less)})",
            lambda: f"repr({self.text(less)})",
            lambda: f"f'<{{{self.integer(0)}{spec}}}>'",
            lambda: f"' '.join(map(str, {self.integers(less)}))",
            lambda: f"{self.text(less)}.{method}",
            lambda: f"{self.text(less)}[{self._random.randint(-3, 3)}:]",
            lambda: f"{self.text(less)}.split({self._random.choice(['', repr(','), repr(' ')])})[0]",
            lambda: f"str({self.integer(less)} / 8)",
            lambda: f"({self.text(less)} * ({self.integer(less)} % 3))",
            lambda: f"('odd' if {self.integer(less)} % 2 else {self.text(less)})",
        )

    def mapping(self, depth: int) -> str:
        """A dict of ints."""
        less = depth - 1
        return self._one(
            lambda: f"{{k: k * k for k in {self.integers(less)}}}",
            lambda: f"dict(enumerate({self.integers(less)}))",
            lambda: f"{{{self.integer(less)}: {self.integer(less)}, **{{1: {self.integer(less)}}}}}",
        )

    def container(self, depth: int) -> str:
        """Anything that has a length."""
        return self._random.choice([self.integers, self.text, self.pair, self.mapping])(depth)

    def block(self, depth: int, indent: str, looping: bool = False) -> list[str]:
        """Some statements."""
        return [line for _ in range(self._random.randint(1, 3)) for line in self._statement(depth, indent, looping)]

    def _statement(self, depth: int, indent: str, looping: bool) -> list[str]:
        inside, less = indent + "    ", depth - 1
        ways = [
            lambda: [f"{indent}i = {self.integer(2)}"],
            lambda: [f"{indent}i, j = j, {self.integer(1)}"],
            lambda: [f"{indent}j {self._random.choice(['+', '-', '*', '//', '%', '|'])}= {self.integer(1)}"],
            lambda: [f"{indent}xs.append({self.integer(1)})"],
            lambda: [f"{indent}xs += {self.integers(1)}[:4]"],
            lambda: [f"{indent}xs = {self.integers(1)}[:6]"],
            lambda: [f"{indent}if xs:", f"{inside}xs[-1], xs[0] = xs[0], i"],
            lambda: [f"{indent}if xs:", f"{inside}xs[len(xs) // 2] += xs.pop()", f"{indent}ys = xs"],
            lambda: [
                f"{indent}xs[{self._random.randint(-2, 2)}:{self._random.randint(-2, 3)}] = {self.integers(1)}[:3]"
            ],
            lambda: [f"{indent}s = {self.text(1)}[:12]"],
            lambda: [f"{indent}a, *ys = {self.integers(1)}", f"{indent}i = a"],
            lambda: [f"{indent}ys = [i, j]", f"{indent}del ys[{self._random.randint(0, 2)}]"],
            lambda: [
                f"{indent}d[{self.integer(1)} % 5] = {self.integer(1)}",
                f"{indent}i = d.pop({self.integer(0)} % 5, 7)",
            ],
        ]
        if depth > 0:
            ways += [
                lambda: [
                    f"{indent}if {self.boolean(2)}:",
                    *self.block(less, inside, looping),
                    f"{indent}elif {self.integer(1)}:",
                    *self.block(less, inside, looping),
                    f"{indent}else:",
                    *self.block(less, inside, looping),
                ],
                lambda: [
                    f"{indent}for k in range({self.integer(1)} % 5):",
                    *self.block(less, inside, True),
                    f"{inside}j += k",
                ],
                lambda: [
                    f"{indent}for k, x in enumerate(xs[:3]):",
                    *self.block(less, inside, True),
                    f"{indent}else:",
                    f"{inside}j -= 1",
                ],
                lambda: [f"{indent}while n > 0:", f"{inside}n -= 1", *self.block(less, inside, True)],
                lambda: [
                    f"{indent}try:",
                    *self.block(less, inside, looping),
                    f"{indent}except (ValueError, LookupError) as error:",
                    f"{inside}s += type(error).__name__",
                    f"{indent}else:",
                    f"{inside}i += 1",
                ],
                lambda: [f"{indent}try:", *self.block(less, inside, looping), f"{indent}finally:", f"{inside}j += 2"],
                lambda: [f"{indent}assert {self.boolean(1)}, {self.text(1)}"],
                lambda: [f"{indent}if {self.boolean(1)}:", f"{inside}raise KeyError({self.integer(0)})"],
            ]
        if looping:
            ways += [
                lambda: [f"{indent}if {self.boolean(1)}:", f"{inside}break"],
                lambda: [f"{indent}if {self.boolean(1)}:", f"{inside}continue"],
            ]
        return self._random.choice(ways)()

    def function(self, name: str) -> str:
        """A function that does some of all this."""
        lines = ["i, j, n, s = 3, -2, 9, 'ab'", "xs, ys, d = [4, 1, 3], [], {}"]
        body = self.block(3, "    ")
        return "\n".join(
            [f"def {name}():", *(f"    {line}" for line in lines), *body, "    return i, j, n, s, xs, ys, d", ""]
        )

    def expression(self, name: str) -> str:
        """A function that returns an expression's value."""
        kind = self._random.choice([self.integer, self.boolean, self.integers, self.text, self.mapping])
        return f"def {name}():\n    i, j, s, xs = 5, -3, 'b,a', [2, 7, 1]\n    return {kind(3)}\n"
