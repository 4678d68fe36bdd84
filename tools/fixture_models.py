"""The table of tools/make_fixture.py: which tiny checkpoints there are and which inputs each one gets."""

import dataclasses
from collections.abc import Callable

import torch
import transformers


@dataclasses.dataclass(frozen=True)
class Case:
    tokens: int
    second: int = 0  # where the second segment starts; 0: no token_type_ids
    masked: tuple = ()  # positions that attention_mask forbids; they become padding tokens
    keep_ids: bool = False  # ... unless this is set
    pad_ids: tuple = ()  # positions that hold the padding token though the mask allows them
    eos_ids: tuple = ()  # positions that hold the end of a text
    target: int = 0  # what the decoder beside an encoder reads; 0: it is not told
    target_masked: tuple = ()  # positions that decoder_attention_mask forbids
    target_pad_ids: tuple = ()
    pixels: tuple = ()  # height and width of a picture
    seen: tuple = ()  # of that, what pixel_mask calls picture; the rest is padding
    ids: tuple = ()  # these tokens, not random ones


@dataclasses.dataclass(frozen=True)
class Fixture:
    name: str
    architecture: str
    config: dict
    cases: tuple
    causal: bool = False
    row_maximum: float = 0.4  # mean of every layer; above 0.3, as far as float32 stays exact enough
    dtype: str = "f32"
    file: str = "safetensors"
    shard: str = "1GB"
    rename: Callable | None = None  # of every stored tensor
    extra: Callable | None = None  # stored tensors -> more that old checkpoints hold
    folder: str = "parity"  # of tests/data
    prepare: Callable | None = None  # changes the model before its weights are drawn
    rewrite: Callable | None = None  # of config.json
    readable: bool = True  # by transformers as it is installed here; timm's models are not
    untied: tuple = ()  # modules that get a weight of their own although transformers ties it
    arguments: dict = dataclasses.field(default_factory=dict)  # of the class, beside its config
    forms: dict = dataclasses.field(default_factory=dict)  # form -> function of the config, see config-*.json


def strip(prefix: str) -> Callable:
    return lambda name: name.removeprefix(prefix)


def old_norms(name: str) -> str:
    return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")


def v4(*absent: str, **values) -> Callable:
    """The config as version 4 wrote it: torch_dtype for dtype, and `values` for rope_parameters and layer_types."""
    def change(config: dict) -> dict:
        newer = ("dtype", "rope_parameters", "layer_types", "transformers_version", *absent)
        kept = {n: v for n, v in config.items() if n not in newer}
        return kept | {"torch_dtype": config["dtype"], "transformers_version": "4.46.0"} | values
    return change


def short(config: dict) -> dict:
    """Only what differs from the family's defaults, as in hand-written and very old configs."""
    defaults = transformers.AutoConfig.for_model(config["model_type"]).to_dict()
    return {n: v for n, v in config.items()
            if n in ("model_type", "architectures") or (n in defaults and defaults[n] != v and n != "dtype")}


def gemma3_with_vision_v4(config: dict) -> dict:
    """The text part of published checkpoints names only what is special about their size."""
    text = short(config["text_config"])
    del text["rope_parameters"], text["layer_types"]
    return v4(text_config=text | GEMMA3_V4)(config)


def labels(*names: str) -> dict:
    return {"id2label": dict(enumerate(names)), "label2id": {n: i for i, n in enumerate(names)}}


def bert_extras(stored: dict) -> dict:
    width = stored["bert.embeddings.LayerNorm.gamma"].shape[0]
    return {"bert.embeddings.position_ids": torch.arange(40)[None],
            "bert.pooler.dense.weight": torch.ones(width, width), "bert.pooler.dense.bias": torch.ones(width),
            "cls.seq_relationship.weight": torch.ones(2, width), "cls.seq_relationship.bias": torch.ones(2)}


def camembert_extras(stored: dict) -> dict:
    return {"roberta.embeddings.position_ids": torch.arange(40)[None],
            "lm_head.decoder.weight": stored["roberta.embeddings.word_embeddings.weight"].clone(),
            "lm_head.decoder.bias": stored["lm_head.bias"].clone()}


def gpt2_extras(stored: dict) -> dict:
    mask = torch.ones(40, 40).tril()[None, None]
    return {f"h.{i}.attn.bias": mask.clone() for i in range(2)}


def gpt_neox_extras(stored: dict) -> dict:
    mask = torch.ones(40, 40).tril().bool()[None, None]
    result = {}
    for i in range(2):
        prefix = f"gpt_neox.layers.{i}.attention."
        result[prefix + "bias"] = mask.clone()
        result[prefix + "masked_bias"] = torch.tensor(-1e9)
        result[prefix + "rotary_emb.inv_freq"] = 10000.0 ** (-torch.arange(0, 4, 2) / 4)
    return result


def llama_extras(stored: dict) -> dict:
    frequencies = 10000.0 ** (-torch.arange(0, 8, 2) / 8)
    return {f"model.layers.{i}.self_attn.rotary_emb.inv_freq": frequencies.clone() for i in range(2)}


# Norm epsilons are large, so that a wrong one shows.
BERT = dict(vocab_size=60, hidden_size=36, num_hidden_layers=2, num_attention_heads=3, intermediate_size=44,
            max_position_embeddings=40, layer_norm_eps=3e-3)
FIVE_HEADS = BERT | dict(hidden_size=60, num_attention_heads=5, intermediate_size=72, layer_norm_eps=1e-12)
ROBERTA = BERT | dict(type_vocab_size=1)
DISTILBERT = dict(vocab_size=60, dim=36, n_layers=2, n_heads=3, hidden_dim=44, max_position_embeddings=40)
ALBERT = BERT | dict(embedding_size=20)
ELECTRA = BERT | dict(embedding_size=20)
GPT2 = dict(vocab_size=60, n_positions=40, n_embd=36, n_layer=2, n_head=3, n_inner=44, layer_norm_epsilon=3e-3,
            bos_token_id=1, eos_token_id=1)
GPT_NEOX = dict(vocab_size=60, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=44,
                max_position_embeddings=40, layer_norm_eps=3e-3)
# 7 query heads on one key head; a head is 12 wide, not 56 / 7.
LLAMA = dict(vocab_size=60, hidden_size=56, intermediate_size=64, num_hidden_layers=2, num_attention_heads=7,
             num_key_value_heads=1, head_dim=12, max_position_embeddings=64)
SMALL = dict(vocab_size=60, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=64, rms_norm_eps=3e-3)
ROPE = SMALL | dict(num_attention_heads=2, num_key_value_heads=1, head_dim=24)
GEMMA3 = SMALL | dict(head_dim=12, num_hidden_layers=3, sliding_window=5, query_pre_attn_scalar=20,
                      layer_types=["sliding_attention", "sliding_attention", "full_attention"])
GEMMA3_ROPE = {"sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
               "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000.0}}
GEMMA3_V4 = dict(sliding_window_pattern=3, rope_theta=1000000.0, rope_local_base_freq=10000.0,
                 rope_scaling={"rope_type": "linear", "factor": 8.0})
VISION = dict(hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1, image_size=16,
              patch_size=8)

LEFT = Case(12, masked=(0, 1, 2))
RIGHT = Case(13, masked=(9, 10, 11, 12))


def rope(kind: str, theta: float = 10000.0, **values) -> dict:
    """Config members and forms of a rotary model with scaled positions."""
    v5 = {"rope_type": kind, "rope_theta": theta} | values
    return dict(config=ROPE | {"rope_parameters": v5},
                forms={"v4": v4(rope_theta=theta, rope_scaling={"rope_type": kind} | values)})


FIXTURES = [
    # BERT
    Fixture("bert_model", "BertModel", FIVE_HEADS,
            (Case(11), Case(14, second=6), RIGHT, Case(1), Case(9, second=4, masked=(2, 5), keep_ids=True)),
            forms={"v4": v4(position_embedding_type="absolute", gradient_checkpointing=False), "short": short}),
    Fixture("bert_masked_lm", "BertForMaskedLM", BERT | dict(hidden_act="gelu_new"), (Case(12, second=7), Case(1))),
    Fixture("bert_untied", "BertForMaskedLM", BERT | dict(tie_word_embeddings=False, num_hidden_layers=1), (Case(9),)),
    Fixture("bert_old_names", "BertForMaskedLM", BERT | dict(layer_norm_eps=1e-12), (Case(10),), file="bin",
            rename=old_norms, extra=bert_extras, forms={"short": short}),
    Fixture("bert_sequence", "BertForSequenceClassification", BERT | labels("no", "maybe", "yes"),
            (Case(12, second=5), RIGHT), file="bin"),
    Fixture("bert_tokens", "BertForTokenClassification",
            BERT | dict(num_hidden_layers=1, hidden_act="relu") | labels("O", "B-PER", "I-PER", "B-LOC", "I-LOC"),
            (Case(15), Case(1)), dtype="f16"),
    Fixture("bert_decoder", "BertLMHeadModel", BERT | dict(is_decoder=True), (Case(12), RIGHT), causal=True),
    # RoBERTa: positions count from the padding id + 1, and padding tokens do not count.
    Fixture("roberta_masked_lm", "RobertaForMaskedLM", ROBERTA, (Case(12), RIGHT, Case(11, pad_ids=(3, 7)), Case(1))),
    Fixture("roberta_untied", "RobertaForMaskedLM", ROBERTA | dict(tie_word_embeddings=False, num_hidden_layers=1),
            (Case(9),)),
    Fixture("roberta_model", "RobertaModel", ROBERTA | dict(type_vocab_size=2), (Case(12, second=5), LEFT)),
    Fixture("roberta_sequence", "RobertaForSequenceClassification", ROBERTA | labels("bad", "good"),
            (Case(12), RIGHT), dtype="bf16"),
    Fixture("xlm_roberta_masked_lm", "XLMRobertaForMaskedLM", ROBERTA, (Case(16), RIGHT), shard="20KB"),
    Fixture("xlm_roberta_tokens", "XLMRobertaForTokenClassification", ROBERTA | labels("O", "B", "I"), (Case(9),)),
    Fixture("camembert_masked_lm", "CamembertForMaskedLM", ROBERTA, (Case(12), Case(1)), file="bin",
            extra=camembert_extras),
    # DistilBERT
    Fixture("distilbert_masked_lm", "DistilBertForMaskedLM", DISTILBERT, (Case(12), RIGHT, Case(1)),
            forms={"short": short}),
    Fixture("distilbert_sequence", "DistilBertForSequenceClassification",
            DISTILBERT | dict(activation="relu") | labels("NEGATIVE", "POSITIVE"), (Case(12), RIGHT), dtype="f16"),
    Fixture("distilbert_sinusoid", "DistilBertModel", DISTILBERT | dict(sinusoidal_pos_embds=True), (Case(17),)),
    # ALBERT: 3 layers from 2 groups of 2 inner layers are 6 maps.
    Fixture("albert_groups", "AlbertModel",
            ALBERT | dict(num_hidden_layers=3, num_hidden_groups=2, inner_group_num=2), (Case(12, second=5), RIGHT),
            row_maximum=0.32),
    Fixture("albert_masked_lm", "AlbertForMaskedLM", ALBERT | dict(num_hidden_layers=3), (Case(12), Case(1)),
            forms={"short": short}),
    Fixture("albert_untied", "AlbertForMaskedLM", ALBERT | dict(tie_word_embeddings=False, num_hidden_layers=1),
            (Case(9),)),
    Fixture("albert_sequence", "AlbertForSequenceClassification", ALBERT | labels("0", "1", "2"),
            (Case(12, second=4),)),
    # ELECTRA
    Fixture("electra_pretraining", "ElectraForPreTraining", ELECTRA, (Case(12, second=5), RIGHT, Case(1))),
    Fixture("electra_masked_lm", "ElectraForMaskedLM", ELECTRA, (Case(12),), file="bin"),
    Fixture("electra_sequence", "ElectraForSequenceClassification",
            ELECTRA | dict(embedding_size=36) | labels("no", "yes"), (Case(12), RIGHT)),
    # GPT-2
    Fixture("gpt2_lm", "GPT2LMHeadModel", GPT2 | dict(n_embd=60, n_head=5, n_inner=None), (Case(14), Case(1), LEFT),
            causal=True, forms={"v4": v4(n_ctx=40)}),
    Fixture("gpt2_no_prefix", "GPT2LMHeadModel", GPT2, (Case(13), RIGHT), causal=True, rename=strip("transformer."),
            extra=gpt2_extras, forms={"short": short}),
    Fixture("gpt2_model", "GPT2Model", GPT2 | dict(n_layer=1), (Case(20),), causal=True, file="bin"),
    Fixture("gpt2_scaled", "GPT2LMHeadModel",
            GPT2 | dict(n_layer=3, scale_attn_by_inverse_layer_idx=True, reorder_and_upcast_attn=True,
                        activation_function="gelu"), (Case(13),), causal=True, dtype="bf16"),
    Fixture("gpt2_unscaled", "GPT2LMHeadModel",
            GPT2 | dict(scale_attn_weights=False, tie_word_embeddings=False), (Case(11),), causal=True),
    Fixture("gpt2_sequence", "GPT2ForSequenceClassification", GPT2 | dict(pad_token_id=2) | labels("a", "b", "c"),
            (Case(12), RIGHT, LEFT), causal=True, shard="20KB"),
    # The example of docs/adding-a-model.md
    Fixture("openai_gpt", "OpenAIGPTLMHeadModel",
            dict(vocab_size=70, n_positions=40, n_embd=48, n_layer=2, n_head=4), (Case(13), Case(1)), causal=True,
            folder="adding_a_model"),
    # GPT-NeoX
    Fixture("gpt_neox_parallel", "GPTNeoXForCausalLM", GPT_NEOX, (Case(15), LEFT, Case(1)), causal=True,
            extra=gpt_neox_extras, forms={"v4": v4(rotary_emb_base=10000, rotary_pct=0.25), "short": short}),
    Fixture("gpt_neox_sequential", "GPTNeoXForCausalLM",
            GPT_NEOX | dict(use_parallel_residual=False, attention_bias=False, hidden_act="gelu_new",
                            rope_parameters={"rope_theta": 500.0, "partial_rotary_factor": 1.0}), (Case(15),),
            causal=True, dtype="f16", forms={"v4": v4(rotary_emb_base=500, rotary_pct=1.0)}),
    Fixture("gpt_neox_odd_rotary", "GPTNeoXForCausalLM", GPT_NEOX | dict(hidden_size=36, num_attention_heads=3),
            (Case(15),), causal=True),  # a quarter of a 12 wide head: frequencies of 3, rotation of 4
    Fixture("gpt_neox_sequence", "GPTNeoXForSequenceClassification", GPT_NEOX | dict(pad_token_id=3) | labels("a", "b"),
            (Case(12), RIGHT), causal=True),
    # Llama
    Fixture("llama_gqa", "LlamaForCausalLM", LLAMA, (Case(17), Case(1), LEFT, RIGHT), causal=True,
            forms={"v4": v4(rope_theta=10000.0, rope_scaling=None), "short": short}),
    Fixture("llama_tied", "LlamaForCausalLM", SMALL | dict(tie_word_embeddings=True, num_key_value_heads=4),
            (Case(15),), causal=True, dtype="bf16", extra=llama_extras,  # as the first Llama checkpoints were
            forms={"v4": v4("head_dim", "num_key_value_heads", "attention_bias", "mlp_bias")}),
    Fixture("llama_bias", "LlamaForCausalLM", SMALL | dict(attention_bias=True, mlp_bias=True, hidden_act="gelu"),
            (Case(15),), causal=True, shard="20KB"),
    Fixture("llama_model", "LlamaModel", SMALL | dict(num_hidden_layers=1), (Case(15),), causal=True, file="bin"),
    Fixture("llama_sequence", "LlamaForSequenceClassification", SMALL | dict(pad_token_id=0) | labels("a", "b", "c"),
            (Case(12), RIGHT, LEFT), causal=True, dtype="f16"),
    Fixture("llama_long", "LlamaForCausalLM", ROPE | dict(max_position_embeddings=16), (Case(40),), causal=True),
    Fixture("llama_rope_linear", "LlamaForCausalLM", cases=(Case(20),), causal=True,
            config=ROPE | {"rope_parameters": {"rope_type": "linear", "factor": 2.5, "rope_theta": 10000.0}},
            forms={"v4": v4(rope_theta=10000.0, rope_scaling={"type": "linear", "factor": 2.5})}),
    # Only GPT-NeoX turns a part of each head; here the member counts for nothing.
    Fixture("llama_rope_partial", "LlamaForCausalLM", cases=(Case(20),), causal=True,
            config=ROPE | {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0,
                                               "partial_rotary_factor": 0.5}}),
    Fixture("llama_rope_dynamic", "LlamaForCausalLM", causal=True, cases=(Case(12), Case(20), Case(40)),
            config=ROPE | {"max_position_embeddings": 16,
                           "rope_parameters": {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10000.0}},
            forms={"v4": v4(rope_theta=10000.0, rope_scaling={"type": "dynamic", "factor": 2.0})}),
    Fixture("llama_rope_llama3", "LlamaForCausalLM", causal=True, cases=(Case(40),),
            **rope("llama3", 500.0, factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0,
                   original_max_position_embeddings=128)),
    Fixture("llama_rope_yarn", "LlamaForCausalLM", causal=True, cases=(Case(40),),
            **rope("yarn", factor=4.0, original_max_position_embeddings=128)),
    Fixture("llama_rope_yarn_set", "LlamaForCausalLM", causal=True, cases=(Case(20),),
            **rope("yarn", factor=4.0, beta_fast=16, beta_slow=2, attention_factor=1.3, truncate=False,
                   original_max_position_embeddings=128)),
    # Mistral
    Fixture("mistral_window", "MistralForCausalLM", SMALL | dict(sliding_window=5), (Case(16), LEFT, Case(4)),
            causal=True, forms={"v4": v4("head_dim", rope_theta=10000.0)}),
    Fixture("mistral_no_window", "MistralForCausalLM", SMALL | dict(sliding_window=None, head_dim=12), (Case(16),),
            causal=True, dtype="bf16"),
    # Qwen
    Fixture("qwen2_window", "Qwen2ForCausalLM",
            SMALL | dict(num_hidden_layers=3, use_sliding_window=True, sliding_window=6, max_window_layers=1),
            (Case(16),), causal=True, forms={"v4": v4(rope_theta=10000.0)}),
    Fixture("qwen2_tied", "Qwen2ForCausalLM",
            SMALL | dict(tie_word_embeddings=True, sliding_window=6, rope_parameters={"rope_theta": 1000000.0}),
            (Case(16), Case(1)), causal=True, dtype="bf16",
            forms={"v4": v4(rope_theta=1000000.0, sliding_window=6, use_sliding_window=False)}),
    Fixture("qwen3_lm", "Qwen3ForCausalLM", SMALL | dict(head_dim=12, tie_word_embeddings=True), (Case(16), Case(1)),
            causal=True, forms={"v4": v4(rope_theta=10000.0, rope_scaling=None)}),
    Fixture("qwen3_bias", "Qwen3ForCausalLM",
            SMALL | dict(head_dim=12, attention_bias=True, num_hidden_layers=3, use_sliding_window=True,
                         sliding_window=6, max_window_layers=2), (Case(16),), causal=True, shard="20KB"),
    # Gemma 3
    Fixture("gemma3_text", "Gemma3ForCausalLM", GEMMA3 | dict(rope_parameters=GEMMA3_ROPE), (Case(16), LEFT, Case(1)),
            causal=True, forms={"v4": v4(**GEMMA3_V4)}),
    Fixture("gemma3_text_default", "Gemma3ForCausalLM", GEMMA3, (Case(16),), causal=True, dtype="bf16",
            forms={"v4": v4(layer_types=GEMMA3["layer_types"], rope_theta=1000000.0, rope_local_base_freq=10000.0,
                            rope_scaling=None)}),
    Fixture("gemma3_softcap", "Gemma3ForCausalLM",
            GEMMA3 | dict(attn_logit_softcapping=2.0, final_logit_softcapping=1.5), (Case(16),), causal=True),
    Fixture("gemma3_bidirectional", "Gemma3TextModel",
            GEMMA3 | dict(use_bidirectional_attention=True, sliding_window=6), (Case(16), Case(13, masked=(11, 12)))),
    Fixture("gemma3_with_vision", "Gemma3ForConditionalGeneration",
            dict(text_config=GEMMA3 | dict(rope_parameters=GEMMA3_ROPE), vision_config=VISION, mm_tokens_per_image=4,
                 boi_token_index=0, eoi_token_index=1, image_token_index=2), (Case(16), Case(1)), causal=True,
            forms={"v4": gemma3_with_vision_v4}),
]
