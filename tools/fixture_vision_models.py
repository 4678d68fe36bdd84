"""The models of pictures of tools/make_fixture.py, as fixture_models.py has the models of one text."""

from collections.abc import Callable

import torch

from fixture_models import Case, Fixture, labels, short, v4


def picture(height: int, width: int, **text) -> Case:
    return Case(text.pop("tokens", 0), pixels=(height, width), **text)


def below(prefix: str) -> Callable:
    return lambda name: prefix + name


def new_names(*pairs: tuple) -> Callable:
    """Names of today's modules in the place of those that save_pretrained still writes."""
    def change(name: str) -> str:
        for old, new in pairs:
            name = name.replace(old, new)
        return name
    return change


VIT_NAMES = (("encoder.layer.", "layers."), ("attention.attention.query", "attention.q_proj"),
             ("attention.attention.key", "attention.k_proj"), ("attention.attention.value", "attention.v_proj"),
             ("attention.output.dense", "attention.o_proj"), ("intermediate.dense", "mlp.fc1"),
             ("output.dense", "mlp.fc2"))
DINOV2_NAMES = VIT_NAMES[1:5]


def split_swiglu(stored: dict) -> dict:
    """Gate and up as two matrices, as transformers 5.22 keeps them in memory."""
    changed = {}
    for name, tensor in stored.items():
        if "mlp.weights_in" in name:
            gate, up = tensor.chunk(2)
            changed |= {name: None, name.replace("weights_in", "gate_proj"): gate.contiguous(),
                        name.replace("weights_in", "up_proj"): up.contiguous()}
        elif "mlp.weights_out" in name:
            changed |= {name: None, name.replace("weights_out", "down_proj"): tensor}
    return changed


def position_ids(*names: str) -> Callable:
    return lambda stored: {name: torch.arange(5)[None] for name in names}


def config_dicts(config: dict) -> dict:
    """As old CLIP files: the sections hold defaults of that time, what counts stands under *_config_dict."""
    wrong = {"text_config": {"hidden_size": 512, "eos_token_id": 2}, "vision_config": {"hidden_size": 768}}
    return v4()(config) | wrong | {f"{name}_dict": {k: v for k, v in config[name].items() if k != "dtype"}
                                   for name in wrong}


def short_towers(config: dict) -> dict:
    """Sections hold only what differs from the defaults."""
    return v4(**{name: short(config[name]) for name in ("text_config", "vision_config")})(config)


# Norm epsilons are large, so that a wrong one shows. 3 heads of 9, or 5 of 8; the trained grid is 4 x 4.
VIT = dict(hidden_size=27, num_hidden_layers=2, num_attention_heads=3, intermediate_size=44, image_size=32, patch_size=8,
           layer_norm_eps=3e-3)
FIVE_HEADS = VIT | dict(hidden_size=40, num_attention_heads=5)
DINOV2 = dict(hidden_size=27, num_hidden_layers=2, num_attention_heads=3, mlp_ratio=2, image_size=28, patch_size=7,
              layer_norm_eps=3e-3)
DINOV3 = dict(hidden_size=36, num_hidden_layers=2, num_attention_heads=3, intermediate_size=44, image_size=32,
              patch_size=8, num_register_tokens=4, layer_norm_eps=3e-3)
CLIP_VISION = VIT | dict(projection_dim=20)
CLIP_TEXT = dict(vocab_size=60, hidden_size=24, num_hidden_layers=3, num_attention_heads=2, intermediate_size=28,
                 max_position_embeddings=20, projection_dim=20, bos_token_id=0, eos_token_id=59, pad_token_id=1)
CLIP = dict(vision_config=CLIP_VISION, text_config=CLIP_TEXT, projection_dim=20)
SIGLIP_TEXT = dict(vocab_size=60, hidden_size=24, num_hidden_layers=1, num_attention_heads=2, intermediate_size=28,
                   max_position_embeddings=20, projection_size=27, bos_token_id=57, eos_token_id=58, pad_token_id=1)
SIGLIP = dict(vision_config=VIT, text_config=SIGLIP_TEXT)

TRAINED, WIDE, TALL, ODD = picture(32, 32), picture(24, 56), picture(48, 16), picture(37, 45)
CAPTION = dict(tokens=9, eos_ids=(8,))
PADDED = dict(tokens=12, eos_ids=(7,), masked=(8, 9, 10, 11))

VISION_FIXTURES = [
    # ViT
    Fixture("vit_model", "ViTModel", FIVE_HEADS | dict(pooler_output_size=17, pooler_act="gelu"), (TRAINED, WIDE, ODD),
            forms={"v4": v4(), "short": short}),
    Fixture("vit_dino", "ViTModel", VIT | dict(patch_size=4, image_size=24, num_channels=1), (picture(20, 28),),
            arguments=dict(add_pooling_layer=False), file="bin"),
    Fixture("vit_image", "ViTForImageClassification", VIT | dict(qkv_bias=False, hidden_act="gelu_new")
            | labels("cat", "dog", "bird"), (TRAINED, TALL), dtype="f16"),
    Fixture("vit_new_names", "ViTForImageClassification", VIT | labels("cat", "dog"), (TRAINED,),
            rename=new_names(*VIT_NAMES)),
    Fixture("vit_not_square", "ViTModel", VIT | dict(image_size=[24, 40], patch_size=[8, 10]), (picture(24, 40),)),
    # DeiT
    Fixture("deit_teacher", "DeiTForImageClassificationWithTeacher", VIT | labels("cat", "dog", "bird"),
            (TRAINED, WIDE), forms={"v4": v4()}),
    Fixture("deit_image", "DeiTForImageClassification", FIVE_HEADS | labels("cat", "dog"), (ODD,),
            rename=new_names(*VIT_NAMES)),
    Fixture("deit_model", "DeiTModel", VIT, (TRAINED,)),
    # DINOv2
    Fixture("dinov2_model", "Dinov2Model", DINOV2 | dict(hidden_size=28, num_attention_heads=4),
            (picture(28, 28), picture(42, 21), picture(31, 37)),
            forms={"v4": v4(), "short": short}),
    Fixture("dinov2_swiglu", "Dinov2Model", DINOV2 | dict(use_swiglu_ffn=True, qkv_bias=False, mlp_ratio=4),
            (picture(14, 35),), dtype="bf16"),
    Fixture("dinov2_new_names", "Dinov2Model", DINOV2 | dict(use_swiglu_ffn=True), (picture(28, 28),),
            rename=new_names(*DINOV2_NAMES), extra=split_swiglu),
    Fixture("dinov2_image", "Dinov2ForImageClassification", DINOV2 | labels("cat", "dog", "bird"),
            (picture(28, 28), picture(21, 49))),
    Fixture("dinov2_registers", "Dinov2WithRegistersModel", DINOV2 | dict(num_register_tokens=3),
            (picture(28, 28), picture(14, 42), picture(56, 35), picture(7, 21)), forms={"v4": v4()}),
    Fixture("dinov2_registers_image", "Dinov2WithRegistersForImageClassification",
            DINOV2 | dict(use_swiglu_ffn=True, qkv_bias=False) | labels("cat", "dog"), (picture(35, 28),), dtype="f16"),
    # DINOv3
    Fixture("dinov3_model", "DINOv3ViTModel", DINOV3, (TRAINED, WIDE, ODD), forms={"v4": v4(), "short": short}),
    Fixture("dinov3_gated", "DINOv3ViTModel",
            DINOV3 | dict(use_gated_mlp=True, hidden_act="silu", num_register_tokens=0, key_bias=True, query_bias=False,
                          value_bias=False, proj_bias=False, mlp_bias=False, rope_theta=30.0), (TALL,), dtype="bf16"),
    Fixture("dinov3_new_names", "DINOv3ViTModel", DINOV3 | dict(num_register_tokens=1), (picture(8, 24), picture(8, 8)),
            rename=lambda name: name.replace("layer.", "model.layer.", 1) if name.startswith("layer.") else name),
    # CLIP
    Fixture("clip_model", "CLIPModel", CLIP, (picture(32, 32, **CAPTION), picture(24, 40, **PADDED)),
            extra=position_ids("text_model.embeddings.position_ids", "vision_model.embeddings.position_ids"),
            forms={"v4": v4(), "dicts": config_dicts, "short": short_towers}),
    Fixture("clip_old_end", "CLIPModel", CLIP | dict(text_config=CLIP_TEXT | dict(eos_token_id=2, hidden_act="gelu")),
            (picture(32, 32, tokens=7, ids=(5, 9, 58, 3, 58, 4, 2)),), dtype="f16"),
    Fixture("clip_vision", "CLIPVisionModel", CLIP_VISION | dict(hidden_act="gelu"), (TRAINED, TALL)),
    Fixture("clip_vision_projection", "CLIPVisionModelWithProjection", CLIP_VISION, (WIDE,)),
    Fixture("clip_vision_old_names", "CLIPVisionModel", CLIP_VISION, (TRAINED,), rename=below("vision_model.")),
    Fixture("clip_text", "CLIPTextModel", CLIP_TEXT, (Case(9, eos_ids=(5,)), Case(12, eos_ids=(6,), masked=(0, 1, 2)), Case(1)),
            causal=True),
    Fixture("clip_text_projection", "CLIPTextModelWithProjection", CLIP_TEXT,
            (Case(12, eos_ids=(8,), masked=(9, 10, 11)),),
            causal=True, extra=position_ids("text_model.embeddings.position_ids")),
    Fixture("clip_image", "CLIPForImageClassification", CLIP | labels("cat", "dog"), (TRAINED,)),
    # SigLIP
    Fixture("siglip_model", "SiglipModel", SIGLIP,
            (picture(32, 32, tokens=9), picture(24, 40, tokens=12, masked=(9, 10, 11))),
            forms={"v4": v4(), "short": short_towers}),
    Fixture("siglip_vision", "SiglipVisionModel", VIT | dict(hidden_size=40, num_attention_heads=5), (TRAINED, ODD)),
    Fixture("siglip_vision_no_head", "SiglipVisionModel", VIT | dict(vision_use_head=False), (TALL,)),
    Fixture("siglip_vision_old_names", "SiglipVisionModel", VIT, (WIDE,), rename=below("vision_model.")),
    Fixture("siglip_text", "SiglipTextModel", SIGLIP_TEXT | dict(num_hidden_layers=2),
            (Case(9), Case(12, masked=(8, 9, 10, 11)))),
    Fixture("siglip_text_old_names", "SiglipTextModel", SIGLIP_TEXT, (Case(5),), rename=below("text_model."), file="bin"),
    Fixture("siglip_image", "SiglipForImageClassification", SIGLIP | labels("cat", "dog"), (TRAINED,)),
]
