"""An open-addressing hash map from 64-bit keys to 32-bit values that compiled code can read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alphanpi.engine.compilation import compiled

ABSENT = -1
_EMPTY = -1
_MULTIPLIER = 0x9E3779B97F4A7C15  # 2^64 / golden ratio


class HashMap(NamedTuple):
    """Linear probing; the capacity is a power of two and at most half is used."""

    keys: NDArray[np.int64]  # [capacity], _EMPTY where free
    values: NDArray[np.int32]  # [capacity]
    used: NDArray[np.int64]  # [1]


def empty(capacity: int = 1024) -> HashMap:
    """A map without entries; `capacity` must be a power of two."""
    return HashMap(np.full(capacity, _EMPTY, np.int64), np.zeros(capacity, np.int32), np.zeros(1, np.int64))


_LAST_ACTION = 2**31 - 1


@compiled
def pair_key(high: int, low: int) -> np.int64:
    """One key from two non-negative 31-bit integers."""
    return (np.int64(high) << np.int64(32)) | np.int64(low)


@compiled
def action_key(history: int, action: int) -> np.int64:
    """A key from a history and an action; no observation has so large a number."""
    return pair_key(history, _LAST_ACTION - action)


@compiled
def slot_of(key: np.int64, mask: int) -> np.int64:
    """Where a key belongs in a table of `mask` + 1 rows, a power of two."""
    # Both halves of a pair must reach the low bits: a product alone carries them upwards only.
    mixed = np.uint64(key)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(_MULTIPLIER)
    return np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(mask))


@compiled
def get(keys: NDArray[np.int64], values: NDArray[np.int32], key: np.int64) -> int:
    """The value of a key of a map, or ABSENT."""
    mask = keys.shape[0] - 1
    slot = slot_of(key, mask)
    while keys[slot] != _EMPTY:
        if keys[slot] == key:
            return values[slot]
        slot = (slot + 1) & mask
    return ABSENT


@compiled
def put(table: HashMap, key: np.int64, value: int) -> None:
    """Add an entry; the caller has made sure that there is room."""
    mask = table.keys.shape[0] - 1
    slot = slot_of(key, mask)
    while table.keys[slot] != _EMPTY and table.keys[slot] != key:
        slot = (slot + 1) & mask
    if table.keys[slot] == _EMPTY:
        table.used[0] += 1
    table.keys[slot] = key
    table.values[slot] = value


@compiled
def _put_all(table: HashMap, keys: NDArray[np.int64], values: NDArray[np.int32]) -> None:
    for i in range(keys.shape[0]):
        if keys[i] != _EMPTY:
            put(table, keys[i], values[i])


def insert(table: HashMap, keys: NDArray[np.int64], values: NDArray[np.int32]) -> HashMap:
    """Add entries; returns the map to use from now on, a larger one where needed."""
    capacity = table.keys.shape[0]
    needed = 2 * (int(table.used[0]) + len(keys))
    if needed > capacity:
        while capacity < needed:
            capacity *= 2
        larger = empty(capacity)
        _put_all(larger, table.keys, table.values)
        table = larger
    _put_all(table, keys, values)
    return table
