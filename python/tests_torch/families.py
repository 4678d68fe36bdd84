"""Tiny random models of many families, and how far their captured maps are from what the same model gives as ``output_attentions``."""

import dataclasses
from typing import Any

import torch
import transformers

TEXT = {"vocab_size": 99, "hidden_size": 48, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 64,
        "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
GROUPED = {**TEXT, "num_key_value_heads": 2, "head_dim": 12}
EXPERTS = {"num_local_experts": 4, "num_experts": 4, "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "n_shared_experts": 1,
           "shared_expert_intermediate_size": 32, "n_group": 1, "topk_group": 1}
SEQ2SEQ = {"vocab_size": 99, "d_model": 48, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
           "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
           "decoder_start_token_id": 2, "forced_eos_token_id": None}
T5 = {"vocab_size": 99, "d_model": 48, "d_kv": 12, "d_ff": 64, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0}
VISION = {"hidden_size": 48, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 32, "patch_size": 8}
TOWERS = {"text_config": TEXT, "vision_config": VISION, "projection_dim": 32}
SPEECH = {**TEXT, "conv_dim": (16, 16), "conv_stride": (5, 4), "conv_kernel": (10, 4), "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 2,
          "num_feat_extract_layers": 2}
DETECTION = {"use_timm_backbone": False, "use_pretrained_backbone": False, "backbone": None, "d_model": 48, "encoder_layers": 2, "decoder_layers": 2,
             "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "num_queries": 7}


@dataclasses.dataclass(frozen=True)
class Family:
    """A model type of transformers, what makes it small, and what it is fed: ``text``, ``pair`` (a source and a target), ``image``, ``both`` or ``sound``."""

    type: str
    fed: str
    sizes: dict[str, Any]
    kind: str  # for the list
    head: str = "AutoModel"
    stretch: float = 3.0  # of the random weights: small ones make scores that are nearly even
    given: tuple[int, ...] | None = None  # the layers whose maps the model gives; None: all
    averaged: bool = False  # it gives the mean over heads in the place of each


def _all(types: str, fed: str, sizes: dict[str, Any], kind: str, **more: Any) -> list[Family]:
    return [Family(each, fed, sizes, kind, **more) for each in types.split()]


MLA = {**TEXT, **EXPERTS, "num_key_value_heads": 4, "q_lora_rank": 16, "kv_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 12, "first_k_dense_replace": 1}
WINDOW = {**GROUPED, "sliding_window": 5, "layer_types": ["sliding_attention", "full_attention"]}
FAMILIES = [
    *_all("llama qwen2 qwen3 olmo2 phi3 granite smollm3 helium starcoder2 glm4 exaone4 cohere cohere2 ministral nemotron ernie4_5 hunyuan_v1_dense "
          "seed_oss arcee olmo", "text", GROUPED, "decoder"),
    *_all("mistral", "text", {**GROUPED, "sliding_window": 5}, "decoder, window"),
    *_all("gemma gemma2 gemma3_text", "text", WINDOW, "decoder, window, soft cap"),
    *_all("gpt_oss", "text", {**WINDOW, **EXPERTS}, "decoder, window, sinks"),
    *_all("mixtral qwen2_moe qwen3_moe olmoe", "text", {**GROUPED, **EXPERTS}, "decoder, experts"),
    *_all("deepseek_v3", "text", MLA, "decoder, latent attention"),
    *_all("gpt2 gpt_bigcode", "text", {"vocab_size": 99, "n_embd": 48, "n_layer": 2, "n_head": 4, "n_positions": 64}, "decoder"),
    *_all("gpt_neox opt phi", "text", {**TEXT, "ffn_dim": 64, "word_embed_proj_dim": 48}, "decoder"),
    *_all("falcon", "text", {**TEXT, "alibi": False, "new_decoder_architecture": False, "multi_query": True}, "decoder, one key head"),
    *_all("falcon", "text", {**TEXT, "alibi": True, "new_decoder_architecture": False, "multi_query": False}, "decoder, ALiBi"),
    *_all("bloom", "text", {"vocab_size": 99, "hidden_size": 48, "n_layer": 2, "n_head": 4}, "decoder, ALiBi"),
    *_all("mpt", "text", {"vocab_size": 99, "d_model": 48, "n_layers": 2, "n_heads": 4, "expansion_ratio": 2, "max_seq_len": 64}, "decoder, ALiBi"),
    *_all("gptj", "text", {"vocab_size": 99, "n_embd": 48, "n_layer": 2, "n_head": 4, "n_positions": 64, "rotary_dim": 8}, "decoder"),
    *_all("gpt_neo", "text", {"vocab_size": 99, "hidden_size": 48, "num_layers": 2, "num_heads": 4, "attention_types": [[["global", "local"], 1]],
                              "window_size": 4, "max_position_embeddings": 64}, "decoder, window"),
    *_all("bert roberta xlm-roberta camembert electra ernie roformer mpnet nystromformer megatron-bert rembert mobilebert", "text", {**TEXT, "embedding_size": 48,
          "input_embedding_size": 48, "output_embedding_size": 48}, "encoder"),
    *_all("albert", "text", {**TEXT, "embedding_size": 24, "num_hidden_layers": 3}, "encoder, shared layers"),
    *_all("distilbert", "text", {"vocab_size": 99, "dim": 48, "hidden_dim": 64, "n_layers": 2, "n_heads": 4, "max_position_embeddings": 64}, "encoder"),
    *_all("modernbert", "text", {**TEXT, "local_attention": 8, "global_attn_every_n_layers": 2, "cls_token_id": 1, "sep_token_id": 2}, "encoder, window"),
    *_all("deberta-v2 deberta", "text", {**TEXT, "relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 8}, "encoder, relative"),
    *_all("xlnet", "text", {"vocab_size": 99, "d_model": 48, "n_layer": 2, "n_head": 4, "d_inner": 64}, "encoder, relative"),
    *_all("bart mbart marian pegasus m2m_100 blenderbot", "pair", SEQ2SEQ, "encoder-decoder"),
    *_all("t5 mt5 umt5 switch_transformers", "pair", {**T5, **EXPERTS}, "encoder-decoder, relative", stretch=1.0),
    *_all("whisper", "speech", {**SEQ2SEQ, "num_mel_bins": 8, "max_source_positions": 16, "max_target_positions": 32}, "encoder-decoder, sound"),
    *_all("vit deit dinov2 dinov2_with_registers vit_mae ijepa vit_msn audio-spectrogram-transformer", "image",
          {**VISION, "num_register_tokens": 2, "mask_ratio": 0.0, "max_length": 32, "num_mel_bins": 32, "frequency_stride": 8, "time_stride": 8}, "vision"),
    *_all("dinov3_vit", "image", {**VISION, "num_register_tokens": 2}, "vision"),
    *_all("beit data2vec-vision", "image", {**VISION, "use_relative_position_bias": True, "use_mask_token": False}, "vision, relative"),
    *_all("swin", "image", {"image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4], "window_size": 4}, "vision, windows",
          given=(1, 3)),
    *_all("segformer", "image", {"num_encoder_blocks": 2, "depths": [1, 1], "sr_ratios": [2, 1], "hidden_sizes": [16, 32], "patch_sizes": [7, 3],
                                 "strides": [4, 2], "num_attention_heads": [1, 2], "mlp_ratios": [2, 2]}, "vision, shortened keys"),
    *_all("clip chinese_clip", "both", TOWERS, "two towers"),
    *_all("siglip", "both", TOWERS, "two towers, pooling", stretch=1.5),
    *_all("wav2vec2 hubert", "sound", {**SPEECH, "apply_spec_augment": False}, "sound"),
    *_all("wavlm", "sound", {**SPEECH, "apply_spec_augment": False}, "sound, relative", averaged=True),
    *_all("detr", "image", DETECTION, "detection"),
]


def configuration(family: Family) -> Any:
    kind = transformers.CONFIG_MAPPING[family.type]
    sizes = family.sizes
    if family.type == "detr":
        sizes = {**sizes, "backbone_config": transformers.ResNetConfig(embedding_size=8, hidden_sizes=[8, 8, 16, 16], depths=[1, 1, 1, 1],
                                                                      out_features=["stage4"])}
    if "text_config" in sizes:
        text = transformers.CONFIG_MAPPING[family.type]
        return text(**{**sizes, "text_config": dict(sizes["text_config"]), "vision_config": dict(sizes["vision_config"])})
    known = set(kind().to_dict()) | set(getattr(kind, "attribute_map", {}))
    return kind(**{name: value for name, value in sizes.items() if name in known})


def model_of(family: Family, dtype: torch.dtype = torch.float32) -> Any:
    """With the same random weights each time."""
    torch.manual_seed(0)
    model = getattr(transformers, family.head).from_config(configuration(family), attn_implementation="eager")
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim >= 2:
                # In bf16 less: the two runs round differently, and large scores, or the choice of an expert, turn that into other maps.
                parameter.mul_(family.stretch if dtype == torch.float32 else family.stretch / 2)
    return model.eval().to(dtype)


def inputs_of(family: Family, dtype: torch.dtype = torch.float32, batch: int = 2, padded: bool = True) -> dict[str, torch.Tensor]:
    numbers = torch.Generator().manual_seed(1)

    def ids(length: int) -> torch.Tensor:
        return torch.randint(5, 90, (batch, length), generator=numbers)

    def floats(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=numbers).to(dtype)

    def mask(length: int) -> torch.Tensor:
        found = torch.ones(batch, length, dtype=torch.long)
        if padded and batch > 1:
            found[1, length - 3 :] = 0
        return found

    if family.fed == "text":
        return {"input_ids": ids(14), "attention_mask": mask(14)}
    if family.fed == "pair":
        return {"input_ids": ids(11), "attention_mask": mask(11), "decoder_input_ids": ids(9)}
    if family.fed == "speech":
        return {"input_features": floats(batch, 8, 32), "decoder_input_ids": ids(9)}
    if family.fed == "sound":
        return {"input_values": floats(batch, 400)}
    if family.type == "audio-spectrogram-transformer":
        return {"input_values": floats(batch, 32, 32)}
    size = 64 if family.type == "detr" else 32
    pixels = {"pixel_values": floats(batch, 3, size, size)}
    return pixels if family.fed == "image" else {"input_ids": ids(12), "attention_mask": torch.ones(batch, 12, dtype=torch.long), **pixels}


SITES = {"attentions": "self", "encoder_attentions": "encoder_self", "decoder_attentions": "decoder_self", "cross_attentions": "cross",
         "vision_model_output.attentions": "vision.self", "text_model_output.attentions": "text.self"}


def eager_maps(output: Any, prefix: str = "") -> dict[str, list[torch.Tensor]]:
    """What the model itself gave, by site: [batch, heads, rows, columns] of each layer."""
    found: dict[str, list[torch.Tensor]] = {}
    for name, value in output.items():
        if isinstance(value, transformers.utils.ModelOutput):
            found |= eager_maps(value, f"{name}.")
        elif f"{prefix}{name}" in SITES and isinstance(value, tuple) and value:
            found[SITES[f"{prefix}{name}"]] = [each for each in value if each is not None]
    return found


def difference(family: Family, dtype: torch.dtype = torch.float32) -> tuple[float, int]:
    """The largest difference of a weight, over all samples, layers and heads; and how many maps were compared."""
    from fovea.torch import capture

    model, inputs = model_of(family, dtype), inputs_of(family, dtype)
    with torch.no_grad():
        torch.manual_seed(2)  # some shuffle
        expected = eager_maps(model(**inputs, output_attentions=True))
        torch.manual_seed(2)
        with capture(model) as captured:
            model(**inputs)
    largest, compared = 0.0, 0
    for sample in range(2):
        session = captured.session(sample)
        assert {site for site in session.sites if site != "pool"} == set(expected), (set(session.sites), set(expected))
        for site, layers in expected.items():
            given = family.given or range(len(layers))
            assert family.given or session.sites[site].layers == len(layers)
            for layer, weights in zip(given, layers, strict=True):
                maps = torch.stack([session.device_map(site, layer, head)[:, :] for head in range(weights.shape[1])])
                if family.averaged:
                    maps = maps.mean(0).expand_as(maps)
                wanted = torch.stack([_of_sample(weights, sample, head, maps[head].shape) for head in range(len(maps))])
                compared += len(maps)
                largest = max(largest, float((maps - wanted).abs().max()))
    return largest, compared


def _of_sample(weights: torch.Tensor, sample: int, head: int, shape: torch.Size) -> torch.Tensor:
    """Windows stand on the diagonal; padding, which stands at the end, is left out."""
    windows = len(weights) // 2
    if windows > 1:
        return torch.block_diag(*weights[sample * windows : (sample + 1) * windows, head].float())
    return weights[sample, head, : shape[0], : shape[1]].float()


def what_is_kept(family: Family) -> str:
    """Q, K and V, or the weights that the model makes itself."""
    from fovea.torch import capture

    model = model_of(family)
    with torch.no_grad(), capture(model) as captured:
        model(**inputs_of(family))
    kept = {"weights" if record.weights is not None else "Q, K, V" for record in (placed.record for placed in captured.session()._placed.values())}
    return " and ".join(sorted(kept))
