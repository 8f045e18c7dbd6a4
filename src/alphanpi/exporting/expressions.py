"""Conditions as text: an expression tree that can be negated, and written on one line or, if it is long, on several."""

from __future__ import annotations

from typing import Literal, NamedTuple

Joint = Literal["and", "or"]
_INDENT = "    "
_XOR = " ^ "
_OTHER: dict[Joint, Joint] = {"and": "or", "or": "and"}


class Atom(NamedTuple):
    """One test, and the text of its opposite."""

    text: str
    opposite: str
    negative: bool  # whether the opposite is the plainer of the two


class Joined(NamedTuple):
    """Two or more expressions, of which all or one must hold."""

    joint: Joint
    parts: tuple[Expression, ...]


class Negated(NamedTuple):
    """The opposite of several expressions joined."""

    inner: Joined


Expression = Atom | Joined | Negated


def joined(joint: Joint, parts: list[Expression]) -> Expression:
    """The expressions joined; what is joined in the same way already becomes part of it."""
    flat: list[Expression] = []
    for part in parts:
        flat += part.parts if isinstance(part, Joined) and part.joint == joint else (part,)
    if len(flat) == 1:
        return flat[0]
    whole = Joined(joint, tuple(flat))
    return Negated(_inverted(whole)) if joint == "or" and _negative(whole) else whole


def negated(expression: Expression) -> Expression:
    """The opposite, without two negations in a row."""
    match expression:
        case Atom(text, opposite, negative):
            return Atom(opposite, text, not negative)
        case Negated(inner):
            return inner
        case Joined(_, parts):
            return _inverted(expression) if any(map(_is_negation, parts)) else Negated(expression)


def _is_negation(part: Expression) -> bool:
    return isinstance(part, Negated) or (isinstance(part, Atom) and part.negative)


def _negative(expression: Joined) -> bool:
    """Whether every part is one test that reads better the other way round."""
    return all(isinstance(part, Atom) and part.negative for part in expression.parts)


def _inverted(expression: Joined) -> Joined:
    """De Morgan: the opposite as the opposites of the parts."""
    joint = _OTHER[expression.joint]
    flat: list[Expression] = []
    for part in map(negated, expression.parts):
        flat += part.parts if isinstance(part, Joined) and part.joint == joint else (part,)
    return Joined(joint, tuple(flat))


def flat(expression: Expression) -> str:
    """The expression on one line."""
    match expression:
        case Atom(text):
            return text
        case Negated(inner):
            return f"not ({flat(inner)})"
        case Joined(joint, parts):
            return f" {joint} ".join(_nested(part) for part in parts)


def _nested(part: Expression) -> str:
    return f"({flat(part)})" if isinstance(part, Joined) else flat(part)


def lines(expression: Expression, width: int) -> list[str]:
    """The expression on as many lines as it needs to be no wider, to be put in parentheses if there are several."""
    whole = flat(expression)
    if len(whole) <= width or not _can_break(expression):
        return [whole]
    if isinstance(expression, Atom):
        return _broken(whole)
    if isinstance(expression, Negated):
        return ["not (", *(_INDENT + line for line in lines(expression.inner, width - len(_INDENT))), ")"]
    found: list[str] = []
    for number, part in enumerate(expression.parts):
        front = f"{expression.joint} " if number else ""
        if len(front + _nested(part)) <= width or not _can_break(part):
            found.append(front + _nested(part))
            continue
        inside = isinstance(part, Joined) or (isinstance(part, Atom) and not part.text.startswith("not"))
        first, *rest = lines(part, width - len(_INDENT)) if inside else lines(part, width)
        if inside:
            found += [f"{front}(", *(_INDENT + line for line in (first, *rest)), ")"]
        else:
            found += [front + first, *rest]
    return found


def _can_break(expression: Expression) -> bool:
    return not isinstance(expression, Atom) or _XOR in expression.text


def _broken(text: str) -> list[str]:
    """An exclusive or, or the opposite of one, on a line for each operand."""
    if text.startswith("not ("):
        return ["not (", *(_INDENT + line for line in _broken(text[len("not (") : -1])), ")"]
    first, *rest = text.split(_XOR)
    return [first, *(f"^ {operand}" for operand in rest)]
