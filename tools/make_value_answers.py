"""Makes tests/data/explain/values.npz: what torch and transformers answer to the value-aware methods and to ablation.

    pip install -r tools/fixture-requirements.txt numpy==2.4.6
    python tools/make_value_answers.py

The models are those of tests/data/parity, run by transformers in double. Everything is the plain, dense form, with all
N x N x width vectors at hand, written from the papers; nothing of fovea is used. Arrays are named FIXTURE.WHAT, SITE as
in expected.safetensors:

  block.SITE            what the block of attention gives, [rows, width], seen by a hook
  norm.FORM.SITE        || T_ij ||, FORM attention, residual or norm (Kobayashi et al. 2020, 2021), [rows, columns];
                        of cross-attention with the residual one column more, || x_i ||
  head.SITE             the same of the last head alone
  mixing.FORM.SITE      mixing ratios, [rows]
  alti.D.SITE           shares by the distance D, l1 or l2 (Ferrando et al. 2022); alti.D.KIND: product over layers
  alti_plus.source, .target
  zeroing.KIND.L        value zeroing (Mohebbi et al. 2023); zeroing.KIND: product over layers
  ablation.target       the class, or the position and the token, that the others are about
  ablation.UNIT         probability lost, UNIT position, heads.KIND, even.KIND, edge (of the last row, or row 0 of encoders)

The vectors are checked here: they and the biases must sum to what the hook saw.
"""

import logging

import numpy as np
import torch
import transformers

from edited_models import DATA, Edits, Runner

OUT = DATA / "explain" / "values.npz"
# All of them are checked by block.SITE; the flags say what else is stored.
FIXTURES = {
    "bert_sequence": "norms alti zeroing ablation", "gpt2_lm": "norms alti zeroing ablation",
    "llama_gqa": "norms alti zeroing ablation", "vit_image": "norms alti zeroing ablation",
    "marian_mt": "norms alti zeroing ablation", "t5_lm": "norms alti zeroing ablation",
    "distilbert_sequence": "norms ablation", "gemma3_text": "norms alti zeroing", "m2m_100_lm": "alti",
    "albert_sequence": "", "clip_vision": "", "dinov2_image": "", "gpt_neox_parallel": "", "gpt_neox_sequential": "",
    "qwen3_lm": "", "siglip_vision": "", "whisper_lm": "", "dinov3_model": ""}


def norm_parts(norm):
    """gamma, beta or None, epsilon."""
    bias = getattr(norm, "bias", None)
    if bias is not None:
        return norm.weight.detach(), bias.detach(), norm.eps
    return 1 + norm.weight.detach(), None, norm.eps  # Gemma's


def vectors(block, call, form):
    """T_ij [rows, columns, width], residual in the diagonal or in one column more, the sum of all with biases, and
    each head's part before residual and norm, [heads, rows, columns, width]."""
    weight = block.out.weight.detach()
    if type(block.out).__name__ == "Conv1D":
        weight = weight.T
    bias = torch.zeros(weight.shape[0], dtype=weight.dtype)
    if getattr(block.out, "bias", None) is not None:
        bias = block.out.bias.detach()
    if block.factors is not None:
        weight, bias = weight * block.factors.detach()[:, None], bias * block.factors.detach()
    heads = call["weights"].shape[0]
    values = call["values"].repeat_interleave(heads // call["values"].shape[0], 0)
    weight = weight.reshape(weight.shape[0], heads, -1)
    parts = torch.einsum("hij,hjd,whd->hijw", call["weights"].double(), values, weight)
    terms = parts.sum(0)
    total = terms.sum(1) + bias
    x, rows = call["x"], torch.arange(len(terms))

    def normed(terms, total):
        gamma, beta, epsilon = norm_parts(block.norm)
        centre = (lambda v: v - v.mean(-1, keepdim=True)) if beta is not None else (lambda v: v)
        sigma = (centre(total).square().mean(-1, keepdim=True) + epsilon).sqrt()
        return gamma * centre(terms) / sigma[:, None], gamma * centre(total) / sigma + (0 if beta is None else beta)

    if form != "attention":
        if block.before:
            terms, total = normed(terms, total)
        total = total + x
        if block.kind == "cross":
            terms = torch.cat([terms, x[:, None]], 1)
        else:
            terms = terms.clone()
            terms[rows, rows] += x
        if form == "norm" and block.norm is not None and not block.before:
            terms, total = normed(terms, total)
    return terms, total, parts


def norm_answers(runner, sites):
    answers = {}
    for block in runner.blocks:
        call = sites[block.site]
        for form in ("attention", "residual", "norm"):
            terms, _, parts = vectors(block, call, form)
            answers[f"norm.{form}.{block.site}"] = terms.norm(dim=-1)
            if form == "attention":
                answers[f"head.{block.site}"] = parts[-1].norm(dim=-1)
            if block.kind == "cross":
                if form == "attention":
                    continue
                own, others = terms[:, -1], terms[:, :-1].sum(1)
            else:
                rows = torch.arange(len(terms))
                own = terms[rows, rows]
                others = terms.sum(1) - own
            answers[f"mixing.{form}.{block.site}"] = others.norm(dim=-1) / (others.norm(dim=-1) + own.norm(dim=-1))
    return answers


def alti_answers(runner, sites):
    answers = {}
    for distance, order in (("l1", 1), ("l2", 2)):
        shares = {}
        for block in runner.blocks:
            terms, total, _ = vectors(block, sites[block.site], "norm")
            near = total.norm(p=order, dim=-1)[:, None] - (total[:, None] - terms).norm(p=order, dim=-1)
            near = near.clamp(min=0)
            shares[block.site] = near / near.sum(-1, keepdim=True)
        answers |= {f"alti.{distance}.{site}": share for site, share in shares.items()}
        product = {}
        for kind in ("self", "encoder_self"):
            for block in runner.layers(kind):
                product[kind] = shares[block.site] @ product.get(kind, torch.eye(len(shares[block.site])).double())
            if kind in product:
                answers[f"alti.{distance}.{kind}"] = product[kind]
        if runner.layers("cross") and distance == "l1":
            tokens, words = shares["cross.0"].shape[0], shares["cross.0"].shape[1] - 1
            total = torch.cat([torch.zeros(tokens, words), torch.eye(tokens)], 1).double()
            for layer in range(len(runner.layers("cross"))):
                cross, own = shares[f"cross.{layer}"], shares[f"decoder_self.{layer}"]
                total = cross[:, -1:] * (own @ total)
                total[:, :words] += cross[:, :-1] @ product["encoder_self"]
            answers["alti_plus.source"], answers["alti_plus.target"] = total[:, :words], total[:, words:]
    return answers


def zeroing_answers(runner):
    answers = {}
    for kind in (k for k in runner.kinds() if k != "cross"):
        layers = runner.layers(kind)
        product = None
        for index, block in enumerate(layers):
            def output(edits):
                _, sites, last = runner.run(edits)
                return sites[layers[index + 1].site]["x"] if index + 1 < len(layers) else last[kind]
            clean = output(Edits())
            columns = []
            for position in range(len(clean)):
                changed = output(Edits(zero_values=[(block.site, position)]))
                columns.append(1 - torch.cosine_similarity(clean, changed, dim=-1))
            turns = torch.stack(columns, 1)
            turns = turns / turns.sum(-1, keepdim=True)
            answers[f"zeroing.{kind}.{index}"] = turns
            product = turns if product is None else turns @ product
        answers[f"zeroing.{kind}"] = product
    return answers


def ablation_answers(runner):
    logits = runner.run()[0][0]
    per_position = logits.dim() == 2
    row = len(logits) - 1 if per_position else 0
    index = (logits[row] if per_position else logits).argmax()
    def probability(edits):
        logits = runner.run(edits)[0][0]
        return (logits[row] if per_position else logits).softmax(-1)[index]
    clean = probability(Edits())
    decodes = bool(runner.layers("cross"))
    stack = "encoder_self" if decodes else "self"
    _, sites, _ = runner.run()
    positions = sites[f"{stack}.0"]["weights"].shape[-1]
    hidden = [stack, "cross"] if decodes else [stack]
    answers = {"ablation.target": torch.tensor([row, index]) if per_position else torch.tensor([index])}
    answers["ablation.position"] = torch.stack(
        [clean - probability(Edits(hide=[(kind, j) for kind in hidden])) for j in range(positions)])
    for kind in runner.kinds():
        heads = [(block.site, head) for block in runner.layers(kind)
                 for head in range(sites[block.site]["weights"].shape[0])]
        answers[f"ablation.heads.{kind}"] = torch.stack([clean - probability(Edits(zero_heads=[h])) for h in heads])
        if runner.model.config.model_type != "t5":  # whose bias would have to vanish too
            answers[f"ablation.even.{kind}"] = torch.stack([clean - probability(Edits(even_heads=[h])) for h in heads])
    # Causal rows: the last sees all. Of a decoder: from its last row to the source.
    cut = "cross" if decodes else "self"
    from_row = row if decodes or runner.causal else 0
    answers["ablation.edge"] = torch.stack(
        [clean - probability(Edits(edges=[(b.site, from_row, j) for b in runner.layers(cut)])) for j in range(positions)])
    return answers


def answers_of(name, wanted):
    runner = Runner(name)
    logits, sites, _ = runner.run()
    answers = {}
    for block in runner.blocks:
        seen = sites[block.site]["y"]
        _, total, _ = vectors(block, sites[block.site], "norm")
        far = (total - seen).abs().max() / max(1, seen.abs().max())
        # Some models take their softmax in float32 whatever else is double.
        assert far < 1e-6, f"{name} {block.site}: the vectors sum to something {far} away"
        answers[f"block.{block.site}"] = seen
    if "pool.0" in sites:
        answers["block.pool.0"] = sites["pool.0"]["y"]
    if "norms" in wanted:
        answers |= norm_answers(runner, sites)
    if "alti" in wanted:
        answers |= alti_answers(runner, sites)
    if "zeroing" in wanted:
        answers |= zeroing_answers(runner)
    if "ablation" in wanted:
        answers |= ablation_answers(runner)
    return {f"{name}.{what}": value.numpy() for what, value in answers.items()}


def main():
    logging.disable(logging.WARNING)
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)
    arrays = {}
    for name, wanted in FIXTURES.items():
        found = answers_of(name, wanted)
        print(f"{name}: {len(found)} arrays", flush=True)
        arrays |= found
    for name, array in arrays.items():
        assert np.isfinite(array).all(), name
        arrays[name] = np.ascontiguousarray(array if array.dtype == np.int64 else array.astype(np.float32))
    np.savez_compressed(OUT, **arrays)
    print(f"{OUT.name}: {len(arrays)} arrays, {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
