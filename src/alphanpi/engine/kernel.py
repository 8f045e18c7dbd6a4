"""The compiled search: Algorithms 1 and 2 of the paper over integers, for many episodes side by side.

An episode runs until it is done or meets a hole: something only the environment or the network can tell. It
then waits, and goes on from the same place once the driver has filled the hole. Calls of programs push a frame
on an explicit stack, so their depth is not bounded by any interpreter's.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from alphanpi.engine.calls import (
    average,
    call,
    explores,
    finish,
    following_problem,
    grow,
    problems,
    simulations,
    wait,
)
from alphanpi.engine.compilation import compiled, inlined
from alphanpi.engine.hashing import ABSENT, action_key, get, pair_key
from alphanpi.engine.scoring import soft_maximum, success_value
from alphanpi.engine.tables import FAILED, NONE, STOP_ACTION, UNKNOWN, Failure, Hole, Status, Tables

# Plain integers: compiled code then holds constants instead of enumeration look-ups.
_ACTIVE, _NO_HOLE = int(Status.ACTIVE), int(Hole.NONE)
_POST, _LEGAL, _EVALUATE, _NOISE = int(Hole.POST), int(Hole.LEGAL), int(Hole.EVALUATE), int(Hole.NOISE)
_SUCCESS, _FAILED_POST, _FAILED_DEPTH = int(Failure.NONE), int(Failure.POST), int(Failure.DEPTH)
_FAILED_CALL, _PAUSE, _CONTEXT = int(Failure.CALL), int(Hole.PAUSE), int(Hole.CONTEXT)


@compiled
def advance(t: Tables) -> int:
    """Run every active episode until it is done or waits for a hole to be filled; the number of those that wait.

    Signals are not heard meanwhile, so all of them pause when they have passed many nodes together.
    Whoever fills a hole clears it in the episode; one that is still there is asked for again.
    """
    waiting = 0
    for e in range(t.episodes.shape[0]):
        if t.episodes[e].status != _ACTIVE:
            continue
        while t.episodes[e].status == _ACTIVE and t.episodes[e].hole == _NO_HOLE:
            if t.left[0] <= 0:
                wait(t, e, _PAUSE, 0, 0, 0)
                break
            f = t.episodes[e].frame
            if t.frames[f].budget > 0:
                visit(t, e, f)
            else:
                move(t, e, f)
        if t.episodes[e].status == _ACTIVE:
            ask(t, e, waiting)
            waiting += 1
    return waiting


@compiled
def ask(t: Tables, e: int, row: int) -> None:
    """Write down what an episode waits for, and what tells the driver which questions come next."""
    f = t.episodes[e].frame
    node = t.frames[f].cursor
    parent = t.nodes[node].parent
    t.questions[row].episode = e
    t.questions[row].hole = t.episodes[e].hole
    t.questions[row].first = t.episodes[e].first
    t.questions[row].second = t.episodes[e].second
    t.questions[row].third = t.episodes[e].third
    t.questions[row].entry = _entry(t, e, f, node)
    t.questions[row].history = t.nodes[node].history
    t.questions[row].origin = NONE if parent == NONE else t.nodes[parent].state
    t.questions[row].ahead = 1 if t.episodes[e].exploring and simulations(t, e, f) > 1 else 0


@compiled
def start(t: Tables, programs: NDArray[np.int64], states: NDArray[np.int64]) -> None:
    """Begin all episodes; the driver has made sure of free frames and nodes, and of known depths."""
    for e in range(programs.shape[0]):
        call(t, e, NONE, programs[e], states[e])


# ---------------------------------------------------------------------------- Algorithm 1: one simulation


@inlined
def visit(t: Tables, e: int, f: int) -> None:
    """One turn of the loop of Algorithm 1 at the node the running simulation has reached."""
    node = _descend(t, f)
    if t.nodes[node].count == UNKNOWN:
        if _expand(t, e, f, node):
            root = t.frames[f].root
            if t.nodes[node].settled != NONE:
                if node != root:
                    return  # nothing is to be decided: the simulation goes on
                t.frames[f].budget = 1
            value = np.float64(t.values[t.nodes[node].history])
            _end_simulation(t, e, f, node, average(t, e, f, node, value))
        return
    if t.nodes[node].depth >= t.nodes[node].limit:
        _end_simulation(t, e, f, node, average(t, e, f, node, -1.0))
        return
    slot = t.nodes[node].selected
    action = t.legal_actions[t.nodes[node].legal, slot]
    if action == STOP_ACTION:
        if t.nodes[node].post == UNKNOWN and not _find_post(t, e, f, node):
            return
        if t.nodes[node].post == 1 and t.nodes[node].problem + 1 < problems(t, e, f):
            child = following_problem(t, e, f, node, slot)
            if child != NONE:
                t.frames[f].cursor = child
            return
        _end_simulation_at_edge(t, e, f, node, slot, average(t, e, f, node, t.nodes[node].stop_value))
        return
    child = _child(t, e, f, node, slot, action)
    if child == FAILED:
        _end_simulation_at_edge(t, e, f, node, slot, average(t, e, f, node, -1.0))
    elif child != NONE:
        t.frames[f].cursor = child


@inlined
def _child(t: Tables, e: int, f: int, node: int, slot: int, action: int) -> int:
    """The node an edge leads to; FAILED if that was closed now, NONE if the episode waits or the search has ended."""
    child = t.edges[node, slot].child
    if child == NONE:
        child = grow(t, e, f, node, slot, action)
        if child == FAILED:
            if t.rules[0].discard_failed_calls:
                finish(t, e, f, _FAILED_CALL)
                return NONE
            t.edges[node, slot].child = FAILED
    return child


@inlined
def _descend(t: Tables, f: int) -> int:
    """Follow the selected edges from where the simulation stands to the first that leads to no node yet."""
    node = t.frames[f].cursor
    while t.nodes[node].count != UNKNOWN and t.nodes[node].depth < t.nodes[node].limit:
        slot = _select(t, node)
        child = t.edges[node, slot].child
        if child < 0:
            t.nodes[node].selected = slot
            break
        node = child
    t.frames[f].cursor = node
    return node


@compiled
def _expand(t: Tables, e: int, f: int, node: int) -> bool:
    """Give the node its edges and priors; False where it has to wait."""
    state, program = t.nodes[node].state, t.frames[f].program
    context, observation = t.nodes[node].context, t.observation[state]
    if t.nodes[node].previous != NONE:
        known = get(t.history_keys, t.history_values, action_key(context, t.nodes[node].previous))
        if known == ABSENT:
            return wait(t, e, _CONTEXT, context, t.nodes[node].previous, 0)
        context = known
        t.nodes[node].context = known
        t.nodes[node].previous = NONE
    legal = t.calls[state, program].legal
    if legal == UNKNOWN:
        return wait(t, e, _LEGAL, state, program, context)
    history = get(t.history_keys, t.history_values, pair_key(context, observation))
    if history == ABSENT:
        return wait(t, e, _EVALUATE, context, observation, program)
    count = t.legal_count[legal]
    noisy = _noisy(t, e, f)
    if noisy and not _noise_ready(t, e, count):
        return wait(t, e, _NOISE, 0, 0, 0)

    largest = -np.inf
    for slot in range(count):
        largest = max(largest, t.logits[history, t.legal_actions[legal, slot]])
    total = 0.0
    for slot in range(count):
        action = t.legal_actions[legal, slot]
        weight = math.exp(np.float64(t.logits[history, action]) - largest)
        t.edges[node, slot].prior = weight
        total += weight
        if t.recursive[program, action]:
            t.nodes[node].could_recurse = True
    for slot in range(count):
        t.edges[node, slot].prior /= total
        t.edges[node, slot].weighted_prior = t.rules[0].c_puct * t.edges[node, slot].prior
        t.edges[node, slot].level = t.level[program, t.legal_actions[legal, slot]]
        t.edges[node, slot].visits = 0
        t.edges[node, slot].weight_sum = 0.0
        t.edges[node, slot].value_sum = 0.0
        t.edges[node, slot].q = 0.0
        t.edges[node, slot].child = NONE
    t.nodes[node].history = history
    t.nodes[node].legal = legal
    t.nodes[node].count = count
    if t.rules[0].window > 0:
        t.nodes[node].settled = _settled(t, node)
    if noisy:
        _add_noise(t, e, node)
    return True


@compiled
def _settled(t: Tables, node: int) -> int:
    """The slot taken where the path last showed the agent the same and allowed it the same; NONE if nowhere."""
    below, above = node, t.nodes[node].parent
    while above != NONE:
        if t.nodes[above].history == t.nodes[node].history and t.nodes[above].legal == t.nodes[node].legal:
            return t.nodes[below].parent_slot
        below, above = above, t.nodes[above].parent
    return NONE


@inlined
def _select(t: Tables, node: int) -> int:
    """The slot with the largest Q + U + L, the first of equals; failed calls are left out."""
    if t.nodes[node].settled != NONE:
        return t.nodes[node].settled
    sqrt_total = math.sqrt(max(1, t.nodes[node].total))
    best, best_score = 0, -np.inf
    for slot in range(t.nodes[node].count):
        edge = t.edges[node, slot]
        visits = 1.0 + edge.visits
        score = edge.q + edge.weighted_prior * sqrt_total / visits + edge.level  # U as in upper_confidence
        score = -np.inf if edge.child == FAILED else score
        better = score > best_score
        best = slot if better else best
        best_score = score if better else best_score
    return best


@inlined
def _end_simulation(t: Tables, e: int, f: int, node: int, value: float) -> None:
    """Back the value up from the node to the current root."""
    weight = math.exp(t.rules[0].q_temperature * value)
    root = t.frames[f].root
    t.left[0] -= 1 + t.nodes[node].depth - t.nodes[root].depth
    while node != root:
        parent = t.nodes[node].parent
        _count(t, parent, t.nodes[node].parent_slot, value, weight)
        node = parent
    t.frames[f].cursor = root
    t.frames[f].budget -= 1
    if t.frames[f].caller == NONE:
        t.episodes[e].simulations += 1
    else:
        t.episodes[e].nested_simulations += 1


@inlined
def _end_simulation_at_edge(t: Tables, e: int, f: int, node: int, slot: int, value: float) -> None:
    """The same where the last edge leads to no node: STOP, or a call that failed."""
    _count(t, node, slot, value, math.exp(t.rules[0].q_temperature * value))
    _end_simulation(t, e, f, node, value)


@inlined
def _count(t: Tables, node: int, slot: int, value: float, weight: float) -> None:
    edge = t.edges[node, slot]
    edge.visits += 1
    edge.weight_sum += weight
    edge.value_sum += value * weight
    edge.q = soft_maximum(edge.weight_sum, edge.value_sum)
    t.nodes[node].total += 1


# ---------------------------------------------------------------------------- Algorithm 2: the episode


@compiled
def move(t: Tables, e: int, f: int) -> None:
    """Choose the next action of the trace from the visit counts at the root, and take it."""
    node = t.frames[f].root
    t.left[0] -= 1
    settled = t.nodes[node].settled
    if settled != NONE and t.edges[node, settled].child == FAILED:
        finish(t, e, f, _FAILED_CALL)
        return
    if t.frames[f].chosen == NONE:
        t.frames[f].chosen = choose(t, e, f, node)
    slot = t.frames[f].chosen
    action = t.legal_actions[t.nodes[node].legal, slot]
    if action == STOP_ACTION:
        if t.nodes[node].post == UNKNOWN and not _find_post(t, e, f, node):
            return
        if t.nodes[node].post == 0 or t.nodes[node].problem + 1 == problems(t, e, f):
            _record(t, e, f, node, action)
            finish(t, e, f, _SUCCESS if t.nodes[node].post == 1 else _FAILED_POST)
            return
        child = following_problem(t, e, f, node, slot)
    elif t.nodes[node].depth + 1 >= t.nodes[node].limit:
        _record(t, e, f, node, action)
        finish(t, e, f, _FAILED_DEPTH)
        return
    else:
        child = _child(t, e, f, node, slot, action)
    if child == FAILED:
        t.frames[f].chosen = NONE
        return
    if child == NONE:
        return
    _record(t, e, f, node, action)
    t.frames[f].root = child
    t.frames[f].cursor = child
    t.frames[f].chosen = NONE
    decided = t.nodes[child].count != UNKNOWN and t.nodes[child].settled != NONE
    t.frames[f].budget = 0 if decided else simulations(t, e, f)


@compiled
def _policy_weight(t: Tables, node: int, slot: int, by_prior: bool) -> float:
    settled = t.nodes[node].settled
    if t.edges[node, slot].child == FAILED or (settled != NONE and settled != slot):
        return 0.0
    if by_prior:
        return t.edges[node, slot].prior
    return np.float64(t.edges[node, slot].visits) ** t.rules[0].policy_temperature


@compiled
def _policy_total(t: Tables, node: int, by_prior: bool) -> float:
    total = 0.0
    for slot in range(t.nodes[node].count):
        total += _policy_weight(t, node, slot, by_prior)
    return total


@compiled
def choose(t: Tables, e: int, f: int, node: int) -> int:
    """Sample from pi_mcts when exploring, else take its maximum, of equals the one with the largest prior.

    Where no edge that may be taken was visited, the priors stand in for the visit counts.
    """
    total = _policy_total(t, node, False)
    by_prior = total == 0.0
    if by_prior:
        total = _policy_total(t, node, True)
    if explores(t, e, f):
        target = t.uniform[e, t.frames[f].length] * total
        cumulative, last = 0.0, 0
        for slot in range(t.nodes[node].count):
            weight = _policy_weight(t, node, slot, by_prior)
            if weight > 0.0:
                cumulative += weight
                last = slot
                if cumulative > target:
                    break
        return last
    best, best_weight, best_prior = 0, -1.0, -1.0
    for slot in range(t.nodes[node].count):
        weight, prior = _policy_weight(t, node, slot, by_prior), t.edges[node, slot].prior
        if weight > best_weight or (weight == best_weight and prior > best_prior):
            best, best_weight, best_prior = slot, weight, prior
    return best


@compiled
def _record(t: Tables, e: int, f: int, node: int, action: int) -> None:
    """Add the step to the trace; only the episode's own program has one."""
    step = t.frames[f].length
    t.frames[f].length = step + 1
    if t.frames[f].caller != NONE:
        return
    total = _policy_total(t, node, False)
    by_prior = total == 0.0
    if by_prior:
        total = _policy_total(t, node, True)
    t.steps[e, step].state = t.nodes[node].state
    t.steps[e, step].action = action
    t.steps[e, step].context = t.nodes[node].context
    t.steps[e, step].value = t.nodes[node].stop_value if action == STOP_ACTION else 0.0
    t.visits[e, step, :] = 0
    t.policies[e, step, :] = 0.0
    for slot in range(t.nodes[node].count):
        entry = t.legal_actions[t.nodes[node].legal, slot]
        t.visits[e, step, entry] = t.edges[node, slot].visits
        t.policies[e, step, entry] = _policy_weight(t, node, slot, by_prior) / total


# ---------------------------------------------------------------------------- small questions


@compiled
def _find_post(t: Tables, e: int, f: int, node: int) -> bool:
    """Store with the node whether STOP there succeeds and what it is worth; False where the episode waits."""
    program, before, after = t.frames[f].program, _entry(t, e, f, node), t.nodes[node].state
    post = get(t.post_keys, t.post_values, pair_key(before * t.level.shape[0] + program, after))
    if post == ABSENT:
        return wait(t, e, _POST, before, after, program)
    rules = t.rules[0]
    value = success_value(
        rules.discount,
        t.nodes[node].depth + 1 - t.nodes[node].begun,
        rules.recursion_penalty,
        t.nodes[node].recursions,
        t.nodes[node].could_recurse,
    )
    t.nodes[node].stop_value = value if post == 1 else -1.0
    t.nodes[node].post = post
    return True


@inlined
def _entry(t: Tables, e: int, f: int, node: int) -> int:
    """The state in which the problem of a node began."""
    return t.starts[e, t.nodes[node].problem] if t.frames[f].caller == NONE else t.frames[f].entry


@compiled
def _noisy(t: Tables, e: int, f: int) -> bool:
    return explores(t, e, f) and t.rules[0].noise_fraction > 0.0


@compiled
def _noise_ready(t: Tables, e: int, count: int) -> bool:
    return t.episodes[e].noise_used + count <= t.episodes[e].noise_filled


@compiled
def _add_noise(t: Tables, e: int, node: int) -> None:
    """P <- (1 - epsilon) P + epsilon eta over the legal actions; eta is normalised Gamma draws."""
    first, count = t.episodes[e].noise_used, t.nodes[node].count
    total = 0.0
    for slot in range(count):
        total += t.noise[e, first + slot]
    fraction = t.rules[0].noise_fraction
    for slot in range(count):
        share = t.noise[e, first + slot] / total if total > 0.0 else 1.0 / count
        t.edges[node, slot].prior = (1.0 - fraction) * t.edges[node, slot].prior + fraction * share
        t.edges[node, slot].weighted_prior = t.rules[0].c_puct * t.edges[node, slot].prior
    t.episodes[e].noise_used = first + count
