"""The models of tools/make_fixture.py that find objects, as fixture_models.py has the models of one text."""

import re
from collections.abc import Callable

import torch

from fixture_models import Case, Fixture, labels


def detector(*parts, **options) -> Fixture:
    return Fixture(*parts, **{"row_maximum": 0.32} | options)  # a deep trunk leaves less of float32


def scene(height: int, width: int, seen: tuple = ()) -> Case:
    """A picture; of `seen` (height, width) only that corner is picture and the rest padding."""
    return Case(0, pixels=(height, width), seen=seen)


# Names as transformers 5.22 has them in memory; save_pretrained writes the older ones.
NEW_NAMES = (("backbone.conv_encoder", "backbone"), ("out_proj", "o_proj"), (r"layers\.(\d+)\.fc", r"layers.\1.mlp.fc"),
             ("bbox_attention.q_linear", "bbox_attention.q_proj"), ("bbox_attention.k_linear", "bbox_attention.k_proj"),
             (r"mask_head\.lay([12])", r"mask_head.conv\1.conv"), (r"mask_head\.gn([12])", r"mask_head.conv\1.norm"),
             ("mask_head.out_lay", "mask_head.output_conv"),
             *((f"mask_head.{old}{number + first}", f"mask_head.fpn_stages.{number}.{new}") for number in range(3)
               for old, first, new in (("adapter", 1, "fpn_adapter"), ("lay", 3, "refine.conv"), ("gn", 3, "refine.norm"))))


def new_names(name: str) -> str:
    for old, new in NEW_NAMES:
        name = re.sub(old, new, name)
    return name


def timm_names(name: str) -> str:
    """The names of timm's resnet, which the published checkpoints have, for those of transformers' own."""
    head, found, rest = name.partition("conv_encoder.model.")
    if not found:
        return name
    rest = rest.replace("embedder.embedder.convolution", "conv1").replace("embedder.embedder.normalization", "bn1")
    rest = re.sub(r"encoder\.stages\.(\d+)\.layers\.(\d+)\.",
                  lambda at: f"layer{int(at[1]) + 1}.{at[2]}.", rest)
    rest = rest.replace("shortcut.convolution", "downsample.0").replace("shortcut.normalization", "downsample.1")
    rest = re.sub(r"layer\.(\d)\.convolution", lambda at: f"conv{int(at[1]) + 1}", rest)
    return head + found + re.sub(r"layer\.(\d)\.normalization", lambda at: f"bn{int(at[1]) + 1}", rest)


def batches_tracked(stored: dict) -> dict:
    """What ordinary batch norms store beside the numbers they use."""
    return {name.replace("running_mean", "num_batches_tracked"): torch.tensor(7)
            for name in stored if name.endswith("running_mean")}


def timm_config(backbone: str, **more) -> Callable:
    """The config of a checkpoint whose trunk is timm's, as transformers 4 wrote it."""
    def change(config: dict) -> dict:
        kept = {n: v for n, v in config.items() if n not in ("backbone_config", "dtype")}
        return kept | {"use_timm_backbone": True, "backbone": backbone, "torch_dtype": config["dtype"]} | more
    return change


def timm_section(backbone: str, **more) -> Callable:
    """The same as transformers 5 writes it."""
    def change(config: dict) -> dict:
        return config | {"backbone_config": {"model_type": "timm_backbone", "backbone": backbone, "num_channels": 3,
                                             "features_only": True, "out_indices": [1, 2, 3, 4]} | more}
    return change


def dilate(model) -> None:
    """DC5 as timm's output_stride=16 makes it: the last stage has no step; its 3 x 3 convolutions are dilated by 2, but
    the first of a bottleneck's and the first of a pair are not."""
    last = model.get_submodule("model.backbone.model.encoder.stages")[-1]
    for index, block in enumerate(last.layers):
        basic = len(block.layer) == 2
        for place, layer in enumerate(block.layer):
            conv = layer.convolution
            conv.stride = (1, 1)
            if conv.kernel_size == (3, 3) and (index > 0 or (basic and place > 0)):
                conv.dilation = conv.padding = (2, 2)
        if hasattr(block.shortcut, "convolution"):
            block.shortcut.convolution.stride = (1, 1)


def resnet(**changes) -> dict:
    return {"backbone_config": dict(model_type="resnet", num_channels=3, embedding_size=6, hidden_sizes=[8, 12, 20, 24],
                                    depths=[1, 2, 1, 2], layer_type="bottleneck", out_features=["stage4"]) | changes}


# 5 heads of 8 in the encoder, 4 of 10 in the decoder; hundreds of pixels become a few dozen cells.
DETR = dict(d_model=40, encoder_layers=2, decoder_layers=3, encoder_attention_heads=5, decoder_attention_heads=4,
            encoder_ffn_dim=28, decoder_ffn_dim=36, num_queries=7) | labels("cat", "dog", "bird")
BASIC = resnet(layer_type="basic", embedding_size=8, hidden_sizes=[8, 10, 12], depths=[2, 1, 2], out_features=["stage3"])
DEEP = resnet(embedding_size=4, hidden_sizes=[8, 8, 12, 16], depths=[3, 4, 6, 3])
SHALLOW = resnet(layer_type="basic", embedding_size=4, hidden_sizes=[4, 6, 8, 10], depths=[2, 2, 2, 2])
PANOPTIC = dict(d_model=32, encoder_attention_heads=8, decoder_attention_heads=4)
ALL_STAGES = ["stage1", "stage2", "stage3", "stage4"]

ODD, PADDED, TALL = scene(101, 157), scene(128, 160, seen=(90, 121)), scene(190, 65)

DETECTION_FIXTURES = [
    detector("detr_objects", "DetrForObjectDetection", DETR | resnet(), (ODD, PADDED, TALL), extra=batches_tracked),
    detector("detr_new_names", "DetrForObjectDetection", DETR | resnet(), (PADDED,), rename=new_names),
    detector("detr_basic", "DetrForObjectDetection", DETR | BASIC, (scene(75, 59), scene(64, 80, seen=(50, 33)))),
    detector("detr_model", "DetrModel", DETR | resnet(downsample_in_bottleneck=True, downsample_in_first_stage=True),
            (scene(200, 257),)),
    detector("detr_f16", "DetrForObjectDetection", DETR | BASIC | dict(auxiliary_loss=True, activation_function="gelu"),
            (scene(90, 110, seen=(61, 110)),), dtype="f16"),
    detector("detr_learned", "DetrForObjectDetection", DETR | BASIC | dict(position_embedding_type="learned"),
            (scene(100, 75), scene(96, 80, seen=(70, 33)))),
    # The two namings of one trunk: the same weights as of detr_objects would be, under timm's names.
    detector("detr_timm_names", "DetrForObjectDetection", DETR | resnet(), (ODD, PADDED), rename=timm_names,
            extra=batches_tracked, readable=False),
    detector("detr_timm_resnet50", "DetrForObjectDetection", DETR | DEEP, (ODD, PADDED), rename=timm_names, readable=False,
            forms={"v5": timm_section("resnet50.a1_in1k")}, rewrite=timm_config("resnet50")),
    detector("detr_timm_resnet18", "DetrForObjectDetection", DETR | SHALLOW, (ODD,), rename=timm_names, readable=False,
            rewrite=timm_config("resnet18", backbone_kwargs={"out_indices": [1, 2, 3, 4], "output_stride": 32})),
    detector("detr_dc5", "DetrForObjectDetection", DETR | DEEP, (scene(70, 85), scene(64, 90, seen=(50, 70))),
            rename=timm_names, readable=False, prepare=dilate, rewrite=timm_config("resnet50", dilation=True),
            forms={"v5": timm_section("resnet50", output_stride=16)}),
    detector("detr_dc5_basic", "DetrForObjectDetection", DETR | SHALLOW, (scene(120, 151),), rename=timm_names,
            readable=False, prepare=dilate, rewrite=timm_config("resnet18", dilation=True)),
    detector("detr_panoptic", "DetrForSegmentation", DETR | PANOPTIC | resnet(out_features=ALL_STAGES), (ODD, PADDED)),
    detector("detr_panoptic_f16", "DetrForSegmentation", DETR | PANOPTIC | resnet(out_features=ALL_STAGES),
            (TALL,), rename=new_names, dtype="f16"),
    detector("table_transformer", "TableTransformerForObjectDetection", DETR | BASIC, (scene(59, 90), scene(64, 80, seen=(50, 33)))),
]
