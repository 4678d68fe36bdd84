"""Makes tests/data/explain/gradients.npz: what PyTorch's autograd says of models of tests/data/parity.

    pip install -r tools/fixture-requirements.txt
    python tools/make_gradient_answers.py [--all] [--out FILE]    # --all: every fixture with logits, to look at

The models are run by transformers in double with eager attention; nothing of fovea is used. Arrays are named
FIXTURE.WHAT, SITE as in expected.safetensors:

  target             place of the logit among all logits of the fixture's first case, row by row
  value              that logit
  input.NAME         its gradient with respect to inputs_embeds, decoder_inputs_embeds (words as the first layer sees
                     them, scaled where the model scales them, before positions), pixel_values or input_features
  weights.SITE       its gradient with respect to the attention weights [heads, rows, columns], as the next layer reads
                     them: dO . V^T
"""

import argparse
import logging
import pathlib

import numpy as np
import torch
import transformers
from safetensors.torch import load_file

DATA = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data"
FIXTURES = ("bert_sequence", "vit_image", "dinov2_image", "gpt2_lm", "llama_gqa", "mistral_window", "gemma3_softcap",
            "qwen3_lm", "gpt_neox_parallel", "marian_mt", "t5_lm", "t5_odd_buckets", "bart_sequence", "detr_objects",
            "clip_model", "siglip_model", "whisper_lm")
KINDS = {"self": "attentions", "encoder_self": "encoder_attentions", "decoder_self": "decoder_attentions",
         "cross": "cross_attentions"}


def open_model(folder: pathlib.Path):
    config = transformers.AutoConfig.from_pretrained(folder)
    model = getattr(transformers, config.architectures[0]).from_pretrained(
        folder, attn_implementation="eager", dtype=torch.float32)
    return model.double().eval()


def word_tables(model) -> list:
    """(name of the input, module whose output it is, factor that the model multiplies that with)."""
    if model.config.model_type in ("detr", "table-transformer"):
        return []
    if model.config.model_type == "whisper":
        return [("decoder_inputs_embeds", model.get_decoder().embed_tokens, 1)]
    if model.config.is_encoder_decoder:
        factor = model.get_encoder().embed_scale if model.config.model_type == "marian" else 1
        return [("inputs_embeds", model.get_encoder().embed_tokens, factor),
                ("decoder_inputs_embeds", model.get_decoder().embed_tokens, factor)]
    if hasattr(model, "text_model"):
        return [("inputs_embeds", model.text_model.get_input_embeddings(), 1)]
    return [("inputs_embeds", model.get_input_embeddings(), 1)]


def watch_words(model, leaves: dict) -> list:
    """Puts a leaf in the place of what each table gives; encoders read theirs first, also where both share one."""
    hooks, names = [], {}
    for name, module, _ in word_tables(model):
        names.setdefault(module, []).append(name)
    for module in names:
        def replace(table, args, output):
            leaf = output.detach().requires_grad_()
            leaves[names[table].pop(0)] = leaf
            return leaf
        hooks.append(module.register_forward_hook(replace))
    return hooks


def run(model, inputs: dict) -> tuple:
    """The leaves, every site's weights and the logits."""
    leaves, arguments = {}, {}
    batch = {name: tensor[None] for name, tensor in inputs.items()}
    if "pixel_values" in inputs:
        leaves["pixel_values"] = batch["pixel_values"] = batch["pixel_values"].double().requires_grad_()
        if model.config.model_type not in ("detr", "table-transformer") and "dino" not in model.config.model_type:
            size = getattr(model.config, "vision_config", model.config).image_size
            arguments["interpolate_pos_encoding"] = tuple(inputs["pixel_values"].shape[1:]) != (size, size)
    if "input_features" in inputs:
        leaves["input_features"] = batch["input_features"] = batch["input_features"].double().requires_grad_()
    hooks = watch_words(model, leaves) if {"input_ids", "decoder_input_ids"} & set(inputs) else []
    output = model(**batch, **arguments, output_attentions=True)
    for hook in hooks:
        hook.remove()
    weights = {f"{kind}.{i}": a for kind, name in KINDS.items() for i, a in enumerate(output.get(name) or ())}
    for kind, name in {"vision.self": "vision_model_output", "text.self": "text_model_output"}.items():
        if output.get(name) is not None:
            weights |= {f"{kind}.{i}": a for i, a in enumerate(output[name].attentions)}
    logits = output.logits_per_image if "logits_per_image" in output else output.get("logits")
    return leaves, weights, logits


def answers(name: str) -> dict:
    folder = DATA / "parity" / name
    model = open_model(folder)
    leaves, weights, logits = run(model, load_file(folder / "inputs.safetensors"))
    if logits is None:
        return {}
    logits = logits[0]
    target = logits.numel() - 2 if logits.numel() > 1 else 0
    wanted = list(leaves.values()) + list(weights.values())
    found = torch.autograd.grad(logits.flatten()[target], wanted, allow_unused=True)
    factors = {name: factor for name, _, factor in word_tables(model)}
    result = {"target": np.int64(target), "value": logits.flatten()[target].item()}
    for (leaf, _), gradient in zip(leaves.items(), found):
        result[f"input.{leaf}"] = (gradient[0] / factors.get(leaf, 1)).float().numpy()
    for (site, _), gradient in zip(weights.items(), found[len(leaves):]):
        if gradient is not None:
            result[f"weights.{site}"] = gradient[0].float().numpy()
    return {f"{name}.{key}": np.asarray(value) for key, value in result.items()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, default=DATA / "explain" / "gradients.npz")
    options = parser.parse_args()
    transformers.logging.set_verbosity_error()
    logging.disable(logging.WARNING)
    names = FIXTURES
    if options.all:
        names = sorted(p.parent.name for p in (DATA / "parity").glob("*/config.json"))
    arrays = {}
    for name in names:
        try:
            arrays |= answers(name)
        except Exception as error:  # names of other versions, weights in other files
            if not options.all:
                raise
            print(f"{name}: {type(error).__name__}: {str(error)[:150]}")
    np.savez_compressed(options.out, **arrays)
    print(f"{options.out}: {len(arrays)} arrays, {options.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
