"""Random checkpoints of well-known shapes, with the inputs that they are run on."""

import torch
import transformers
from safetensors.torch import save_file

# name: (class, config, inputs by the end of their file's name). BERT and GPT-2 with longer tables of positions. ViT-S/8 as
# DINO trained it, on a picture of 480 x 480, whose positions are resized: 3,601 tokens. DETR with a ResNet-50: 850 cells.
SHAPES = {
    "bert": (transformers.BertModel, dict(max_position_embeddings=2048), {12: 12, 384: 384, 512: 512, 2048: 2048}),
    "gpt2": (transformers.GPT2LMHeadModel, dict(n_positions=4096), {64: 64, 4096: 4096}),
    "vit": (transformers.ViTModel, dict(hidden_size=384, num_attention_heads=6, intermediate_size=1536, patch_size=8),
            {480: (480, 480)}),
    "detr": (transformers.DetrForObjectDetection,
             dict(use_timm_backbone=False, backbone_config=dict(model_type="resnet", out_features=["stage4"])),
             {800: (800, 1066)}),
}


STORED = {"": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def write(name, folder):
    """`name` is one of SHAPES, or with a type behind it ("bert-f16") the same weights in that."""
    name, _, kind = name.partition("-")
    cls, config, sizes = SHAPES[name]
    torch.manual_seed(0)
    with torch.inference_mode(False):
        model = cls(cls.config_class(**config))
        model.to(STORED[kind]).save_pretrained(folder)
    for end, size in sizes.items():
        if isinstance(size, int):
            inputs = {"input_ids": torch.randint(5, model.config.vocab_size, (size,))}
        else:
            inputs = {"pixel_values": torch.randn(3, *size)}
        save_file(inputs, folder / f"inputs-{end}.safetensors")
