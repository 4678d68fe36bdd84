"""What the attentions of a model are called: canonical names and layers from 0, and the path of a module that fits none."""

import re
from collections.abc import Iterable
from typing import Any

CANONICAL = ("self", "encoder_self", "decoder_self", "cross", "vision.self", "text.self", "pool")
CROSS = re.compile(r"cross_?att|cross_?attn|encoder_attn|encoder_attention|encdec|enc_dec|multihead_attn|vision_attn|image_attn", re.IGNORECASE)
POOL = re.compile(r"(^|\.)(head\.attention|attn_pool|attention_pool\w*|pooler\.attention|attnpool)$")
VISION = {"vision_model", "vision_tower", "visual", "vision", "vision_encoder", "image_encoder", "vit", "vision_backbone"}
TEXT = {"text_model", "language_model", "text_encoder", "text", "lm", "text_decoder"}


def crosses(path: str, module: Any) -> bool:
    """Whether the attention looks from one sequence at another one."""
    said = getattr(module, "is_cross_attention", None)
    if isinstance(said, bool):
        return said
    return bool(CROSS.search(path.rsplit(".", 3)[-1]) or CROSS.search(".".join(path.split(".")[-3:])) or CROSS.search(type(module).__name__))


def _kind(path: str, module: Any, seq2seq: bool, towers: bool) -> str:
    parts = path.split(".")
    if POOL.search(path):
        return "pool"
    if crosses(path, module):
        return "cross"
    if towers:
        if VISION & set(parts):
            return "vision.self"
        if TEXT & set(parts):
            return "text.self"
    if seq2seq:
        for part in parts:
            if part in ("decoder", "text_decoder"):
                return "decoder_self"
            if part == "encoder":
                return "encoder_self"
    return "self"


def _stack(path: str) -> str:
    return re.sub(r"\d+", "#", path)


def names_of(model: Any, called: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """For the path of each called module the kind of its site: a canonical one, or the path without its numbers."""
    called = list(called)
    paths = [path for path, _ in called]
    every = [set(path.split(".")) for path, _ in model.named_modules()]
    encoder, decoder = ([path for path in paths if name in path.split(".")] for name in ("encoder", "decoder"))
    seq2seq = bool(getattr(getattr(model, "config", None), "is_encoder_decoder", False) or (encoder and decoder))
    towers = any(VISION & parts for parts in every) and any(TEXT & parts for parts in every)
    kinds = {path: _kind(path, module, seq2seq, towers) for path, module in called}
    # Stacks that would share a name: the largest has it, the others are called by their paths.
    sizes: dict[tuple[str, str], int] = {}
    for path, kind in kinds.items():
        sizes[kind, _stack(path)] = sizes.get((kind, _stack(path)), 0) + 1
    winners: dict[str, str] = {}
    for (kind, stack), _ in sorted(sizes.items(), key=lambda item: -item[1]):
        winners.setdefault(kind, stack)
    return {path: kind if winners[kind] == _stack(path) else _stack(path).replace(".#", "").replace("#.", "") for path, kind in kinds.items()}
