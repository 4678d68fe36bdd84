"""The verb image on the bundled model of pictures."""

import json
import re
import struct
import zlib

import numpy
import pytest
from safetensors.numpy import load_file, save_file

import models
from png_files import SIGNATURE, chunk, png, read_grey
from program import ROOT, assert_fails, ok, run

MODEL = ROOT / "models/scenes-vit"
SCENE = MODEL / "demo/scene-1.png"


def shown(*arguments):
    result = run("image", *arguments, "--json")
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    facts = json.loads(result.stdout)
    answer = facts["result"]
    answer["weights"] = [panel["weights"] for panel in answer["panels"]]
    # What is told of every answer, and what the kinds of answers do not call so themselves.
    for name in ("site", "layer", "caption", "method", "outputs"):
        answer.setdefault(name, facts[name])
    return answer


def test_the_objects_of_a_scene_are_named_and_every_head_is_drawn():
    text = ok("image", SCENE)
    assert text.startswith("classes")
    for name in ("cow", "house", "horse", "tree", "sheep", "person", "head 0", "head 5"):
        assert name in text
    joined = " ".join(text.split())
    assert "Row: what [CLS] attends to · layer 7, 6 heads" in joined and "log colours ×1 to ×32" in joined


def test_what_the_card_of_a_model_says_ends_its_captions(tmp_path):
    model, run_file = tmp_path / "scenes-vit", tmp_path / "run.fovea.safetensors"
    model.mkdir()
    for name in ("config.json", "model.safetensors", "preprocessor_config.json"):
        (model / name).symlink_to(MODEL / name)
    assert "synthetic" not in ok("image", SCENE, "-m", model)  # a name says nothing
    (model / "fovea_card.json").write_text('{"note": "a model\\nof trees"}')
    ok("capture", SCENE, "-m", model, "--out", run_file)
    for shows in (["image", SCENE, "-m", model], ["explain", SCENE, "-m", model, "--method", "raw"], ["open", run_file]):
        assert " · a model\\nof trees" in " ".join(ok(*shows, "--head", "1").split())
    assert "a small model trained on synthetic scenes" in " ".join(ok("image", SCENE).split())
    (model / "fovea_card.json").write_text('{"note": ["of trees"]}')
    assert_fails(run("image", SCENE, "-m", model), 1, "fovea_card.json", "note")


@pytest.mark.numbers
def test_predicted_classes_are_those_of_transformers():
    """tools/fixtures/make_class_answers.py asked transformers about pictures of every format."""
    answers = json.loads((ROOT / "tests/data/vision/classes.json").read_text())
    assert len(answers) >= 15
    for name, expected in answers.items():
        words = ok("image", ROOT / name).split("\nartifacts")[0].split()[1:]
        # Between two stands " · ", or the end of a line.
        found = [(label, float(p)) for label, p in re.findall(r"(.+?) (\d\.\d{3})(?: ·)? ?", " ".join(words))]
        assert [label for label, _ in found] == [label for label, _ in expected], name
        # Printed to 3 digits; pixels may be one grey level off.
        assert [p for _, p in found] == pytest.approx([p for _, p in expected], abs=0.01), name


def test_json_has_the_classes_too():
    classes = shown(SCENE)["outputs"]["classes"]
    assert {"label": "cow", "index": 18}.items() <= classes[0].items() and 0.9 < classes[0]["probability"] <= 1


def test_rows_sum_to_one_and_equal_the_exported_map(tmp_path):
    answer = shown(SCENE, "--layer", "3")
    weights = numpy.array(answer["weights"])
    assert weights.shape == (6, 28, 28) and answer["query"] == "[CLS]" and (answer["site"], answer["layer"]) == ("self", 3)
    numpy.testing.assert_allclose(answer["sums"], 1, atol=1e-5)
    numpy.testing.assert_allclose(weights.sum((1, 2)), answer["on_patches"], atol=1e-5)


def test_a_patch_looks_and_is_looked_at():
    row = shown(SCENE, "--at", "60,100", "--head", "2")
    assert row["query"] == "patch 12,7" and row["sums"] == pytest.approx([1], abs=1e-5)
    column = shown(SCENE, "--at", "60,100", "--head", "2", "--column")
    assert column["caption"].startswith("Column: who attends to patch 12,7")
    assert column["sums"][0] != pytest.approx(1, abs=1e-3)
    other = shown(SCENE, "--at", "63,103", "--head", "2")
    assert other["weights"] == row["weights"]  # the same patch of 8 x 8 pixels
    assert shown(SCENE, "--at", "64,100", "--head", "2")["query"] == "patch 12,8"


def test_means_and_maxima_are_those_of_the_heads():
    heads = numpy.array(shown(SCENE)["weights"])
    numpy.testing.assert_allclose(shown(SCENE, "--head", "mean")["weights"][0], heads.mean(0), atol=1e-7)
    numpy.testing.assert_allclose(shown(SCENE, "--head", "max")["weights"][0], heads.max(0), atol=1e-7)


def test_a_mask_holds_its_share_with_the_fewest_patches():
    answer = shown(SCENE, "--mask", "0.6", "--head", "mean")
    weights, mask = numpy.array(answer["weights"][0]).ravel(), numpy.array(answer["masks"][0]).astype(bool)
    held = weights[mask].sum() / weights.sum()
    assert 0.6 <= held + 1e-6 and held - weights[mask].min() / weights.sum() < 0.6 + 1e-6
    assert weights[mask].min() >= weights[~mask].max()
    assert "60 %" in answer["caption"]


def runs_of(mask):
    """COCO's text form of a mask, from its definition."""
    flat, counts, value = mask.T.ravel().tolist(), [0], 0
    for pixel in flat:
        if pixel != value:
            counts.append(0)
            value = pixel
        counts[-1] += 1
    text = ""
    for i, count in enumerate(counts):
        number, more = count - counts[i - 2] if i > 2 else count, True
        while more:
            bits = number & 31
            number >>= 5
            more = number != (-1 if bits & 16 else 0)
            text += chr(bits + 32 * more + 48)
    return {"size": list(mask.shape), "counts": text}


@pytest.mark.parametrize("view, method, values", [("lost", "LOST", "similar patches"), ("tokencut", "TokenCut", "eigenvector")])
def test_an_object_has_a_seed_a_mask_and_a_box(view, method, values, tmp_path):
    answer = shown(SCENE, "--view", view, "--mask-out", tmp_path / "m.png")
    mask = numpy.array(answer["mask"])
    row, col = answer["seed"]
    assert answer["method"] == method and (answer["site"], answer["layer"]) == ("self", 7) and mask.shape == (28, 28) and mask[row, col] == 1
    rows, cols = numpy.nonzero(mask)
    assert answer["box_xyxy"] == [8 * cols.min(), 8 * rows.min(), 8 * cols.max() + 8, 8 * rows.max() + 8]
    assert [panel["title"] for panel in answer["panels"]] == [values, "foreground", "object"]
    numbers, foreground, drawn = map(numpy.array, answer["weights"])
    assert (drawn == mask).all() and (mask <= foreground).all()
    assert numbers[row, col] == (numbers.min() if view == "lost" else numbers.max())
    written = read_grey(tmp_path / "m.png")
    assert (written == numpy.kron(mask, numpy.ones((8, 8), int))).all()
    assert answer["rle"] == runs_of(written)
    for part in (method, "layer 7", "seed", "foreground"):
        assert part in answer["caption"]
    ok("image", SCENE, "--view", view, "--out", tmp_path / "a.npy")
    assert numpy.load(tmp_path / "a.npy").shape == (3, 28, 28)
    assert shown(SCENE, "--view", view, "--layer", "2")["layer"] == 2
    assert "object" in ok("image", SCENE, "--view", view)


def test_masks_have_boxes_and_are_written(tmp_path):
    answer = shown(SCENE, "--mask", "0.6", "--head", "mean", "--mask-out", tmp_path / "m.png")
    mask = numpy.array(answer["masks"][0]).reshape(28, 28)
    assert (read_grey(tmp_path / "m.png") == numpy.kron(mask, numpy.ones((8, 8), int))).all()
    left, top, right, bottom = numpy.array(answer["boxes_xyxy"][0]) / 8
    assert mask[int(top):int(bottom), int(left):int(right)].any(0).all()
    assert_fails(run("image", SCENE, "--mask-out", tmp_path / "n.png"), 2, "--mask 0.6")
    assert_fails(run("image", SCENE, "--mask", "0.6", "--head", "0,2", "--mask-out", tmp_path / "n.png"), 2, "every head has its own")
    assert_fails(run("image", SCENE, "--mask", "0.6", "--mask-out", tmp_path / "n.png"), 2, "--head")
    assert_fails(run("image", SCENE, "--view", "lost", "--mask-out", tmp_path / "n.jpg"), 2, ".png")
    assert_fails(run("image", SCENE, "--view", "lost", "--head", "1"), 2, "--head", "lost")
    assert_fails(run("image", SCENE, "--view", "lost", "--mask-out", tmp_path / "no/n.png"), 1, "no/n.png")
    assert {path.name for path in tmp_path.iterdir()} == {"m.png"}


@pytest.mark.parametrize("fixture", ["dinov2_registers", "clip_model", "siglip_model", "deit_model"])
def test_objects_of_other_models_have_patches_only(fixture, tmp_path):
    folder = models.copy_fixture(fixture, tmp_path / fixture)
    (folder / "preprocessor_config.json").write_text(json.dumps(
        {"size": {"height": 32, "width": 32}, "do_center_crop": False, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}))
    facts = json.loads(ok("info", "-m", folder, "--json"))
    side = facts["image_size"][0]
    answer = shown(SCENE, "-m", folder, "--view", "lost", *([] if not facts["any_image_size"] else ["--size", f"{side}x{side}"]))
    rows, cols = answer["grid"]
    assert numpy.array(answer["mask"]).shape == (rows, cols) and rows * cols == (side // facts["patch_size"][0]) ** 2


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf", "npy", "npz", "safetensors", "json", "csv"])
def test_it_is_written_in_every_form(suffix, tmp_path):
    path = tmp_path / f"a.{suffix}"
    assert ok("image", SCENE, "--out", path) == f"wrote {path}\n"
    if suffix == "npy":
        assert numpy.load(path).shape == (6, 28, 28)


def test_other_sizes_and_shapes_are_seen_whole(tmp_path):
    (tmp_path / "wide.png").write_bytes(png(300, 60))
    wide = shown(tmp_path / "wide.png", "--size", "160x32")
    assert numpy.array(wide["weights"]).shape == (6, 4, 20) and wide["picture"] == [300, 60]
    assert shown(tmp_path / "wide.png", "--size", "160x32", "--at", "299,59")["query"] == "patch 3,19"
    whole = shown(tmp_path / "wide.png", "--at", "0,0")
    assert numpy.array(whole["weights"]).shape == (6, 28, 28) and whole["query"] == "patch 0,0"
    (tmp_path / "dot.png").write_bytes(png(1, 1))
    assert shown(tmp_path / "dot.png")["picture"] == [1, 1]


def test_a_wrong_suffix_does_not_matter(tmp_path):
    (tmp_path / "photo.jpg").write_bytes(SCENE.read_bytes())
    assert shown(tmp_path / "photo.jpg")["weights"] == shown(SCENE)["weights"]


def test_files_that_are_no_pictures_are_told(tmp_path):
    data = SCENE.read_bytes()
    cases = {"cut.png": data[: len(data) // 2], "empty.png": b"", "text.png": b"hello", "gif.gif": b"GIF89a" + bytes(40)}
    for name, content in cases.items():
        (tmp_path / name).write_bytes(content)
        assert_fails(run("image", tmp_path / name), 1, name)
    assert_fails(run("image", tmp_path), 1, tmp_path.name)
    assert_fails(run("image", tmp_path / "missing.png"), 1, "missing.png")
    header = struct.pack(">IIBBBBB", 30000, 30000, 8, 2, 0, 0, 0)
    (tmp_path / "huge.png").write_bytes(SIGNATURE + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1000))))
    assert_fails(run("image", tmp_path / "huge.png"), 1, "30000")


def test_wrong_usage_is_told(tmp_path):
    assert_fails(run("image"), 2, "FILE")
    assert_fails(run("image", SCENE, "--at", "5"), 2, "5", "X,Y")
    assert_fails(run("image", SCENE, "--at", "500,5"), 2, "500,5", "224 x 224")
    assert_fails(run("image", SCENE, "--mask", "1.5"), 2, "1.5")
    assert_fails(run("image", SCENE, "--size", "big"), 2, "big", "WxH")
    assert_fails(run("image", SCENE, "--size", "4x4"), 2, "fovea: --size: 4 x 4 is smaller than", "8 x 8")
    assert_fails(run("image", SCENE, "--layer", "8"), 2, "8", "0 to 7")
    assert_fails(run("image", SCENE, "--head", "6"), 2, "6")
    for option in ("--layer", "--head"):  # before the picture is read
        assert_fails(run("image", tmp_path / "missing.png", option, "99"), 2, f"{option}: 99 is beyond", "0 to ")
    assert_fails(run("image", SCENE, "--token", "[REG 1]"), 2, "fovea: --token: '[REG 1]'", "[CLS]")
    assert_fails(run("image", SCENE, "--out", tmp_path / "a.docx"), 2, ".docx")
    assert_fails(run("image", "-m", "en-fr", SCENE), 1, "sees no pictures", "scenes-vit")
    assert_fails(run("text", "-m", "scenes-vit", "a cat"), 2, "sees pictures", "`fovea image FILE`", "--inputs")
    assert_fails(run("text", "-m", "scenes-detr", "a cat"), 2, "sees pictures", "`fovea detect FILE`")


def test_export_of_pixels_holds_every_map(tmp_path):
    pixels = numpy.random.default_rng(0).standard_normal((3, 16, 24), dtype=numpy.float32)
    save_file({"pixel_values": pixels}, tmp_path / "in.safetensors")
    ok("export", "-m", "scenes-vit", "--inputs", tmp_path / "in.safetensors", "--out", tmp_path / "o.safetensors")
    maps = load_file(tmp_path / "o.safetensors")
    assert {f"self.{i}" for i in range(8)} <= set(maps) and maps["self.0"].shape == (6, 7, 7)
    assert maps["logits"].shape == (48,)


def test_a_large_map_is_drawn_as_times_even_and_written_as_weights(tmp_path):
    captured = tmp_path / "run.fovea.safetensors"
    ok("capture", SCENE, "-m", "scenes-vit", "--out", captured)
    place = ("open", captured, "--view", "matrix", "--head", "0")
    said = ok(*place)
    assert "divided by what even attention gives" in said and "÷32 to ×32" in said and "times even" in said
    assert "each row sums to 1.00" in ok(*place, "--of", "weight")
    ok(*place, "--out", tmp_path / "map.npy")
    numpy.testing.assert_allclose(numpy.load(tmp_path / "map.npy").sum(axis=1), 1, atol=1e-4)
