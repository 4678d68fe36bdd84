"""The verbs that run a text model: text, tokenize, export, capture, info and models."""

import json
import os
import shutil

import numpy
import pytest
from safetensors.numpy import load_file, save_file

import models
from program import assert_fails, ok, run

TEXT = "The cat sat on the mat because it was tired."


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return models.bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def gpt(tmp_path_factory):
    return models.causal(tmp_path_factory.mktemp("gpt"))


def test_text_draws_all_heads_of_the_last_layer(bert):
    shown = ok("text", "-m", bert, TEXT)
    heads = json.loads((bert / "config.json").read_text())["num_attention_heads"]
    for head in range(heads):
        assert f"head {head}" in shown
    assert "each row sums to 1.00" in shown and "Rows attend to columns" in shown


def test_a_token_is_found_as_the_text_writes_it(bert):
    assert "Row 1" in ok("text", "-m", bert, "The cat", "--token", "The")
    assert_fails(run("text", "-m", bert, "the cat", "--column"), 2, "--column: it", "give --token too")
    assert_fails(run("text", "-m", bert, "the cat", "--sidecar"), 2, "--out")


def test_noncharacters_do_not_break_figures(bert, tmp_path):
    import xml.dom.minidom

    (tmp_path / "odd.txt").write_text("the \ufffe cat \ufdd0 \U0001fffe")
    for suffix in ("svg", "pdf"):
        ok("text", "-m", bert, "--text-file", tmp_path / "odd.txt", "--view", "matrix", "--out", tmp_path / f"x.{suffix}")
    xml.dom.minidom.parse(str(tmp_path / "x.svg"))


def test_an_unknown_architecture_is_told_before_missing_weights(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "fnet"}')
    assert_fails(run("info", "-m", tmp_path), 1, "fnet", "bert")


def test_segments_beyond_the_table_are_told(tmp_path):
    save_file({"input_ids": numpy.array([1, 2]), "token_type_ids": numpy.array([0, 7])}, tmp_path / "in.safetensors")
    assert_fails(run("text", "-m", models.PARITY / "bert_model", "--inputs", tmp_path / "in.safetensors"), 2,
                 "token_type_ids", "7")


def test_text_shades_what_one_word_attends_to(bert):
    row = ok("text", "-m", bert, TEXT, "--token", "it")
    assert '→ what it attends to' in row and "sum 1.00" in row
    column = ok("text", "-m", bert, TEXT, "--token", "it", "--column")
    assert "← who attends to it" in column


def test_a_map_as_numbers_is_the_map_that_export_writes(bert, tmp_path):
    ok("export", "-m", bert, TEXT, "--out", tmp_path / "all.safetensors")
    dense = load_file(tmp_path / "all.safetensors")
    last = max(int(name.split(".")[1]) for name in dense if name.startswith("self."))
    ok("text", "-m", bert, TEXT, "--head", "1", "--out", tmp_path / "one.npy")
    numpy.testing.assert_array_equal(numpy.load(tmp_path / "one.npy"), dense[f"self.{last}"][1])
    numpy.testing.assert_allclose(dense[f"self.{last}"].sum(-1), 1, atol=1e-6)


@pytest.mark.parametrize("fixture", ["bert_model", "gpt2_lm", "llama_gqa", "gemma3_text", "xlm_roberta_tokens"])
def test_export_of_ids_equals_transformers(fixture, tmp_path):
    folder = models.PARITY / fixture
    ok("export", "-m", folder, "--inputs", folder / "inputs.safetensors", "--out", tmp_path / "maps.safetensors")
    ours, expected = load_file(tmp_path / "maps.safetensors"), load_file(folder / "expected.safetensors")
    assert set(ours) == set(expected)
    for name, wanted in expected.items():
        tolerance = 1e-5 if name.startswith("self.") else 1e-4 * max(1, abs(wanted).max())
        numpy.testing.assert_allclose(ours[name], wanted, rtol=0, atol=tolerance, err_msg=name)


def test_export_says_the_size_and_refuses_what_is_no_safetensors(bert, tmp_path):
    shown = ok("export", "-m", bert, TEXT, "--out", tmp_path / "x.safetensors")
    assert "13 x 13" in shown and "kB" in shown
    assert_fails(run("export", "-m", bert, TEXT, "--out", tmp_path / "x.png"), 2, ".safetensors")
    assert_fails(run("export", "-m", bert, TEXT), 2, "--out")
    assert not (tmp_path / "x.png").exists()


def test_a_captured_run_shows_the_same_map(bert, tmp_path):
    ok("capture", "-m", bert, TEXT, "--out", tmp_path / "run.fovea.safetensors")
    opened = json.loads(ok("open", tmp_path / "run.fovea.safetensors", "--head", "0", "--json"))
    asked = json.loads(ok("text", "-m", bert, TEXT, "--head", "0", "--json"))
    assert opened["input"] == {"captured": True, **asked["input"]}
    assert opened["model"] == {**asked["model"], "architecture": None}
    assert {key for key in asked if opened[key] != asked[key]} == {"input", "model"}


def test_pairs_have_two_segments(bert, tmp_path):
    ok("export", "-m", bert, "the cat", "--pair", "a dog ran", "--out", tmp_path / "pair.safetensors")
    assert load_file(tmp_path / "pair.safetensors")["self.0"].shape[1:] == (8, 8)
    answer = json.loads(ok("tokenize", "-m", bert, "the cat", "--pair", "a dog ran", "--json"))
    assert answer["type_ids"] == [0, 0, 0, 0, 1, 1, 1, 1]


def test_generation_is_one_causal_map_with_steps_as_rows(gpt, tmp_path):
    shown = ok("text", "-m", gpt, "the cat sat", "--generate", "4", "--view", "matrix", "--head", "0")
    assert "after sat → predicts" in shown
    ok("text", "-m", gpt, "the cat sat", "--generate", "4", "--head", "0", "--out", tmp_path / "g.npy")
    written = numpy.load(tmp_path / "g.npy")
    assert written.shape == (6, 6)
    numpy.testing.assert_allclose(numpy.nansum(written, -1), 1, atol=1e-6)
    again = ok("text", "-m", gpt, "the cat sat", "--generate", "4", "--temperature", "1.5", "--seed", "3")
    assert again == ok("text", "-m", gpt, "the cat sat", "--generate", "4", "--temperature", "1.5", "--seed", "3")


def test_generation_equals_running_the_whole_text(gpt, tmp_path):
    answer = ok("text", "-m", gpt, "the cat sat", "--generate", "5", "--view", "matrix", "--head", "1", "--json")
    generated = json.loads(answer)
    tokens = json.loads(ok("tokenize", "-m", gpt, "the cat sat", "--json"))["ids"]
    vocabulary = json.loads((gpt / "tokenizer.json").read_text())["model"]["vocab"]
    ids = tokens + [vocabulary[word] for word in generated["result"]["cols"][3:]]
    save_file({"input_ids": numpy.array(ids, dtype=numpy.int64)}, tmp_path / "ids.safetensors")
    ok("text", "-m", gpt, "--inputs", tmp_path / "ids.safetensors", "--head", "1", "--out", tmp_path / "whole.npy")
    ok("text", "-m", gpt, "the cat sat", "--generate", "5", "--head", "1", "--out", tmp_path / "steps.npy")
    numpy.testing.assert_allclose(
        numpy.load(tmp_path / "steps.npy"), numpy.load(tmp_path / "whole.npy"), rtol=0, atol=1e-6)


def test_an_encoder_does_not_write_text(bert):
    assert_fails(run("text", "-m", bert, "the cat", "--generate", "3"), 1, "does not write text")


def test_classes_and_masks_are_told(bert, tmp_path):
    sequence = models.bert(tmp_path / "sequence", "bert_sequence")
    assert ok("text", "-m", sequence, "the cat").startswith("class")
    assert "mask 2" in ok("text", "-m", bert, "the [MASK] sat")


def test_info_checks_the_maps(bert):
    shown = ok("info", "-m", bert, "--check")
    assert "good" in shown and "masked words" in shown
    facts = json.loads(ok("info", "-m", bert, "--check", "--json"))
    assert facts["check"]["passed"] and facts["not_read"] == []
    assert facts["check"]["row_sum_error"] < 1e-6 and facts["check"]["output_error"] < 1e-5


@pytest.mark.parametrize("fixture", sorted(path.name for path in models.PARITY.iterdir()))
def test_info_knows_every_architecture(fixture):
    folder = models.PARITY / fixture
    model = folder if (folder / "config.json").exists() else next(path for path in folder.iterdir() if path.suffix in (".pt", ".gguf"))
    facts = json.loads(ok("info", "-m", model, "--check", "--json"))
    assert facts["check"]["passed"] and facts["not_read"] == []


def test_models_lists_the_cache_and_the_architectures(bert, tmp_path):
    (tmp_path / "models").mkdir()
    shutil.copytree(bert, tmp_path / "models/tiny")
    (tmp_path / "models/broken").mkdir()
    environment = {"FOVEA_CACHE": str(tmp_path), "HF_HUB_CACHE": str(tmp_path / "none")}
    shown = json.loads(ok("models", "--json", environment=environment))
    assert [(m["name"], m["supported"]) for m in shown["models"]] == [
        ("en-fr", True), ("scenes-detr", True), ("scenes-vit", True), ("broken", False), ("tiny", True)]
    assert {"bert", "llama", "gemma3"} <= {a["name"] for a in shown["architectures"]}
    assert "tiny" in ok("models", environment=environment)
    assert "13 x 13" in ok("export", "-m", "tiny", TEXT, "--out", tmp_path / "x.safetensors", environment=environment)


def test_i16_is_near_and_bf16_is_another_word_for_it(bert, tmp_path):
    for kind in ("f32", "i16", "bf16"):
        ok("export", "-m", bert, TEXT, "--dtype", kind, "--out", tmp_path / f"{kind}.safetensors")
    exact, rounded = (load_file(tmp_path / f"{kind}.safetensors")["self.0"] for kind in ("f32", "i16"))
    assert 0 <= abs(exact - rounded).max() < 0.05
    assert (tmp_path / "i16.safetensors").read_bytes() == (tmp_path / "bf16.safetensors").read_bytes()
    assert_fails(run("text", "-m", bert, TEXT, "--dtype", "f16"), 2, "--dtype is 'f16'", "f32, i16")
    assert "f32|i16 (default: f32)" in " ".join(ok("text", "--help").split())


def test_a_figure_carries_what_it_shows(bert, tmp_path):
    out = tmp_path / "map.png"
    ok("text", "-m", bert, TEXT, "--layer", "1", "--head", "2", "--token", "it", "--view", "matrix", "--out", out,
       "--sidecar", "--pixels", "1")
    said = json.loads((tmp_path / "map.png.json").read_text())
    assert (said["layer"], said["head"], said["row"], said["method"]) == (1, 2, 8, "attention")
    assert said["input"] == TEXT and len(said["tokens"]) == 13 and len(said["model_hash"]) == 16
    assert "softmax weight" in said["caption"] and said["colors"] == "paper"
    assert said["model_hash"].encode() in out.read_bytes()
    small = out.stat().st_size
    ok("text", "-m", bert, TEXT, "--layer", "1", "--head", "2", "--out", out, "--pixels", "3", "--colors", "cividis")
    assert out.stat().st_size > small
    assert_fails(run("text", "-m", bert, TEXT, "--out", out, "--pixels", "9"), 2, "9", "4")


def test_what_is_drawn_and_on_which_scale_can_be_chosen(bert, tmp_path):
    place = ("text", "-m", bert, TEXT, "--layer", "1", "--head", "2")

    def numbers(*options):
        ok(*place, *options, "--out", tmp_path / "map.npy")
        return numpy.load(tmp_path / "map.npy").astype(float)

    weights, even, scores = numbers(), numbers("--of", "times-even"), numbers("--of", "score")
    numpy.testing.assert_allclose(even, weights * weights.shape[1], rtol=1e-5)
    exponents = numpy.exp(scores)
    numpy.testing.assert_allclose(exponents / exponents.sum(axis=1, keepdims=True), weights, atol=1e-6)
    lengths = numbers("--of", "value-weighted") / weights
    numpy.testing.assert_allclose(lengths, numpy.broadcast_to(lengths[:1], lengths.shape), rtol=1e-4)  # one for each column
    drawn = ok(*place, "--scale", "log", "--range", "0.01:0.1")
    assert "log colours 0.01 to 0.1, largest" in drawn
    ok(*place, "--scale", "sqrt", "--range", "1%:99%", "--out", tmp_path / "map.svg", "--sidecar")
    assert json.loads((tmp_path / "map.svg.json").read_text())["curve"] == "sqrt"
    for wrong, words in [(("--scale", "2"), ["--scale is '2'", "--pixels 2"]), (("--range", "3:1"), ["--range", "must rise"]),
                         (("--range", "x"), ["--range", "LOW:HIGH"]), (("--of", "score", "--scale", "log"), ["--scale", "scores"]),
                         (("--of", "much"), ["--of", "times-even"]), (("--of", "times-even", "--pool", "max"), ["--pool", "is a weight"]),
                         (("--scale", "log", "--range", "0:1"), ["--range", "above 0"])]:
        assert_fails(run(*place, *wrong), 2, *words)


def test_a_part_is_that_place_of_the_whole_map(bert, tmp_path):
    captured = tmp_path / "run.fovea.safetensors"
    ok("capture", "-m", bert, TEXT, "--out", captured)

    def numbers(*options):
        ok("open", captured, "--layer", "1", *options, "--out", tmp_path / "map.npy")
        return numpy.load(tmp_path / "map.npy")

    for view in ("--head=2", "--view=heads", "--view=lines"):
        whole = numbers(view)
        numpy.testing.assert_allclose(numbers(view, "--rows", "3:9", "--cols", ":4"), whole[..., 3:9, :4], atol=1e-6)
        numpy.testing.assert_allclose(numbers(view, "--rows", "10:"), whole[..., 10:, :], atol=1e-6)
        numpy.testing.assert_allclose(numbers(view, "--around", "mat:2"), whole[..., 4:9, 4:9], atol=1e-6)
    said = ok("open", captured, "--head", "2", "--rows", "3:9", "--cols", ":4")
    assert "rows 3 to 8 of 13, columns 0 to 3 of 13" in said
    read = ok("open", captured, "--view", "read", "--token", "mat", "--around", "mat:2")
    assert "columns 4 to 8 of 13" in read and "tired" not in read.split("outside of what is shown")[0]
    for wrong, words in [(("--rows", "3:99"), ["--rows", "13"]), (("--rows", "9:3"), ["--rows"]), (("--cols", "x"), ["--cols", "A:B"]),
                         (("--around", "dog"), ["dog"]), (("--around", "mat", "--rows", "1:2"), ["--around", "--rows"]),
                         (("--token", "mat", "--rows", "9:12"), ["--token", "9 to 11"])]:
        assert_fails(run("open", captured, "--view", "matrix", "--head", "2", *wrong), 2, *words)


@pytest.mark.parametrize("view", ["matrix", "read", "reading", "lines", "heads"])
@pytest.mark.parametrize("suffix, magic", [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_every_view_is_drawn_in_every_format_alike_each_time(bert, tmp_path, view, suffix, magic):
    first, second = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"
    for out in (first, second):
        ok("text", "-m", bert, TEXT, "--view", view, "--out", out)
    assert first.read_bytes() == second.read_bytes()
    assert first.read_bytes().startswith(magic)
    assert ok("text", "-m", bert, TEXT, "--view", view).strip()


# Bad input: one line, the right exit code, nothing left behind.

def test_a_text_longer_than_the_table_is_refused_with_both_numbers(bert):
    most = json.loads((bert / "config.json").read_text())["max_position_embeddings"]
    assert_fails(run("text", "-m", bert, "cat " * most), 2, most + 2, most)


def test_rotary_models_go_on_beyond_their_training_with_a_note(tmp_path):
    folder = models.causal(tmp_path / "llama", "llama_long")
    result = run("text", "-m", folder, "cat " * 100)
    assert result.returncode == 0
    assert result.stderr.startswith("fovea: note: the text has 100 tokens but the model was trained on")


def test_invalid_utf8_is_replaced_and_reported(bert, tmp_path):
    (tmp_path / "bad.txt").write_bytes(b"the \xff cat")
    result = run("text", "-m", bert, "--text-file", tmp_path / "bad.txt")
    assert result.returncode == 0
    assert "1 bytes of the text are no UTF-8 (the first at 4)" in result.stderr


def test_empty_text(bert, gpt):
    result = run("text", "-m", bert, "")  # its [CLS] and [SEP]
    assert (result.returncode, result.stderr) == (
        0, "fovea: note: the text has no words; only the model's own tokens are shown\n")
    assert "2 tokens" in result.stdout
    assert_fails(run("text", "-m", gpt, ""), 2, "no tokens")


def change_config(folder, **changes):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))
    return folder


@pytest.mark.parametrize("changes, facts", [
    ({"model_type": "mamba"}, ["mamba", "bert", "llama"]),
    ({"intermediate_size": 100}, ["[36, 44]", "[36, 100]"]),
    ({"num_attention_heads": 7}, ["7"]),
    ({"num_hidden_layers": 9}, ["encoder.layer"]),
    ({"num_hidden_layers": -1}, ["-1"]),
    ({"hidden_act": "mish"}, ["mish", "gelu"]),
    ({"vocab_size": 10**12}, ["1000000000000"]),
    ({"position_embedding_type": "relative_key"}, ["relative_key"]),
    ({"hidden_size": "wide"}, ["hidden_size"]),
])
def test_a_config_that_contradicts_the_weights_is_told(tmp_path, changes, facts):
    folder = change_config(models.bert(tmp_path / "model"), **changes)
    assert_fails(run("text", "-m", folder, "the cat"), 1, *facts)


@pytest.mark.parametrize("fixture, changes, facts", [
    ("mistral_window", {"num_hidden_layers": 2**31 - 1}, ["2147483647", "4096"]),
    ("albert_masked_lm", {"num_hidden_layers": 10**9}, ["1000000000", "4096"]),
    ("gemma3_text", {"num_hidden_layers": 10**9}, ["1000000000", "4096"]),
    ("gemma3_text", {"query_pre_attn_scalar": 0}, ["query_pre_attn_scalar", "0"]),
    ("roberta_model", {"pad_token_id": -5}, ["pad_token_id", "-5"]),
    ("roberta_model", {"pad_token_id": 2**62}, ["pad_token_id"]),
    ("llama_gqa", {"rope_parameters": {"rope_type": "linear", "rope_theta": 1e4, "factor": 0}}, ["factor", "0"]),
    ("llama_gqa", {"rope_parameters": {"rope_type": "longrope", "rope_theta": 1e4}}, ["short_factor", "6 pairs"]),
    ("mixtral_lm", {"num_local_experts": 10**9}, ["num_local_experts", "1000000000", "4096"]),
    ("mixtral_lm", {"num_experts_per_tok": 6}, ["num_experts_per_tok is 6", "num_local_experts is 5"]),
    ("mixtral_lm", {"num_local_experts": 4}, ["gate.weight", "[5, 32]", "[4, 32]"]),
    ("qwen3_moe_lm", {"num_local_experts": 7}, ["mlp.experts.6", "has no tensor"]),
    ("gpt_neox_parallel", {"rope_parameters": {"rope_theta": 1e4, "partial_rotary_factor": 1e300}}, ["1e+300"]),
    ("llama_gqa", {"rope_parameters": {"rope_type": "llama3", "rope_theta": 1e4, "factor": 2, "low_freq_factor": 4,
                                       "high_freq_factor": 4}}, ["high_freq_factor"]),
    ("llama_gqa", {"num_key_value_heads": 3}, ["3"]),
    ("llama_gqa", {"head_dim": 10**6}, ["1000000"]),
])
def test_hostile_numbers_are_told(tmp_path, fixture, changes, facts):
    folder = change_config(models.copy_fixture(fixture, tmp_path / "model"), **changes)
    assert_fails(run("info", "-m", folder), 1, *facts)


@pytest.mark.parametrize("fixture", ["gpt_neox_parallel", "gpt2_lm", "bert_model"])
def test_stray_members_do_not_change_a_model(tmp_path, fixture):
    """Members of other architectures: heads of these always share the width."""
    folder = change_config(models.copy_fixture(fixture, tmp_path / "model"), head_dim=256, num_key_value_heads=1)
    inputs = models.PARITY / fixture / "inputs.safetensors"
    for name, model in (("as it is", models.PARITY / fixture), ("strange", folder)):
        ok("export", "-m", model, "--inputs", inputs, "--out", tmp_path / f"{name}.safetensors")
    numpy.testing.assert_array_equal(
        load_file(tmp_path / "as it is.safetensors")["self.0"], load_file(tmp_path / "strange.safetensors")["self.0"])


def test_the_short_config_of_gemma_opens(tmp_path):
    """Published Gemma files leave out what is the family's default; here nothing of that fits, and it says so."""
    folder = models.copy_fixture("gemma3_text", tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    for key in ("num_attention_heads", "num_key_value_heads", "head_dim"):
        del config[key]
    (folder / "config.json").write_text(json.dumps(config))
    assert_fails(run("info", "-m", folder), 1, "2048")  # 8 heads of 256


def test_generation_takes_no_padding(gpt, tmp_path):
    save_file({"input_ids": numpy.array([1, 2]), "attention_mask": numpy.array([0, 1])}, tmp_path / "in.safetensors")
    assert_fails(run("text", "-m", gpt, "--inputs", tmp_path / "in.safetensors", "--generate", "2"), 1, "padding")
    assert_fails(run("text", "-m", gpt, "the cat", "--generate", 2**63 - 1), 2, "16777216")


def test_missing_and_damaged_files_are_told(tmp_path):
    folder = models.bert(tmp_path / "model")
    weights = folder / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    assert_fails(run("info", "-m", folder), 1, "model.safetensors", "incomplete download")
    weights.write_bytes(b"")
    assert_fails(run("info", "-m", folder), 1, "model.safetensors")
    weights.unlink()
    assert_fails(run("info", "-m", folder), 1, "no weights")
    weights.write_bytes(whole)
    (folder / "config.json").write_text("{")
    assert_fails(run("info", "-m", folder), 1, "config.json")
    (folder / "config.json").unlink()
    assert_fails(run("info", "-m", folder), 1, "config.json")
    assert_fails(run("info", "-m", tmp_path / "nowhere"), 1, "nowhere")


def test_a_model_without_a_tokenizer_takes_ids_only(tmp_path):
    folder = models.PARITY / "bert_model"
    assert_fails(run("text", "-m", folder, "the cat"), 1, "tokenizer")
    assert "heads" in ok("text", "-m", folder, "--inputs", folder / "inputs.safetensors")


@pytest.mark.parametrize("tensors, facts", [
    ({"input_ids": numpy.array([1.5])}, ["input_ids"]),
    ({"input_ids": numpy.array([[1, 2], [3, 4]])}, ["[2, 2]"]),
    ({"input_ids": numpy.array([10**9])}, ["1000000000"]),
    ({"input_ids": numpy.array([-1])}, ["-1"]),
    ({"input_ids": numpy.array([1, 2]), "attention_mask": numpy.array([1])}, ["attention_mask"]),
    ({"pixel_values": numpy.zeros(3)}, ["pixel_values"]),
    ({"token_type_ids": numpy.array([0])}, ["input_ids"]),
])
def test_wrong_inputs_are_told(tmp_path, tensors, facts):
    save_file(tensors, tmp_path / "in.safetensors")
    result = run("export", "-m", models.PARITY / "bert_model", "--inputs", tmp_path / "in.safetensors",
                 "--out", tmp_path / "out.safetensors")
    assert result.returncode in (1, 2)
    assert_fails(result, result.returncode, *facts)
    assert not (tmp_path / "out.safetensors").exists()


def test_an_export_that_is_too_large_is_refused_before_the_run(tmp_path):
    save_file({"input_ids": numpy.arange(200_000) % 50 + 5}, tmp_path / "in.safetensors")  # a run would take minutes
    assert_fails(run("export", "-m", models.PARITY / "llama_gqa", "--inputs", tmp_path / "in.safetensors", "--out",
                     tmp_path / "out.safetensors"), 2, "at least ", "TB", "fovea capture", "--force")


@pytest.mark.parametrize("arguments, facts", [
    ([], ["exactly one"]),
    (["the cat", "a dog"], ["one more"]),
    (["the cat", "--head", "most"], ["--head: 'most'", "mean, max, min, all"]),
    (["the cat", "--token", "zebra"], ["zebra"]),
    (["the cat", "--view", "cube"], ["cube"]),
    (["the cat", "--out", "x.gif"], [".gif"]),
    (["the cat", "--dtype", "f8"], ["f8"]),
    (["the cat", "--top-p", "0.5"], ["--generate"]),
    (["the cat", "--generate", "0"], ["0"]),
    (["the cat", "--generate", "2", "--top-p", "0"], ["--top-p: 0", "above 0"]),
    (["the cat", "--generate", "2", "--top-p", "1.5"], ["--top-p: 1.5", "up to 1"]),
])
def test_wrong_command_lines_are_told(gpt, arguments, facts):
    result = run("text", "-m", gpt, *arguments)
    assert result.returncode in (1, 2)
    assert_fails(result, result.returncode, *facts)


@pytest.mark.parametrize("verb, arguments", [
    ("text", ["--text-file", "missing.txt"]), ("steps", ["--text-file", "missing.txt"]),
    ("explain", ["--text-file", "missing.txt", "--method", "raw"]),
])
def test_what_the_model_does_not_have_is_told_before_the_input_is_read(gpt, verb, arguments, tmp_path):
    """So that nobody waits for a run to hear it."""
    for option in ("--layer", "--head"):
        assert_fails(run(verb, "-m", gpt, *arguments, option, "99", cwd=tmp_path), 2, f"{option}: 99 is beyond", f"{option[2:]}s of self-attention", "0 to ")
    assert_fails(run(verb, "-m", gpt, *arguments, "--site", "cross", cwd=tmp_path), 2, "--site: cross", "choose self")
    assert_fails(run(verb, "-m", gpt, *arguments, cwd=tmp_path), 1, "missing.txt")


def test_without_a_model_it_says_how_to_get_one(tmp_path):
    environment = {"FOVEA_CACHE": str(tmp_path), "HF_HUB_CACHE": str(tmp_path)}
    assert_fails(run("text", "the cat", environment=environment), 1, "all-minilm-l6-v2", "-m", "./run")


def test_nothing_is_written_where_it_cannot_be(bert, tmp_path):
    for verb, out in (("capture", "where.safetensors"), ("export", "where.safetensors"), ("text", "where.png"), ("steps", "where.png")):
        # Before the model is opened, which is not there.
        assert_fails(run(verb, "-m", tmp_path / "none", "the cat", "--out", tmp_path / "no" / out), 1, out, "no folder")
    if os.path.exists("/dev/full"):
        result = run("export", "-m", bert, "the cat", "--out", "/dev/full")
        assert result.returncode == 2  # not a .safetensors
    assert list(tmp_path.iterdir()) == []
