"""`fovea open`: a captured run, written here without fovea, shown and written in every way."""

import csv
import json
import re

import numpy as np
import pytest
from program import assert_fails, ok, run
from safetensors import safe_open
from safetensors.numpy import save_file

SCALE = 0.25


def axis(words):
    """Pieces of a word are divided by '|'; [X] is special."""
    source, positions, offsets, special, numbers = "", [], [], [], []
    for number, word in enumerate(words):
        if word.startswith("["):
            special.append(len(positions))
            positions.append(word)
            offsets.append([0, 0])
            numbers.append(-1)
            continue
        source += " " if source else ""
        for place, piece in enumerate(word.split("|")):
            begin = len(source.encode())
            source += piece
            positions.append(("‿" if place else "") + piece)
            offsets.append([begin, len(source.encode())])
            numbers.append(number)
    return {"name": "tokens", "source": source, "positions": positions, "offsets": offsets,
            "special": special, "words": numbers}


def write_run(path, words, heads=4, layers=2, causal=False):
    """Returns the dense maps, [layers, heads, rows, cols]."""
    random = np.random.default_rng(3)
    tokens = axis(words)
    count = len(tokens["positions"])
    tensors, sites, maps = {}, [], []
    for layer in range(layers):
        q, k = random.normal(size=(2, heads, count, 16)).astype(np.float32) * 1.5
        scores = SCALE * q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1)
        if causal:
            scores[:, np.arange(count) > np.arange(count)[:, None]] = -np.inf
        most = scores.max(axis=-1)
        lse = most + np.log(np.exp(scores - most[..., None]).sum(axis=-1))
        maps.append(np.exp(scores - lse[..., None]))
        tensors |= {f"self.{layer}.q": q, f"self.{layer}.k": k, f"self.{layer}.lse": lse}
        rule = {"scale": SCALE, "soft_cap": 0.0, "query_offset": 0, "behind": None,
                "ahead": 0 if causal else None, "bias": "none"}
        sites.append({"site": f"self.{layer}", "rows": "tokens", "cols": "tokens", "rule": rule})
    about = {"format_version": 1, "model": "tiny-bert", "model_hash": "0f3a", "axes": [tokens],
             "sites": sites}
    save_file(tensors, path, {"fovea": json.dumps(about)})
    return np.array(maps)


CAT = ["[CLS]", "the", "cat", "chas|ing", "it", "[SEP]"]


@pytest.fixture
def cat(tmp_path):
    path = tmp_path / "cat.fovea.safetensors"
    return path, write_run(path, CAT, causal=True)


def test_without_a_choice_it_says_what_the_run_is_and_shows_the_last_layer(cat):
    text = ok("open", cat[0])
    for fact in ("tiny-bert", '"the cat chasing it"', "7 tokens (2 special)", "2 layers, 0 to 1",
                 "layer 1, 4 heads", "head 3", "each row sums to 1.00", "· not allowed"):
        assert fact in text


def test_a_token_is_read_as_a_row_or_a_column(cat):
    path, maps = cat
    row = ok("open", path, "--layer", 0, "--head", 2, "--token", "cat")
    assert 'Row 2 "cat" → what it attends to · layer 0, head 2 · softmax weight' in row
    assert f"{maps[0, 2, 2].max():.3f}" in row and "sum 1.00" in row and "[cat]" in row
    column = ok("open", path, "--layer", 0, "--head", 2, "--token", "cat", "--column")
    assert 'Column 2 "cat" ← who attends to it' in column
    assert f"sum {maps[0, 2, :, 2].sum():.2f}" in column


def test_matrix_and_lines_are_drawn(cat):
    path, maps = cat
    matrix = ok("open", path, "--head", 1)
    assert "Rows attend to columns · layer 1, head 1 · softmax weight" in matrix
    weight = maps[1, 1, 4, 2]
    if weight >= 0.005:
        assert f"{weight:.2f}"[1:] in matrix
    lines = ok("open", path, "--view", "lines", "--token", "chasing")
    assert "→" in lines and 'the last of 2 pieces of "chasing"' in " ".join(lines.split())
    assert "layers 0 to 1, 4 heads each" in ok("open", path, "--layer", "all")


def test_words_are_put_together(cat):
    path, maps = cat
    found = json.loads(ok("open", path, "--head", "mean", "--words", "--json"))
    found = found["result"]
    assert found["rows"] == ["[CLS]", "the", "cat", "chasing", "it", "[SEP]"]
    mean = maps[1].mean(axis=0)
    # 1e-6: f32 weights, see docs/numerics.md
    assert found["weights"][3][2] == pytest.approx(mean[3:5, 2].mean(), abs=1e-6)
    assert found["weights"][5][3] == pytest.approx(mean[6, 3:5].sum(), abs=1e-6)
    assert found["weights"][0][1] is None


def test_json_says_what_it_is(cat):
    found = json.loads(ok("open", cat[0], "--token", "it", "--json"))
    assert (found["model"]["name"], found["method"], found["site"], found["layer"], found["head"]) == (
        "tiny-bert", "attention", "self", 1, "mean")
    assert found["question"] == {"token": "it", "kind": "read"} and found["direction"] == "row"
    found = found["result"]
    assert found["row"] == 5
    assert found["cols"] == ["[CLS]", "the", "cat", "chas", "‿ing", "it", "[SEP]"]
    assert sum(weight or 0 for weight in found["weights"][0]) == pytest.approx(1, abs=1e-5)


def test_numbers_are_written_in_every_format(cat, tmp_path):
    path, maps = cat
    for suffix in ("npy", "npz", "safetensors", "json", "csv"):
        out = tmp_path / f"map.{suffix}"
        assert ok("open", path, "--head", "max", "--out", out) == f"wrote {out}\n"
    expected = maps[1].max(axis=0)
    # 1e-6: f32 weights, see docs/numerics.md
    close = {"rtol": 0, "atol": 1e-6}
    np.testing.assert_allclose(np.load(tmp_path / "map.npy"), expected, **close)
    np.testing.assert_allclose(np.load(tmp_path / "map.npz")["weights"], expected, **close)
    with safe_open(tmp_path / "map.safetensors", "np") as file:
        np.testing.assert_allclose(file.get_tensor("weights"), expected, **close)
        assert json.loads(file.metadata()["cols"])[2] == "cat"
        assert "max of 4 heads" in file.metadata()["caption"]
    weights = json.loads((tmp_path / "map.json").read_text())["result"]["weights"]
    assert weights[2][1] == pytest.approx(expected[2, 1], abs=1e-6)
    with open(tmp_path / "map.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["", "[CLS]", "the", "cat", "chas", "‿ing", "it", "[SEP]"]
    assert rows[3][0] == "cat" and rows[3][5] == ""
    assert float(rows[3][2]) == pytest.approx(expected[2, 1], abs=1e-6)


def test_all_heads_are_one_array(cat, tmp_path):
    path, maps = cat
    ok("open", path, "--layer", 0, "--out", tmp_path / "heads.npy")
    np.testing.assert_allclose(np.load(tmp_path / "heads.npy"), maps[0], rtol=0, atol=1e-6)
    ok("open", path, "--layer", 0, "--out", tmp_path / "heads.csv")
    with open(tmp_path / "heads.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0][:3] == ["map", "", "[CLS]"] and rows[8][:2] == ["head 1", "[CLS]"]


@pytest.mark.parametrize("suffix,begin", [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_figures_are_written(cat, tmp_path, suffix, begin):
    for choice in (["--head", "0"], ["--token", "cat"], ["--view", "lines"], []):
        out = tmp_path / f"figure.{suffix}"
        ok("open", cat[0], *choice, "--out", out)
        assert out.read_bytes().startswith(begin)


@pytest.mark.parametrize("words", [["x"], ["日本語", "の|テキスト"], ["قط", "12"], ["👩‍🚀", "🇩🇪"],
                                   [f"w{i}" for i in range(300)]])
@pytest.mark.parametrize("columns", [40, 80, 200])
def test_every_view_fits_every_terminal(tmp_path, words, columns):
    path = tmp_path / "run.fovea.safetensors"
    write_run(path, words, heads=2)
    for view in ("matrix", "read", "lines", "heads"):
        for colors in ({}, {"FORCE_COLOR": "2"}, {"FORCE_COLOR": "3"}):
            text = ok("open", path, "--view", view,
                      environment={"COLUMNS": str(columns), "TERM": "xterm", **colors})
            assert ("\x1b[" in text) == bool(colors)
            plain = re.sub("\x1b\\[[0-9;]*m|[\u2068\u2069\u200d]", "", text)
            # Letters, not columns: wide ones are measured in the unit tests.
            assert max(map(len, plain.splitlines())) <= columns


BAD = [
    (["--layer", "2"], 2, "layer 2 is asked for but the self-attention has layers 0 to 1"),
    (["--layer", "x"], 2, "whole number"),
    (["--head", "4"], 2, "has 4 heads, 0 to 3"),
    (["--token", "dog"], 2, "'dog' is none of the 7 tokens"),
    (["--token", "99"], 2, "there are 7, 0 to 6"),
    (["--site", "cross"], 1, "no cross-attention; it has self-attention"),
    (["--site", "elsewhere"], 2, "must be one of"),
    (["--colors", "jet"], 2, "inferno"),
    (["--out", "map.bmp"], 2, ".npy, .npz, .safetensors, .json, .csv"),
    (["--out", "map"], 2, "give one of these suffixes"),
]


@pytest.mark.parametrize("arguments,code,fact", BAD)
def test_what_cannot_be_is_one_clear_error(cat, tmp_path, arguments, code, fact):
    assert_fails(run("open", cat[0], *arguments, cwd=tmp_path), code, fact)
    assert [file.name for file in tmp_path.iterdir()] == [cat[0].name]


def test_a_file_that_is_no_run_is_refused(tmp_path):
    assert_fails(run("open", tmp_path / "none.safetensors"), 1, "none.safetensors")
    plain = tmp_path / "plain.safetensors"
    save_file({"x": np.zeros(2, np.float32)}, plain)
    assert_fails(run("open", plain), 1, "no captured run")
    assert_fails(run("open"), 2, "RUN")


def test_an_output_that_cannot_be_written_leaves_nothing(cat, tmp_path):
    assert_fails(run("open", cat[0], "--out", tmp_path / "missing" / "map.npy"), 1, "missing")


def test_a_long_text_is_read_around_the_token(tmp_path):
    run_file = tmp_path / "long.fovea.safetensors"
    row = write_run(run_file, [f"w{i % 300}" for i in range(450)], heads=1, layers=1, causal=True)[0, 0, 440]
    said = ok("open", run_file, "--head", "0", "--token", "#440")
    assert "columns 193 to 449 of 450" in said and "w192 " not in said
    assert f"outside of what is shown: {100 * row[:193].sum():.0f} % of the weight" in " ".join(said.split())
    assert "columns 430 to 449 of 450" in ok("open", run_file, "--token", "#440", "--cols", "430:")
    answer = json.loads(ok("open", run_file, "--head", "0", "--token", "#440", "--json"))
    found = np.array(answer["result"]["weights"][0], float)  # every one, however long
    np.testing.assert_allclose(found[:441], row[:441], atol=1e-5)
    assert np.isnan(found[441:]).all()
