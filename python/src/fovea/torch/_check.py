"""Whether what was captured is what the model did: some rows of it, computed again and by the model's own plain function."""

from typing import Any

import torch

from ._calls import Call, Layer
from ._doors import eager_of
from ._errors import CaptureError
from ._kernels import added
from ._records import Record

ROWS = 8  # of the first and the last sample, that are looked at
TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-4, torch.float16: 2e-2, torch.bfloat16: 6e-2}


def check(path: str, module: Any, call: Call, output: torch.Tensor | None, more: dict[str, Any] | None) -> None:
    """Raises CaptureError. ``more`` is what transformers gave beside the tensors; None where PyTorch's own function was called."""
    layer = Layer(path, None)
    layer.add(call)
    for sample in sorted({0, layer.batch - 1}):
        _check_sample(layer.record(sample), call, sample, output)
    if more is not None and output is not None and call.q is not None:
        _against_eager(path, module, call, output, more, TOLERANCE[call.q.dtype])


def _check_sample(record: Record, call: Call, sample: int, output: torch.Tensor | None) -> None:
    path = record.path
    rows = torch.unique(torch.linspace(0, record.shape[1] - 1, ROWS, device=record.device).long())
    columns = torch.arange(record.shape[2], device=record.device)
    if record.weights is not None:
        sums = record.weights[:, rows].double().sum(-1)
        if not bool(((sums - 1).abs() < 2e-2).all()):
            raise CaptureError(f"{path}: rows of the softmax sum to {float(sums.min()):.3g} to {float(sums.max()):.3g}, which are no weights of attention")
        return
    assert record.q is not None and record.v is not None and output is not None
    mixed = output.reshape(-1, call.windows, *output.shape[1:])[sample].flatten(0, 1)  # [rows, heads, size]
    for head in sorted({0, record.shape[0] // 2, record.shape[0] - 1}):
        weights = _weights(record, head, rows, columns, path)
        expected = weights @ record.v[head * record.v.shape[0] // record.shape[0]].float()
        seen = weights.sum(1) > 0
        actual = mixed[rows, head].float()[seen]
        if not bool(actual.isfinite().all()):
            raise CaptureError(f"{path}: the kernel gave NaN or infinity; run the model in another dtype, or on the CPU")
        _compare(path, "weights times values", expected[seen], actual, TOLERANCE[record.q.dtype])


def _weights(record: Record, head: int, rows: torch.Tensor, columns: torch.Tensor, path: str) -> torch.Tensor:
    """Of these rows; where the kernel gave the log-sum-exp, their sums show whether it is right."""
    scores = record.scores(head, rows, columns)
    sink = scores.new_full((len(rows), 0), 0.0) if record.sinks is None else record.sinks[head].float().expand(len(rows), 1)
    lse = torch.logsumexp(torch.cat((scores, sink), 1).double(), 1)
    lse = torch.where(lse.isfinite(), lse, 0.0)
    if record.kernel_lse is not None:
        given = record.kernel_lse[head, rows].double()
        if not bool(((given - lse).abs() < 1e-3)[lse != 0].all()):
            raise CaptureError(f"{path}: by the kernel's log-sum-exp rows sum to {float(torch.exp(lse - given).min()):.4g}, not to 1")
    return torch.exp(scores - lse.float()[:, None])


def _against_eager(path: str, module: Any, call: Call, output: torch.Tensor, more: dict[str, Any], tolerance: float) -> None:
    """By the function that the module's own file has for ``eager``, with the mask as transformers makes it."""
    eager = eager_of(module)
    if eager is None or call.q is None or call.k is None:
        return
    rows = torch.unique(torch.linspace(0, call.rows - 1, ROWS, device=call.q.device).long())
    mask = added(call.mask, rows, call.k.shape[2], call.causal, call.rows)
    if mask is not None:
        sees_none = mask.amax(-1) == -torch.inf
        mask = mask.clamp(min=torch.finfo(call.q.dtype).min).to(call.q.dtype)
    given = dict(more)
    if call.bias is not None:
        given["position_bias"] = call.bias[:, :, rows] if call.bias.shape[2] > 1 else call.bias
    given.pop("output_attentions", None)
    expected = eager(module, call.q[:, :, rows], call.k, call.v, mask, scaling=call.scale, dropout=0.0, **given)[0]
    actual = output[:, rows].reshape(expected.shape)
    if mask is not None and bool(sees_none.any()):
        sees = ~sees_none.any(1).expand(len(expected), -1)
        expected, actual = expected[sees], actual[sees]
    _compare(path, "the model's own attention", expected.float(), actual.float(), tolerance)


def _compare(path: str, what: str, expected: torch.Tensor, actual: torch.Tensor, tolerance: float) -> None:
    if expected.numel() == 0:
        return
    difference = float((expected - actual).abs().max())
    if not difference <= tolerance * max(1.0, float(expected.abs().max())):
        raise CaptureError(f"{path}: {what} and the captured output differ by {difference:.2g}; something about this attention was not understood. "
                           "Capture with sites= without it, or report the model")
