"""The models of tests/data/parity in transformers, in double, with changes and with the blocks around attention seen."""

import json
import pathlib
import sys

import torch
import transformers
from safetensors.torch import load_file

DATA = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data"


class Block:
    """The modules around one attention: its output projection, where x and the result are seen, its last norm."""

    def __init__(self, site, out, x, y, norm=None, before=False, factors=None):
        self.site, self.out, self.x, self.y, self.norm, self.before, self.factors = site, out, x, y, norm, before, factors

    @property
    def kind(self):
        return self.site.rsplit(".", 1)[0]


def bart_blocks(model, first):
    def block(site, layer, name, following):
        norm = getattr(layer, f"{name}_layer_norm")
        out = getattr(layer, name).out_proj
        if first:
            return Block(site, out, (norm, "in"), (following, "in"))
        return Block(site, out, (getattr(layer, name), "in"), (norm, "out"), norm)
    blocks = []
    for i, layer in enumerate(model.model.encoder.layers):
        blocks.append(block(f"encoder_self.{i}", layer, "self_attn", layer.final_layer_norm))
    for i, layer in enumerate(model.model.decoder.layers):
        blocks.append(block(f"decoder_self.{i}", layer, "self_attn", layer.encoder_attn_layer_norm))
        blocks.append(block(f"cross.{i}", layer, "encoder_attn", layer.final_layer_norm))
    return blocks


def t5_blocks(model):
    blocks = []
    for i, block in enumerate(model.encoder.block):
        own, fed = block.layer
        blocks.append(Block(f"encoder_self.{i}", own.SelfAttention.o, (own.layer_norm, "in"), (fed.layer_norm, "in")))
    for i, block in enumerate(model.decoder.block):
        own, cross, fed = block.layer
        blocks.append(Block(f"decoder_self.{i}", own.SelfAttention.o, (own.layer_norm, "in"), (cross.layer_norm, "in")))
        blocks.append(Block(f"cross.{i}", cross.EncDecAttention.o, (cross.layer_norm, "in"), (fed.layer_norm, "in")))
    return blocks


def blocks_of(model):
    """In the order in which the model attends."""
    kind, base = model.config.model_type, model.base_model
    if kind in ("marian", "m2m_100", "whisper"):
        return bart_blocks(model, first=kind != "marian")
    if kind == "t5":
        return t5_blocks(model)
    def each(layers, make):
        return [make(f"self.{i}", layer) for i, layer in enumerate(layers)]
    if kind == "bert":
        return each(base.encoder.layer, lambda site, l: Block(
            site, l.attention.output.dense, (l, "in"), (l.attention.output.LayerNorm, "out"), l.attention.output.LayerNorm))
    if kind == "albert":
        groups = base.encoder.albert_layer_groups
        layers = [groups[i * len(groups) // model.config.num_hidden_layers].albert_layers[0]
                  for i in range(model.config.num_hidden_layers)]
        return each(layers, lambda site, l: Block(
            site, l.attention.dense, (l, "in"), (l.attention.LayerNorm, "out"), l.attention.LayerNorm))
    if kind == "distilbert":
        return each(base.transformer.layer, lambda site, l: Block(
            site, l.attention.out_lin, (l, "in"), (l.sa_layer_norm, "out"), l.sa_layer_norm))
    if kind == "gpt2":
        return each(base.h, lambda site, l: Block(site, l.attn.c_proj, (l.ln_1, "in"), (l.ln_2, "in")))
    if kind in ("llama", "qwen3"):
        return each(base.layers, lambda site, l: Block(
            site, l.self_attn.o_proj, (l.input_layernorm, "in"), (l.post_attention_layernorm, "in")))
    if kind == "gemma3_text":
        return each(base.layers, lambda site, l: Block(
            site, l.self_attn.o_proj, (l.input_layernorm, "in"), (l.pre_feedforward_layernorm, "in"),
            l.post_attention_layernorm, before=True))
    if kind == "vit":
        return each(base.layers, lambda site, l: Block(
            site, l.attention.o_proj, (l.layernorm_before, "in"), (l.layernorm_after, "in")))
    if kind == "dinov2":
        return each(base.encoder.layer, lambda site, l: Block(
            site, l.attention.o_proj, (l.norm1, "in"), (l.norm2, "in"), factors=l.layer_scale1.lambda1))
    if kind == "dinov3_vit":
        return each(base.layer, lambda site, l: Block(
            site, l.attention.o_proj, (l.norm1, "in"), (l.norm2, "in"), factors=l.layer_scale1.lambda1))
    if kind in ("clip_vision_model", "siglip_vision_model"):
        return each(base.encoder.layers, lambda site, l: Block(
            site, l.self_attn.out_proj, (l.layer_norm1, "in"), (l.layer_norm2, "in")))
    if kind == "gpt_neox":
        # Attention and feed-forward may stand side by side, so that no module sees the sum.
        return each(base.layers, lambda site, l: Block(site, l.attention.dense, (l.input_layernorm, "in"), None))
    raise SystemExit(f"nothing is known of the blocks of {kind}")


def last_states(model):
    """Where the states after the last layer are seen, by the kind of the stack."""
    kind, base = model.config.model_type, model.base_model
    if kind in ("marian", "m2m_100", "whisper"):
        return {"encoder_self": (base.encoder, "out"), "decoder_self": (base.decoder, "out")}
    if kind == "t5":
        return {"encoder_self": (model.encoder.final_layer_norm, "out"),
                "decoder_self": (model.decoder.final_layer_norm, "out")}
    return {"self": (base, "out")}


class Edits:
    """Changes of a run, made where transformers' own eager attention is called."""

    def __init__(self, hide=(), edges=(), zero_heads=(), even_heads=(), zero_values=()):
        self.hide = hide  # (kind, column): in every site of the kind
        self.edges = edges  # (site, row, column)
        self.zero_heads, self.even_heads = zero_heads, even_heads  # (site, head)
        self.zero_values = zero_values  # (site, position)

    def call(self, eager, site, module, query, key, value, mask, kwargs):
        kind = site.rsplit(".", 1)[0]
        value = value.clone()
        for _, position in (z for z in self.zero_values if z[0] == site):
            value[:, :, position] = 0
        query = query.clone()
        for _, head in (h for h in self.even_heads if h[0] == site):
            query[:, head] = 0
        rows, cols = query.shape[2], key.shape[2]
        lowest = torch.finfo(query.dtype).min
        extra = torch.zeros(1, 1, rows, cols, dtype=query.dtype)
        for _, column in (h for h in self.hide if h[0] == kind):
            extra[..., column] = lowest
        for _, row, column in (e for e in self.edges if e[0] == site):
            extra[..., row, column] = lowest
        both = extra if mask is None else mask + extra
        output, weights = eager(module, query, key, value, both.clamp(min=lowest), **kwargs)
        output = output.clone()
        output[:, (both[0, 0] <= lowest / 2).all(-1)] = 0  # rows that see nothing
        for _, head in (h for h in self.zero_heads if h[0] == site):
            output[:, :, head] = 0
        return output, weights, value


class Runner:
    def __init__(self, name):
        folder = DATA / "parity" / name
        config = json.loads((folder / "config.json").read_text())
        cls = getattr(transformers, config["architectures"][0])
        self.model = cls.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).double().eval()
        inputs = load_file(folder / "inputs.safetensors")
        self.inputs = {n: (t.double() if t.is_floating_point() else t)[None] for n, t in inputs.items()}
        self.blocks = blocks_of(self.model)
        self.causal = self.model.config.model_type in ("gpt2", "llama", "gemma3_text", "gpt_neox", "qwen3")

    def kinds(self):
        return sorted({block.kind for block in self.blocks})

    def layers(self, kind):
        return [block for block in self.blocks if block.kind == kind]

    def run(self, edits=Edits()):
        """Gives the logits; by site x, y, the weights and the values; and by kind the last states."""
        seen, calls, hooks = {}, [], []

        def watch(place, module, side):
            if place in seen:
                return
            seen[place] = []

            def keep(_, arguments, keywords, output):
                value = output if side == "out" else (arguments[0] if arguments else keywords["hidden_states"])
                value = getattr(value, "last_hidden_state", value)
                seen[place].append((value[0] if isinstance(value, tuple) else value)[0].detach())
            hooks.append(module.register_forward_hook(keep, with_kwargs=True))

        for block in self.blocks:
            watch(("x", block.x), *block.x)
            watch(("out", block.out), block.out, "out")
            if block.y:
                watch(("y", block.y), *block.y)
        for kind, place in last_states(self.model).items():
            watch(("last", kind), *place)
        if self.model.config.model_type == "siglip_vision_model":
            watch("pool", self.model.head.attention, "out")
        patched = {}
        for module in {sys.modules[type(m).__module__] for m in self.model.modules()}:
            if hasattr(module, "eager_attention_forward"):
                patched[module] = eager = module.eager_attention_forward

                def changed(layer, query, key, value, mask, *, eager=eager, **kwargs):
                    site = self.blocks[len(calls)].site
                    output, weights, value = edits.call(eager, site, layer, query, key, value, mask, kwargs)
                    calls.append({"site": site, "weights": weights[0].detach(), "values": value[0].detach()})
                    return output, weights
                module.eager_attention_forward = changed
        try:
            with torch.no_grad():
                output = self.model(**self.inputs, **({"use_cache": False} if self.causal else {}))
        finally:
            for module, eager in patched.items():
                module.eager_attention_forward = eager
            for hook in hooks:
                hook.remove()
        assert len(calls) == len(self.blocks), f"{len(calls)} attentions but {len(self.blocks)} blocks"
        for index, (block, call) in enumerate(zip(self.blocks, calls)):
            nth = sum(1 for other in self.blocks[:index] if other.out is block.out)  # ALBERT's layers share modules
            call["x"] = seen["x", block.x][nth]
            call["y"] = seen["y", block.y][nth] if block.y else call["x"] + seen["out", block.out][nth]
        last = {kind: seen["last", kind][-1] for kind in last_states(self.model)}
        sites = {call["site"]: call for call in calls}
        if "pool" in seen:
            sites["pool.0"] = {"y": seen["pool"][0]}
        return getattr(output, "logits", None), sites, last
