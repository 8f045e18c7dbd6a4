"""The definition of the search: Algorithms 1 and 2 of the paper, transcribed literally.

Slow, recursive, readable. The engine has to agree with it exactly; it is never changed to make a test pass.

Readings where the paper is silent or contradicts itself:
- A trace's length counts STOP; a call fails when it has taken `depth` actions and the last one is not STOP.
- A simulation's length is counted from the beginning of the call, not from the current root.
- U uses sqrt(max(1, sum of N)), so that it is not 0 at the first selection.
- Priors and noise are over the legal actions only.
- The recursion penalty applies where a recursive call was legal on the path and none was made. Not in the paper: an
  optional bonus for each recursive call, and an option to apply the penalty to every call that is no base case.
- A call is an entry of its own where it hands over an argument or a part of the problem (not in the paper); it runs the
  program of that name on what `enter` gives. Calls of the same level, by itself or of its group, count as recursive.
- With a window (not in the paper), the network reads the last observations of the call, each with the action before it.
- A failed call ends the search ("discard"), or its child gets the value -1 and is not taken again ("penalise").
- Where no child that may be taken was visited, priors stand in for visit counts; in exploitation mode they also decide
  between children visited equally often.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from alphanpi.engine.config import SearchConfig
from alphanpi.engine.tables import Failure
from alphanpi.environment.specification import STOP, Environment
from alphanpi.network.evaluator import UNBOUNDED, Evaluation, Evaluator, windows_of


class CallFailedError(Exception):
    """A called program failed; where that discards, the whole search is given up."""


class TooDeepError(Exception):
    """Too many calls inside each other."""


class TooManyNodesError(Exception):
    """The tree has grown too large."""


class Node:
    """A node of the tree: a state, and what is known of the actions from it."""

    def __init__(self, state: Any, parent: Node | None, action: int | None, memory: np.ndarray) -> None:
        self.state = state
        self.parent = parent
        self.action = action  # that led here
        self.incoming_memory = memory  # LSTM state before this node's observation
        self.memory: np.ndarray | None = None  # and after it
        self.seen: list[tuple[int, Any]] = []  # of this call so far: action before (0 for none), observation
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.problem: int = 0 if parent is None else parent.problem  # which of the search's problems it belongs to
        self.begins = parent is None  # whether the problem begins here
        self.legal: list[int] | None = None  # None until expanded
        self.priors: dict[int, float] = {}
        self.values: dict[int, list[float]] = {}  # all values backed up through each action
        self.children: dict[int, Node] = {}
        self.failed: set[int] = set()
        self.earned: float = 0.0 if parent is None else parent.earned  # by the problems before


class OracleEpisode:
    """What a search did."""

    def __init__(self) -> None:
        self.actions: list[int] = []
        self.visits: list[list[int]] = []
        self.policies: list[list[float]] = []
        self.states: list[Any] = []
        self.final: Any = None
        self.failure = Failure.NONE
        self.value = -1.0
        self.simulations = 0
        self.worth: list[float] = []  # of the problems solved


class Oracle:
    """One search, of one program, in one mode."""

    def __init__(
        self,
        environment: Environment[Any],
        evaluator: Evaluator,
        config: SearchConfig,
        program: str,
        exploring: bool = False,
        seed: Any = 0,
        call_depth: int = 0,
    ) -> None:
        self.environment = environment
        self.library = environment.library
        self.evaluator = evaluator
        self.config = config
        self.program = program
        self.index = self.library.index_of(program)
        self.exploring = exploring
        choices, noise = np.random.SeedSequence(seed).spawn(2)
        self.choices = np.random.default_rng(choices)
        self.noise = np.random.default_rng(noise)
        self.call_depth = call_depth
        self.nodes = 0
        self.discards = config.failed_call == "discard"

    # ------------------------------------------------------------------ Algorithm 2

    def search(self, state: Any, further: tuple[Any, ...] = ()) -> OracleEpisode:
        """Play an episode of the program from a state; with further ones, solve these problems one after the other."""
        self.starts = (state, *further)
        self.limits = [self.environment.depth(self.program, start) for start in self.starts]
        simulations = self.config.simulations if self.exploring else self.config.simulations_exploitation
        result = OracleEpisode()
        root = self.new_node(state, None, None, np.zeros(self.evaluator.memory_width, np.float32))
        self.root = root
        draws = list(self.choices.random(sum(self.limits)))
        try:
            while True:
                for _ in range(simulations):
                    if root.legal is not None and self.settled(root) is not None:
                        break  # nothing is to be decided
                    self.simulate(root)
                    result.simulations += 1
                while True:
                    if self.settled(root) in root.failed:
                        raise CallFailedError
                    policy = self.policy(root)
                    action = self.choose(root, draws[len(result.actions)])
                    if action == 0 or self.taken(root) + 1 >= self.limits[root.problem] or action in root.children:
                        break
                    try:  # only where priors stood in for visits
                        root.children[action] = self.apply(root, action)
                        break
                    except CallFailedError:
                        if self.discards:
                            raise
                        root.failed.add(action)
                result.states.append(root.state)
                result.actions.append(action)
                result.visits.append([len(root.values.get(a, [])) for a in range(len(self.library))])
                result.policies.append(policy)
                result.final = root.state
                if action == 0:
                    if not self.holds(root):
                        result.failure = Failure.POST
                        return result
                    result.worth.append(self.reward(root))
                    if root.problem + 1 == len(self.starts):
                        result.value = self.average(root, self.reward(root))
                        return result
                    if action not in root.children:
                        root.children[action] = self.following_problem(root)
                elif self.taken(root) + 1 >= self.limits[root.problem]:
                    result.failure = Failure.DEPTH
                    return result
                root = self.root = root.children[action]
        except CallFailedError:
            result.failure = Failure.CALL
        except TooManyNodesError:
            result.failure = Failure.NODES
        result.final = root.state
        return result

    def policy(self, node: Node) -> list[float]:
        """pi_mcts(a) = N(a)^tau_2 / sum of N(b)^tau_2."""
        weights = [0.0] * len(self.library)
        settled = self.settled(node)
        open_actions = [
            action for action in node.legal or [] if action not in node.failed and settled in (None, action)
        ]
        for action in open_actions:
            weights[action] = float(len(node.values[action])) ** self.config.policy_temperature
        if sum(weights) == 0.0:
            for action in open_actions:
                weights[action] = node.priors[action]
        total = 0.0
        for action in node.legal or []:
            total += weights[action]
        self.total = total
        self.weights = weights
        return [weight / total for weight in weights]

    def choose(self, node: Node, draw: float) -> int:
        """Sample from the tree policy where the search explores; else take its largest."""
        if not self.exploring:
            allowed = [action for action in node.legal or [] if action not in node.failed]
            return max(allowed, key=lambda action: (self.weights[action], node.priors[action], -action))
        cumulative, last = 0.0, 0
        for action, weight in enumerate(self.weights):
            if weight > 0:
                cumulative += weight
                last = action
                if cumulative > draw * self.total:
                    break
        return last

    # ------------------------------------------------------------------ Algorithm 1

    def simulate(self, root: Node) -> None:
        """Walk down to a node that is not expanded, or to an end, and back up its value."""
        node = root
        while True:
            if node.legal is None:
                value = self.expand(node)
                if node is root or self.settled(node) is None:
                    return self.back_up(root, node, self.average(node, value))
                continue
            if self.taken(node) >= self.limits[node.problem]:
                return self.back_up(root, node, self.average(node, -1.0))
            action = self.select(node)
            if action == 0:
                holds = self.holds(node)
                if holds and node.problem + 1 < len(self.starts):
                    if action not in node.children:
                        node.children[action] = self.following_problem(node)
                    node = node.children[action]
                    continue
                value = self.average(node, self.reward(node) if holds else -1.0)
                node.values[action].append(value)
                return self.back_up(root, node, value)
            if action not in node.children:
                try:
                    node.children[action] = self.apply(node, action)
                except CallFailedError:
                    if self.discards:
                        raise
                    node.failed.add(action)
                if action in node.failed:
                    value = self.average(node, -1.0)
                    node.values[action].append(value)
                    return self.back_up(root, node, value)
            node = node.children[action]

    def expand(self, node: Node) -> float:
        """Ask the network for priors and value."""
        evaluation = self.evaluate(node)
        node.memory = evaluation.memory[0]
        legal = self.environment.legal(self.program, node.state)
        node.legal = [action for action in range(len(self.library)) if legal[action]]
        logits = [float(evaluation.logits[0, action]) for action in node.legal]
        weights = [math.exp(logit - max(logits)) for logit in logits]
        total = 0.0
        for weight in weights:
            total += weight
        node.priors = {a: w / total for a, w in zip(node.legal, weights, strict=True)}
        node.values = {action: [] for action in node.legal}
        if self.exploring:
            self.add_noise(node)
        return float(evaluation.values[0])

    def evaluate(self, node: Node) -> Evaluation:
        """The network's answer: after one more observation or, with a window, after the last ones of the call alone."""
        program = np.array([self.index - self.library.atomic_count])
        observation = np.array([self.environment.observe(node.state)], np.int16)
        window = self.window_size()
        if window == UNBOUNDED:
            return self.evaluator.evaluate(program, observation, node.incoming_memory[None])
        before = [] if node.begins or node.parent is None else node.parent.seen
        node.seen = [*before, (0 if node.begins else node.action + 1, observation)]  # type: ignore[operator]
        memory = np.zeros((1, self.evaluator.memory_width), np.float32)
        for previous, seen in node.seen[-window:]:
            memory[0, -1] = previous
            evaluation = self.evaluator.evaluate(program, seen, memory)
            memory = evaluation.memory.copy()
        return evaluation

    def add_noise(self, node: Node) -> None:
        """P <- (1 - epsilon) P + epsilon eta, eta ~ Dir(alpha): normalised Gamma(alpha) draws."""
        if self.config.noise_fraction == 0:
            return
        assert node.legal is not None
        gammas = self.noise.standard_gamma(self.config.noise_concentration, len(node.legal))
        total = 0.0
        for gamma in gammas:
            total += float(gamma)
        for action, gamma in zip(node.legal, gammas, strict=True):
            eta = float(gamma) / total if total > 0 else 1.0 / len(node.legal)
            epsilon = self.config.noise_fraction
            node.priors[action] = (1.0 - epsilon) * node.priors[action] + epsilon * eta

    def select(self, node: Node) -> int:
        """argmax of Q(e, a) + U(e, a) + L(i, a)."""
        assert node.legal is not None
        total = sum(len(values) for values in node.values.values())
        best, best_score = -1, -math.inf
        settled = self.settled(node)
        if settled is not None:
            return settled
        for action in node.legal:
            if action in node.failed:
                continue
            visits = len(node.values[action])
            u = self.config.c_puct * node.priors[action] * math.sqrt(max(1, total)) / (1.0 + visits)
            score = self.q(node.values[action]) + u + self.level_term(action)
            if score > best_score:
                best, best_score = action, score
        return best

    def q(self, values: list[float]) -> float:
        """Sum over all values v of v e^(tau_1 v) / (sum of e^(tau_1 v'))."""
        if not values:
            return 0.0
        weights = [math.exp(self.config.q_temperature * value) for value in values]
        return _left_to_right(v * w for v, w in zip(values, weights, strict=True)) / _left_to_right(weights)

    def level_term(self, action: int) -> float:
        """L(i, a) = c_level e^-1 for STOP and for itself, c_level e^-(l_i - l_a) otherwise."""
        entry, own = self.library[action], self.library[self.index].level
        if entry.name == STOP or entry.level == own:
            return self.config.c_level * math.exp(-1)
        return self.config.c_level * math.exp(-(own - entry.level))

    def apply(self, node: Node, action: int) -> Node:
        """The child an action leads to; a program is called by a search of its own, in exploitation mode."""
        name = self.library.names[action]
        assert node.memory is not None
        if self.library[action].atomic:
            after = self.environment.act(node.state, name)
        else:
            entered = self.environment.enter(node.state, name, self.program)
            if self.call_depth + 1 > self.config.max_call_depth:
                raise TooDeepError
            program = self.library.called(name).name
            callee = Oracle(self.environment, self.evaluator, self.config, program, call_depth=self.call_depth + 1)
            inner = callee.search(entered)
            if inner.failure != Failure.NONE:
                raise CallFailedError
            after = self.environment.leave(node.state, inner.final, name, self.program)
        return self.new_node(after, node, action, node.memory)

    # ------------------------------------------------------------------ several problems, one policy

    def path(self, node: Node) -> list[Node]:
        """The nodes of a node's own problem, from the node back to where it begins."""
        nodes = [node]
        while not nodes[-1].begins:
            assert nodes[-1].parent is not None
            nodes.append(nodes[-1].parent)
        return nodes

    def taken(self, node: Node) -> int:
        """Actions since the problem of a node began."""
        return len(self.path(node)) - 1

    def holds(self, node: Node) -> bool:
        """Whether the problem of a node is solved there."""
        return self.environment.post(self.program, self.starts[node.problem], node.state)

    def following_problem(self, node: Node) -> Node:
        """Where the next problem begins."""
        memory = np.zeros(self.evaluator.memory_width, np.float32)
        child = self.new_node(self.starts[node.problem + 1], node, 0, memory)
        child.problem, child.begins = node.problem + 1, True
        child.earned = node.earned + self.reward(node)
        return child

    def average(self, node: Node, value: float) -> float:
        """The mean value of all problems, if from a node on each is worth that much."""
        count = len(self.starts)
        return value if count == 1 else (node.earned + value * (count - node.problem)) / count

    def settled(self, node: Node) -> int | None:
        """What an agent with a window has done before where it saw the same and was allowed the same, if anything."""
        if self.window_size() == UNBOUNDED:
            return None
        below, above = node, node.parent
        while above is not None:
            if self.window(above) == self.window(node) and above.legal == node.legal:
                return below.action
            below, above = above, above.parent
        return None

    def window(self, node: Node) -> list[tuple[int, Any]]:
        """What the agent sees in a node."""
        return [(before, seen.tolist()) for before, seen in node.seen[-self.window_size() :]]

    def window_size(self) -> int:
        """How many observations of a call the network sees."""
        programs = len(self.library.learned)
        return windows_of(self.evaluator, programs)[self.index - self.library.atomic_count]

    def new_node(self, state: Any, parent: Node | None, action: int | None, memory: np.ndarray) -> Node:
        """A node, within the limit of one tree."""
        if parent is not None and self.nodes >= self.config.max_nodes:
            raise TooManyNodesError
        self.nodes += 1
        return Node(state, parent, action, memory)

    def back_up(self, root: Node, node: Node, value: float) -> None:
        """Add the value to every action between the root and a node."""
        while node is not root:
            assert node.parent is not None
            assert node.action is not None
            node.parent.values[node.action].append(value)
            node = node.parent

    def reward(self, node: Node) -> float:
        """Value of STOP at a node where the post-condition holds."""
        value = self.config.discount ** (self.taken(node) + 1)
        recursions, recursive = 0, self.library.recursions(self.program)
        could = self.config.recursion_penalty_where == "possible"
        could = could and not self.environment.base_case(self.program, self.starts[node.problem])
        for step in self.path(node):
            recursions += step.action in recursive and not step.begins
            could = could or not recursive.isdisjoint(step.legal or [])
        return value - self.config.recursion_penalty if could and not recursions else value


def _left_to_right(terms: Any) -> float:
    """A plain running sum; the built-in sum compensates for rounding from Python 3.12 on."""
    total = 0.0
    for term in terms:
        total += term
    return total


def search(
    environment: Environment[Any],
    evaluator: Evaluator,
    config: SearchConfig,
    program: str,
    state: Any,
    seed: Any = 0,
    exploring: bool = False,
    further: tuple[Any, ...] = (),
) -> OracleEpisode:
    """Run Algorithm 2 from a state."""
    oracle = Oracle(environment, evaluator, config, program, exploring, seed)
    try:
        return oracle.search(state, further)
    except TooDeepError:
        result = OracleEpisode()
        result.failure = Failure.CALL_DEPTH
        return result
