"""Makes tests/data/explain/relevancy.npz: what torch's autograd answers to the gradient methods.

    pip install -r tools/fixture-requirements.txt numpy==2.4.6
    python tools/make_relevancy_answers.py

The models are those of tests/data/parity, run by transformers' eager attention in double. Attention probabilities and
their gradients are seen by hooks and everything is the dense textbook form, written from the papers; nothing of fovea is
used. Arrays are named CASE.WHAT:

  target                a class; a position and a token; a query and a class; or the vector to be similar to
  against               the other one, where the gradient is of the difference
  value                 the number that is asked about
  relevancy             the map of Chefer et al. 2021 (arXiv:2103.15679), over input positions
  relevancy.reference   the same with 0 / 0 as the authors' program leaves it: NaN, and then 0
  relevancy.last        of the last layer alone (the authors' CLIP notebook)
  relevancy.decoder     the row of R_qq
  dot, norm             input times gradient, and the length of the gradient; .target: of what the decoder reads
  integrated            integrated gradients from zero, 8 midpoints; .target; integrated.ends: F(baseline), F(input)
  importance.KIND       |sum_i O_i . dO_i| of every head, [layers, heads] (Michel et al. 2019)
"""

import json
import pathlib
import sys

import numpy as np
import torch
import transformers
from safetensors.torch import load_file

DATA = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data"
STEPS = 8
ZERO_ROWS = []  # cases in which N(R) met a row of zeros


class Pooling(torch.nn.Module):
    """torch.nn.MultiheadAttention written out, so that its probabilities can be seen."""

    def __init__(self, inner, see):
        super().__init__()
        self.inner, self.see = inner, see

    def forward(self, *of):
        weights, biases = self.inner.in_proj_weight.chunk(3), self.inner.in_proj_bias.chunk(3)
        query, key, value = ((x @ w.T + b).reshape(1, x.shape[1], self.inner.num_heads, -1).transpose(1, 2)
                             for x, w, b in zip(of, weights, biases))
        weights = torch.softmax(query @ key.transpose(2, 3) / query.shape[-1] ** 0.5, -1)
        output = (weights @ value).transpose(1, 2)
        self.see("pool", weights, output)
        return self.inner.out_proj(output.reshape(1, query.shape[2], -1)), weights


def kind_of(name, two_stacks):
    """Of an attention module, from its path in the model."""
    if "encoder_attn" in name or "EncDecAttention" in name:
        return "cross"
    if two_stacks:
        return "decoder_self" if "decoder" in name else "encoder_self"
    return "text.self" if "text_model" in name else "vision.self" if name.startswith("vision_model") else "self"


class Case:
    def __init__(self, name, fixture=None, inputs="inputs.safetensors", drop=()):
        folder = DATA / "parity" / (fixture or name)
        config = json.loads((folder / "config.json").read_text())
        cls = getattr(transformers, config["architectures"][0])
        self.name, self.config = name, config
        model = cls.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32)
        self.model = model.double().eval()
        tensors = {n: t for n, t in load_file(folder / inputs).items() if n not in drop}
        self.inputs = {n: (t.double() if t.is_floating_point() else t)[None] for n, t in tensors.items()}
        self.two_stacks = "decoder_input_ids" in tensors or "Detr" in config["architectures"][0]
        self.out = {}
        self.numbers = None  # by name: what the model reads as numbers, leaves of the graph
        self.calls = []
        pooling = [n for n, m in self.model.named_modules() if isinstance(m, torch.nn.MultiheadAttention)]
        for name in pooling:
            parent, child = name.rsplit(".", 1)
            setattr(self.model.get_submodule(parent), child, Pooling(self.model.get_submodule(name), self.see))

    # Watching ----------------------------------------------------------------------------------------------------

    def see(self, kind, weights, output):
        weights.retain_grad()
        output.retain_grad()
        self.calls.append({"kind": kind, "weights": weights, "output": output})

    def embeddings(self):
        """The word tables, and what their rows are multiplied with before the model goes on."""
        config = self.model.config
        scale = config.d_model ** 0.5 if getattr(config, "scale_embedding", False) else 1.0
        found = [m for n, m in self.model.named_modules() if isinstance(m, torch.nn.Embedding) and n.endswith(
            ("word_embeddings", "wte", "embed_tokens", "shared", "token_embedding"))]
        return list(dict.fromkeys(found)), scale

    def run(self, numbers=None):
        """The output, with self.numbers and self.calls (weights, outputs and kind of each attention) in its graph."""
        self.calls, self.numbers, hooks, patched = [], {}, [], {}
        inputs = dict(self.inputs)
        for name in ("pixel_values", "input_features"):
            if name in inputs:
                leaf = inputs[name] if numbers is None else numbers[name]
                self.numbers[name] = inputs[name] = leaf.detach().requires_grad_()
        tables, scale = self.embeddings()

        def embed(_, __, output):
            name = "inputs_embeds" if "inputs_embeds" not in self.numbers and "input_ids" in inputs else "decoder_inputs_embeds"
            leaf = output * scale if numbers is None else numbers[name]
            self.numbers[name] = leaf.detach().requires_grad_()
            return self.numbers[name] / scale
        hooks += [table.register_forward_hook(embed) for table in tables]
        names = {id(module): name for name, module in self.model.named_modules()}

        def seeing(eager):
            def forward(module, query, key, value, mask=None, **kwargs):
                output, weights = eager(module, query, key, value, mask, **kwargs)
                self.see(kind_of(names[id(module)], self.two_stacks), weights, output)
                return output, weights
            return forward
        for module in {sys.modules[type(m).__module__] for m in self.model.modules()}:
            if hasattr(module, "eager_attention_forward"):
                patched[module] = module.eager_attention_forward
                module.eager_attention_forward = seeing(module.eager_attention_forward)
        try:
            return self.model(**inputs, **({"use_cache": False} if "input_ids" in inputs else {}))
        finally:
            for module, eager in patched.items():
                module.eager_attention_forward = eager
            for hook in hooks:
                hook.remove()

    def backward(self, target, numbers=None):
        value = target(self.run(numbers))
        value.backward()
        return value.item()

    def layers(self, kind):
        """A and dA of each layer; without a gradient dA is 0."""
        return [(c["weights"][0].detach(), torch.zeros_like(c["weights"][0]) if c["weights"].grad is None else c["weights"].grad[0])
                for c in self.calls if c["kind"] == kind]

    # Methods -----------------------------------------------------------------------------------------------------

    def mean_heads(self, kind):
        return [(a * da).clamp(min=0).mean(0) for a, da in self.layers(kind)]

    def stack(self, kind, start=0):
        means = self.mean_heads(kind)
        matrix = torch.eye(means[0].shape[1], dtype=torch.double)
        for mean in means[start:]:
            matrix = matrix + mean @ matrix
        return matrix

    def two_stack(self, row, reference):
        def normalised(matrix):
            rest = matrix - torch.eye(len(matrix), dtype=torch.double)
            shares = rest / rest.sum(-1, keepdim=True)
            if torch.isnan(shares).any():
                ZERO_ROWS.append(self.name)
            if not reference:
                shares = torch.nan_to_num(shares, nan=0.0)
            return shares + torch.eye(len(matrix), dtype=torch.double)
        encoder = self.stack("encoder_self")
        crosses = self.mean_heads("cross")
        own = torch.eye(crosses[0].shape[0], dtype=torch.double)
        cross = torch.zeros_like(crosses[0])
        for self_mean, cross_mean in zip(self.mean_heads("decoder_self"), crosses):
            own, cross = own + self_mean @ own, cross + self_mean @ cross
            term = normalised(own).T @ cross_mean @ normalised(encoder)
            term[torch.isnan(term)] = 0
            cross = cross + term
        return cross[row], own[row]

    def importance(self):
        for kind in {call["kind"] for call in self.calls}:
            calls = [c for c in self.calls if c["kind"] == kind]
            if any(c["output"].grad is None for c in calls):
                continue
            # [batch, rows, heads, size]
            self.out[f"importance.{kind}"] = torch.stack(
                [(c["output"][0] * c["output"].grad[0]).sum((0, 2)).abs().detach() for c in calls])

    def per_position(self, name, each):
        """The sum over what each position covers, special tokens in front as 0."""
        if name.endswith("embeds"):
            return each[0].sum(-1)
        if name == "input_features":
            positions = self.model.config.max_source_positions
            return each[0].sum(0).reshape(positions, -1).sum(-1)
        size = 32 if self.two_stacks else getattr(self.model.config, "vision_config", self.model.config).patch_size
        whole = each[0].sum(0)
        rows, cols = (-(-s // size) if self.two_stacks else s // size for s in whole.shape)
        padded = torch.zeros(rows * size, cols * size, dtype=torch.double)
        part = whole[:rows * size, :cols * size]
        padded[:part.shape[0], :part.shape[1]] = part
        cells = padded.reshape(rows, size, cols, size).sum((1, 3)).flatten()
        return torch.cat([torch.zeros(self.specials, dtype=torch.double), cells])

    def inputs_of(self, target):
        """Input gradients and integrated gradients; the numbers and gradients of the last backward() are at hand."""
        moved = [n for n in self.numbers if n in self.asked]
        own = {n: t.detach().clone() for n, t in self.numbers.items()}
        for name in moved:
            tail = ".target" if name == "decoder_inputs_embeds" else ""
            gradient = self.numbers[name].grad
            self.out["dot" + tail] = self.per_position(name, own[name] * gradient)
            self.out["norm" + tail] = self.per_position(name, gradient ** 2).sqrt()
        sums = {name: 0 for name in moved}
        def at(part):
            return {n: t * part if n in moved else t for n, t in own.items()}
        for step in range(STEPS):
            self.backward(target, at((step + 0.5) / STEPS))
            for name in moved:
                sums[name] = sums[name] + self.numbers[name].grad / STEPS
        for name in moved:
            tail = ".target" if name == "decoder_inputs_embeds" else ""
            self.out["integrated" + tail] = self.per_position(name, own[name] * sums[name])
        self.out["integrated.ends"] = torch.tensor(
            [target(self.run(at(0))).item(), target(self.run(at(1))).item()])

    def save(self, arrays):
        for what, value in self.out.items():
            value = torch.as_tensor(value)
            arrays[f"{self.name}.{what}"] = value.numpy().astype(np.int64 if not value.is_floating_point() else np.float32)


def logit(*index):
    return lambda output: output.logits[(0, *index)]


def vector_for(width, seed):
    return torch.tensor(np.random.default_rng(seed).standard_normal(width).astype(np.float32)).double()


def one_stack(name, target, numbers, kind="self", row=0, specials=0, asked=("inputs_embeds",), against=None, **where):
    """`numbers`: how the target is named; `target`: it, of an output."""
    case = Case(name, **where)
    case.specials, case.asked = specials, asked
    case.out["target"] = torch.as_tensor(numbers)
    if against is not None:
        case.out["against"] = torch.as_tensor(against)
    case.out["value"] = case.backward(target)
    case.importance()
    if any(c["kind"] == "pool" for c in case.calls):
        a, da = case.layers("pool")[0]
        case.out["relevancy"] = (a * da).clamp(min=0).mean(0)[0] @ case.stack(kind)
    else:
        case.out["relevancy"] = case.stack(kind)[row]
        case.out["relevancy.last"] = case.stack(kind, -1)[row]
    case.inputs_of(target)
    return case


def encoder_decoder(name, target, numbers, row, asked=("inputs_embeds", "decoder_inputs_embeds"), **where):
    case = Case(name, **where)
    case.specials, case.asked = 0, asked
    case.out["target"] = torch.as_tensor(numbers)
    case.out["value"] = case.backward(target)
    case.importance()
    case.out["relevancy"], case.out["relevancy.decoder"] = case.two_stack(row, reference=False)
    case.out["relevancy.reference"], _ = case.two_stack(row, reference=True)
    case.inputs_of(target)
    return case


def cosine(vector, part):
    return lambda output: torch.nn.functional.cosine_similarity(getattr(output, part)[0], vector, dim=0)


def clip_cases():
    """Both towers of a pair, and each alone with a vector to be similar to."""
    pair = {"drop": (), "fixture": "clip_model"}
    target = lambda output: output.logits_per_image[0, 0]
    ids = load_file(DATA / "parity" / "clip_model" / "inputs.safetensors")["input_ids"]
    end = int(ids.argmax())
    yield one_stack("clip_pair_vision", target, [0], "vision.self", 0, 1, ("pixel_values",), **pair)
    yield one_stack("clip_pair_text", target, [0], "text.self", end, **pair)


def cases():
    words = logit
    yield one_stack("bert_sequence", logit(1), [1])
    yield one_stack("bert_contrast", lambda o: o.logits[0, 1] - o.logits[0, 0], [1], against=[0], fixture="bert_sequence")
    yield one_stack("bert_padded", logit(1), [1], fixture="bert_sequence", inputs="inputs-1.safetensors")
    yield one_stack("vit_image", logit(1), [1], specials=1, asked=("pixel_values",))
    yield one_stack("gpt2_lm", words(13, 3), [13, 3], row=13)
    yield one_stack("gpt2_middle", words(8, 5), [8, 5], row=8, fixture="gpt2_lm")
    yield one_stack("llama_gqa", words(16, 3), [16, 3], row=16)
    yield one_stack("llama_padded", words(8, 3), [8, 3], row=8, fixture="llama_gqa", inputs="inputs-3.safetensors")
    yield one_stack("mistral_window", words(15, 3), [15, 3], row=15)
    yield one_stack("gemma3_text", words(15, 3), [15, 3], row=15)
    yield one_stack("siglip_vision", cosine(vector_for(40, 1), "pooler_output"), vector_for(40, 1), asked=("pixel_values",))
    for name in ("marian_mt", "t5_lm"):
        yield encoder_decoder(name, words(8, 3), [8, 3], 8)
        yield encoder_decoder(f"{name}_middle", words(5, 4), [5, 4], 5, fixture=name)
        yield encoder_decoder(f"{name}_padded", words(4, 3), [4, 3], 4, fixture=name, inputs="inputs-2.safetensors")
    yield encoder_decoder("whisper_lm", words(8, 3), [8, 3], 8, asked=("input_features", "decoder_inputs_embeds"))
    for query in (1, 2):  # the second has a row of zeros in one layer
        yield encoder_decoder(f"detr_{query}", logit(query, 1), [query, 1], query, ("pixel_values",), fixture="detr_objects")
    yield encoder_decoder("detr_padded", logit(2, 1), [2, 1], 2, ("pixel_values",), fixture="detr_objects",
                          inputs="inputs-1.safetensors")
    yield from clip_cases()


def main():
    arrays = {}
    for case in cases():
        case.save(arrays)
        print(case.name, {what: tuple(np.shape(value)) for what, value in case.out.items()})
    print("rows of zeros in N(R):", sorted(set(ZERO_ROWS)))
    np.savez_compressed(DATA / "explain" / "relevancy.npz", **arrays)


if __name__ == "__main__":
    main()
