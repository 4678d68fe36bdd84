"""`fovea explain RUN`: a captured run answers as its model does where maps are enough, and says so where they are not."""

import json
import re

import numpy
import pytest
from safetensors.numpy import load_file, save_file

import models
from models import PARITY
from png_files import png
from program import assert_fails, ok, run
from test_explain import DETECTOR, FAMILIES, METHODS, SCENE, SCENES, TEXT, TRANSLATOR, explained, told
from test_picture_files import seeing

OF_MAPS = ["column-mass", "flow", "raw", "rollout", "sinks", "span-mass"]
OF_THE_MODEL = ["ablation", "head-importance", "input-gradient", "integrated-gradients", "relevancy", "value-zeroing"]
OF_BLOCKS = ["alti", "alti+", "value-norm"]


def captured(out, *arguments):
    ok("capture", *arguments, "--out", out)
    return out


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return models.bert(tmp_path_factory.mktemp("bert") / "model", "bert_sequence")


@pytest.fixture(scope="module")
def cat(bert, tmp_path_factory):
    return captured(tmp_path_factory.mktemp("runs") / "cat.fovea.safetensors", TEXT, "-m", bert)


def test_every_method_is_of_maps_of_blocks_or_of_the_model():
    assert sorted(OF_MAPS + OF_THE_MODEL + OF_BLOCKS) == sorted(METHODS)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_run_answers_as_its_model_does(family, tmp_path):
    inputs = ["--inputs", PARITY / family / "inputs.safetensors", "-m", PARITY / family]
    path = captured(tmp_path / "run.fovea.safetensors", *inputs)
    for method in OF_MAPS:
        options = ["--method", method]
        if method == "span-mass":
            options += ["--span", "1-2"]
        if family in ("clip_model", "siglip_model"):  # these inputs are of both towers
            options += ["--site", "text"]
        if family.startswith("detr"):
            options += ["--token", "5"] if method in ("flow", "rollout") else ["--query", "3"]
        of_model = run("explain", *inputs, *options, "--json")
        of_run = run("explain", path, *options, "--json")
        assert of_run.returncode == of_model.returncode, (method, of_model.stderr, of_run.stderr)
        if of_model.returncode != 0:
            continue
        of_run, of_model = told(json.loads(of_run.stdout)), told(json.loads(of_model.stdout))
        if method == "sinks":  # what it says of states, the model alone knows
            own = of_run.pop("notes")
            assert own == of_model.pop("notes")[: len(own)]
        assert of_run == of_model, method


def test_text_decoder_and_detector_are_asked_from_the_same_place(bert, cat, tmp_path):
    for arguments in ([], ["--token", "mat"], ["--method", "raw", "--layer", "0", "--head", "1"]):
        arguments = arguments if "--method" in arguments else ["--method", "rollout", *arguments]
        assert explained(cat, *arguments) == explained(TEXT, "-m", bert, *arguments)
    causal = models.causal(tmp_path / "causal")
    run_of_causal = captured(tmp_path / "causal.fovea.safetensors", TEXT, "-m", causal)
    assert explained(run_of_causal, "--method", "rollout") == explained(TEXT, "-m", causal, "--method", "rollout")
    sentence = ["I love music.", "-m", TRANSLATOR, "--target", "J'aime la musique."]
    translation = captured(tmp_path / "translation.fovea.safetensors", *sentence)
    for options in (["--method", "raw"], ["--method", "raw", "--token", "aime"], ["--method", "rollout"],
                    ["--method", "raw", "--site", "decoder"], ["--method", "column-mass"]):
        assert explained(translation, *options) == explained(*sentence, *options), options
    assert explained(translation, "--method", "raw")["position_name"] == "writing ·musique"
    objects = captured(tmp_path / "objects.fovea.safetensors", DETECTOR / "demo/scene-1.png", "-m", DETECTOR)
    of_model = explained(DETECTOR / "demo/scene-1.png", "-m", DETECTOR, "--method", "raw", "--query", "3")
    assert explained(objects, "--method", "raw", "--query", "3") == of_model


def test_a_picture_is_drawn_under_its_map(tmp_path):
    path = captured(tmp_path / "scene.fovea.safetensors", SCENE, "-m", SCENES, "--size", "96x64")
    for options in ([], ["--token", "patch 3,7"]):
        of_run = explained(path, "--method", "rollout", *options)
        of_model = explained(SCENE, "-m", SCENES, "--size", "96x64", "--method", "rollout", *options)
        # Only the file tells which of its pixels a patch shows.
        assert {**of_run, "notes": []} == {**of_model, "notes": []} and of_run["notes"] == []
    # At its own size: a smaller picture is unlike the training, which its run does not say.
    ok("explain", captured(tmp_path / "whole.fovea.safetensors", SCENE, "-m", SCENES), "--out", tmp_path / "run.png")
    ok("explain", SCENE, "-m", SCENES, "--method", "rollout", "--out", tmp_path / "model.png")
    assert (tmp_path / "run.png").read_bytes() == (tmp_path / "model.png").read_bytes()
    assert_fails(run("explain", path, "--at", "3,3"), 2, "--at", "captured run", "--token", "patch 3,7")


def test_patches_without_a_token_in_front_are_named(tmp_path):
    model = seeing(tmp_path / "siglip", "siglip_vision")
    (tmp_path / "ramp.png").write_bytes(png(32, 32))
    path = captured(tmp_path / "run.fovea.safetensors", tmp_path / "ramp.png", "-m", model)
    assert explained(path, "--method", "raw") == explained(tmp_path / "ramp.png", "-m", model, "--method", "raw")
    assert_fails(run("explain", path), 2, "no token in front", "--token", "patch 3,7")
    assert explained(path, "--token", "patch 1,2")["position_name"] == "seen from patch 1,2"


def test_every_way_out_is_that_of_a_text(bert, cat, tmp_path):
    asked = {"run": [cat], "text": [TEXT, "-m", bert]}
    for suffix in ("png", "svg", "pdf", "html", "json", "npy", "npz", "safetensors", "csv"):
        files = {}
        for name, arguments in asked.items():
            files[name] = tmp_path / f"{name}.{suffix}"
            ok("explain", *arguments, "--method", "rollout", "--out", files[name])
        if suffix in ("json", "html"):  # which say what the run came from; the page holds the same facts
            facts = [path.read_text().split('id="explanation">')[-1].split("</script>")[0] for path in files.values()]
            assert told(json.loads(facts[0])) == told(json.loads(facts[1])), suffix
            continue
        assert files["run"].read_bytes() == files["text"].read_bytes(), suffix
    drawn = {name: ok("explain", *arguments, "--method", "rollout") for name, arguments in asked.items()}
    # Only the model says what it answers, in the first line.
    assert re.sub(r"\Aclass.*\n", "", drawn["text"]) == drawn["run"]


@pytest.mark.parametrize("method", OF_THE_MODEL + OF_BLOCKS)
def test_a_method_that_needs_more_says_so_and_names_others(cat, method):
    needs = {"alti+": "no cross-attention"}.get(
        method, "without values and the block" if method in OF_BLOCKS
        else "the model again" if method in ("ablation", "value-zeroing") else "gradients of the model")
    assert_fails(run("explain", cat, "--method", method), 1, method, needs, "rollout")


@pytest.mark.parametrize("arguments, facts", [
    (["--check"], ["--check", "runs the model again", "captured run"]),
    (["--compare"], ["--compare", "runs the model again", "captured run"]),
    (["-m", "gpt2"], ["--model", "captured run", "leave it out"]),
    (["--dtype", "bf16"], ["--dtype", "captured run"]),
    (["--target", "un chat"], ["--target", "captured run"]),
    (["--size", "32x32"], ["--size", "captured run"]),
    (["--at", "3,3"], ["--at", "captured run"]),
    (["--class", "1"], ["--class", "rollout asks nothing"]),
    (["--site", "cross"], ["--site: cross", "self-attention"]),
    (["--text-file", "x.txt"], ["2 of INPUT"]),
])
def test_what_a_run_does_not_have_is_told(cat, arguments, facts):
    assert_fails(run("explain", cat, *arguments), 2, *facts)


def test_objects_of_a_run_are_named(tmp_path):
    path = captured(tmp_path / "run.fovea.safetensors", DETECTOR / "demo/scene-1.png", "-m", DETECTOR)
    assert_fails(run("explain", path, "--method", "raw"), 2, "surest", "--query", "0 to 24")
    assert_fails(run("explain", path, "--method", "raw", "--query", "25"), 2, "--query: 25", "0 to 24")
    assert_fails(run("explain", path), 2, "--token", "cell 3,7")
    assert explained(path, "--token", "cell 3,7")["site"] == "encoder_self"


def test_a_run_is_known_by_its_name_or_by_what_it_holds(cat, tmp_path):
    plain = tmp_path / "run.safetensors"
    plain.write_bytes(cat.read_bytes())
    assert explained(plain) == explained(cat)
    broken = tmp_path / "broken.fovea.safetensors"
    broken.write_bytes(cat.read_bytes()[:100])
    assert_fails(run("explain", broken), 1, "broken.fovea.safetensors")
    save_file({"x": numpy.zeros(2, numpy.float32)}, tmp_path / "other.fovea.safetensors")
    assert_fails(run("explain", tmp_path / "other.fovea.safetensors"), 1, "no captured run")
    empty = tmp_path / "empty.fovea.safetensors"
    save_file({}, empty, metadata={"fovea": json.dumps(
        {"format_version": 1, "model": "m", "model_hash": "", "axes": [], "sites": []})})
    assert_fails(run("explain", empty), 1, "holds no attention")


def test_a_run_is_never_overwritten(cat, tmp_path):
    before = load_file(cat).keys()
    assert_fails(run("explain", cat, "--out", cat), 2, "the input itself")
    assert load_file(cat).keys() == before
