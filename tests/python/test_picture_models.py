"""Models of pictures through the program: export, info and models with pixel_values."""

import json

import numpy
import pytest
from safetensors.numpy import load_file, save_file

import models
from program import assert_fails, ok, run


def pixels(tmp_path, *shape, **others):
    path = tmp_path / "pixels.safetensors"
    values = numpy.random.default_rng(3).standard_normal(shape).astype(numpy.float32)
    save_file({"pixel_values": values, **others}, path)
    return path


@pytest.mark.parametrize("shape", [(3, 24, 45), (1, 3, 24, 45)])
def test_export_writes_every_map_of_a_picture(tmp_path, shape):
    out = tmp_path / "maps.safetensors"
    shown = ok("export", "-m", models.PARITY / "vit_model", "--inputs", pixels(tmp_path, *shape), "--out", out)
    assert "2 maps of 5 heads, 16 x 16" in shown  # 3 x 5 patches and [CLS]
    tensors = load_file(out)
    assert set(tensors) == {"self.0", "self.1", "last_hidden_state", "pooler_output"}
    numpy.testing.assert_allclose(tensors["self.1"].sum(-1), 1, atol=1e-5)


def test_export_writes_both_towers_and_their_similarity(tmp_path):
    out = tmp_path / "maps.safetensors"
    inputs = pixels(tmp_path, 3, 32, 32, input_ids=numpy.array([7, 8, 59]))
    ok("export", "-m", models.PARITY / "clip_model", "--inputs", inputs, "--out", out)
    tensors = load_file(out)
    assert {"vision.self.1", "text.self.2", "image_embeds", "text_embeds", "text_last_hidden_state"} <= set(tensors)
    assert tensors["logits"].shape == (1,) and tensors["text.self.0"].shape == (2, 3, 3)


def test_a_captured_picture_keeps_its_grid(tmp_path):
    run_file = tmp_path / "run.fovea.safetensors"
    ok("capture", "-m", models.PARITY / "dinov2_registers", "--inputs", pixels(tmp_path, 3, 14, 28), "--out", run_file)
    with open(run_file, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    text = json.dumps(header["__metadata__"])
    assert "grid" in text and "[REG 3]" in text and "patch 1,3" in text


def test_bad_pictures_are_told(tmp_path):
    vit = models.PARITY / "vit_model"
    out = tmp_path / "maps.safetensors"
    for shape, code, said in [((4, 32, 32), 2, "takes F32 [3, height, width]"), ((3, 7, 32), 2, "one patch of this model"),
                              ((3, 32), 1, "must be [channels, height, width]")]:
        assert_fails(run("export", "-m", vit, "--inputs", pixels(tmp_path, *shape), "--out", out), code, said)
    assert_fails(run("export", "-m", vit, "a cat", "--out", out), 2, "sees pictures and reads no text")
    assert_fails(run("export", "-m", models.PARITY / "vit_not_square", "--inputs", pixels(tmp_path, 3, 32, 32), "--out", out),
                 2, "has positions for 40 x 24 only")
    assert not out.exists()


def test_info_says_how_pictures_are_cut():
    shown = ok("info", "-m", models.PARITY / "dinov2_registers", "--check")
    assert "28 x 28 pixels in 4 x 4 patches of 7 x 7, other sizes too" in shown and "[CLS] [REG 1]" in shown
    assert "good" in shown and "vocabulary" not in shown
    facts = json.loads(ok("info", "-m", models.PARITY / "siglip_model", "--json"))
    assert facts["patch_size"] == [8, 8] and facts["text_layers"] == 1 and facts["any_image_size"]
    assert "text tower" in ok("info", "-m", models.PARITY / "siglip_model")


def test_models_names_the_architectures():
    known = {a["name"] for a in json.loads(ok("models", "--json"))["architectures"]}
    assert {"vit", "deit", "dinov2", "dinov2_with_registers", "dinov3_vit", "clip", "siglip"} <= known
