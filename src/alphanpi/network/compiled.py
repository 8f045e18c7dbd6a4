"""The network's forward pass in compiled code, row by row.

Each row's sums run in the same order whatever the batch, so results do not depend on batching. Loops run over
outputs innermost, which compilers turn into vector instructions without reordering any sum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
Vector = NDArray[np.float32]


class Weights(NamedTuple):
    """All weights as [inputs, outputs]."""

    encoder_1: Matrix
    encoder_1_bias: Vector
    encoder_2: Matrix
    encoder_2_bias: Vector
    gates_input: Matrix  # [S, 4H]
    gates_hidden: Matrix  # [H, 4H]
    gates_bias: NDArray[np.float32]  # [P, 1 or A + 1, 4H] share of a program and, with a window, the action before
    actor_1: Matrix
    actor_1_bias: Vector
    actor_2: Matrix
    actor_2_bias: Vector
    critic_1: Matrix
    critic_1_bias: Vector
    critic_2: Matrix
    critic_2_bias: Vector


class Routed(NamedTuple):
    """The weights of G networks, and which of them decides for each program; see `network.frozen`."""

    network: NDArray[np.int64]  # [P]
    fields: NDArray[np.int64]  # [G, fields] in the order in which each network reads them
    stacked: Weights  # every array with G in front


@njit(cache=True)
def of_network(routed: Routed, network: int) -> Weights:
    """The weights of one network."""
    w = routed.stacked
    return Weights(
        w.encoder_1[network],
        w.encoder_1_bias[network],
        w.encoder_2[network],
        w.encoder_2_bias[network],
        w.gates_input[network],
        w.gates_hidden[network],
        w.gates_bias[network],
        w.actor_1[network],
        w.actor_1_bias[network],
        w.actor_2[network],
        w.actor_2_bias[network],
        w.critic_1[network],
        w.critic_1_bias[network],
        w.critic_2[network],
        w.critic_2_bias[network],
    )


@njit(cache=True, fastmath={"contract"}, error_model="numpy")
def _add_product(inputs: Matrix, weight: Matrix, outputs: Matrix) -> None:
    """outputs += inputs @ weight.

    Two rows and four inputs at a time, so that fewer loads and stores go with each product; every output still adds
    its products in the order of the inputs.
    """
    rows, width, columns = inputs.shape[0], inputs.shape[1], weight.shape[1]
    whole = width - width % 4
    for r in range(0, rows - rows % 2, 2):
        for k in range(0, whole, 4):
            a0, a1, a2, a3 = inputs[r, k], inputs[r, k + 1], inputs[r, k + 2], inputs[r, k + 3]
            b0, b1, b2, b3 = (
                inputs[r + 1, k],
                inputs[r + 1, k + 1],
                inputs[r + 1, k + 2],
                inputs[r + 1, k + 3],
            )
            for j in range(columns):
                w0, w1, w2, w3 = weight[k, j], weight[k + 1, j], weight[k + 2, j], weight[k + 3, j]
                outputs[r, j] = outputs[r, j] + a0 * w0 + a1 * w1 + a2 * w2 + a3 * w3
                outputs[r + 1, j] = outputs[r + 1, j] + b0 * w0 + b1 * w1 + b2 * w2 + b3 * w3
        for k in range(whole, width):
            a0, b0 = inputs[r, k], inputs[r + 1, k]
            for j in range(columns):
                outputs[r, j] = outputs[r, j] + a0 * weight[k, j]
                outputs[r + 1, j] = outputs[r + 1, j] + b0 * weight[k, j]
    if rows % 2 == 1:
        r = rows - 1
        for k in range(0, whole, 4):
            a0, a1, a2, a3 = inputs[r, k], inputs[r, k + 1], inputs[r, k + 2], inputs[r, k + 3]
            for j in range(columns):
                outputs[r, j] = (
                    outputs[r, j]
                    + a0 * weight[k, j]
                    + a1 * weight[k + 1, j]
                    + a2 * weight[k + 2, j]
                    + a3 * weight[k + 3, j]
                )
        for k in range(whole, width):
            a0 = inputs[r, k]
            for j in range(columns):
                outputs[r, j] = outputs[r, j] + a0 * weight[k, j]


@njit(cache=True, fastmath={"contract"}, error_model="numpy")
def _tanh(x: np.float32) -> np.float32:
    """Hyperbolic tangent as a ratio of polynomials, exact to a few units in the last place."""
    limit = np.float32(7.90531110763549805)
    x = min(max(x, -limit), limit)
    x2 = x * x
    p = np.float32(-2.76076847742355e-16)
    p = p * x2 + np.float32(2.00018790482477e-13)
    p = p * x2 + np.float32(-8.60467152213735e-11)
    p = p * x2 + np.float32(5.12229709037114e-08)
    p = p * x2 + np.float32(1.48572235717979e-05)
    p = p * x2 + np.float32(6.37261928875436e-04)
    p = p * x2 + np.float32(4.89352455891786e-03)
    q = np.float32(1.19825839466702e-06)
    q = q * x2 + np.float32(1.18534705686654e-04)
    q = q * x2 + np.float32(2.26843463243900e-03)
    q = q * x2 + np.float32(4.89352518554385e-03)
    return x * p / q


@njit(cache=True, fastmath={"contract"}, error_model="numpy")
def _sigmoid(x: np.float32) -> np.float32:
    half = np.float32(0.5)
    return half + half * _tanh(half * x)


@njit(cache=True)
def _relu(values: Matrix) -> None:
    for r in range(values.shape[0]):
        for j in range(values.shape[1]):
            values[r, j] = max(values[r, j], np.float32(0))


@njit(cache=True)
def _filled(rows: int, bias: Vector) -> Matrix:
    out = np.empty((rows, bias.shape[0]), np.float32)
    for r in range(rows):
        out[r, :] = bias
    return out


@njit(cache=True, fastmath={"contract"}, error_model="numpy")
def forward(
    routed: Routed, programs: NDArray[np.int64], observations: Matrix, memory: Matrix
) -> tuple[Matrix, Vector, Matrix]:
    """Logits [R, A], values [R] and memory [R, 2H] after one more observation."""
    rows = programs.shape[0]
    logits = np.empty((rows, routed.stacked.actor_2.shape[2]), np.float32)
    values = np.empty(rows, np.float32)
    after = np.empty(memory.shape, np.float32)
    first = 0
    while first < rows:
        network = routed.network[programs[first]]
        last = first + 1
        while last < rows and routed.network[programs[last]] == network:
            last += 1
        w = of_network(routed, network)
        own = np.arange(last - first)
        remember(
            w,
            programs[first:last],
            perceive(w, observations[first:last][:, routed.fields[network]]),
            own,
            memory[first:last],
            own,
            logits[first:last],
            values[first:last],
            after[first:last],
        )
        first = last
    return logits, values, after


@njit(cache=True, fastmath={"contract"}, error_model="numpy")
def perceive(w: Weights, observations: Matrix) -> Matrix:
    """The share of observations in the gates of the LSTM, [R, 4H]: the same in every history."""
    rows = observations.shape[0]
    encoded_1 = _filled(rows, w.encoder_1_bias)
    _add_product(observations, w.encoder_1, encoded_1)
    _relu(encoded_1)
    encoded = _filled(rows, w.encoder_2_bias)
    _add_product(encoded_1, w.encoder_2, encoded)
    gates = np.zeros((rows, w.gates_input.shape[1]), np.float32)
    _add_product(encoded, w.gates_input, gates)
    return gates


@njit(cache=True, fastmath={"contract"}, error_model="numpy")
def remember(
    w: Weights,
    programs: NDArray[np.int64],  # [R]
    perceived: Matrix,  # [O, 4H]
    seen: NDArray[np.int64],  # [R] rows of `perceived`
    memory: Matrix,  # [M, 2H]
    parents: NDArray[np.int64],  # [R] rows of `memory`
    logits: Matrix,  # [R, A] these three are filled in
    values: Vector,  # [R]
    after: Matrix,  # [R, 2H]
) -> None:
    """What the network says after one more observation; what several rows have in common is computed once."""
    rows, units = programs.shape[0], memory.shape[1] // 2
    recalled = np.zeros((memory.shape[0], 4 * units), np.float32)
    _add_product(memory[:, :units].copy(), w.gates_hidden, recalled)
    gates = np.empty(4 * units, np.float32)
    hidden = np.empty((rows, units), np.float32)
    for r in range(rows):
        program, place, parent = programs[r], seen[r], parents[r]
        previous = np.int64(memory[parent, 2 * units]) if memory.shape[1] > 2 * units else np.int64(0)
        for j in range(4 * units):
            gates[j] = (perceived[place, j] + w.gates_bias[program, previous, j]) + recalled[parent, j]
        # Of a sum of two products the compiler may fuse either one, and differently in each version of a loop, of which
        # it takes one by the addresses of the arrays. A product that is stored first leaves it no choice.
        for j in range(units):
            gates[j] = _sigmoid(gates[j]) * _tanh(gates[2 * units + j])
        for j in range(units):
            keep, show = _sigmoid(gates[units + j]), _sigmoid(gates[3 * units + j])
            cell = keep * memory[parent, units + j] + gates[j]
            hidden[r, j] = show * _tanh(cell)
            after[r, j] = hidden[r, j]
            after[r, units + j] = cell
        after[r, 2 * units :] = np.float32(0)

    actor = _filled(rows, w.actor_1_bias)
    _add_product(hidden, w.actor_1, actor)
    _relu(actor)
    for r in range(rows):
        logits[r] = w.actor_2_bias
    _add_product(actor, w.actor_2, logits)
    critic = _filled(rows, w.critic_1_bias)
    _add_product(hidden, w.critic_1, critic)
    _relu(critic)
    worth = _filled(rows, w.critic_2_bias)
    _add_product(critic, w.critic_2, worth)
    for r in range(rows):
        values[r] = _tanh(worth[r, 0])
