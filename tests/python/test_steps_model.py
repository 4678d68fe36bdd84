"""`fovea steps INPUT`: one token of the small random models of tests/data/parity, every number against numpy and transformers."""

import json
import re

import numpy as np
import pytest
from safetensors.numpy import load_file

from program import FOUR_WORDS, ROOT, assert_fails, ok, run
from test_steps import array, raw_scores, softmax

PARITY = ROOT / "tests/data/parity"
FIXTURES = ["bert_model", "gpt2_lm", "llama_gqa", "mistral_window", "qwen3_lm", "gemma3_text",
            "gemma3_softcap"]


def model_arguments(name):
    return "steps", "-m", PARITY / name, "--inputs", PARITY / name / "inputs.safetensors"


def model_facts(name, *options):
    return json.loads(ok(*model_arguments(name), "--json", *options))


def model_json(name, *options):
    return model_facts(name, *options)["result"]


@pytest.mark.parametrize("name", FIXTURES)
def test_a_models_numbers_are_those_of_transformers_and_follow_from_each_other(name):
    expected = load_file(PARITY / name / "expected.safetensors")["self.0"]
    heads, rows, _ = expected.shape
    for head, row in ((0, rows - 1), (heads - 1, rows // 2)):
        facts = model_facts(name, "--layer", 0, "--head", head, "--token", f"{row}")
        found = facts["result"]
        f = {stage["numbers"]: array(found[stage["numbers"]]) for stage in found["stages"]}
        f["masked"] = array(found["masked"])
        np.testing.assert_allclose(f["weights"], expected[head, row], atol=1e-5)  # the contract
        # The rest is arithmetic in double.
        np.testing.assert_allclose(f["products"], f["q"] * f["k"], atol=1e-12)
        np.testing.assert_allclose(f["scores"], f["k"] @ f["q"], atol=1e-9)
        np.testing.assert_allclose(f["scaled"], found["scale"] * f["scores"], atol=1e-9)
        capped = f["scaled"]
        if "soft_cap" in found:
            capped = found["soft_cap"] * np.tanh(capped / found["soft_cap"])
            np.testing.assert_allclose(f["capped"], capped, atol=1e-9)
        allowed = ~np.isnan(f["masked"])
        np.testing.assert_allclose(f["masked"][allowed], capped[allowed], atol=1e-9)
        scores = np.where(allowed, f["masked"], -np.inf)
        np.testing.assert_allclose(f["weights"], softmax(scores), atol=1e-12)
        np.testing.assert_allclose(f["weighted_sum"], f["weights"] @ f["v"], atol=1e-12)
        assert found["map_difference"] <= 1e-5 and found["output_difference"] <= 1e-5
        assert len(found["output"]) == len(found["head_output"]) == len(found["x"])
        assert (facts["head"], found["row"], facts["layer"]) == (head, row, 0)


def test_the_parts_of_all_heads_and_the_bias_are_the_output():
    heads = json.loads((PARITY / "bert_model/config.json").read_text())["num_attention_heads"]
    found = [model_json("bert_model", "--head", head, "--token", 2) for head in range(heads)]
    total = sum(array(f["head_output"]) for f in found) + array(found[0]["output_bias"])
    np.testing.assert_allclose(total, found[0]["output"], atol=1e-9)


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", FIXTURES)
def test_every_stage_of_a_model_is_told_within_the_terminal(name, width):
    for colour in ({}, {"FORCE_COLOR": "3"}):
        text = ok(*model_arguments(name), "--token", 2, environment={"COLUMNS": str(width), **colour})  # others follow
        assert ("\x1b" in text) == bool(colour)
        text = re.sub(r"\x1b\[[0-9;]*m|[\u2068\u2069]", "", text)
        masked = [] if name == "bert_model" else ["Masked"]  # all others are causal
        for number, stage in enumerate(("Query", "Keys", "Products", "Scores", "Scaled", *masked, "Softmax", "Values",
                                        "Weighted sum", "Output"), 1):
            assert re.search(rf"^ ?{number}  {stage}", text, re.MULTILINE), stage
        assert max(map(len, text.splitlines())) <= width
        assert ("Hidden from" in " ".join(text.split())) == bool(masked)
        assert re.search(r"Checked: equal to the captured map within (0|\de-\d+)\.", text)
        assert "softmax weight" in text and "importan" not in text


def test_what_is_special_about_a_model_is_said():
    llama = " ".join(ok(*model_arguments("llama_gqa")).split())
    assert "turned by its position" in llama and "Key head 0 serves heads 0 to" in llama
    window = " ".join(ok(*model_arguments("mistral_window")).split())
    assert "-∞ where j > i or j < i -" in window and "Hidden from" in window
    bert = ok(*model_arguments("bert_model"))
    assert "turned by" not in bert and "By default the last layer, head 0, the first token" in bert


def test_all_similarities_stand_beside_each_other(tmp_path):
    found = model_json("gpt2_lm", "--similarity", "all")
    assert found["weights"] == model_json("gpt2_lm")["weights"] and "note" not in found
    assert [other["compared_by"] for other in found["others"]] == ["dot", "cosine"]
    for other in found["others"]:
        alone = model_json("gpt2_lm", "--similarity", other["compared_by"])
        assert (other["weights"], other["scores"]) == (alone["weights"], alone["scores"])
        assert other["note"] == "not what the model computed"
    text = " ".join(ok(*model_arguments("gpt2_lm"), "--similarity", "all").split())
    assert "the last two are not what the model computed" in text and "cosine" in text
    for name in ("x.png", "x.json", "x.npz"):
        ok(*model_arguments("gpt2_lm"), "--similarity", "all", "--out", tmp_path / name)
        assert (tmp_path / name).stat().st_size > 0
    weights = np.load(tmp_path / "x.npz")["weights"]
    assert weights.shape[0] == 3
    assert_fails(run("steps", "--vectors", FOUR_WORDS, "--similarity", "all"), 2, "--similarity all", "additive")


@pytest.mark.parametrize("similarity", ["dot", "cosine"])
def test_another_similarity_is_captioned_as_not_the_models(tmp_path, similarity):
    found = model_json("gpt2_lm", "--similarity", similarity)
    scores = raw_scores(similarity, array(found["q"])[None], array(found["k"]), {})[0]
    np.testing.assert_allclose(array(found["scores"]), scores, atol=1e-9)
    masked = np.where(np.isnan(array(found["masked"])), -np.inf, scores)
    np.testing.assert_allclose(found["weights"], softmax(masked), atol=1e-12)
    assert found["compared_by"] == similarity and found["note"] == "not what the model computed"
    assert "output" not in found and "map_difference" not in found
    assert found["captured"] == model_json("gpt2_lm")["captured"]
    text = ok(*model_arguments("gpt2_lm"), "--similarity", similarity)
    assert "not what the model computed" in text and "Checked" not in text
    ok(*model_arguments("gpt2_lm"), "--similarity", similarity, "--out", tmp_path / "x.svg")
    assert (tmp_path / "x.svg").stat().st_size > 0


def test_steps_of_a_model_as_files(tmp_path):
    for suffix, magic in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        out = tmp_path / f"steps.{suffix}"
        assert ok(*model_arguments("llama_gqa"), "--out", out) == f"wrote {out}\n"
        assert out.read_bytes().startswith(magic)
    ok(*model_arguments("llama_gqa"), "--out", tmp_path / "steps.json")
    assert json.loads((tmp_path / "steps.json").read_text()) == model_facts("llama_gqa")
    found = model_json("llama_gqa")
    ok(*model_arguments("llama_gqa"), "--out", tmp_path / "steps.npz")
    arrays = np.load(tmp_path / "steps.npz")
    for name in ("x", "q", "k", "v", "products", "scores", "scaled", "weights", "weighted_sum",
                 "head_output", "output"):
        assert arrays[name].dtype == np.float64
        np.testing.assert_array_equal(arrays[name], array(found[name]), err_msg=name)


def test_a_pair_is_told_with_its_own_products_and_its_rank():
    text = " ".join(ok(*model_arguments("bert_model"), "--token", 2, "--to-token", 4).split())
    pair = model_json("bert_model", "--token", 2, "--to-token", 4)["pair"]
    assert f"(token 4) · weight {pair['weight']:.3f}, rank {pair['rank']} of" in text
    assert "a·v" in text and re.search(r"those that count most in its score with", text)
    hidden = " ".join(ok(*model_arguments("gpt2_lm"), "--token", 1, "--to-token", 3).split())
    assert "(token 3) · hidden from it" in hidden and "Hidden from" in hidden


def test_a_captured_run_is_told_as_far_as_it_goes(tmp_path):
    path = tmp_path / "run.fovea.safetensors"
    ok("capture", *model_arguments("bert_model")[1:], "--out", path)
    captured, own = run("steps", path, "--json"), model_json("bert_model")
    assert captured.returncode == 0 and "without the blocks" in captured.stderr
    found = json.loads(captured.stdout)["result"]
    assert found["weights"] == own["weights"] and found["weighted_sum"] == own["weighted_sum"] and "output" not in found
    assert_fails(run("steps", path, "-m", BERT), 2, "--model", "captured run")


BERT = PARITY / "bert_model"
IDS = ("--inputs", BERT / "inputs.safetensors")


@pytest.mark.parametrize("arguments, code, facts", [
    ((), 2, ("INPUT", "--vectors", "neither")),
    (("a text", "--vectors", FOUR_WORDS), 2, ("both",)),
    (("a text", *IDS), 2, ("exactly one",)),
    ((*IDS, "-m", BERT, "--layer", "99"), 2, ("--layer: 99 is beyond", "layers")),
    ((*IDS, "-m", BERT, "--head", "99"), 2, ("--head: 99 is beyond", "heads")),
    ((*IDS, "-m", BERT, "--token", "999"), 2, ("999",)),
    ((*IDS, "-m", BERT, "--similarity", "additive"), 2, ("additive", "dot, cosine or all", "--vectors")),
    ((*IDS, "-m", BERT, "--temperature", "2"), 2, ("--temperature", "input of a model")),
    ((*IDS, "-m", BERT, "--column"), 2, ("--column",)),
    ((*IDS, "-m", BERT, "--out", "x.csv"), 2, ("x.csv", ".png")),
    ((*IDS, "-m", BERT, "--to", "4"), 2, ("--to is a language", "--to-token")),
    ((*IDS, "-m", BERT, "--to-token", "4", "--similarity", "all"), 2, ("--similarity: it compares whole rows", "--to-token")),
    (("--vectors", FOUR_WORDS, "--layer", "1"), 2, ("--layer", "--vectors")),
    (("--vectors", FOUR_WORDS, "-m", BERT), 2, ("--model", "--vectors")),
    (("a text", "-m", "no-such-model"), 1, ("no-such-model",)),
])
def test_wrong_questions_about_a_model_are_one_line(tmp_path, arguments, code, facts):
    assert_fails(run("steps", *arguments, cwd=tmp_path), code, *facts)
    assert list(tmp_path.iterdir()) == []


def test_a_translation_is_told_in_the_head_that_its_alignment_is_read_from():
    words = ("The agreement on the European Economic Area was signed in August 1992.",)
    chosen = json.loads(ok("translate", *words, "--json"))
    steps = json.loads(ok("steps", *words, "-m", "en-fr", "--site", "cross", "--json"))
    assert (steps["layer"], steps["head"]) == (chosen["layer"], chosen["head"]) == (0, 4)
    assert steps["result"]["defaults"][0] == "layer 0 and head 4, which the alignment is read from"
    last = json.loads(ok("steps", *words, "-m", "en-fr", "--site", "cross", "--layer", 2, "--json"))
    best = json.loads(ok("translate", *words, "--layer", 2, "--json"))
    assert (last["layer"], last["head"]) == (2, best["head"])
    own = json.loads(ok("steps", *words, "-m", "en-fr", "--site", "cross", "--head", 1, "--json"))
    assert (own["layer"], own["head"]) == (2, 1)
