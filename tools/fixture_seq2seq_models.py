"""The encoder-decoders of tools/make_fixture.py, as fixture_models.py has the models of one text."""

from collections.abc import Callable

import torch

from fixture_models import RIGHT, Case, Fixture, labels, short, v4


def stored_words(*places: str) -> Callable:
    """Files of torch hold tied embeddings once more at each of these places."""
    def extra(stored: dict) -> dict:
        shared = next(tensor for name, tensor in stored.items() if name.endswith("shared.weight"))
        return {f"{place}.weight": shared.clone() for place in places}
    return extra


def marian_extras(stored: dict) -> dict:
    """As in the pytorch_model.bin of OPUS-MT: the sinusoids too."""
    width = stored["model.shared.weight"].shape[1]
    angles = torch.arange(40, dtype=torch.float64)[:, None] / 10000.0 ** (torch.arange(0, width, 2) / width)
    table = torch.cat([angles.sin(), angles.cos()], 1).float()
    places = ("model.encoder.embed_tokens", "model.decoder.embed_tokens", "lm_head")
    return stored_words(*places)(stored) | {f"model.{stack}.embed_positions.weight": table.clone()
                                            for stack in ("encoder", "decoder")}


def bart_extras(stored: dict) -> dict:
    places = ("encoder.embed_tokens", "decoder.embed_tokens")
    return stored_words(*places)(stored) | {f"{stack}.version": torch.tensor([3.0]) for stack in ("encoder", "decoder")}


OPENAI_NAMES = {
    "layers": "blocks", "q_proj": "query", "k_proj": "key", "v_proj": "value", "out_proj": "out", "self_attn": "attn",
    "encoder_attn": "cross_attn", "self_attn_layer_norm": "attn_ln", "encoder_attn_layer_norm": "cross_attn_ln",
    "final_layer_norm": "mlp_ln", "fc1": "mlp.0", "fc2": "mlp.2", "embed_tokens": "token_embedding",
}


def openai_name(name: str) -> str:
    """What OpenAI calls this tensor of Whisper."""
    parts = [OPENAI_NAMES.get(part, part) for part in name.removeprefix("model.").split(".")]
    name = ".".join(parts).replace("embed_positions.weight", "positional_embedding")
    return name.replace("encoder.layer_norm", "encoder.ln_post").replace("decoder.layer_norm", "decoder.ln")


def t5_extras(stored: dict) -> dict:
    old = {"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight": torch.ones(8, 3)}
    return stored_words("encoder.embed_tokens", "decoder.embed_tokens", "lm_head")(stored) | old


# Encoder-decoders: heads, depths and inner sizes differ on both sides.
BART = dict(vocab_size=60, d_model=24, encoder_layers=2, decoder_layers=1, encoder_attention_heads=3,
            decoder_attention_heads=2, encoder_ffn_dim=28, decoder_ffn_dim=36, max_position_embeddings=40,
            pad_token_id=1, bos_token_id=0, eos_token_id=2)
MARIAN = BART | dict(encoder_layers=1, decoder_layers=2, pad_token_id=59, eos_token_id=0, decoder_start_token_id=59,
                     activation_function="swish", scale_embedding=True)
T5 = dict(vocab_size=60, d_model=26, d_kv=8, num_heads=3, d_ff=40, num_layers=2, num_decoder_layers=1,
          relative_attention_num_buckets=8, relative_attention_max_distance=12, layer_norm_epsilon=3e-3,
          decoder_start_token_id=0)
MT5 = T5 | dict(num_layers=1, num_decoder_layers=2)
WHISPER = dict(vocab_size=60, num_mel_bins=7, d_model=24, encoder_layers=2, decoder_layers=1,
               encoder_attention_heads=3, decoder_attention_heads=2, encoder_ffn_dim=28, decoder_ffn_dim=36,
               max_source_positions=13, max_target_positions=20, pad_token_id=59, bos_token_id=58, eos_token_id=58,
               decoder_start_token_id=57)

PAIR = Case(11, target=9)
ONES = Case(1, target=1)
PADDED = Case(13, masked=(9, 10, 11, 12), target=8, target_masked=(6, 7))
GAPS = Case(12, masked=(0, 4), keep_ids=True, target=9, target_masked=(0, 1, 5))


SEQ2SEQ_FIXTURES = [
    # Marian
    Fixture("marian_mt", "MarianMTModel", MARIAN, (PAIR, ONES, PADDED, GAPS, Case(1, target=7), Case(9, target=1)),
            forms={"v4": v4(normalize_before=False, static_position_embeddings=True, add_bias_logits=False),
                   "short": short}),
    Fixture("marian_old_names", "MarianMTModel", MARIAN | dict(scale_embedding=False, activation_function="relu"),
            (PAIR,), file="bin", extra=marian_extras),
    Fixture("marian_two_vocabularies", "MarianMTModel",
            MARIAN | dict(share_encoder_decoder_embeddings=False, decoder_vocab_size=47, pad_token_id=46,
                          decoder_start_token_id=46, decoder_layers=1), (PAIR, PADDED), dtype="f16"),
    Fixture("marian_untied", "MarianMTModel", MARIAN | dict(tie_word_embeddings=False, decoder_layers=1), (PAIR,)),
    Fixture("marian_odd_width", "MarianMTModel",
            MARIAN | dict(d_model=27, decoder_attention_heads=9, decoder_layers=1), (PAIR,), shard="20KB"),
    Fixture("marian_model", "MarianModel", MARIAN | dict(decoder_layers=1), (PAIR,)),
    # BART
    Fixture("bart_lm", "BartForConditionalGeneration", BART, (PAIR, ONES, PADDED, GAPS, Case(12), Case(1)),
            forms={"v4": v4(normalize_before=False, add_final_layer_norm=False), "short": short}),
    Fixture("bart_old_names", "BartModel", BART | dict(scale_embedding=True, activation_function="gelu_new"),
            (PAIR, Case(9)), file="bin", extra=bart_extras),
    Fixture("bart_untied", "BartForConditionalGeneration", BART | dict(tie_word_embeddings=False), (PAIR,), dtype="bf16"),
    Fixture("bart_sequence", "BartForSequenceClassification", BART | labels("no", "maybe", "yes"),
            (Case(12, eos_ids=(11,)), Case(10, eos_ids=(4, 8), masked=(9,)), Case(7, eos_ids=(3, 6), target=7))),
    # mBART: norms first; without a target it begins with the last token, which names the language.
    Fixture("mbart_lm", "MBartForConditionalGeneration", BART | dict(scale_embedding=True),
            (PAIR, ONES, PADDED, Case(12), RIGHT, Case(11, pad_ids=(3, 10))), forms={"short": short}),
    Fixture("mbart_sequence", "MBartForSequenceClassification", BART | labels("a", "b"), (Case(12, eos_ids=(10,)),)),
    # M2M100: padding has no position, and the table has no end.
    Fixture("m2m_100_lm", "M2M100ForConditionalGeneration", BART,
            (PAIR, ONES, PADDED, Case(11, pad_ids=(0, 4, 5), target=9, target_pad_ids=(2, 3)), Case(45, target=4)),
            forms={"v4": v4(), "short": short}),
    Fixture("m2m_100_odd_width", "M2M100ForConditionalGeneration",
            BART | dict(d_model=27, decoder_attention_heads=9, scale_embedding=False, activation_function="gelu"),
            (PAIR,)),
    # T5
    Fixture("t5_lm", "T5ForConditionalGeneration", T5, (PAIR, ONES, PADDED, GAPS, Case(26, target=20)),
            forms={"v4": v4("scale_decoder_outputs", n_positions=512, output_past=True), "short": short}),
    Fixture("t5_old_names", "T5ForConditionalGeneration", T5 | dict(num_decoder_layers=2), (PAIR,), file="bin",
            extra=t5_extras),
    Fixture("t5_gated", "T5ForConditionalGeneration",
            T5 | dict(feed_forward_proj="gated-gelu", tie_word_embeddings=False, num_layers=1, num_decoder_layers=2),
            (PAIR, PADDED), untied=("lm_head",), forms={"v4": v4("scale_decoder_outputs", tie_word_embeddings=False)}),
    Fixture("t5_gated_silu", "T5ForConditionalGeneration", T5 | dict(feed_forward_proj="gated-silu", num_heads=5),
            (PAIR,), dtype="f16"),
    Fixture("t5_buckets", "T5ForConditionalGeneration",
            T5 | dict(relative_attention_num_buckets=32, relative_attention_max_distance=128, num_layers=1, num_heads=2),
            (Case(66, target=34),), forms={"short": short}),
    Fixture("t5_odd_buckets", "T5ForConditionalGeneration",
            T5 | dict(relative_attention_num_buckets=11, relative_attention_max_distance=17, num_layers=1),
            (Case(30, target=28),)),
    Fixture("t5_model", "T5Model", T5 | dict(num_decoder_layers=None), (PAIR,), dtype="bf16"),
    Fixture("t5_encoder", "T5EncoderModel", T5, (Case(12), RIGHT, Case(1), Case(9, masked=(0, 5), keep_ids=True))),
    Fixture("t5_sequence", "T5ForSequenceClassification", T5 | labels("a", "b", "c"),
            (Case(12, eos_ids=(5, 11)), Case(9, eos_ids=(6,), masked=(7, 8)))),
    Fixture("mt5_lm", "MT5ForConditionalGeneration", MT5, (PAIR, PADDED), untied=("lm_head",),
            forms={"v4": v4(tie_word_embeddings=False), "short": short}),
    Fixture("mt5_tied", "MT5ForConditionalGeneration", MT5 | dict(num_decoder_layers=1), (PAIR,)),
    Fixture("umt5_lm", "UMT5ForConditionalGeneration", T5 | dict(num_decoder_layers=2), (PAIR, PADDED),
            untied=("lm_head",), forms={"short": short}),
    # Whisper
    Fixture("whisper_lm", "WhisperForConditionalGeneration", WHISPER,
            (Case(0, target=9), Case(0, target=1), Case(0, target=20), Case(0, target=8, target_masked=(2, 7))),
            forms={"v4": v4(), "short": short}),
    Fixture("whisper_model", "WhisperModel", WHISPER | dict(encoder_layers=1, decoder_layers=2, scale_embedding=True),
            (Case(0, target=9),), file="bin"),
    Fixture("whisper_untied", "WhisperForConditionalGeneration",
            WHISPER | dict(encoder_layers=1, tie_word_embeddings=False), (Case(0, target=6),), dtype="f16"),
    Fixture("whisper_openai", "WhisperForConditionalGeneration",
            WHISPER | dict(encoder_layers=1, decoder_layers=2, encoder_ffn_dim=96, decoder_ffn_dim=96),
            (Case(0, target=9),), dtype="f16", file="openai", rename=openai_name),
]
