"""Transitions and calls of the compiled search: growing a tree by one node, and frames on an explicit stack."""

from __future__ import annotations

from alphanpi.engine.compilation import compiled, inlined
from alphanpi.engine.tables import FAILED, NONE, UNKNOWN, Failure, Hole, Status, Tables

# Plain integers: compiled code then holds constants instead of enumeration look-ups.
_DONE = int(Status.DONE)
_ACT, _ENTER, _LEAVE = int(Hole.ACT), int(Hole.ENTER), int(Hole.LEAVE)
_DEPTH, _NODES, _FRAMES = int(Hole.DEPTH), int(Hole.NODES), int(Hole.FRAMES)
_SUCCESS, _FAILED_NODES = int(Failure.NONE), int(Failure.NODES)
_FAILED_CALL_DEPTH, _FAILED_ACTIONS = int(Failure.CALL_DEPTH), int(Failure.ACTIONS)


@compiled
def grow(t: Tables, e: int, f: int, node: int, slot: int, action: int) -> int:
    """The node behind an edge taken for the first time; FAILED, or NONE where the episode waits or ended."""
    if t.free[0] == NONE:
        wait(t, e, _NODES, 0, 0, 0)
        return NONE
    after = transition(t, e, f, t.nodes[node].state, action)
    if after == UNKNOWN:
        return NONE
    if after == FAILED:
        return FAILED
    if t.frames[f].node_count >= t.rules[0].max_nodes:
        finish(t, e, f, _FAILED_NODES)
        return NONE
    return attach(t, f, node, slot, action, after)


@compiled
def attach(t: Tables, f: int, node: int, slot: int, action: int, after: int) -> int:
    """A new node for the state to which an action leads, behind its edge; there is one in the pool."""
    child = new_node(t, f, after, following(t, f, t.nodes[node].history, action))
    t.nodes[child].previous = action if t.rules[0].window > 1 else NONE
    t.nodes[child].parent = node
    t.nodes[child].parent_slot = slot
    t.nodes[child].depth = t.nodes[node].depth + 1
    t.nodes[child].recursions = t.nodes[node].recursions + (1 if t.recursive[t.frames[f].program, action] else 0)
    t.nodes[child].could_recurse = t.nodes[node].could_recurse
    t.nodes[child].problem = t.nodes[node].problem
    t.nodes[child].begun = t.nodes[node].begun
    t.nodes[child].limit = t.nodes[node].limit
    t.nodes[child].earned = t.nodes[node].earned
    t.edges[node, slot].child = child
    return child


@inlined
def following(t: Tables, f: int, history: int, action: int) -> int:
    """The context after a history and an action; with a window of two or more it is looked up later."""
    return context_after(t, t.frames[f].program, action) if t.rules[0].window == 1 else history


@compiled
def context_after(t: Tables, program: int, action: int) -> int:
    """With a window of one, the context after an action."""
    context: int = t.rules[0].programs + program * t.rules[0].entries + action
    return context


@compiled
def transition(t: Tables, e: int, f: int, state: int, action: int) -> int:
    """The state after an action or a call; FAILED, or UNKNOWN where the episode waits or ended."""
    if action < t.rules[0].atomic:
        after = t.successor[state, action]
        if after == UNKNOWN:
            wait(t, e, _ACT, state, action, t.frames[f].program)
            return UNKNOWN
        return after if works(t, e, f, 1) else UNKNOWN
    callee = t.callees[action]
    entry, change = state, t.frame_changes[t.frames[f].program, action]
    if change != NONE:
        entry = t.entered[state, change]
        if entry == UNKNOWN:
            wait(t, e, _ENTER, state, change, 0)
            return UNKNOWN
    result = t.successor[entry, t.rules[0].atomic + callee]
    depth = t.frames[f].call_depth + 1
    if result == UNKNOWN:
        if depth > t.rules[0].max_call_depth:
            abort(t, e, _FAILED_CALL_DEPTH)
        else:
            call(t, e, f, callee, entry)
        return UNKNOWN
    # A remembered call fails on the depth it would reach, so memory never changes an outcome.
    height = t.calls[entry, callee].height
    if depth + height > t.rules[0].max_call_depth:
        abort(t, e, _FAILED_CALL_DEPTH)
        return UNKNOWN
    t.frames[f].height = max(t.frames[f].height, height + 1)
    after = result
    if result != FAILED and change != NONE:
        after = t.successor[state, t.rules[0].entries + change]
        if after == UNKNOWN:
            wait(t, e, _LEAVE, state, result, change)
            return UNKNOWN
    return after if works(t, e, f, t.calls[entry, callee].work + 1) else UNKNOWN


@compiled
def works(t: Tables, e: int, f: int, actions: int) -> bool:
    """Count actions, those inside of a remembered call too; False where the episode ends because of them."""
    t.frames[f].work += actions
    t.episodes[e].work += actions
    if t.episodes[e].work > t.rules[0].max_actions:
        abort(t, e, _FAILED_ACTIONS)
        return False
    return True


@compiled
def call(t: Tables, e: int, caller: int, program: int, entry: int) -> None:
    """Push a frame for a call, or wait for what it needs."""
    limit = t.calls[entry, program].depth
    if limit == UNKNOWN:
        wait(t, e, _DEPTH, entry, program, 0)
        return
    if t.free[1] == NONE:
        wait(t, e, _FRAMES, 0, 0, 0)
        return
    if t.free[0] == NONE:
        wait(t, e, _NODES, 0, 0, 0)
        return
    f = t.free[1]
    t.free[1] = t.frames[f].caller
    t.frames[f].program = program
    t.frames[f].entry = entry
    t.frames[f].caller = caller
    t.frames[f].chosen = NONE
    t.frames[f].length = 0
    t.frames[f].call_depth = 0 if caller == NONE else t.frames[caller].call_depth + 1
    t.frames[f].height = 0
    t.frames[f].work = 0
    t.frames[f].first_node = NONE
    t.frames[f].node_count = 0
    root = begin(t, f, entry, 0)
    t.nodes[root].parent = NONE
    t.nodes[root].problem = 0
    t.nodes[root].earned = 0.0
    t.frames[f].root = root
    t.frames[f].cursor = root
    t.frames[f].budget = simulations(t, e, f)
    t.episodes[e].frame = f


@compiled
def begin(t: Tables, f: int, entry: int, depth: int) -> int:
    """A node in which the frame's program begins to solve a problem."""
    program = t.frames[f].program
    node = new_node(t, f, entry, program)  # the context in which a program begins has the program's index
    t.nodes[node].previous = NONE
    t.nodes[node].depth = depth
    t.nodes[node].begun = depth
    t.nodes[node].limit = depth + t.calls[entry, program].depth
    t.nodes[node].recursions = 0
    t.nodes[node].could_recurse = t.rules[0].penalise_where_possible and t.calls[entry, program].base_case == 0
    return node


@compiled
def following_problem(t: Tables, e: int, f: int, node: int, slot: int) -> int:
    """The node behind a STOP that succeeded: where the next problem begins; NONE where the episode waits or ended."""
    child = t.edges[node, slot].child
    if child != NONE:
        return child
    if t.free[0] == NONE:
        wait(t, e, _NODES, 0, 0, 0)
        return NONE
    if t.frames[f].node_count >= t.rules[0].max_nodes:
        finish(t, e, f, _FAILED_NODES)
        return NONE
    child = begin(t, f, t.starts[e, t.nodes[node].problem + 1], t.nodes[node].depth + 1)
    t.nodes[child].parent = node
    t.nodes[child].parent_slot = slot
    t.nodes[child].problem = t.nodes[node].problem + 1
    t.nodes[child].earned = t.nodes[node].earned + t.nodes[node].stop_value
    t.edges[node, slot].child = child
    return child


@inlined
def problems(t: Tables, e: int, f: int) -> int:
    """How many problems a frame's program has to solve: several in an episode's own frame alone."""
    return t.episodes[e].problems if t.frames[f].caller == NONE else 1


@inlined
def average(t: Tables, e: int, f: int, node: int, value: float) -> float:
    """The mean value of a frame's problems, if from a node on each is worth that much."""
    count = problems(t, e, f)
    if count == 1:
        return value
    return (t.nodes[node].earned + value * (count - t.nodes[node].problem)) / count


@compiled
def new_node(t: Tables, f: int, state: int, context: int) -> int:
    """Take a node from the pool for a state of a frame; the tree it belongs to is the frame's."""
    node = t.free[0]
    t.free[0] = t.nodes[node].link
    t.nodes[node].state = state
    t.nodes[node].context = context
    t.nodes[node].history = UNKNOWN
    t.nodes[node].count = UNKNOWN
    t.nodes[node].post = UNKNOWN
    t.nodes[node].settled = NONE
    t.nodes[node].total = 0
    t.nodes[node].link = NONE
    if t.frames[f].first_node == NONE:
        t.frames[f].first_node = node
    else:
        t.nodes[t.frames[f].last_node].link = node
    t.frames[f].last_node = node
    t.frames[f].node_count += 1
    return node


@compiled
def finish(t: Tables, e: int, f: int, failure: int) -> None:
    """End a call: the episode's own, or a nested one whose result is remembered for all episodes."""
    root, program = t.frames[f].root, t.frames[f].program
    final, caller = t.nodes[root].state, t.frames[f].caller
    if caller == NONE:
        t.episodes[e].status = _DONE
        t.episodes[e].failure = failure
        t.episodes[e].final = final
        t.episodes[e].length = t.frames[f].length
        t.episodes[e].value = average(t, e, f, root, t.nodes[root].stop_value) if failure == _SUCCESS else -1.0
    else:
        entry = t.frames[f].entry
        t.calls[entry, program].height = t.frames[f].height
        t.calls[entry, program].work = t.frames[f].work  # counted again when the caller takes the result
        t.episodes[e].work -= t.frames[f].work
        t.successor[entry, t.rules[0].atomic + program] = final if failure == _SUCCESS else FAILED
    t.episodes[e].frame = caller
    release(t, f)


@compiled
def abort(t: Tables, e: int, failure: int) -> None:
    """End an episode from inside any of its calls."""
    f = t.episodes[e].frame
    while t.frames[f].caller != NONE:
        caller = t.frames[f].caller
        release(t, f)
        f = caller
    finish(t, e, f, failure)


@compiled
def release(t: Tables, f: int) -> None:
    """Give the nodes of a frame back to the pool."""
    t.nodes[t.frames[f].last_node].link = t.free[0]
    t.free[0] = t.frames[f].first_node
    t.frames[f].caller = t.free[1]
    t.free[1] = f


# ---------------------------------------------------------------------------- small questions


@inlined
def wait(t: Tables, e: int, hole: int, first: int, second: int, third: int) -> bool:
    """Stop an episode at a hole until the driver has filled it.

    Inlined: on its own, it would be compiled anew for every constant that is handed to it.
    """
    t.episodes[e].hole = hole
    t.episodes[e].first = first
    t.episodes[e].second = second
    t.episodes[e].third = third
    return False


@compiled
def explores(t: Tables, e: int, f: int) -> bool:
    """Nested searches are always in exploitation mode."""
    return t.episodes[e].exploring and t.frames[f].caller == NONE


@compiled
def simulations(t: Tables, e: int, f: int) -> int:
    """Simulations per action of a frame: many where the episode explores, few in calls."""
    return t.rules[0].simulations if explores(t, e, f) else t.rules[0].simulations_exploitation
