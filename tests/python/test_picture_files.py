"""Picture files where verbs take an INPUT: steps, capture, open, export; and texts beside a picture."""

import json
import re
import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import models
from png_files import png
from program import ROOT, assert_fails, ok, run
from test_image import SCENE

RGB = {"do_resize": False, "do_center_crop": False, "do_rescale": True, "rescale_factor": 1 / 255, "do_normalize": True,
       "image_mean": [0.5, 0.5, 0.5], "image_std": [0.25, 0.25, 0.25]}


def seeing(folder, fixture, **options):
    """A model of pictures that takes them as they are."""
    models.copy_fixture(fixture, folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(RGB | options))
    return folder


def reading(folder, eos):
    """Gives it whole words, with the end-of-text token behind them."""
    config = json.loads((folder / "config.json").read_text())["text_config"]
    words = ["<unk>", "<pad>", "a", "cat", "dog", "photo", "of"]
    vocabulary = {word: i for i, word in enumerate(words)} | {f"w{i}": i for i in range(len(words), config["vocab_size"])}
    end = f"w{eos}"
    (folder / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"}, "decoder": None,
        "added_tokens": [{"id": eos, "content": end, "special": True, "single_word": False, "lstrip": False, "rstrip": False,
                          "normalized": False}],
        "post_processor": {"type": "TemplateProcessing", "special_tokens": {end: {"id": end, "ids": [eos], "tokens": [end]}},
                           "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": end, "type_id": 0}}],
                           "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}]},
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "<unk>"}}))
    return folder


def pixels_of(width, height):
    """What RGB makes of the picture png() writes."""
    y, x = np.mgrid[:height, :width]
    rgb = np.stack([x % 256, y % 256, np.full_like(x, 128)]).astype(np.float64) / 255
    return ((rgb - 0.5) / 0.25).astype(np.float32)


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    path = tmp_path_factory.mktemp("pictures") / "ramp.png"
    path.write_bytes(png(32, 32))
    return path


@pytest.fixture(scope="module")
def vit(tmp_path_factory):
    return seeing(tmp_path_factory.mktemp("vit") / "vit", "vit_model")


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    return reading(seeing(tmp_path_factory.mktemp("clip") / "clip", "clip_model"), 59)


@pytest.fixture(scope="module")
def siglip(tmp_path_factory):
    return reading(seeing(tmp_path_factory.mktemp("siglip") / "siglip", "siglip_model"), 58)


def exported(model, out, **tensors):
    save_file(tensors, out.with_suffix(".in"))
    ok("export", "-m", model, "--inputs", out.with_suffix(".in"), "--out", out)
    return load_file(out)


# steps --------------------------------------------------------------------------------------------


def steps(*arguments):
    """The facts with those of the result beside them."""
    facts = json.loads(ok("steps", *arguments, "--json"))
    return {**facts, **facts["result"]}


def test_a_patch_comes_about_step_by_step(vit, picture, tmp_path):
    maps = exported(vit, tmp_path / "maps.safetensors", pixel_values=pixels_of(32, 32))
    found = steps(picture, "-m", vit, "--at", "9,17", "--layer", 0, "--head", 3)
    assert found["token"] == "patch 2,1" and found["row"] == 1 + 2 * 4 + 1
    assert found["picture"] == [32, 32] and found["axes"][0]["grid"] == [4, 4] and found["input"] == {"picture": str(picture)}
    assert found["cols"][:2] == ["[CLS]", "patch 0,0"] and len(found["cols"]) == 17
    np.testing.assert_allclose(found["weights"], maps["self.0"][3, 10], atol=1e-5)  # the contract of maps
    np.testing.assert_allclose(found["weighted_sum"], np.array(found["weights"]) @ np.array(found["v"]), atol=1e-12)
    np.testing.assert_allclose(np.array(found["k"]) @ np.array(found["q"]), found["scores"], atol=1e-9)
    assert found["output_difference"] <= 1e-5
    edge = steps(picture, "-m", vit, "--at", "8,16", "--layer", 0, "--head", 3)
    assert edge["row"] == found["row"]  # the same patch of 8 x 8 pixels


def test_without_a_patch_it_is_the_token_in_front(vit, picture):
    found = steps(picture, "-m", vit)
    assert found["token"] == "[CLS]" and found["row"] == 0 and found["layer"] == 1 and found["site"] == "self"
    assert found["weights"] == steps(picture, "-m", vit, "--token", "[CLS]", "--site", "self")["weights"]
    assert steps(picture, "-m", vit, "--token", "patch 3,3")["row"] == 16


def test_registers_are_rows_too(tmp_path, picture):
    model = seeing(tmp_path / "dino", "dinov2_registers", do_resize=True, size={"height": 28, "width": 28})
    found = steps(picture, "-m", model, "--token", "[REG 2]")
    assert found["row"] == 2 and found["token"] == "[REG 2]" and found["axes"][0]["grid"] == [4, 4]


def test_towers_and_the_pooling_head_are_chosen_by_site(clip, siglip, picture, tmp_path):
    maps = exported(siglip, tmp_path / "maps.safetensors", pixel_values=pixels_of(32, 32))
    pool = steps(picture, "-m", siglip, "--head", 2)
    assert (pool["site"], pool["layer"]) == ("pool", 0) and pool["token"] == "[POOL]" and "x" not in pool
    np.testing.assert_allclose(pool["weights"], maps["pool.0"][2, 0], atol=1e-5)
    for name in ("vision", "vision.self"):
        assert steps(picture, "-m", siglip, "--site", name, "--at", "0,0")["site"] == "vision.self"
    assert steps(picture, "-m", siglip, "--at", "31,31")["token"] == "patch 3,3"
    assert steps(picture, "-m", clip)["site"] == "vision.self"
    found = steps("a cat", "-m", clip)
    assert (found["site"], found["layer"]) == ("text.self", 2)
    text = " ".join(ok("steps", picture, "-m", siglip).split())
    for fact in ("q = p Wq + bq", "k = s Wk + bk, s: the patches", "v = s Wv + bv", "p is a learned query"):
        assert fact in text, fact


def test_the_default_model_sees_pictures_of_any_size():
    found = steps(SCENE, "--at", "60,100", "--size", "112x112")
    assert found["model"]["name"] == "scenes-vit" and found["token"] == "patch 6,3" and found["axes"][0]["grid"] == [14, 14]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_every_stage_is_told_and_the_weights_are_drawn(vit, picture, width):
    for colour in ({}, {"FORCE_COLOR": "3"}):
        text = ok("steps", picture, "-m", vit, "--at", "9,17", environment={"COLUMNS": str(width), **colour})
        plain = re.sub(r"\x1b\[[0-9;]*m|[\u2068\u2069]", "", text)
        assert max(map(len, plain.splitlines())) <= width
        joined = " ".join(plain.split())
        for fact in ("patch 2,1", "pixels 8 to 15 across, 16 to 23 down", "q = norm(x) Wq + bq", "Weighted sum", "weights",
                     'Row 10 "patch 2,1" → what it attends to'):
            assert fact in joined, fact


@pytest.mark.parametrize("suffix, magic", [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"), ("npz", b"PK"), ("json", b"{")])
def test_steps_of_a_picture_are_written(vit, picture, tmp_path, suffix, magic):
    out = tmp_path / f"steps.{suffix}"
    assert ok("steps", picture, "-m", vit, "--at", "9,17", "--out", out) == f"wrote {out}\n"
    assert out.read_bytes().startswith(magic)


def test_wrong_questions_about_a_picture_are_told(vit, clip, siglip, picture, tmp_path):
    bert = models.bert(tmp_path / "bert")
    cases = [
        (("a cat", "-m", bert, "--at", "3,3"), 2, ("--at", "is given a text", "--token")),
        (("a cat", "-m", clip, "--at", "3,3"), 2, ("--at", "is given a text")),
        ((picture, "-m", vit, "--at", "32,3"), 2, ("--at: 32,3 is not seen", "32 x 32 pixels")),
        ((picture, "-m", vit, "--at", "x"), 2, ("--at: 'x'", "X,Y")),
        ((picture, "-m", vit, "--token", "[REG 1]"), 2, ("[REG 1]",)),
        ((picture, "-m", vit, "--site", "pool"), 2, ("--site: pool", "on a picture", "choose self")),
        ((picture, "-m", vit, "--site", "cross"), 2, ("--site: cross", "choose self")),
        (("a cat", "-m", clip, "--site", "vision"), 2, ("--site: vision", "on a text", "choose text")),
        ((picture, "-m", siglip, "--site", "vision"), 2, ("--at", "no token in front", "X,Y")),
        ((picture, "-m", siglip, "--site", "pool", "--at", "3,3"), 2, ("--at: 3,3", "one pooling head")),
        ((picture, "-m", vit, "--to", "fr"), 2, ("--to: 'fr'", "X,Y")),
        ((picture, "-m", vit, "--layer", "2"), 2, ("--layer: 2 is beyond", "0 to 1")),
        ((picture, "-m", clip, "--pair", "a dog"), 2, ("--pair", "ramp.png")),
        (("a cat", "-m", bert, "--size", "32x32"), 2, ("--size", "for pictures")),
        ((tmp_path / "missing.png", "-m", vit), 1, ("missing.png",)),
        ((tmp_path / "missing.png", "-m", clip), 1, ("missing.png",)),
        (("--vectors", ROOT / "examples/four_words.json", "--size", "3x3"), 2, ("--size", "--vectors")),
    ]
    for arguments, code, facts in cases:
        assert_fails(run("steps", *arguments), code, *facts)


# explain ------------------------------------------------------------------------------------------


def test_a_picture_or_a_text_is_what_to_be_similar_to(vit, clip, picture, tmp_path):
    def explained(*arguments, **options):
        result = run("explain", *arguments, "--method", "input-gradient", "--json", **options)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)["result"]

    (tmp_path / "other.png").write_bytes(png(32, 32, lambda x, y: (128, 7 * x, 5 * y)))
    (tmp_path / "cat").write_text("no picture")
    for model in (vit, clip):
        answer = explained(picture, "-m", model, "--against", "other.png", cwd=tmp_path)
        assert answer["target"] == "similarity to “other.png”" and any(answer["scores"])
    of_texts = explained(picture, "-m", clip, "--against", "a cat", "--class", "other.png", cwd=tmp_path)
    assert (of_texts["target"], of_texts["against"]) == ("similarity to “other.png”", "similarity to “a cat”")
    # What is no picture is the text itself, whatever lies there.
    assert explained(picture, "-m", clip, "--against", "cat", cwd=tmp_path) == explained(picture, "-m", clip, "--against", "cat")
    assert_fails(run("explain", picture, "-m", vit, "--against", "none.png"), 2, "none.png", "is no file", "pictures only")
    assert_fails(run("explain", picture, "-m", vit, "--against", tmp_path / "cat"), 1, "not a picture")


# capture, open, export ----------------------------------------------------------------------------


def test_export_takes_a_picture_file(vit, picture, tmp_path):
    out = tmp_path / "maps.safetensors"
    ok("export", picture, "-m", vit, "--out", out)
    maps = load_file(out)
    expected = exported(vit, tmp_path / "expected.safetensors", pixel_values=pixels_of(32, 32))
    assert set(maps) == set(expected)
    for name, tensor in expected.items():
        # Pixels here are made in double, there in float: one rounding apart.
        np.testing.assert_allclose(maps[name], tensor, atol=1e-4, err_msg=name)


def test_a_captured_picture_is_shown_over_its_picture(vit, picture, tmp_path):
    out = tmp_path / "run.fovea.safetensors"
    assert "17 tokens, 2 sites" in ok("capture", picture, "-m", vit, "--out", out)
    kept = load_file(out)["picture"]
    assert kept.dtype == np.uint8 and kept.shape == (32, 32, 3) and tuple(kept[5, 9]) == (9, 5, 128)
    shown = json.loads(ok("open", out, "--token", "patch 2,1", "--column", "--json"))
    asked = json.loads(ok("image", picture, "-m", vit, "--at", "9,17", "--column", "--json"))
    assert shown["result"]["query"] == "patch 2,1" and shown["result"]["panels"] == asked["result"]["panels"] and shown["caption"] == asked["caption"]
    text = ok("open", out)
    assert "head 4" in text and "Row: what [CLS] attends to" in " ".join(text.split())
    ok("open", out, "--head", "mean", "--out", tmp_path / "mean.png")
    assert (tmp_path / "mean.png").read_bytes().startswith(b"\x89PNG")
    matrix = json.loads(ok("open", out, "--view", "matrix", "--head", "0", "--json"))
    assert len(matrix["result"]["rows"]) == 17


def test_a_capture_of_pixels_has_no_picture(vit, tmp_path):
    save_file({"pixel_values": pixels_of(32, 32)}, tmp_path / "in.safetensors")
    out = tmp_path / "run.fovea.safetensors"
    ok("capture", "-m", vit, "--inputs", tmp_path / "in.safetensors", "--out", out)
    assert "picture" not in load_file(out)
    assert "head 4" in ok("open", out)


def test_large_pictures_are_kept_small(vit, tmp_path):
    (tmp_path / "large.png").write_bytes(png(900, 300))
    model = seeing(tmp_path / "resizing", "vit_model", do_resize=True, size={"height": 32, "width": 32})
    ok("capture", tmp_path / "large.png", "-m", model, "--out", tmp_path / "run.safetensors")
    assert load_file(tmp_path / "run.safetensors")["picture"].shape == (149, 448, 3)


# texts beside a picture ---------------------------------------------------------------------------


def similarity(model, picture, *texts):
    options = [part for text in texts for part in ("--text", text)]
    answer = json.loads(ok("image", picture, "-m", model, "--at", "3,3", *options, "--json"))["result"]
    assert np.array(answer["panels"][0]["weights"]).shape == (4, 4)
    return answer["similarity"]


@pytest.mark.parametrize("kind", ["clip", "siglip"])
def test_similarities_are_those_of_the_model(kind, picture, tmp_path, request):
    """The same towers and logits as `export`, which tests hold against transformers (logits_per_image)."""
    model = request.getfixturevalue(kind)
    texts = {"a cat": [2, 3], "a photo of a dog": [2, 5, 6, 2, 4]}
    found = similarity(model, picture, *texts)
    # logits_per_image of transformers 5.22.2 on the same pixels and ids.
    known = {"clip": [0.1099435, 0.0589790], "siglip": [-0.1874624, -0.0685065]}[kind]
    np.testing.assert_allclose([each["logit"] for each in found["texts"]], known, atol=1e-5)
    logits = []
    for (text, ids), each in zip(texts.items(), found["texts"]):
        ids = ids + ([59] if kind == "clip" else [58] + [1] * (19 - len(ids)))  # SigLIP reads padding too
        out = exported(model, tmp_path / "out.safetensors", pixel_values=pixels_of(32, 32), input_ids=np.array(ids))
        assert each["text"] == text
        assert each["logit"] == pytest.approx(out["logits"][0], abs=1e-4)
        assert each["cosine"] == pytest.approx(out["image_embeds"] @ out["text_embeds"], abs=1e-5)
        assert each["logit"] == pytest.approx(found["scale"] * each["cosine"] + found["bias"], abs=1e-9)
        logits.append(each["logit"])
    expected = np.exp(logits) / np.exp(logits).sum() if kind == "clip" else 1 / (1 + np.exp(-np.array(logits)))
    np.testing.assert_allclose([each["probability"] for each in found["texts"]], expected, atol=1e-12)
    assert found["probability"] == {"clip": "softmax", "siglip": "sigmoid"}[kind]


def test_similarities_are_printed_best_first(clip, siglip, picture):
    found = {each["text"]: each["logit"] for each in similarity(clip, picture, "a cat", "a photo of a dog")["texts"]}
    text = ok("image", picture, "-m", clip, "--text", "a cat", "--text", "a photo of a dog")
    best, other = sorted(found, key=found.get, reverse=True)
    assert text.index(best) < text.index(other) < text.index("head 0")
    assert "softmax over these 2 texts" in text and "cosine" in text
    assert "give --text again" in " ".join(ok("image", picture, "-m", clip, "--text", "a cat").split())
    assert "sigmoid" in ok("image", picture, "-m", siglip, "--at", "3,3", "--text", "a cat")


def test_texts_need_a_model_of_both(vit, picture, clip):
    assert_fails(run("image", picture, "-m", vit, "--text", "a cat"), 1, "fovea: --text: ", "compares no picture with a text",
                 "CLIP")
    assert_fails(run("image", picture, "-m", clip, "--text", "a " * 30), 2, "31", "20")
    assert_fails(run("image", picture, "-m", clip, "--head", "0", "--head", "1"), 2, "--head is given 2 times")


def test_the_text_tower_shows_its_maps(clip, siglip):
    shown = json.loads(ok("text", "a cat", "-m", clip, "--head", "0", "--json"))["result"]
    assert shown["rows"] == ["a", "cat", "w59"] and shown["weights"][0][1] is None  # causal
    shown = json.loads(ok("text", "a cat", "-m", siglip, "--head", "0", "--json"))["result"]
    assert shown["rows"][:3] == ["a", "cat", "w58"] and shown["rows"][3:] == ["<pad>"] * 17


DETR = ROOT / "models/scenes-detr"
CATTLE = DETR / "demo/scene-1.png"


def test_steps_of_a_detector_are_those_of_its_three_attentions():
    text = ok("steps", CATTLE, "-m", DETR, "--at", "250,300")
    assert "encoder self-attention" in text and "cell 14,11" in text and "q = (x + p) Wq + bq" in text
    assert "v = x Wv + bv" in text
    text = ok("steps", CATTLE, "-m", DETR, "--site", "cross", "--head", "2")
    assert "query 0" in text and "k = (s + p) Wk + bk" in text and "v = s Wv + bv" in text
    assert "query 3" in ok("steps", CATTLE, "-m", DETR, "--site", "decoder", "--token", "query 3")
    assert_fails(run("steps", CATTLE, "-m", DETR), 2, "--at: it is left out", "X,Y")
    assert_fails(run("steps", CATTLE, "-m", DETR, "--site", "cross", "--at", "1,1"), 2, "queries")


@pytest.mark.parametrize("verb, arguments, code, facts", [
    ("image", ["--out", "s.png"], 2, ["the input itself"]),
    ("image", ["--view", "lost", "--mask-out", "s.png"], 2, ["the input itself"]),
    ("image", ["--view", "lost", "--mask-out", "x.png", "--out", "x.png"], 2, ["both"]),
    ("image", ["--view", "lost", "--mask-out", "nodir/m.png", "--out", "o.png"], 1, ["nodir/m.png"]),
    ("image", ["--without-artifacts", "--out", "w.html"], 2, ["--without-artifacts", "page"]),
    ("detect", ["--out", "s.png"], 2, ["the input itself"]),
    ("detect", ["--at", "5,5", "--to", "5,5:6,6"], 2, ["--to"]),
    ("detect", ["--at", "1,1:"], 2, ["X,Y:X,Y"]),
    ("steps", ["--at", "8,8", "--token", "[CLS]"], 2, ["--at", "--token"]),
    ("steps", ["--at", "8,8", "--out", "s.png"], 2, ["the input itself"]),
    ("steps", ["--target", "foo"], 2, ["--target"]),
    ("export", ["-m", ROOT / "models/en-fr", "--out", "e.safetensors"], 2, ["reads text"]),
])
def test_nothing_is_lost_by_clumsy_options(tmp_path, verb, arguments, code, facts):
    shutil.copy(CATTLE, tmp_path / "s.png")
    before = (tmp_path / "s.png").read_bytes()
    assert_fails(run(verb, "s.png", *arguments, cwd=tmp_path), code, *facts)
    assert [path.name for path in tmp_path.iterdir()] == ["s.png"]
    assert (tmp_path / "s.png").read_bytes() == before


def test_a_picture_of_another_format_is_not_read_as_a_text(tmp_path):
    (tmp_path / "s.gif").write_bytes(b"GIF89a" + bytes(40))
    for verb in (["steps", "s.gif"], ["capture", "s.gif", "--out", "g.fovea.safetensors"]):
        assert_fails(run(*verb, cwd=tmp_path), 1, "GIF")
