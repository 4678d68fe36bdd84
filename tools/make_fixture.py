"""Makes tests/data/parity: tiny random checkpoints and what transformers answers for them.

    pip install -r tools/fixture-requirements.txt
    python tools/make_fixture.py [NAME...]        # all without a name

Made with torch 2.13.0, transformers 5.22.2, safetensors 0.8.0. The weights depend on the fixture's name only.

A fixture is a folder, and a folder is a test:
    config.json                  as save_pretrained writes it
    config-*.json                other forms of the same config (v4: as transformers 4 wrote it; short: without the
                                 values that are the family's defaults). Put in the place of config.json, each
                                 must give the same answers.
    model.safetensors            or shards with an index, or pytorch_model.bin; f32, f16 or bf16. Or whisper.pt alone, as
                                 OpenAI stores Whisper: a dict of dims and model_state_dict, without any config.json
    inputs.safetensors           int64 input_ids and, in some cases, token_type_ids, attention_mask, decoder_input_ids
                                 and decoder_attention_mask, or float32 input_features [bands, frames], or pixel_values
                                 [channels, height, width] with or without int64 pixel_mask [height, width]; no batch axis
    expected.safetensors         float32 self.L [heads, rows, cols], last_hidden_state [tokens, width] after the final
                                 norm, and logits where the architecture has a head: [tokens, vocabulary] of language
                                 models, [labels] of sequence classifiers, [tokens, labels] of token classifiers,
                                 [tokens] of ElectraForPreTraining. Eager attention in float32, whatever the file holds.
                                 Of encoder-decoders: encoder_self.L, decoder_self.L and cross.L for self.L, and
                                 encoder_last_hidden_state; last_hidden_state and logits are the decoder's.
                                 Of a picture and a text tower: vision.self.L and text.self.L, text_last_hidden_state
                                 (last_hidden_state is the picture's), image_embeds and text_embeds; logits are
                                 logits_per_image [1]. pool.0 of a head that attends. pooler_output where there is one.
                                 Of detectors: encoder_self.L, decoder_self.L and cross.L, logits [queries, labels + 1],
                                 pred_boxes [queries, 4], and of those with masks panoptic.0 and pred_masks.
    inputs-N, expected-N         further cases for the same checkpoint, N = 1, 2, ...
NaN in an expected tensor means "not compared": rows whose keys are all masked, and outputs at those rows.

How to add one: add a line to FIXTURES in tools/fixture_models.py, or to SEQ2SEQ_FIXTURES in fixture_seq2seq_models.py
VISION_FIXTURES in fixture_vision_models.py or DETECTION_FIXTURES in fixture_detection_models.py beside it, run this script with its name, commit the folder.

Random weights give nearly flat maps, which hide mistakes: query and key weights are scaled until in every layer the
mean row maximum is well above 0.3. Everything that initialisation leaves at 0 or 1 (norms, biases, heads, position
tables) becomes random; fixed sinusoids stay. The script fails if transformers, reading the folder again, answers
otherwise, if a config-*.json does, if the maps are flat or saturated, or if float32 itself is not good enough for the
tolerance (compared with the same model in double).
"""

import copy
import dataclasses
import json
import logging
import pathlib
import re
import shutil
import sys
import tempfile
import zlib

import torch
import transformers
from safetensors.torch import load_file, save_file

from fixture_detection_models import DETECTION_FIXTURES
from fixture_models import FIXTURES as TEXT_FIXTURES
from fixture_models import Case, Fixture
from fixture_seq2seq_models import SEQ2SEQ_FIXTURES
from fixture_vision_models import VISION_FIXTURES

FIXTURES = TEXT_FIXTURES + SEQ2SEQ_FIXTURES + VISION_FIXTURES + DETECTION_FIXTURES
ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data"
SATURATED_ROW_MAXIMUM = 0.95
FLOAT32_NOISE = 4e-6  # of maps; the tests allow 1e-5
SAME = 2e-6  # a reloaded model lies elsewhere in memory, and torch's sums depend on that
DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def randomise(model, generator) -> None:
    """Gives every parameter a random value of a size that keeps activations near 1."""
    fixed = {id(m.position_embeddings.weight) for m in model.modules()
             if getattr(model.config, "sinusoidal_pos_embds", False) and hasattr(m, "position_embeddings")}
    centred_at_zero = model.config.model_type.startswith("gemma3")  # its norms multiply by 1 + weight
    for name, parameter in sorted(model.named_parameters()):
        if id(parameter) in fixed or not (parameter.requires_grad or ".backbone." in f".{name}"):  # sinusoids
            continue
        noise = torch.randn(parameter.shape, generator=generator)
        is_norm = parameter.dim() == 1 and name.endswith("weight")
        if is_norm:
            value = 0.2 * noise + (0 if centred_at_zero and "vision_tower" not in name else 1)
        elif "lambda1" in name:  # LayerScale
            value = 0.7 + 0.3 * noise
        elif name.endswith("probe"):  # its scores need no more sharpening than those of the layers
            value = 2 * noise
        elif parameter.dim() <= 1:
            value = 0.2 * noise
        elif parameter.dim() == 4:  # patches, convolutions of trunks
            value = noise / parameter[0].numel()**0.5
        elif re.search(r"embed|shared|wte|wpe", name) and "mapping_in" not in name and "project" not in name:
            value = 0.4 * noise
        else:
            inputs = parameter.shape[0 if is_conv1d(name) else 1] * (parameter.shape[2] if parameter.dim() == 3 else 1)
            value = noise / inputs**0.5
        if re.search(r"Attention\.[qk]\.weight$", name):  # T5 does not scale the scores
            value /= model.config.d_kv**0.25
        parameter.data.copy_(value)
    for name, buffer in sorted(model.named_buffers()):
        noise = torch.randn(buffer.shape, generator=generator) if buffer.is_floating_point() else None
        if name == "final_logits_bias":
            buffer.copy_(noise)
        elif name.endswith(("normalization.weight", "running_var")):  # frozen batch norms
            buffer.copy_(0.7 + 0.6 * torch.sigmoid(noise))
        elif name.endswith(("normalization.bias", "running_mean")):
            buffer.copy_(0.3 * noise)


@torch.no_grad()
def calibrate(model, inputs: dict) -> None:
    """Brings what a trunk of convolutions hands to the first attention, which no norm stands before, near 1."""
    for name, module in model.named_modules():
        if name.split(".")[-1] == "input_projection":
            given = []
            hook = module.register_forward_hook(lambda module, args, output: given.append(output))
            model(**{n: tensor[None] for n, tensor in inputs.items()})
            hook.remove()
            module.weight.data.mul_(0.7 / given[0].std())


def is_conv1d(name: str) -> bool:
    return re.search(r"\b(c_attn|c_proj|c_fc)\.weight$", name) is not None


def scale_queries_and_keys(model, factor: float) -> None:
    """Multiplies all attention scores by about factor squared."""
    parameters = {n: p for n, p in model.named_parameters() if "vision_tower" not in n}
    norms = {n: p for n, p in parameters.items() if re.search(r"[qk]_norm\.weight$", n)}
    for name, parameter in parameters.items():
        data = parameter.data
        if name in norms:
            shift = 1 if model.config.model_type.startswith("gemma3") else 0
            data.copy_((data + shift) * factor - shift)
        elif norms:
            continue
        elif re.search(r"(query|key|q_proj|k_proj|q_lin|k_lin|Attention\.q|Attention\.k)\.weight$", name):
            data.mul_(factor)
        elif name.endswith("c_attn.weight"):
            data[:, : data.shape[1] * 2 // 3].mul_(factor)
        elif name.endswith("in_proj_weight"):
            data[: data.shape[0] * 2 // 3].mul_(factor)
        elif name.endswith("query_key_value.weight"):
            data.view(model.config.num_attention_heads, 3, -1, data.shape[1])[:, :2].mul_(factor)


@torch.no_grad()
def answers(model, inputs: dict) -> dict:
    """What the model gives for one input, named as `fovea export` names it."""
    if re.match("vit|deit|dino|clip|siglip", model.config.model_type):
        return picture_answers(model, inputs)
    seen = {}
    if model.config.model_type in ("detr", "table-transformer"):
        return detection_answers(model, inputs)
    stack = model.get_decoder() if model.config.is_encoder_decoder else model.base_model
    hook = stack.register_forward_hook(
        lambda module, args, output: seen.update(hidden=output[0]), with_kwargs=False)
    output = model(**{name: tensor[None] for name, tensor in inputs.items()}, output_attentions=True)
    hook.remove()
    kinds = {"self": "attentions", "encoder_self": "encoder_attentions", "decoder_self": "decoder_attentions",
             "cross": "cross_attentions"}
    result = {f"{kind}.{i}": a[0] for kind, name in kinds.items() for i, a in enumerate(output.get(name) or ())}
    result["last_hidden_state"] = seen["hidden"][0]
    if "encoder_last_hidden_state" in output:
        result["encoder_last_hidden_state"] = output.encoder_last_hidden_state[0]
    if "logits" in output:
        result["logits"] = output.logits[0]
    return {name: tensor.contiguous().clone() for name, tensor in result.items()}


def picture_answers(model, inputs: dict) -> dict:
    """The same of models with a picture tower, a text tower or both."""
    result, seen, hooks = {}, {}, []

    def pooled(module, args):  # the weights of each head, which the model itself does not ask for
        hooks.pop().remove()
        result["pool.0"] = module(*args, average_attn_weights=False)[1][0]

    for module in model.modules():
        if isinstance(module, torch.nn.MultiheadAttention):
            hooks.append(module.register_forward_pre_hook(pooled))
    base = getattr(model, "vision_model", model.base_model)
    hooks.append(base.register_forward_hook(lambda module, args, output: seen.update(hidden=output[0])))
    hooks.reverse()  # the one of the pool, if there is one, is last
    arguments = {"output_attentions": True}
    if "pixel_values" in inputs and not model.config.model_type.startswith("dino"):
        size = getattr(model.config, "vision_config", model.config).image_size
        trained = tuple(size) if isinstance(size, (list, tuple)) else (size, size)
        arguments["interpolate_pos_encoding"] = inputs["pixel_values"].shape[1:] != trained
    output = model(**{name: tensor[None] for name, tensor in inputs.items()}, **arguments)
    for hook in hooks:
        hook.remove()
    towers = {"self": output, "vision.self": output.get("vision_model_output"),
              "text.self": output.get("text_model_output")}
    for kind, tower in towers.items():
        attentions = (tower.get("attentions") if tower is not None else None) or ()
        result |= {f"{kind}.{i}": a[0] for i, a in enumerate(attentions)}
    result["last_hidden_state"] = output.get("last_hidden_state", seen["hidden"])[0]
    if towers["text.self"] is not None:
        result["text_last_hidden_state"] = towers["text.self"].last_hidden_state[0]
        result["logits"] = output.logits_per_image[0]
    for name in ("pooler_output", "image_embeds", "text_embeds", "logits"):
        if output.get(name) is not None:
            result[name] = output[name][0]
    return {name: tensor.contiguous().clone() for name, tensor in result.items()}


def detection_answers(model, inputs: dict) -> dict:
    """The same of models that find objects."""
    result = {}
    head = getattr(model, "bbox_attention", None)
    hook = head and head.register_forward_hook(
        lambda module, args, output: result.update({"panoptic.0": output[0].transpose(0, 1).flatten(2)}))
    output = model(**{name: tensor[None] for name, tensor in inputs.items()}, output_attentions=True)
    if hook:
        hook.remove()
    kinds = {"encoder_self": "encoder_attentions", "decoder_self": "decoder_attentions", "cross": "cross_attentions"}
    result |= {f"{kind}.{i}": a[0] for kind, name in kinds.items() for i, a in enumerate(output[name])}
    for name in ("last_hidden_state", "encoder_last_hidden_state", "logits", "pred_boxes", "pred_masks"):
        if output.get(name) is not None:
            result[name] = output[name][0]
    return {name: tensor.contiguous().clone() for name, tensor in result.items()}


def target_inputs(case: Case, config, generator) -> dict:
    """What a decoder beside an encoder reads."""
    if not case.target:
        return {}
    vocabulary = getattr(config, "decoder_vocab_size", None) or config.vocab_size
    ids = torch.randint(5, vocabulary, (case.target,), generator=generator)
    ids[list(case.target_pad_ids)] = config.pad_token_id
    inputs = {"decoder_input_ids": ids}
    if case.target_masked:
        mask = torch.ones(case.target, dtype=torch.long)
        mask[list(case.target_masked)] = 0
        inputs["decoder_attention_mask"] = mask
    return inputs


def make_inputs(fixture: Fixture, case: Case, config, generator) -> dict:
    if case.pixels:
        channels = getattr(config, "vision_config", config).num_channels
        pixels = {"pixel_values": torch.randn((channels, *case.pixels), generator=generator)}
        if case.seen:
            pixels["pixel_mask"] = torch.zeros(case.pixels, dtype=torch.long)
            pixels["pixel_mask"][:case.seen[0], :case.seen[1]] = 1
            pixels["pixel_values"] *= pixels["pixel_mask"]
        text = dataclasses.replace(case, pixels=())
        return pixels | (make_inputs(fixture, text, config, generator) if case.tokens else {})
    config = config.get_text_config()
    if config.model_type == "whisper":
        shape = (config.num_mel_bins, 2 * config.max_source_positions)
        return {"input_features": torch.randn(shape, generator=generator)} | target_inputs(case, config, generator)
    vocabulary = config.vocab_size
    ids = torch.randint(5, vocabulary, (case.tokens,), generator=generator)
    ids = torch.tensor(case.ids) if case.ids else ids
    inputs = {"input_ids": ids}
    if case.second:
        inputs["token_type_ids"] = (torch.arange(case.tokens) >= case.second).long()
    ids[list(case.pad_ids)] = config.pad_token_id if case.pad_ids else 0
    ids[list(case.eos_ids)] = config.eos_token_id if case.eos_ids else 0
    if case.masked:
        mask = torch.ones(case.tokens, dtype=torch.long)
        mask[list(case.masked)] = 0
        inputs["attention_mask"] = mask
        if config.pad_token_id is not None and not case.keep_ids:
            ids[mask == 0] = config.pad_token_id
    return inputs | target_inputs(case, config, generator)


def exempt_masked_rows(result: dict, inputs: dict, fixture: Fixture) -> None:
    """Puts NaN where a causal row sees masked keys only; the padding is on the left there."""
    mask = inputs.get("attention_mask" if fixture.causal else "decoder_attention_mask")
    if mask is None:
        return
    blind = mask.cumsum(0) == 0
    for name, tensor in result.items():
        if name.startswith("encoder"):
            continue
        if is_map(name):
            tensor[:, blind] = float("nan")
        elif tensor.shape[0] == blind.shape[0]:
            tensor[blind] = float("nan")


def check_masked_columns(result: dict, inputs: dict) -> None:
    """A row with weight on masked keys has no key at all; such rows must have been exempt."""
    for name, tensor in result.items():
        mask = inputs.get("decoder_attention_mask" if name.startswith("decoder") else "attention_mask", torch.ones(1))
        on_pixels = name.startswith(("vision", "pool"))
        if is_map(name) and not on_pixels and (mask == 0).any() and (tensor[:, :, mask == 0] > 0).any():
            raise SystemExit(f"{name} has rows whose keys are all masked; choose another mask")


def is_map(name: str) -> bool:
    return re.fullmatch(r"((vision\.|text\.)?self|encoder_self|decoder_self|cross|pool|panoptic)\.\d+", name) is not None


def row_maxima(model, cases: list) -> list:
    """Mean row maximum of each layer over the rows that have at least five keys to choose from."""
    sums = {}
    for inputs in cases:
        for name, tensor in answers(model, inputs).items():
            if is_map(name):
                if name == "panoptic.0":  # its heads share one softmax
                    tensor = tensor.transpose(0, 1).flatten(1)[None]
                rows = (tensor > 0).sum(-1) >= 5
                sums.setdefault(name, []).append(tensor.amax(-1)[rows])
    means = [torch.cat(values) for values in sums.values()]
    return [m.mean().item() for m in means if m.numel()]


def sharpen(model, cases: list, wanted: float) -> tuple:
    for _ in range(60):
        maxima = row_maxima(model, cases)
        if min(maxima) > wanted:
            break
        scale_queries_and_keys(model, 1.08)
    if min(maxima) <= wanted or max(maxima) > SATURATED_ROW_MAXIMUM:
        raise SystemExit(f"mean row maxima {maxima} are outside {wanted} to {SATURATED_ROW_MAXIMUM}; "
                         "change the fixture's shape")
    return min(maxima), max(maxima)


def whisper_dims(config) -> dict:
    return {"n_mels": config.num_mel_bins, "n_vocab": config.vocab_size, "n_audio_ctx": config.max_source_positions,
            "n_audio_state": config.d_model, "n_audio_head": config.encoder_attention_heads,
            "n_audio_layer": config.encoder_layers, "n_text_ctx": config.max_target_positions,
            "n_text_state": config.d_model, "n_text_head": config.decoder_attention_heads,
            "n_text_layer": config.decoder_layers}


def save(model, fixture: Fixture, folder: pathlib.Path) -> None:
    stored_model = copy.deepcopy(model).to(DTYPES[fixture.dtype])  # rounds buffers too: not for answers
    stored_model.save_pretrained(folder, max_shard_size=fixture.shard)
    if fixture.rename or fixture.extra or fixture.file == "bin":
        stored = folder / "model.safetensors"
        tensors = {fixture.rename(n) if fixture.rename else n: t for n, t in load_file(stored).items()}
        tensors.update(fixture.extra(tensors) if fixture.extra else {})
        tensors = {n: t for n, t in tensors.items() if t is not None}
        stored.unlink()
        if fixture.file == "bin":
            torch.save(tensors, folder / "pytorch_model.bin")
        elif fixture.file == "openai":
            torch.save({"dims": whisper_dims(model.config), "model_state_dict": tensors}, folder / "whisper.pt")
            (folder / "config.json").unlink()
        else:
            save_file(tensors, stored, metadata={"format": "pt"})
    (folder / "generation_config.json").unlink(missing_ok=True)
    stored_config = json.loads((folder / "config.json").read_text()) if fixture.forms or fixture.rewrite else None
    if fixture.rewrite:
        (folder / "config.json").write_text(json.dumps(fixture.rewrite(stored_config), indent=2, sort_keys=True) + "\n")
    for form, change in fixture.forms.items():
        config = change(dict(stored_config))
        (folder / f"config-{form}.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")


def reload(fixture: Fixture, folder: pathlib.Path):
    cls = getattr(transformers, fixture.architecture)
    model, info = cls.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32,
                                      output_loading_info=True, **fixture.arguments)
    if info["missing_keys"] or info["mismatched_keys"]:
        raise SystemExit(f"{folder.name}: transformers misses {info}")
    return model.eval()


def difference(a: dict, b: dict, chosen=lambda name: True) -> float:
    """Largest difference over the tensors, relative to b's largest value where that is above 1."""
    if a.keys() != b.keys():
        raise SystemExit(f"tensors differ: {sorted(a)} and {sorted(b)}")
    return max(((a[n].double() - b[n].double()).abs().nan_to_num().max() / max(1, b[n].abs().max())).item()
               for n in a if chosen(n))


def in_double(inputs: dict) -> dict:
    return {name: tensor.double() if tensor.is_floating_point() else tensor for name, tensor in inputs.items()}


def check(fixture: Fixture, folder: pathlib.Path) -> None:
    """Reads the folder again in every form of its config and compares with what is stored."""
    for form in [None, *fixture.forms]:
        with tempfile.TemporaryDirectory() as temporary:
            other = pathlib.Path(temporary) / folder.name
            shutil.copytree(folder, other)
            if form:
                shutil.copy(other / f"config-{form}.json", other / "config.json")
            model = reload(fixture, other)
        for index in range(len(fixture.cases)):
            suffix = f"-{index}" if index else ""
            inputs = load_file(folder / f"inputs{suffix}.safetensors")
            expected = load_file(folder / f"expected{suffix}.safetensors")
            far = difference(expected, answers(model, inputs))
            if far > SAME:
                raise SystemExit(f"{folder.name} ({form or 'config.json'}), case {index}: reloading differs by {far}")


def make(fixture: Fixture) -> str:
    folder = DATA / fixture.folder / fixture.name
    shutil.rmtree(folder, ignore_errors=True)
    seed = zlib.crc32(fixture.name.encode())
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    cls = getattr(transformers, fixture.architecture)
    config = cls.config_class(**fixture.config)
    model = cls._from_config(config, attn_implementation="eager", **fixture.arguments).eval()
    if fixture.prepare:
        fixture.prepare(model)
    for name in fixture.untied:
        module = model.get_submodule(name)
        module.weight = torch.nn.Parameter(module.weight.detach().clone())
    randomise(model, generator)
    cases = [make_inputs(fixture, case, config, generator) for case in fixture.cases]
    calibrate(model, cases[0])
    low, high = sharpen(model, cases, fixture.row_maximum)
    computed = model._keys_to_ignore_on_save or ()  # Marian's sinusoids
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        if name not in computed and (tensor.requires_grad or name in model.state_dict()):
            tensor.data.copy_(tensor.data.to(DTYPES[fixture.dtype]))  # the reference sees the rounded weights
    save(model, fixture, folder)

    results = [answers(model, inputs) for inputs in cases]
    double = model.double()
    for module in double.modules():
        if hasattr(module, "reorder_and_upcast_attn"):
            module.reorder_and_upcast_attn = False  # insists on float32
    noise = 0.0
    for index, (inputs, result) in enumerate(zip(cases, results)):
        noise = max(noise, difference(result, answers(double, in_double(inputs)), is_map))
        exempt_masked_rows(result, inputs, fixture)
        check_masked_columns(result, inputs)
        suffix = f"-{index}" if index else ""
        save_file(inputs, folder / f"inputs{suffix}.safetensors")
        save_file(result, folder / f"expected{suffix}.safetensors")
    if noise > FLOAT32_NOISE:
        raise SystemExit(f"{fixture.name}: float32 maps are {noise} away from double")
    if fixture.readable and fixture.file != "openai":  # which transformers does not read
        check(fixture, folder)
    for file in folder.iterdir():
        file.chmod(0o644)
    size = sum(f.stat().st_size for f in folder.iterdir())
    return f"{fixture.name:32} {size / 1024:7.0f} KB  row maxima {low:.2f}-{high:.2f}  float32 noise {noise:.1e}"


def main() -> None:
    logging.disable(logging.WARNING)
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)
    names = {f.name for f in FIXTURES}
    wanted = sys.argv[1:] or sorted(names)
    if unknown := set(wanted) - names:
        raise SystemExit(f"no fixture is called {', '.join(sorted(unknown))}; there are {', '.join(sorted(names))}")
    for fixture in FIXTURES:
        if fixture.name in wanted:
            print(make(fixture), flush=True)


if __name__ == "__main__":
    main()
