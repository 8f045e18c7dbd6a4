"""Calls of itself at the end of a program, which a loop can take the place of: nothing is left to do after them.

This holds for modules with a runtime, where a smaller problem is an object that is dropped. In generic modules the
environment's `leave` comes after every call.
"""

from __future__ import annotations

from alphanpi.exporting.blocks import Block, Do, If, Return, While


def folded(block: Block) -> Block:
    """The same program with whatever follows a branch that returns in the other branch, and no `return` at its end.

    Afterwards the last statement of a branch at the end of the block is the last of the program. A `return` stays where
    a branch has nothing else.
    """
    for place, statement in enumerate(block):
        if isinstance(statement, Return):
            return block[:place]
        if isinstance(statement, If):
            rest = block[place + 1 :]
            if _ends(statement.then):
                then, otherwise = statement.then, statement.otherwise + rest
            elif not rest or _ends(statement.otherwise):
                then, otherwise = statement.then + rest, statement.otherwise
            else:
                continue
            then, otherwise = folded(then), folded(otherwise)
            if then or otherwise:
                return (*block[:place], statement._replace(then=then or (Return(),), otherwise=otherwise))
            return block[:place]
    return block


def _ends(block: Block) -> bool:
    """Whether every way through a block ends the program."""
    return any(
        isinstance(statement, Return)
        or (isinstance(statement, If) and _ends(statement.then) and _ends(statement.otherwise))
        for statement in block
    )


def loops(program: str, block: Block) -> bool:
    """Whether some way through a folded block ends with a call of the program itself."""
    if not block:
        return False
    last = block[-1]
    return last == Do(program) or (
        isinstance(last, If) and (loops(program, last.then) or loops(program, last.otherwise))
    )


def nests(program: str, block: Block) -> bool:
    """Whether a folded block calls its program itself other than at its end."""
    if not block:
        return False
    *others, last = block
    if any(calls(program, (statement,)) for statement in others) or isinstance(last, While):
        return calls(program, block)
    return isinstance(last, If) and (nests(program, last.then) or nests(program, last.otherwise))


def calls(program: str, block: Block) -> bool:
    """Whether a block calls a program anywhere."""
    for statement in block:
        match statement:
            case Do(action) if action == program:
                return True
            case If(_, then, otherwise) if calls(program, then) or calls(program, otherwise):
                return True
            case While(_, body) if calls(program, body):
                return True
    return False
