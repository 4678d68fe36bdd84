"""The verbs explain and methods: every method from the command line, checked by numpy from the dense maps of `export`."""

import csv
import json
import re

import numpy
import pytest
from safetensors.numpy import load_file, save_file

import models
from models import PARITY
from program import ROOT, assert_fails, ok, run

SCENES = ROOT / "models/scenes-vit"
SCENE = SCENES / "demo/scene-1.png"
DETECTOR = ROOT / "models/scenes-detr"
TRANSLATOR = ROOT / "models/en-fr"
TEXT = "the cat sat on the mat because it was tired ."
METHODS = {method["name"]: method for method in json.loads(ok("methods", "--json"))}
# One of each kind of model; all methods must answer or say why not.
FAMILIES = ["albert_sequence", "bart_lm", "bert_masked_lm", "bert_model", "bert_sequence", "bert_tokens", "clip_model", "clip_text",
            "clip_vision", "deit_image", "detr_objects", "detr_panoptic", "dinov2_registers", "dinov3_gated", "distilbert_sequence",
            "electra_sequence", "gemma3_text", "gpt2_lm", "gpt_neox_parallel", "llama_gqa", "marian_mt", "mistral_window",
            "qwen3_lm", "roberta_sequence", "siglip_model", "siglip_vision", "t5_encoder", "t5_lm", "vit_image", "vit_not_square",
            "whisper_lm"]


def explained(*arguments, **options):
    """What is told of an explanation: its result, with the method, the place and the notes that stand beside it."""
    result = run("explain", *arguments, "--json", **options)
    assert result.returncode == 0, result.stderr
    return told(json.loads(result.stdout))


def told(facts):
    return {**facts["result"], **{name: facts[name] for name in ("site", "layer", "head", "method", "notes")}}


def dense(model, text, folder):
    ok("export", text, "-m", model, "--out", folder / "maps.safetensors")
    return {name: tensor.astype(float) for name, tensor in load_file(folder / "maps.safetensors").items()}


def rolled_out(layers):
    """Row by row from the definition: (A + I) / 2 of the mean of heads, all layers multiplied."""
    product = numpy.eye(layers[0].shape[-1])
    for layer in layers:
        product = (layer.mean(axis=0) + numpy.eye(len(product))) / 2 @ product
    return product


def test_methods_describe_themselves():
    text = ok("methods")
    assert {"ablation", "alti", "alti+", "raw", "rollout", "value-norm", "value-zeroing"} <= METHODS.keys()
    for name, method in METHODS.items():
        assert name in text and method["summary"] in text
        assert method["answers"] and method["cost"] and method["needs"]
        one = ok("methods", name)
        assert " ".join(method["answers"].split()) in " ".join(one.split())
        for parameter in method["parameters"]:
            assert f"--{parameter['name']}" in one
            assert parameter["default"] in parameter.get("choices", [parameter["default"]])
    assert_fails(run("methods", "magic"), 2, "magic", "rollout")
    assert_fails(run("methods", "rolout"), 2, "did you mean 'rollout'?")


def test_every_parameter_is_an_option():
    help_text = ok("explain", "--help")
    assert max(map(len, help_text.splitlines())) <= 80
    for method in METHODS.values():
        assert method["summary"] in " ".join(help_text.split())
        for parameter in method["parameters"]:
            assert f"--{parameter['name']}" in help_text


def test_an_encoder_is_asked_from_its_first_token_and_a_decoder_from_its_last(tmp_path):
    bert, gpt2 = models.bert(tmp_path / "bert"), models.causal(tmp_path / "gpt2")
    for model, row in ((bert, 0), (gpt2, -1)):
        maps = dense(model, TEXT, tmp_path)
        layers = [maps[f"self.{i}"] for i in range(sum(name.startswith("self.") for name in maps))]
        answer = explained(TEXT, "-m", model, "--method", "raw")
        assert answer["scores"] == pytest.approx(layers[-1].mean(axis=0)[row], abs=1e-6)
        answer = explained(TEXT, "-m", model, "--method", "raw", "--layer", "0", "--head", "1", "--token", "mat")
        assert answer["scores"] == pytest.approx(layers[0][1][answer["position"]], abs=1e-6)
        assert answer["positions"][answer["position"]] == "mat" and answer["layer"] == 0
        answer = explained(TEXT, "-m", model, "--method", "rollout")
        assert answer["scores"] == pytest.approx(rolled_out(layers)[row], abs=1e-6)


def test_the_vector_of_every_file_is_over_input_positions(tmp_path):
    model = models.bert(tmp_path / "model", "bert_sequence")
    answer = explained(TEXT, "-m", model, "--method", "alti")
    tokens = json.loads(ok("tokenize", TEXT, "-m", model, "--json"))["tokens"]
    assert len(answer["scores"]) == len(tokens)
    for suffix in ("npy", "npz", "safetensors", "csv", "json"):
        ok("explain", TEXT, "-m", model, "--method", "alti", "--out", tmp_path / f"x.{suffix}")
    vector = numpy.load(tmp_path / "x.npy")
    assert vector.shape == (len(tokens),) and vector.dtype == numpy.float32
    assert vector.tolist() == pytest.approx(answer["scores"], abs=1e-7)
    assert numpy.array_equal(numpy.load(tmp_path / "x.npz")["scores"], vector)
    assert numpy.array_equal(load_file(tmp_path / "x.safetensors")["scores"], vector)
    rows = list(csv.DictReader((tmp_path / "x.csv").open()))
    assert [float(row["score"]) for row in rows] == pytest.approx(answer["scores"], rel=1e-6)
    assert told(json.loads((tmp_path / "x.json").read_text())) == answer


def test_patches_come_with_their_special_tokens(tmp_path):
    ok("explain", SCENE, "-m", SCENES, "--method", "rollout", "--out", tmp_path / "x.npy")
    vector = numpy.load(tmp_path / "x.npy")
    assert vector.shape == (1 + 28 * 28,) and vector.sum() == pytest.approx(1, abs=1e-5)
    answer = explained(SCENE, "-m", SCENES, "--method", "rollout", "--at", "100,60")
    assert answer["grid"] == [28, 28]
    assert answer["position_name"].startswith("seen from patch ") and answer["position"] > 0


def test_a_translation_is_asked_about_the_word_that_is_written(tmp_path):
    answer = explained("I love music.", "-m", TRANSLATOR, "--target", "J'aime la musique.", "--method", "raw", "--token", "musique")
    assert answer["site"] == "cross" and answer["position_name"] == "writing ·musique"
    assert answer["positions"][int(numpy.argmax(answer["scores"]))] == "·music"
    both = explained("I love music.", "-m", TRANSLATOR, "--target", "J'aime la musique.", "--method", "alti+", "--token", "musique")
    assert len(both["scores"]) == len(both["positions"]) and len(both["target_scores"]) == len(both["target_positions"])
    assert sum(both["scores"]) + sum(both["target_scores"]) == pytest.approx(1, abs=1e-5)
    ok("explain", "I love music.", "-m", TRANSLATOR, "--method", "alti+", "--out", tmp_path / "x.npy")
    assert numpy.load(tmp_path / "x.npy").shape == (len(both["positions"]),)


def test_object_queries_and_cells_of_a_detector():
    scene = DETECTOR / "demo/scene-1.png"
    answer = explained(scene, "-m", DETECTOR, "--method", "raw", "--query", "3")
    assert (answer["site"], answer["position"]) == ("cross", 3)
    assert sum(answer["scores"]) == pytest.approx(1, abs=1e-5)
    answer = explained(scene, "-m", DETECTOR, "--method", "rollout", "--at", "100,60")
    assert answer["site"] == "encoder_self" and sum(answer["scores"]) == pytest.approx(1, abs=1e-5)
    assert_fails(run("explain", scene, "-m", DETECTOR, "--method", "raw", "--query", "5000"), 2, "5000", "0 to ")


def masked(model, folder, text, hidden):
    """The logits of a text one of whose tokens nobody may attend to, by the attention mask of --inputs."""
    from safetensors.numpy import save_file
    tokens = json.loads(ok("tokenize", text, "-m", model, "--json"))
    mask = [0 if i == hidden else 1 for i in range(len(tokens["ids"]))]
    save_file({"input_ids": numpy.array(tokens["ids"]), "attention_mask": numpy.array(mask)}, folder / "in.safetensors")
    ok("export", "--inputs", folder / "in.safetensors", "-m", model, "--out", folder / "out.safetensors")
    return load_file(folder / "out.safetensors")["logits"].astype(float)


def softmax(logits):
    shifted = numpy.exp(logits - logits.max())
    return shifted / shifted.sum()


def test_ablation_is_what_the_probability_loses(tmp_path):
    model = models.bert(tmp_path / "model", "bert_sequence")
    answer = explained(TEXT, "-m", model, "--method", "ablation")
    clean = softmax(masked(model, tmp_path, TEXT, None))
    best = int(clean.argmax())
    for position in (1, 4, 9):
        lost = clean[best] - softmax(masked(model, tmp_path, TEXT, position))[best]
        assert answer["scores"][position] == pytest.approx(lost, abs=1e-5)
    other = (best + 1) % len(clean)
    contrast = explained(TEXT, "-m", model, "--method", "ablation", "--class", best, "--against", other, "--measure", "logit")
    before, after = masked(model, tmp_path, TEXT, None), masked(model, tmp_path, TEXT, 4)
    apart = (before[best] - before[other]) - (after[best] - after[other])
    assert contrast["scores"][4] == pytest.approx(apart, abs=1e-5)
    heads = explained(TEXT, "-m", model, "--method", "ablation", "--unit", "head")
    assert heads["axis"] == "heads" and len(heads["scores"]) == numpy.prod(heads["grid"])


def test_a_model_without_a_head_is_asked_about_similarity(tmp_path):
    model = models.bert(tmp_path / "model", "bert_model")
    own = explained("the cat sat", "-m", model, "--method", "ablation")
    assert "similarity to itself" in own["target"] and min(own["scores"]) > -1e-6
    other = explained("the cat sat", "-m", model, "--method", "ablation", "--against", "a dog ran")
    assert "a dog ran" in other["target"] and other["scores"] != own["scores"]


def test_words_are_named_as_people_write_them(tmp_path):
    model = models.causal(tmp_path / "model")
    by_name = explained(TEXT, "-m", model, "--method", "ablation", "--class", "dog")
    tokens = json.loads(ok("tokenize", "dog", "-m", model, "--json"))["ids"]
    by_id = explained(TEXT, "-m", model, "--method", "ablation", "--class", f"#{tokens[0]}")
    assert by_name["target"] == "the word dog" and by_name["scores"] == by_id["scores"]
    # No word is written so, so that it is a number of the vocabulary.
    assert explained(TEXT, "-m", model, "--method", "ablation", "--class", str(tokens[0]))["target"] == f"the word dog (#{tokens[0]})"
    assert_fails(run("explain", TEXT, "-m", model, "--method", "ablation", "--class", "999999"), 2, "999999", "#0 to #")


def test_the_name_of_a_file_is_a_text_and_the_user_is_told(tmp_path):
    model = models.bert(tmp_path / "model")
    (tmp_path / "cat.txt").write_text("the cat sat on the mat\n")
    for verb in (["explain", "--method", "raw"], ["text"]):
        result = run(*verb, "cat.txt", "-m", model, "--json", cwd=tmp_path)
        assert result.returncode == 0 and "'cat.txt' is read as the text itself" in result.stderr and "--text-file" in result.stderr
    assert run("explain", "--method", "raw", "--text-file", "cat.txt", "-m", model, cwd=tmp_path).stderr == ""
    assert "there is a folder of that name" in run("explain", "model", "--method", "raw", "-m", model, cwd=tmp_path).stderr


def test_limits_are_told_before_the_model_runs(tmp_path):
    """No vocabulary has these ids, so that a run could only end in another error."""
    model = models.causal(tmp_path / "model")
    for method, most in (("flow", 128), ("value-zeroing", 1024), ("alti", 1024)):
        ids = numpy.full(most + 1, 10**9)
        save_file({"input_ids": ids}, tmp_path / "long.safetensors")
        result = run("explain", "--inputs", tmp_path / "long.safetensors", "-m", model, "--method", method)
        assert_fails(result, 1, method, f"at most {most} positions", most + 1, "rollout")
    save_file({"input_ids": numpy.full(4, 10**9)}, tmp_path / "short.safetensors")
    for arguments in (["--method", "span-mass", "--span", "1"], ["--method", "head-importance"],
                      ["--method", "ablation", "--unit", "head"]):
        result = run("explain", "--inputs", tmp_path / "short.safetensors", "-m", model, *arguments, "--check")
        assert_fails(result, 1, arguments[1], "cannot be checked", "heads")
    assert_fails(run("explain", "--inputs", tmp_path / "short.safetensors", "-m", model, "--method", "raw"), 2, 10**9)


@pytest.mark.parametrize("tensors, facts", [
    ({"input_ids": [2, 5, 6, 3], "attention_mask": [0, 0, 0, 0]}, ["attention_mask", "0 at all 4", "put 1"]),
    ({"input_ids": []}, ["input_ids", "empty"]),
])
def test_inputs_that_hold_nothing_are_refused(tmp_path, tensors, facts):
    model = models.bert(tmp_path / "model")
    save_file({name: numpy.array(values, dtype=numpy.int64) for name, values in tensors.items()}, tmp_path / "in.safetensors")
    assert_fails(run("explain", "--inputs", tmp_path / "in.safetensors", "-m", model, "--method", "raw"), 1, *facts)


def test_inputs_of_padding_alone_are_told(tmp_path):
    model = models.bert(tmp_path / "model")
    save_file({"input_ids": numpy.zeros(4, dtype=numpy.int64)}, tmp_path / "in.safetensors")
    result = run("explain", "--inputs", tmp_path / "in.safetensors", "-m", model, "--method", "raw", "--json")
    assert result.returncode == 0 and "no words but 4 special tokens, [PAD] first" in result.stderr


@pytest.mark.parametrize("family", FAMILIES)
def test_every_method_answers_or_says_why_not(family):
    inputs = PARITY / family / "inputs.safetensors"
    answered = 0
    for name, method in METHODS.items():
        arguments = ["--span", "1-2"] if name == "span-mass" else []
        result = run("explain", "--inputs", inputs, "-m", PARITY / family, "--method", name, "--json", *arguments)
        if result.returncode == 0:
            answer = told(json.loads(result.stdout))
            answered += 1
            assert numpy.isfinite(answer["scores"]).all() and len(answer["scores"]) == len(answer["positions"])
        else:
            assert result.returncode in (1, 2) and result.stderr.count("\n") == 1, (name, result.stderr)
            assert "cannot explain" in result.stderr or "give" in result.stderr or "choose" in result.stderr, (name, result.stderr)
    assert answered >= 4, family


def test_figures_and_pages(tmp_path):
    model = models.bert(tmp_path / "model", "bert_sequence")
    for name, start in (("x.png", b"\x89PNG"), ("x.svg", b"<?xml"), ("x.pdf", b"%PDF")):
        ok("explain", TEXT, "-m", model, "--method", "ablation", "--out", tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
    ok("explain", TEXT, "-m", model, "--method", "rollout", "--token", "mat", "--out", tmp_path / "x.html")
    page = (tmp_path / "x.html").read_text()
    assert METHODS["rollout"]["answers"][:40] in page and "<svg" in page and "http://" not in page.replace("http://www.w3.org", "")
    data = page.split('id="explanation">')[1].split("</script>")[0]
    answer = explained(TEXT, "-m", model, "--method", "rollout", "--token", "mat")
    assert told(json.loads(data)) == answer and page.count("<tr>") == 1 + len(answer["scores"])
    # Bars are measured by the words; the position asked from and special tokens do not flatten them.
    assert re.search(r"<tr>.*<bdi>(?!\[)[^<]+</bdi>.*background-size:100.0%.*", page)
    both = ok("explain", TEXT, "-m", model, "--method", "rollout", "--token", "mat", "--json", "--out", tmp_path / "y.html")
    assert json.loads(both) == json.loads(data) and (tmp_path / "y.html").read_text() == page


def test_a_page_of_hostile_text_stays_text(tmp_path):
    model = models.causal(tmp_path / "model")
    ok("explain", "the </script><script>alert(1)</script> cat", "-m", model, "--method", "raw", "--out", tmp_path / "x.html")
    assert "<script>alert" not in (tmp_path / "x.html").read_text()


@pytest.mark.parametrize("arguments, facts", [
    (["--method", "magic"], ["magic", "rollout"]),
    (["--method", "alti+"], ["cross-attention", "use", "rollout"]),
    (["--method", "ablation", "--class", "17"], ["class '17'", "0 to 2"]),
    (["--method", "ablation", "--class", "joy"], ["class 'joy'", "0 to 2"]),
    (["--method", "ablation", "--unit", "soul"], ["soul", "position, head, edge"]),
    (["--method", "ablation", "--unit", "head", "--by", "blank"], ["blank", "head"]),
    (["--method", "raw", "--layer", "99"], ["99", "0 to "]),
    (["--method", "raw", "--head", "99"], ["99", "0 to "]),
    (["--method", "raw", "--head", "first"], ["first"]),
    (["--method", "raw", "--token", "giraffe"], ["giraffe"]),
    (["--method", "raw", "--class", "1"], ["--class", "leave it out"]),
    (["--method", "raw", "--fusion", "max"], ["--fusion: it is of rollout but --method is raw"]),
    (["--method", "rollout", "--residual", "2"], ["--residual: 2", "0 to 1"]),
    (["--method", "rollout", "--start-layer", "9"], ["start-layer", "9", "0 to "]),
    (["--method", "rollout", "--compat", "vit-explain", "--residual", "0.3"], ["residual", "vit-explain", "leave one out"]),
    (["--method", "rollout", "--json", "--colors", "viridis"], ["--colors", "printed", "leave it out"]),
    (["--method", "rollout", "--out", "x.npy", "--colors", "viridis"], ["--colors", "written", "leave it out"]),
    (["--method", "rolout"], ["rolout", "did you mean 'rollout'?"]),
    (["--method", "rollout,"], ["--method is ''", "rollout"]),
    (["--method", "rollout", "--query", "1"], ["--query", "no objects"]),
    (["--method", "rollout", "--at", "1,1"], ["--at", "text"]),
    (["--method", "rollout", "--out", "x.txt"], ["x.txt", ".png"]),
    (["--method", "rollout", "--out", "missing/x.png"], ["missing"]),
    (["--method", "rollout", "--site", "cross"], ["cross"]),
])
def test_what_cannot_be_answered_is_told_in_one_line(tmp_path, arguments, facts):
    model = models.bert(tmp_path / "model", "bert_sequence")
    result = run("explain", TEXT, "-m", model, *arguments, cwd=tmp_path)
    assert_fails(result, result.returncode if result.returncode in (1, 2) else 1, *facts)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model"]


@pytest.mark.parametrize("arguments, facts", [
    (["--class", "zeb"], ["class 'zeb'", "0 to 47", "did you mean 'zebra'?"]),
    (["--method", "span-mass", "--span", "zebra"], ["'zebra'", "no text", "FIRST-LAST", "0 to 784"]),
    (["--method", "span-mass"], ["--span", "FIRST-LAST"]),
    (["--method", "flow"], ["128", "785"]),
])
def test_what_a_picture_does_not_have_is_told_with_what_it_has(arguments, facts):
    result = run("explain", SCENE, "-m", SCENES, *arguments)
    assert_fails(result, 1 if "flow" in arguments else 2, *facts)


def test_a_picture_is_never_overwritten(tmp_path):
    picture = tmp_path / "scene.png"
    picture.write_bytes(SCENE.read_bytes())
    assert_fails(run("explain", picture, "-m", SCENES, "--method", "raw", "--out", picture), 2, "the input itself")
    assert picture.read_bytes() == SCENE.read_bytes()


def test_every_method_has_a_page_section_with_a_picture_and_its_command():
    text = (ROOT / "docs/methods.md").read_text()
    sections = {part.splitlines()[0]: part for part in text.split("\n## ")[1:]}
    for name in METHODS:
        assert name in sections, f"docs/methods.md has no section on {name}"
        section = sections[name]
        pictures = re.findall(r"!\[[^\]]+\]\(images/([a-z0-9-]+\.png)\)", section)
        assert pictures, f"the section on {name} has no picture"
        for picture in pictures:
            assert (ROOT / "docs/images" / picture).read_bytes().startswith(b"\x89PNG")
            command = next(line for line in section.splitlines() if line.startswith("./run explain") and f"--out {picture}" in line)
            assert f"--method {name}" in command
        assert "When it misleads:" in section
