"""Makes tests/data/checkpoint_names: names and shapes of the tensors in well-known public checkpoints.

    pip install -r tools/fixture-requirements.txt
    python tools/make_checkpoint_names.py [FILE...]        # all without a name

Each file holds the model's name, the members of its config.json that matter, and {"tensors": {name: shape}}. Names and
shapes come from transformers (weights on the meta device), changed to what the published file holds: old names,
buffers, tied weights that were stored all the same. Where the number of elements of the file is published, the script
checks that ours are as many; "source" says what the rest rests on.
"""

import json
import logging
import math
import pathlib
import sys

import torch
import transformers

from fixture_detection_models import timm_names

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "checkpoint_names"
REPORTS = "extra names as transformers' loading reports list them"

BASE = dict(hidden_size=768, num_hidden_layers=12, num_attention_heads=12, intermediate_size=3072, hidden_act="gelu")
BERT = BASE | dict(architectures=["BertForMaskedLM"], layer_norm_eps=1e-12, max_position_embeddings=512,
                   type_vocab_size=2, vocab_size=30522, pad_token_id=0, position_embedding_type="absolute")
ROBERTA = BASE | dict(layer_norm_eps=1e-5, max_position_embeddings=514, type_vocab_size=1, vocab_size=50265,
                      pad_token_id=1, bos_token_id=0, eos_token_id=2)
ELECTRA = dict(embedding_size=128, hidden_size=256, num_hidden_layers=12, num_attention_heads=4, intermediate_size=1024,
               hidden_act="gelu", layer_norm_eps=1e-12, max_position_embeddings=512, type_vocab_size=2,
               vocab_size=30522, pad_token_id=0)


SEQ2SEQ = dict(is_encoder_decoder=True, decoder_start_token_id=2, bos_token_id=0, eos_token_id=2, pad_token_id=1)
BART = SEQ2SEQ | dict(d_model=768, encoder_layers=6, decoder_layers=6, encoder_attention_heads=12,
                      decoder_attention_heads=12, encoder_ffn_dim=3072, decoder_ffn_dim=3072, vocab_size=50265,
                      activation_function="gelu", max_position_embeddings=1024, scale_embedding=False)
LARGE = BART | dict(d_model=1024, encoder_layers=12, decoder_layers=12, encoder_attention_heads=16,
                    decoder_attention_heads=16, encoder_ffn_dim=4096, decoder_ffn_dim=4096, scale_embedding=True)
T5 = dict(is_encoder_decoder=True, d_model=512, d_kv=64, d_ff=1024, num_layers=8, num_decoder_layers=8, num_heads=6,
          relative_attention_num_buckets=32, feed_forward_proj="gated-gelu", layer_norm_epsilon=1e-6, vocab_size=32128,
          tie_word_embeddings=False, decoder_start_token_id=0, eos_token_id=1, pad_token_id=0)
VIT = BASE | dict(layer_norm_eps=1e-12, image_size=224, patch_size=16, num_channels=3, qkv_bias=True)
DETR = dict(d_model=256, encoder_layers=6, decoder_layers=6, encoder_attention_heads=8, decoder_attention_heads=8,
            encoder_ffn_dim=2048, decoder_ffn_dim=2048, num_queries=100, activation_function="relu",
            position_embedding_type="sine", auxiliary_loss=False, use_timm_backbone=True)
OLD_BIN = "pytorch_model.bin holds tied weights at each of their places"


def old_norms(name: str) -> str:
    return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")


def old_blocks(name: str) -> str:
    """Names of ViT's modules before transformers 5.22, which are those of the files."""
    for new, old in (("layers.", "encoder.layer."), ("attention.q_proj", "attention.attention.query"),
                     ("attention.k_proj", "attention.attention.key"), ("attention.v_proj", "attention.attention.value"),
                     ("attention.o_proj", "attention.output.dense"), ("mlp.fc1", "intermediate.dense"),
                     ("mlp.fc2", "output.dense")):
        name = name.replace(new, old)
    return name


def old_attention(name: str) -> str:
    return old_blocks(name.replace("mlp.", "MLP.")).replace("MLP.", "mlp.")


def pooler(prefix: str) -> dict:
    return {f"{prefix}pooler.dense.weight": [768, 768], f"{prefix}pooler.dense.bias": [768]}


def words(shape: list, *places: str) -> dict:
    return {f"{place}.weight": shape for place in places}


def two_stacks(prefix: str) -> tuple:
    return f"{prefix}encoder.embed_tokens", f"{prefix}decoder.embed_tokens"


def gpt_neox_buffers() -> dict:
    names = {}
    for layer in range(6):
        prefix = f"gpt_neox.layers.{layer}.attention."
        names |= {prefix + "bias": [1, 1, 2048, 2048], prefix + "masked_bias": [], prefix + "rotary_emb.inv_freq": [8]}
    return names


def old_detr(name: str) -> str:
    """DETR's names before transformers 5.22, with timm's for the trunk."""
    for new, old in (("backbone.model", "backbone.conv_encoder.model"), ("o_proj", "out_proj"), ("mlp.fc", "fc"),
                     ("bbox_attention.q_proj", "bbox_attention.q_linear"),
                     ("bbox_attention.k_proj", "bbox_attention.k_linear"), ("conv1.conv", "lay1"), ("conv1.norm", "gn1"),
                     ("conv2.conv", "lay2"), ("conv2.norm", "gn2"), ("output_conv", "out_lay"),
                     *((f"fpn_stages.{i}.{new}", f"{old}{i + first}") for i in range(3) for new, old, first in (
                         ("fpn_adapter", "adapter", 1), ("refine.conv", "lay", 3), ("refine.norm", "gn", 3)))):
        name = name.replace(new, old)
    return timm_names(name)


def detr(depths: list, prefix: str = "", kind: str = "bottleneck", **changes) -> dict:
    """How to build a DETR without timm, and what its file holds of the batch norms of shortcuts."""
    trunk = dict(model_type="resnet", depths=depths, layer_type=kind, out_features=[f"stage{i}" for i in range(1, 5)])
    trunk |= {} if kind == "bottleneck" else dict(hidden_sizes=[64, 128, 256, 512])
    first = 1 if kind == "bottleneck" else 2  # the first stage of basic blocks has no shortcut
    return dict(build=dict(use_timm_backbone=False, backbone=None, backbone_config=trunk), buffers=True, rename=old_detr,
                extra={f"{prefix}model.backbone.conv_encoder.model.layer{i}.0.downsample.1.num_batches_tracked": []
                       for i in range(first, 5)},
                source=f"names of timm's resnet for those of ResNetBackbone; {REPORTS}") | changes


# file: (model, model_type, architecture to build, config, changes)
CHECKPOINTS = {
    "bert": ("google-bert/bert-base-uncased", "bert", "BertForPreTraining", BERT,
             dict(rename=old_norms, elements=110106428, source=REPORTS)),
    "minilm": ("sentence-transformers/all-MiniLM-L6-v2", "bert", "BertModel",
               BERT | dict(architectures=["BertModel"], hidden_size=384, num_hidden_layers=6, intermediate_size=1536),
               dict(extra={"embeddings.position_ids": [1, 512]}, elements=22713728, source=REPORTS)),
    "roberta": ("FacebookAI/roberta-base", "roberta", "RobertaForMaskedLM", ROBERTA,
                dict(extra={"roberta.embeddings.position_ids": [1, 514]}, elements=124697433 + 514, source=REPORTS)),
    "xlm_roberta": ("FacebookAI/xlm-roberta-base", "xlm-roberta", "XLMRobertaForMaskedLM",
                    ROBERTA | dict(vocab_size=250002),
                    dict(extra=pooler("roberta."), elements=278885778, source=REPORTS)),
    "camembert": ("almanach/camembert-base", "camembert", "CamembertForMaskedLM", ROBERTA | dict(vocab_size=32005),
                  dict(extra=pooler("roberta.") | {"lm_head.decoder.weight": [32005, 768],
                                                   "roberta.embeddings.position_ids": [1, 514]},
                       source=f"{REPORTS} (pytorch_model.bin); position_ids, which those reports leave out, assumed "
                              "as in roberta-base")),
    "distilbert": ("distilbert/distilbert-base-uncased", "distilbert", "DistilBertForMaskedLM",
                   dict(activation="gelu", dim=768, hidden_dim=3072, n_heads=12, n_layers=6, vocab_size=30522,
                        max_position_embeddings=512, sinusoidal_pos_embds=False, pad_token_id=0),
                   dict(extra={"vocab_projector.weight": [30522, 768]},
                        source=f"{REPORTS}; vocab_projector.weight is in pytorch_model.bin only")),
    "albert": ("albert/albert-base-v2", "albert", "AlbertForMaskedLM",
               BASE | dict(hidden_act="gelu_new", embedding_size=128, num_hidden_groups=1, inner_group_num=1,
                           layer_norm_eps=1e-12, max_position_embeddings=512, type_vocab_size=2, vocab_size=30000,
                           pad_token_id=0),
               dict(extra={"albert.pooler.weight": [768, 768], "albert.pooler.bias": [768],
                           "predictions.decoder.weight": [30000, 128], "predictions.decoder.bias": [30000]},
                    source=f"{REPORTS} (pytorch_model.bin); the pooler is among what AlbertModel finds there")),
    "electra_discriminator": ("google/electra-small-discriminator", "electra", "ElectraForPreTraining", ELECTRA,
                              dict(extra={"electra.embeddings.position_ids": [1, 512]},
                                   source=f"{REPORTS}; position_ids, which those reports leave out, assumed as in "
                                          "other checkpoints of its time")),
    "electra_generator": ("google/electra-small-generator", "electra", "ElectraForMaskedLM", ELECTRA,
                          dict(extra={"generator_lm_head.weight": [30522, 128],
                                      "electra.embeddings.position_ids": [1, 512]},
                               source="names of ElectraForMaskedLM; the tied weight and position_ids assumed as in "
                                      "other pytorch_model.bin files of its time")),
    "gpt2": ("openai-community/gpt2", "gpt2", "GPT2LMHeadModel",
             dict(activation_function="gelu_new", n_ctx=1024, n_embd=768, n_head=12, n_layer=12, n_positions=1024,
                  layer_norm_epsilon=1e-5, vocab_size=50257, bos_token_id=50256, eos_token_id=50256),
             dict(rename=lambda name: name.removeprefix("transformer."), elements=137022720,
                  extra={f"h.{layer}.attn.bias": [1, 1, 1024, 1024] for layer in range(12)},
                  source="the mask buffers are known from the file's published listing")),
    "gpt_neox": ("EleutherAI/pythia-70m", "gpt_neox", "GPTNeoXForCausalLM",
                 dict(hidden_act="gelu", hidden_size=512, intermediate_size=2048, layer_norm_eps=1e-5,
                      max_position_embeddings=2048, num_attention_heads=8, num_hidden_layers=6, rotary_emb_base=10000,
                      rotary_pct=0.25, tie_word_embeddings=False, use_parallel_residual=True, vocab_size=50304,
                      torch_dtype="float16"),
                 dict(extra=gpt_neox_buffers(), elements=95592496 + 6, published="EleutherAI/pythia-70m-deduped",
                      source="buffers as published descriptions of the Pythia files list them; the published number "
                             "leaves out the 6 scalars")),
    "llama": ("meta-llama/Llama-3.2-1B", "llama", "LlamaForCausalLM",
              dict(attention_bias=False, head_dim=64, hidden_act="silu", hidden_size=2048, intermediate_size=8192,
                   max_position_embeddings=131072, mlp_bias=False, num_attention_heads=32, num_hidden_layers=16,
                   num_key_value_heads=8, rms_norm_eps=1e-5, rope_theta=500000.0, tie_word_embeddings=True,
                   rope_scaling=dict(factor=32.0, high_freq_factor=4.0, low_freq_factor=1.0,
                                     original_max_position_embeddings=8192, rope_type="llama3"),
                   vocab_size=128256, torch_dtype="bfloat16"),
              dict(elements=1235814400, published="meta-llama/Llama-3.2-1B-Instruct")),
    "mistral": ("mistralai/Mistral-7B-v0.1", "mistral", "MistralForCausalLM",
                dict(hidden_act="silu", hidden_size=4096, intermediate_size=14336, max_position_embeddings=32768,
                     num_attention_heads=32, num_hidden_layers=32, num_key_value_heads=8, rms_norm_eps=1e-5,
                     rope_theta=10000.0, sliding_window=4096, tie_word_embeddings=False, vocab_size=32000,
                     torch_dtype="bfloat16"), dict(elements=7241732096)),
    "qwen2": ("Qwen/Qwen2-0.5B", "qwen2", "Qwen2ForCausalLM",
              dict(hidden_act="silu", hidden_size=896, intermediate_size=4864, max_position_embeddings=131072,
                   max_window_layers=24, num_attention_heads=14, num_hidden_layers=24, num_key_value_heads=2,
                   rms_norm_eps=1e-6, rope_theta=1000000.0, sliding_window=131072, tie_word_embeddings=True,
                   use_sliding_window=False, vocab_size=151936, torch_dtype="bfloat16"),
              dict(elements=494032768, published="Qwen/Qwen2.5-0.5B-Instruct")),
    "qwen3": ("Qwen/Qwen3-0.6B", "qwen3", "Qwen3ForCausalLM",
              dict(attention_bias=False, head_dim=128, hidden_act="silu", hidden_size=1024, intermediate_size=3072,
                   max_position_embeddings=40960, max_window_layers=28, num_attention_heads=16, num_hidden_layers=28,
                   num_key_value_heads=8, rms_norm_eps=1e-6, rope_scaling=None, rope_theta=1000000, sliding_window=None,
                   tie_word_embeddings=True, use_sliding_window=False, vocab_size=151936, torch_dtype="bfloat16"),
              dict(extra={"lm_head.weight": [151936, 1024]}, elements=751632384,
                   source="the tied weight is stored too: the published number of elements says so")),
    "gemma3": ("google/gemma-3-1b-pt", "gemma3_text", "Gemma3ForCausalLM",
               dict(attention_bias=False, attn_logit_softcapping=None, final_logit_softcapping=None, head_dim=256,
                    hidden_activation="gelu_pytorch_tanh", hidden_size=1152, intermediate_size=6912,
                    max_position_embeddings=32768, num_attention_heads=4, num_hidden_layers=26, num_key_value_heads=1,
                    query_pre_attn_scalar=256, rms_norm_eps=1e-6, rope_local_base_freq=10000, rope_scaling=None,
                    rope_theta=1000000, sliding_window=512, sliding_window_pattern=6, vocab_size=262144,
                    torch_dtype="bfloat16"),
               dict(elements=999885952, published="google/gemma-3-1b-it")),
    "marian": ("Helsinki-NLP/opus-mt-en-de", "marian", "MarianMTModel",
               BART | dict(d_model=512, encoder_attention_heads=8, decoder_attention_heads=8, encoder_ffn_dim=2048,
                           decoder_ffn_dim=2048, vocab_size=58101, activation_function="swish", scale_embedding=True,
                           max_position_embeddings=512, static_position_embeddings=True, normalize_before=False,
                           normalize_embedding=False, add_bias_logits=False, add_final_layer_norm=False,
                           pad_token_id=58100, decoder_start_token_id=58100, eos_token_id=0),
               dict(extra=words([58101, 512], *two_stacks("model."), "lm_head") | {"final_logits_bias": [1, 58101]},
                    source=f"{OLD_BIN}, and the sinusoids")),
    "bart": ("facebook/bart-base", "bart", "BartModel", BART | dict(normalize_before=False, normalize_embedding=True),
             dict(extra=words([50265, 768], *two_stacks("")), source=OLD_BIN)),
    "bart_sequence": ("facebook/bart-large-mnli", "bart", "BartForSequenceClassification",
                      LARGE | dict(scale_embedding=False, num_labels=3,
                                   id2label={"0": "contradiction", "1": "neutral", "2": "entailment"}),
                      dict(extra=words([50265, 1024], *two_stacks("model.")),
                           source=OLD_BIN)),
    "mbart": ("facebook/mbart-large-50-many-to-many-mmt", "mbart", "MBartForConditionalGeneration",
              LARGE | dict(vocab_size=250054, add_final_layer_norm=True, normalize_before=True),
              dict(extra=words([250054, 1024], *two_stacks("model."), "lm_head") | {"final_logits_bias": [1, 250054]},
                   source=OLD_BIN)),
    "m2m_100": ("facebook/m2m100_418M", "m2m_100", "M2M100ForConditionalGeneration",
                LARGE | dict(vocab_size=128112, activation_function="relu"),
                dict(extra=words([128112, 1024], *two_stacks("model."), "lm_head"), source=OLD_BIN)),
    "t5": ("google-t5/t5-small", "t5", "T5ForConditionalGeneration",
           T5 | dict(d_ff=2048, num_layers=6, num_decoder_layers=6, num_heads=8, n_positions=512,
                     feed_forward_proj="relu", tie_word_embeddings=True),
           dict(extra=words([32128, 512], *two_stacks(""), "lm_head") |
                words([32, 8], "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias"),
                source=f"{OLD_BIN}; the bias of a cross-attention that has none is what transformers ignores by name")),
    "flan_t5": ("google/flan-t5-small", "t5", "T5ForConditionalGeneration", T5 | dict(n_positions=512),
                dict(extra=words([32128, 512], *two_stacks(""), "lm_head"), source=OLD_BIN)),
    "mt5": ("google/mt5-small", "mt5", "MT5ForConditionalGeneration", T5 | dict(vocab_size=250112),
            dict(extra=words([250112, 512], *two_stacks(""), "lm_head"), source=OLD_BIN)),
    "umt5": ("google/umt5-small", "umt5", "UMT5ForConditionalGeneration", T5 | dict(vocab_size=256384),
             dict(extra=words([256384, 512], *two_stacks(""), "lm_head"), source=OLD_BIN)),
    "whisper": ("openai/whisper-tiny", "whisper", "WhisperForConditionalGeneration",
                BART | dict(d_model=384, encoder_layers=4, decoder_layers=4, encoder_attention_heads=6,
                            decoder_attention_heads=6, encoder_ffn_dim=1536, decoder_ffn_dim=1536, vocab_size=51865,
                            num_mel_bins=80, max_source_positions=1500, max_target_positions=448, bos_token_id=50257,
                            eos_token_id=50257, pad_token_id=50257, decoder_start_token_id=50258),
                dict(elements=37760640)),
    "vit": ("google/vit-base-patch16-224", "vit", "ViTForImageClassification", VIT | dict(num_labels=1000),
            dict(rename=old_blocks, elements=86567656)),
    "dino": ("facebook/dino-vits8", "vit", "ViTModel",
             VIT | dict(hidden_size=384, num_attention_heads=6, intermediate_size=1536, patch_size=8),
             dict(rename=old_blocks, without="pooler.")),
    "deit": ("facebook/deit-base-distilled-patch16-224", "deit", "DeiTForImageClassificationWithTeacher",
             VIT | dict(num_labels=1000), dict(rename=old_blocks)),
    "dinov2": ("facebook/dinov2-base", "dinov2", "Dinov2Model",
               BASE | dict(image_size=518, patch_size=14, mlp_ratio=4, qkv_bias=True, use_swiglu_ffn=False),
               dict(rename=old_attention)),
    "dinov2_with_registers": ("facebook/dinov2-with-registers-base", "dinov2_with_registers", "Dinov2WithRegistersModel",
                              BASE | dict(image_size=518, patch_size=14, mlp_ratio=4, num_register_tokens=4),
                              dict(rename=old_attention)),
    "dinov3_vit": ("facebook/dinov3-vits16-pretrain-lvd1689m", "dinov3_vit", "DINOv3ViTModel",
                   dict(hidden_size=384, num_hidden_layers=12, num_attention_heads=6, intermediate_size=1536,
                        image_size=224, patch_size=16, num_register_tokens=4, rope_theta=100.0, key_bias=False),
                   dict(rename=lambda name: name.removeprefix("model."))),
    "clip": ("openai/clip-vit-base-patch32", "clip", "CLIPModel",
             dict(projection_dim=512,
                  vision_config=dict(hidden_size=768, num_attention_heads=12, intermediate_size=3072, patch_size=32),
                  text_config=dict(hidden_size=512, num_attention_heads=8, intermediate_size=2048, vocab_size=49408,
                                   max_position_embeddings=77, eos_token_id=2)),
             dict(extra={"text_model.embeddings.position_ids": [1, 77], "vision_model.embeddings.position_ids": [1, 50]},
                  elements=151277313 + 127, source="buffers as in pytorch_model.bin of its time")),
    "siglip": ("google/siglip-base-patch16-224", "siglip", "SiglipModel",
               dict(vision_config=dict(hidden_size=768, num_attention_heads=12, intermediate_size=3072),
                    text_config=dict(hidden_size=768, num_attention_heads=12, intermediate_size=3072, vocab_size=32000,
                                     max_position_embeddings=64)), dict(elements=203155970)),
    "detr": ("facebook/detr-resnet-50", "detr", "DetrForObjectDetection",
             DETR | dict(backbone="resnet50", dilation=False, num_labels=91), detr([3, 4, 6, 3])),
    "detr_dc5": ("facebook/detr-resnet-101-dc5", "detr", "DetrForObjectDetection",
                 DETR | dict(backbone="resnet101", dilation=True, num_labels=91), detr([3, 4, 23, 3])),
    "detr_panoptic": ("facebook/detr-resnet-50-panoptic", "detr", "DetrForSegmentation",
                      DETR | dict(backbone="resnet50", dilation=False, num_labels=250), detr([3, 4, 6, 3], "detr.")),
    "table_transformer": ("microsoft/table-transformer-detection", "table-transformer",
                          "TableTransformerForObjectDetection",
                          DETR | dict(backbone="resnet18", dilation=False, num_queries=15, num_labels=2),
                          detr([2, 2, 2, 2], kind="basic")),
}


def tensors_of(architecture: str, config: dict, buffers: bool) -> dict:
    cls = getattr(transformers, architecture)
    with torch.device("meta"):
        model = cls(cls.config_class(**{n: v for n, v in config.items() if n not in ("architectures", "n_ctx")}))
    if buffers:
        return {name: list(tensor.shape) for name, tensor in model.state_dict().items()}
    model.tie_weights()
    names = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), []).append(name)
    # Files hold a tied weight as the embedding, and what two stacks share under that name.
    stored = {min(tied, key=lambda name: ("shared" not in name, "embed" not in name and "wte" not in name))
              for tied in names.values()}
    return {name: list(parameter.shape) for name, parameter in model.named_parameters(remove_duplicate=False)
            if name in stored}


def make(file: str, model: str, model_type: str, architecture: str, config: dict, changes: dict) -> None:
    config = {"model_type": model_type, "architectures": [architecture]} | config
    rename = changes.get("rename", lambda name: name)
    listed = tensors_of(architecture, config | changes.get("build", {}), changes.get("buffers", False))
    tensors = {rename(n): shape for n, shape in listed.items()} | changes.get("extra", {})
    tensors = {n: shape for n, shape in tensors.items() if not n.startswith(changes.get("without", " "))}
    elements = sum(math.prod(shape) for shape in tensors.values())
    source = f"transformers {transformers.__version__}, {architecture}"
    source += f"; {changes['source']}" if "source" in changes else ""
    if "elements" in changes:
        if elements != changes["elements"]:
            raise SystemExit(f"{file}: {elements} elements, published are {changes['elements']}")
        source += f"; the number of elements equals the one published for {changes.get('published', model)}"
    lines = ",\n".join(f"    {json.dumps(n)}: {json.dumps(tensors[n])}" for n in sorted(tensors))
    head = json.dumps({"model": model, "source": source, "config": config}, indent=2)
    (OUT / f"{file}.json").write_text(head.removesuffix("\n}") + f',\n  "tensors": {{\n{lines}\n  }}\n}}\n')
    print(f"{file:24} {len(tensors):4} tensors, {elements} elements")


def main() -> None:
    logging.disable(logging.WARNING)
    OUT.mkdir(parents=True, exist_ok=True)
    for file, entry in CHECKPOINTS.items():
        if not sys.argv[1:] or file in sys.argv[1:]:
            make(file, *entry)


if __name__ == "__main__":
    main()
