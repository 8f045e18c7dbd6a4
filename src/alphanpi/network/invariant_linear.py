"""A linear layer for CUDA whose rows do not depend on how many there are: tiles and the order of sums are fixed.

cuBLAS takes another kernel for another number of rows, and with it another order of the sums. Here every tile of 64
rows is computed by the same code, whichever rows are beside it.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

_ROWS, _COLUMNS, _INNER = 64, 64, 32  # of a tile


def linear(inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """inputs [R, K] @ weight [N, K].T + bias [N], contiguous, with R a multiple of 64."""
    rows, inner = inputs.shape
    columns = weight.shape[0]
    outputs = torch.empty(rows, columns, device=inputs.device)
    grid = (rows // _ROWS, triton.cdiv(columns, _COLUMNS))
    _tile[grid](inputs, weight, bias, outputs, inner, columns, _ROWS, _COLUMNS, _INNER, num_warps=4, num_stages=3)
    return outputs


@triton.jit
def _tile(  # type: ignore[no-untyped-def]
    inputs,
    weight,
    bias,
    outputs,
    inner,
    columns,
    tile_rows: tl.constexpr,
    tile_columns: tl.constexpr,
    tile_inner: tl.constexpr,
):
    row = tl.program_id(0) * tile_rows + tl.arange(0, tile_rows)
    column = tl.program_id(1) * tile_columns + tl.arange(0, tile_columns)
    k = tl.arange(0, tile_inner)
    total = tl.zeros((tile_rows, tile_columns), tl.float32)
    for start in range(0, inner, tile_inner):
        inside = start + k < inner
        left = tl.load(inputs + row[:, None] * inner + (start + k)[None, :], mask=inside[None, :], other=0.0)
        right = tl.load(
            weight + column[None, :] * inner + (start + k)[:, None],
            mask=inside[:, None] & (column < columns)[None, :],
            other=0.0,
        )
        # Three products of rounded parts on the tensor cores: about as exact as single precision.
        total = tl.dot(left, right, total, input_precision="tf32x3")
    total += tl.load(bias + column, mask=column < columns, other=0.0)[None, :]
    tl.store(outputs + row[:, None] * columns + column[None, :], total, mask=(column < columns)[None, :])
