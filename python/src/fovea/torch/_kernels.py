"""What a model's attention gives, by the kernel that plain PyTorch would take, and the log-sum-exp where the kernel knows it."""

from typing import Any

import torch
import torch.nn.functional as F

from ._masks import LazyMask
from ._records import BLOCK_CELLS

aten = torch.ops.aten


def attended(module: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: Any, *, scale: float, causal: bool, dropout: float,
             soft_cap: float, sinks: torch.Tensor | None, bias: torch.Tensor | None, window: int | None,
             ) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Output [batch, rows, heads, size], and the log-sum-exp [batch, heads, rows] or None: it is computed when it is read."""
    if soft_cap or sinks is not None:
        return _plain(q, k, v, mask, scale, causal, dropout, soft_cap, sinks, bias), None
    if q.is_cuda and dropout == 0 and bias is None:
        fast = _with_lse(q, k, v, mask, scale, causal, window)
        if fast is not None:
            return fast
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    given = mask
    if isinstance(mask, LazyMask):
        given, causal = mask.for_sdpa, mask.causal
    more = {} if bias is None else {"position_bias": bias}
    output, _ = sdpa_attention_forward(module, q, k, v, given, dropout=dropout, scaling=scale, is_causal=causal, **more)
    return output, None


def _with_lse(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: Any, scale: float, causal: bool,
              window: int | None) -> tuple[torch.Tensor, torch.Tensor] | None:
    """The kernels of CUDA that keep the log-sum-exp; None: none of them does this."""
    if mask is not None and not (isinstance(mask, LazyMask) and mask.padding is None):
        return None
    rows, columns = q.shape[2], k.shape[2]
    if isinstance(mask, LazyMask):
        seen = mask.seen(0)
        if seen is None or seen.query_group is not None:
            return None
        causal = seen.ahead == 0 and rows > 1
        if causal and (seen.offset != columns - rows or rows != columns):
            return None
        if not causal and seen.ahead is not None and rows > 1:
            return None
        window = None if seen.behind is None else seen.behind + 1
        if rows == 1 and window is not None and window < columns:
            return None
    else:
        causal, window = causal and rows > 1, None
        if causal and rows != columns:
            return None
    if k.shape[-1] != v.shape[-1]:
        return None
    repeat = q.shape[1] // k.shape[1]
    if q.dtype == torch.float32:  # cuDNN's gives NaN there
        if window is not None:
            return None
        keys, values = k.repeat_interleave(repeat, 1), v.repeat_interleave(repeat, 1)
        output, lse = aten._scaled_dot_product_efficient_attention(q, keys, values, None, True, 0.0, causal, scale=scale)[:2]
        return output.transpose(1, 2).contiguous(), lse[:, :, :rows]
    if window is not None and window < columns:
        output, lse = aten._flash_attention_forward(*(each.transpose(1, 2) for each in (q, k, v)), None, None, rows, columns, 0.0, causal, False,
                                                    scale=scale, window_size_left=window - 1, window_size_right=0)[:2]
        return output, lse
    try:
        output, lse = aten._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, causal, False, scale=scale)[:2]
    except RuntimeError:  # key heads that are shared, in versions that want one for each
        if repeat == 1:
            return None
        output, lse = aten._scaled_dot_product_cudnn_attention(q, k.repeat_interleave(repeat, 1), v.repeat_interleave(repeat, 1), None, True, 0.0, causal,
                                                               False, scale=scale)[:2]
    return output.transpose(1, 2).contiguous(), lse.reshape(lse.shape[:3])


def added(mask: Any, rows: torch.Tensor, columns: int, causal: bool, all_rows: int) -> torch.Tensor | None:
    """What the mask adds to the scores of these rows, as models compute it: 0 or minus infinity, or what the mask holds."""
    if isinstance(mask, LazyMask):
        mask = mask.rows_of(rows)
    elif mask is not None:
        mask = mask[..., rows, :columns] if mask.shape[-2] > 1 else mask[..., :columns]
    elif causal and all_rows > 1:
        # From the upper left corner, as the kernel's is_causal has it.
        mask = torch.arange(columns, device=rows.device)[None] <= rows[:, None]
    if mask is None or mask.dtype != torch.bool:
        return mask  # type: ignore[no-any-return]
    return torch.zeros(mask.shape, device=mask.device).masked_fill(~mask, -torch.inf)


def _plain(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: Any, scale: float, causal: bool, dropout: float, soft_cap: float,
           sinks: torch.Tensor | None, bias: torch.Tensor | None) -> torch.Tensor:
    """In blocks of rows, for what no kernel does: soft caps and sinks."""
    repeat = q.shape[1] // k.shape[1]
    keys, values = k.repeat_interleave(repeat, 1), v.repeat_interleave(repeat, 1)
    rows, columns = q.shape[2], k.shape[2]
    step = max(1, BLOCK_CELLS // (columns * q.shape[0] * q.shape[1]))
    parts = []
    for begin in range(0, rows, step):
        block = torch.arange(begin, min(begin + step, rows), device=q.device)
        scores = q[:, :, block] @ keys.transpose(2, 3) * scale
        if bias is not None:
            scores = scores + (bias[:, :, block] if bias.shape[2] > 1 else bias)
        if soft_cap:
            scores = soft_cap * torch.tanh(scores / soft_cap)
        more = added(mask, block, columns, causal, rows)
        if more is not None:
            scores = scores + more
        top = scores.float().amax(-1, keepdim=True).clamp(min=torch.finfo(torch.float32).min)
        if sinks is not None:
            sink = sinks.float().reshape(1, -1, 1, 1)
            top = torch.maximum(top, sink)
        weights = torch.exp(scores.float() - top)
        total = weights.sum(-1, keepdim=True)
        if sinks is not None:
            total = total + torch.exp(sink - top)
        weights = (weights / total.clamp(min=1e-38)).to(v.dtype)
        parts.append(F.dropout(weights, dropout) @ values)
    return torch.cat(parts, 2).transpose(1, 2).contiguous()
