"""Where attention passes: transformers' table of attention functions, PyTorch's own function, and softmax of models that have neither."""

import contextlib
import functools
import inspect
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

from ._calls import Call
from ._errors import CaptureError
from ._kernels import attended
from ._masks import LazyMask

if TYPE_CHECKING:
    from ._capture import Capture

NAME = "fovea"  # of the attention function; a name with "flash" in it would be refused
ATTENTION = re.compile(r"attention|attn", re.IGNORECASE)
_owners: dict[int, "Capture"] = {}  # by the id of a module


def owner_of(module: Any) -> "Capture | None":
    return _owners.get(id(module))


def attend(module: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attention_mask: Any, scaling: float | None = None,
           dropout: float = 0.0, is_causal: bool | None = None, **more: Any) -> tuple[torch.Tensor, None]:
    """What transformers calls in the place of its own attention functions."""
    capture = owner_of(module)
    if torch.compiler.is_compiling():
        raise CaptureError("the model is being compiled, which leaves no call to capture; capture the model that torch.compile was given")
    if capture is None or more.get("cache") is not None:
        raise CaptureError(f"{type(module).__name__} was called outside of the capture's block, or with a paged cache, which is not captured")
    scale = query.shape[-1] ** -0.5 if scaling is None else float(scaling)
    causal = bool(getattr(module, "is_causal", True) if is_causal is None else is_causal) and attention_mask is None and query.shape[2] > 1
    soft_cap, sinks, bias = float(more.get("softcap") or 0.0), more.get("s_aux"), more.get("position_bias")
    with capture.inside():
        output, lse = attended(module, query, key, value, attention_mask, scale=scale, causal=causal, dropout=dropout, soft_cap=soft_cap, sinks=sinks,
                               bias=bias, window=more.get("sliding_window"))
        if sinks is not None and lse is not None:
            lse = None
        call = Call(query, key, value, attention_mask, causal, scale, soft_cap, sinks, bias, lse)
        known = output
        if dropout and capture.will_check(module):  # chance is in the output
            known, _ = attended(module, query, key, value, attention_mask, scale=scale, causal=causal, dropout=0.0, soft_cap=soft_cap, sinks=sinks, bias=bias,
                                window=None)
        capture.keep(module, call, known, more)
    return output, None


def asked_mask(**request: Any) -> Any:
    """What transformers calls for a mask."""
    request.pop("allow_torch_fix", None)
    if request.get("q_offset") is None or not isinstance(request.get("q_length"), int):
        from transformers.masking_utils import sdpa_mask

        return sdpa_mask(**request)
    for name in ("q_offset", "kv_offset"):
        if isinstance(request.get(name), torch.Tensor):
            request[name] = int(request[name])
    return LazyMask.of(request)


def register() -> None:
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    ALL_ATTENTION_FUNCTIONS.register(NAME, attend)
    ALL_MASK_ATTENTION_FUNCTIONS.register(NAME, asked_mask)


@functools.cache
def _source(kind: type) -> str:
    try:
        return inspect.getsource(kind)
    except (OSError, TypeError):
        return ""


def _own_kinds(module: Any) -> list[type]:
    """The classes that say what the module does; a whole model's only lead to those of its parts."""
    return [] if hasattr(module, "save_pretrained") else [kind for kind in type(module).__mro__ if kind not in (torch.nn.Module, object)]


def attends_by_table(module: Any) -> bool:
    """Whether the module calls what transformers' table of attention functions names."""
    return any("get_interface(" in _source(kind) or "ALL_ATTENTION_FUNCTIONS" in _source(kind) for kind in _own_kinds(module))


def attends_otherwise(module: Any) -> bool:
    """Whether it calls PyTorch's attention function, or makes its own weights."""
    if isinstance(module, torch.nn.MultiheadAttention):
        return True
    if attends_by_table(module):
        return False
    sources = [_source(kind) for kind in _own_kinds(module)]
    if any("scaled_dot_product_attention(" in source for source in sources):
        return True
    # A class without a source may do anything.
    return bool(ATTENTION.search(type(module).__name__)) and any(not source or word in source for source in sources
                                                                 for word in ("oftmax(", "multi_head_attention_forward("))


@contextlib.contextmanager
def by_table(capture: "Capture", modules: list[Any]) -> Iterator[None]:
    """Every configuration that these modules read names our function. Setting it by the model's method leaves copies (T5) as they were."""
    register()
    numbers = {id(module) for module in modules}
    configurations: dict[int, Any] = {}
    # Those of the modules, and those of the parts around them, which make the masks: some are copies.
    for part in capture.model.modules():
        own = getattr(part, "config", None)
        if own is not None and hasattr(own, "_attn_implementation_internal") and any(id(module) in numbers for module in part.modules()):
            configurations[id(own)] = own
    before = {number: each.__dict__.get("_attn_implementation_internal") for number, each in configurations.items()}
    try:
        for each in configurations.values():
            each.__dict__["_attn_implementation_internal"] = NAME
        yield
    finally:
        for number, each in configurations.items():
            each.__dict__["_attn_implementation_internal"] = before[number]


class Watching(TorchFunctionMode):
    """Sees PyTorch's attention function and softmax inside a module that attends."""

    SOFTMAXES = {F.softmax, torch.softmax, torch.Tensor.softmax}

    def __init__(self, capture: "Capture") -> None:
        super().__init__()
        self.capture = capture
        self._sdpa_itself: Any = F.scaled_dot_product_attention

    def __torch_function__(self, function: Any, types: Any, arguments: Any = (), keywords: Any = None) -> Any:
        keywords = keywords or {}
        if self.capture.is_inside:
            return function(*arguments, **keywords)
        if function is F.scaled_dot_product_attention:
            return self._sdpa(*arguments, **keywords)
        if function is F.multi_head_attention_forward:
            with self._within_one_function():
                return function(*arguments, **keywords)
        result = function(*arguments, **keywords)
        if function in self.SOFTMAXES:
            self._softmax(result, arguments, keywords)
        return result

    @contextlib.contextmanager
    def _within_one_function(self) -> Iterator[None]:
        """What PyTorch's function of many heads calls does not pass here; its names for it lead here for so long."""
        names: Any = F
        attention, softmax = names.scaled_dot_product_attention, names.softmax

        def seen_softmax(*arguments: Any, **keywords: Any) -> Any:
            result = softmax(*arguments, **keywords)
            self._softmax(result, arguments, keywords)
            return result

        try:
            names.scaled_dot_product_attention, names.softmax = self._sdpa, seen_softmax
            self._sdpa_itself = attention
            yield
        finally:
            names.scaled_dot_product_attention, names.softmax = attention, softmax

    def _sdpa(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attn_mask: Any = None, dropout_p: float = 0.0,
              is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False) -> torch.Tensor:
        output = self._sdpa_itself(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
        module, known = self.capture.innermost(), output
        if module is None:
            return output
        if query.ndim not in (3, 4):
            raise CaptureError(f"{self.capture.path_of(module)}: attention over {query.ndim} axes, which is not captured")
        with self.capture.inside():
            if dropout_p and self.capture.will_check(module):
                known = self._sdpa_itself(query, key, value, attn_mask, 0.0, is_causal, scale=scale, enable_gqa=enable_gqa)
            q, k, v, mask, given = (each if each is None or each.ndim == 4 else each[:, None] if each.ndim == 3 else each[None, None]
                                    for each in (query, key, value, attn_mask, known))
            call = Call(q, k, v, mask, is_causal, q.shape[-1] ** -0.5 if scale is None else float(scale))
            self.capture.keep(module, call, given.transpose(1, 2), None)
        return output

    def _softmax(self, result: torch.Tensor, arguments: Any, keywords: Any) -> None:
        axis = arguments[1] if len(arguments) > 1 else keywords.get("dim")
        module = self.capture.module_of_attention()
        if module is None or attends_by_table(module) or result.ndim not in (3, 4) or axis not in (-1, result.ndim - 1):
            return
        with self.capture.inside():
            heads = _heads_of(module)
            # Samples and heads may lie on one axis.
            weights = result.reshape(-1, heads, *result.shape[1:]) if result.ndim == 3 and heads and len(result) % heads == 0 else result
            if weights.ndim != 4 or weights.shape[1] != heads:
                return  # nothing of this module is kept, which is told in the end
            self.capture.keep(module, Call(None, None, None, weights=weights), None, None)


def _heads_of(module: Any) -> int:
    """How many heads the module says that it has; 0: it does not say."""
    names = ("num_heads", "num_attention_heads", "n_heads", "n_head")
    return next((int(getattr(of, name)) for of in (module, getattr(module, "config", None)) for name in names if isinstance(getattr(of, name, None), int)), 0)


def eager_of(module: Any) -> Any:
    """The plain attention function that stands in the module's own file; None if there is none."""
    for kind in type(module).__mro__:
        found = getattr(sys.modules.get(kind.__module__), "eager_attention_forward", None)
        if found is not None:
            return found
    return None
