"""Tiny random models of many families: captured maps are those that the model itself gives with eager attention."""

import families
import pytest
import torch

NAMES = [f"{family.type}-{number}" for number, family in enumerate(families.FAMILIES)]


@pytest.mark.parametrize("family", families.FAMILIES, ids=NAMES)
@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-5), (torch.bfloat16, 2e-2)], ids=["f32", "bf16"])
def test_captured_maps_are_those_of_the_model(family, dtype, tolerance):
    difference, compared = families.difference(family, dtype)
    assert compared >= 4 and difference <= tolerance


def test_there_are_many_families_of_every_sort():
    assert len({family.type for family in families.FAMILIES}) >= 45
    kinds = " ".join(family.kind for family in families.FAMILIES)
    for word in ("decoder", "encoder-decoder", "vision", "detection", "two towers", "window", "soft cap", "sinks", "ALiBi", "relative", "latent", "sound"):
        assert word in kinds
