"""`fovea steps --vectors`: bad files, every number against numpy, the text, the files it writes, its pages."""

import json
import re
import shlex

import numpy as np
import pytest

from png_files import read_png
from program import EXAMPLES, FOUR_WORDS, ROOT, assert_fails, ok, run


@pytest.fixture
def steps_file(tmp_path):
    def write(problem, name="in.json"):
        path = tmp_path / name
        path.write_text(problem if isinstance(problem, str) else json.dumps(problem))
        return path

    return write


def steps_json(path, *options):
    return json.loads(ok("steps", "--vectors", path, "--json", *options))


# Bad files ----------------------------------------------------------------------------------------

TWO = [[1, 0], [0, 1]]
MEMORY = {"keys": TWO, "values": TWO}
BAD_FILES = {
    "empty file": ("", "JSON"),
    "no JSON": ("{inputs: 1}", "JSON", "column"),
    "cut off": ('{"inputs": [[1, 2], [3', "JSON"),
    "invalid UTF-8": ('{"title": "\udcff"}', "JSON"),
    "NaN": ('{"inputs": [[1, NaN]]}', "JSON"),
    "infinity": ('{"inputs": [[1, Infinity]]}', "JSON"),
    "number too large for a double": ('{"inputs": [[1e400]]}', "1e400"),
    "nested too deep": ('{"inputs": ' + "[" * 300 + "]" * 300 + "}", "nested"),
    "key twice": ('{"inputs": [[1]], "inputs": [[2]]}', "inputs", "twice"),
    "not an object": ("[[1, 2]]", "an array"),
    "nothing to do": ({}, "neither inputs, image nor memory"),
    "two things to do": ({"inputs": TWO, "memory": MEMORY}, "inputs and memory"),
    "unknown member": ({"inputs": TWO, "wq": TWO}, "'wq'", "did you mean 'Wq'"),
    "unknown member of memory": ({"memory": {**MEMORY, "key": TWO}, "query": [1, 0]}, "'key'", "'keys'"),
    "member that does not go": ({"memory": MEMORY, "query": [1, 0], "Wq": TWO}, "Wq", "memory"),
    "inputs of the wrong type": ({"inputs": 3}, "inputs should be an array", "whole number"),
    "inputs empty": ({"inputs": []}, "inputs is empty"),
    "empty vector": ({"inputs": [[]]}, "inputs[0] is empty"),
    "ragged": ({"inputs": [[1, 2], [3]]}, "inputs[1] has 1", "inputs[0] has 2"),
    "text among numbers": ({"inputs": [[1, "2"]]}, "inputs[0][1] should be a number", "a string"),
    "null among numbers": ({"inputs": [[1, None]]}, "inputs[0][1]", "null"),
    "huge number": ({"inputs": [[1e200, 1]]}, "inputs[0][0]", "1e+200", "1e+30"),
    "Wq with too few rows": ({"inputs": TWO, "Wq": [[1, 0]]}, "Wq has 1 rows", "width 2"),
    "Wk of another width": ({"inputs": TWO, "Wk": [[1], [1]]}, "width 2", "width 1"),
    "Wo that does not fit": ({"inputs": TWO, "Wo": [[1], [1], [1]]}, "Wo has 3 rows", "width 2"),
    "bias too long": ({"inputs": TWO, "bv": [1, 2, 3]}, "bv has 3", "2"),
    "heads that do not divide": ({"inputs": [[1, 2, 3]], "heads": 2}, "2 heads", "width 3"),
    "no heads": ({"inputs": TWO, "heads": 0}, "heads is 0"),
    "half a head": ({"inputs": TWO, "heads": 1.5}, "heads should be a whole number"),
    "too many heads": ({"inputs": TWO, "heads": 10**12}, "heads is 1000000000000"),
    "mask of the wrong shape": ({"inputs": TWO, "mask": [[1, 1]]}, "[1 x 2]", "2 queries and 2 keys"),
    "mask of other numbers": ({"inputs": TWO, "mask": [[1, 2], [1, 1]]}, "mask holds 2"),
    "unknown mask": ({"inputs": TWO, "mask": "casual"}, "'casual'", "causal"),
    "causal over another sequence": ({"inputs": TWO, "source": TWO, "mask": "causal"}, "source"),
    "too few labels": ({"inputs": TWO, "labels": ["a"]}, "labels has 1", "2 vectors"),
    "label that is a number": ({"inputs": TWO, "labels": ["a", 2]}, "labels[1] should be a string"),
    "labels of no source": ({"inputs": TWO, "source_labels": ["a", "b"]}, "no source"),
    "source of another width": ({"inputs": TWO, "source": [[1, 2, 3]]}, "width 2", "width 3"),
    "scale of the wrong type": ({"inputs": TWO, "scale": "big"}, "scale should be a number"),
    "title of the wrong type": ({"inputs": TWO, "title": 3}, "title should be a string"),
    "image without pixels": ({"image": {"height": 1, "width": 1}}, "pixels"),
    "image with too few pixels": ({"image": {"height": 2, "width": 2, "pixels": TWO}},
                                  "2 pixels", "needs 4"),
    "image with a short line": ({"image": {"height": 2, "width": 2, "pixels": [[[1], [2]], [[3]]]}},
                                "image.pixels[1] has 1", "image.width is 2"),
    "image with too few lines": ({"image": {"height": 2, "width": 1, "pixels": [[[1]]]}},
                                 "1 lines", "image.height is 2"),
    "image of negative size": ({"image": {"height": -1, "width": 2, "pixels": TWO}}, "image.height is -1"),
    "memory without a query": ({"memory": MEMORY}, "neither query nor queries"),
    "memory with too few values": ({"memory": {"keys": TWO, "values": [[1]]}, "query": [1, 0]},
                                   "2 keys", "1 values"),
    "query of another width": ({"memory": MEMORY, "query": [1]}, "width 1", "width 2"),
    "too many vectors": ({"inputs": [[1]] * 1100}, "1100 x 1100", "fewer"),
}


@pytest.mark.parametrize("problem, facts", [(c[0], c[1:]) for c in BAD_FILES.values()], ids=BAD_FILES)
def test_a_bad_file_is_one_line_and_exit_code_1(tmp_path, problem, facts):
    text = problem if isinstance(problem, str) else json.dumps(problem)
    (tmp_path / "bad.json").write_bytes(text.encode(errors="surrogateescape"))
    result = run("steps", "--vectors", "bad.json", "--out", "out.json", cwd=tmp_path)
    assert_fails(result, 1, "bad.json", *facts)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.json"]


def test_additive_similarity_needs_its_weights(steps_file):
    path = steps_file({"inputs": TWO, "Wa_q": TWO, "Wa_k": TWO})
    assert_fails(run("steps", "--vectors", path, "--similarity", "additive"), 1, "no v", "tanh")
    path = steps_file({"inputs": TWO, "Wa_q": TWO, "Wa_k": [[1, 2, 3], [1, 2, 3]], "v": [1, 1]})
    assert_fails(run("steps", "--vectors", path, "--similarity", "additive"), 1, "Wa_k is [2 x 3]")


def test_missing_and_unreadable_files(tmp_path):
    assert_fails(run("steps", "--vectors", tmp_path / "none.json"), 1, "none.json", "no such file")
    assert_fails(run("steps", "--vectors", tmp_path), 1, str(tmp_path))


def test_control_characters_of_a_file_do_not_reach_the_terminal(steps_file):
    path = steps_file({"inputs": TWO, "labels": ["a\x1b[2J", "b\nc"], "title": "t\x07\n"})
    text = ok("steps", "--vectors", path)
    assert "\x1b" not in text and "\x07" not in text and "b↵c" in text
    path = steps_file({"inputs": TWO, "in\x1b[2J\nputs": 1})
    assert_fails(run("steps", "--vectors", path), 1)


@pytest.mark.parametrize("suffix", ["json", "npz", "png", "svg", "pdf"])
def test_a_file_that_cannot_be_written_is_an_error_and_leaves_nothing(tmp_path, suffix):
    out = tmp_path / "missing" / f"out.{suffix}"
    assert_fails(run("steps", "--vectors", FOUR_WORDS, "--out", out), 1, str(out))
    assert list(tmp_path.iterdir()) == []


# The numbers, recomputed by numpy ------------------------------------------------------------------


def softmax(scores, temperature=1.0):
    scores = scores / temperature
    top = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = weights.sum(axis=-1, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)


def raw_scores(name, q, k, problem):
    if name == "cosine":
        return (q / np.linalg.norm(q, axis=1)[:, None]) @ (k / np.linalg.norm(k, axis=1)[:, None]).T
    if name == "additive":
        hidden = (q @ np.array(problem["Wa_q"]))[:, None] + (k @ np.array(problem["Wa_k"]))[None]
        return np.tanh(hidden) @ np.array(problem["v"])
    return q @ k.T


def attention(problem, similarity="scaled", temperature=1.0):
    """Every stage of every head, written down again from the formulas."""
    image = problem.get("image")
    x = np.array(problem["inputs"] if image is None else image["pixels"], float)
    x = x.reshape(-1, x.shape[-1])
    u = np.array(problem.get("source", x), float)

    def project(vectors, letter):
        weight = np.array(problem.get(f"W{letter}", np.eye(vectors.shape[1])), float)
        return vectors @ weight + np.array(problem.get(f"b{letter}", 0.0))

    heads = problem.get("heads", 1)
    mask = problem.get("mask", np.ones((len(x), len(u))))
    mask = np.tril(np.ones((len(x), len(x)))) if isinstance(mask, str) else np.array(mask)
    result = {"heads": []}
    for q, k, v in zip(*(np.split(project(*pair), heads, axis=1)
                         for pair in ((x, "q"), (u, "k"), (u, "v")))):
        scores = raw_scores(similarity, q, k, problem)
        scale = problem.get("scale", 1 / np.sqrt(q.shape[1]) if similarity == "scaled" else 1)
        masked = np.where(mask == 1, scores * scale, -np.inf)
        weights = softmax(masked, temperature)
        result["heads"].append({
            "q": q, "k": k, "v": v, "scores": scores, "scaled": scores * scale, "masked": masked,
            "weights": weights, "row_sums": weights.sum(axis=1), "weighted_sum": weights @ v,
        })
    result["joined"] = np.concatenate([head["weighted_sum"] for head in result["heads"]], axis=1)
    result["output"] = project(result["joined"], "o")
    return result


def array(value):
    return np.array(value, dtype=float)  # null becomes NaN


def assert_same_attention(found, expected):
    for name in ("joined", "output"):
        np.testing.assert_allclose(array(found[name]), expected[name], atol=1e-9)
    assert len(found["heads"]) == len(expected["heads"])
    for head, reference in zip(found["heads"], expected["heads"]):
        assert head.keys() == reference.keys()
        for name, value in reference.items():
            # -infinity is null in JSON. Sums of a few products in double: far below 1e-9.
            value = np.where(np.isinf(value), np.nan, value)
            np.testing.assert_allclose(array(head[name]), value, atol=1e-9, err_msg=name)


def random_problem(seed):
    random = np.random.default_rng(seed)
    normal = lambda *shape: random.normal(size=shape).tolist()
    heads, rows, cols = (int(n) for n in random.integers(1, 5, 3))
    width = heads * int(random.integers(1, 4))
    problem = {"inputs": normal(rows, 5), "heads": heads, "Wq": normal(5, width)}
    if seed % 2:
        problem["source"] = normal(cols, 3)
    inner, keys = (3, cols) if seed % 2 else (5, rows)
    problem |= {"Wk": normal(inner, width), "Wv": normal(inner, 2 * heads), "bk": normal(width)}
    if seed % 3:
        problem |= {"Wo": normal(2 * heads, 4), "bo": normal(4), "bq": normal(width)}
    if seed % 4 == 0:
        problem["mask"] = random.integers(0, 2, (rows, keys)).tolist()
    if seed % 5 == 0:
        problem["scale"] = 0.3
    problem |= {"Wa_q": normal(width // heads, 3), "Wa_k": normal(width // heads, 3), "v": normal(3)}
    return problem


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("similarity", ["scaled", "dot", "cosine", "additive"])
def test_every_intermediate_equals_numpy(steps_file, seed, similarity):
    problem = random_problem(seed)
    found = steps_json(steps_file(problem), "--similarity", similarity, "--temperature", "0.7")
    assert_same_attention(found, attention(problem, similarity, 0.7))
    assert found["forms_differ_by"] < 1e-6
    assert found["similarity"] == similarity and found["temperature"] == 0.7
    assert found["kind"] == ("cross" if "source" in problem else "self")


@pytest.mark.parametrize("name", ["four_words", "translation", "picture"])
def test_the_examples_equal_numpy(name):
    path = ROOT / f"examples/{name}.json"
    assert_same_attention(steps_json(path), attention(json.loads(path.read_text())))


def test_a_mask_may_be_true_and_false(steps_file):
    flags = steps_json(steps_file({"inputs": TWO, "mask": [[True, False], [True, True]]}))
    digits = steps_json(steps_file({"inputs": TWO, "mask": [[1, 0], [1, 1]]}))
    assert flags["heads"] == digits["heads"]


def test_a_causal_mask_hides_what_comes_later(steps_file):
    problem = {"inputs": np.random.default_rng(1).normal(size=(4, 3)).tolist(), "mask": "causal"}
    path = steps_file(problem)
    found = steps_json(path)
    assert_same_attention(found, attention(problem))
    weights = array(found["heads"][0]["weights"])
    assert (np.triu(weights, 1) == 0).all() and found["heads"][0]["masked"][0][1:] == [None] * 3
    assert re.search(r"^    x0 +1\.000 +· +· +· +│ 1\.000$", ok("steps", "--vectors", path), re.MULTILINE)


def test_a_query_that_sees_nothing_gets_zeros(steps_file):
    path = steps_file({"inputs": TWO, "mask": [[1, 1], [0, 0]]})
    found = steps_json(path)
    assert found["heads"][0]["weights"][1] == [0, 0]
    assert found["heads"][0]["row_sums"][1] == 0 and found["output"][1] == [0, 0]
    assert re.search(r"^    x1 +· +· +│ 0\.000$", ok("steps", "--vectors", path), re.MULTILINE)


def test_reading_a_memory_hard_and_soft():
    path = ROOT / "examples/memory.json"
    problem = json.loads(path.read_text())
    scores = array(problem["memory"]["keys"]) @ array(problem["query"])
    values = array(problem["memory"]["values"])
    found = steps_json(path, "--temperature", "0.5")
    assert found["kind"] == "memory" and found["similarity"] == "dot"
    np.testing.assert_allclose(found["soft"][0]["weights"], softmax(scores, 0.5), atol=1e-12)
    np.testing.assert_allclose(found["soft"][0]["value"], softmax(scores, 0.5) @ values, atol=1e-12)
    assert found["hard"][0]["value"] == values[scores.argmax()].tolist()
    assert found["hard"][0]["weights"] == [0, 1, 0, 0]
    frozen = steps_json(path, "--temperature", "0")
    assert frozen["soft"] == frozen["hard"]


def test_temperature_zero_takes_the_first_of_the_best_keys(steps_file):
    path = steps_file({"inputs": [[1, 0]], "source": [[0, 1], [1, 0], [1, 0]]})
    assert steps_json(path, "--temperature", "0")["heads"][0]["weights"] == [[0, 1, 0]]


def test_pixels_may_be_nested_or_one_list(steps_file):
    nested = [[[0, 1], [1, 0]], [[1, 1], [0, 0]]]
    flat = [pixel for line in nested for pixel in line]
    results = []
    for pixels in (nested, flat):
        found = steps_json(steps_file({"image": {"height": 2, "width": 2, "pixels": pixels}}))
        assert found["kind"] == "image" and found["grid"] == {"height": 2, "width": 2}
        assert found["chosen_row"] == 3  # the centre, rounded down and right
        results.append(found["output"])
    assert results[0] == results[1]


# The text -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_tells_every_stage_within_80_columns(path):
    text = ok("steps", "--vectors", path)
    stages = ["Query", "Scores", "Weights", "Temperature"] if path.stem == "memory" else [
        "Query, key, value", "Scores", "Scaled", "Masked", "Softmax", "Weighted sum", "Heads joined",
        "Output"]
    for stage in stages:
        assert re.search(rf"^ \d  {stage}", text, re.MULTILINE), stage
    assert json.loads(path.read_text())["title"] == text.splitlines()[0]
    assert max(map(len, text.splitlines())) <= 80
    assert "importan" not in text and "\x1b" not in text


def test_what_is_left_to_identity_is_said(steps_file):
    assert "Wq, Wk, Wv, Wo left out: identity" in ok("steps", "--vectors", steps_file({"inputs": TWO}))


def test_wide_and_long_tables_are_shortened_in_the_middle(steps_file):
    problem = {"inputs": np.random.default_rng(2).normal(size=(60, 30)).tolist()}
    text = ok("steps", "--vectors", steps_file(problem))
    assert max(map(len, text.splitlines())) <= 80
    assert "…" in text and "⋮" in text and "x59" in text
    wide = ok("steps", "--vectors", steps_file(problem), environment={"COLUMNS": "120"})
    assert 100 < max(map(len, wide.splitlines())) <= 120


def test_columns_stay_aligned_with_wide_characters(steps_file):
    path = steps_file({"inputs": [[1, 2], [3, 4]], "labels": ["猫猫", "ab"]})
    lines = [line for line in ok("steps", "--vectors", path).splitlines()
             if line.startswith(("    猫猫", "    ab"))]
    assert lines[0].startswith("    猫猫  1  2")
    assert lines[1].startswith("    ab    3  4")


def test_a_row_and_a_column_are_told_apart():
    row = ok("steps", "--vectors", FOUR_WORDS, "--token", "sleep", "--head", "1")
    assert 'Row 3 "sleep" → what it attends to · head 1 · softmax weight · sum 1.000' in row
    assert row == ok("steps", "--vectors", FOUR_WORDS, "--token", "3", "--head", "1")
    column = ok("steps", "--vectors", FOUR_WORDS, "--token", "sleep", "--head", "1", "--column")
    weights = array(steps_json(FOUR_WORDS)["heads"][1]["weights"])
    assert f'Column 3 "sleep" ← who attends to it · head 1 · sum {weights[:, 3].sum():.3f}' in column


def test_a_label_used_twice_is_asked_about(steps_file):
    path = steps_file({"inputs": TWO, "labels": ["the", "the"]})
    assert_fails(run("steps", "--vectors", path, "--token", "the"), 2, "0 and 1")
    assert 'Row 1 "the"' in ok("steps", "--vectors", path, "--token", "1")


def test_the_chosen_pixel_is_the_one_asked_for():
    text = ok("steps", "--vectors", ROOT / "examples/picture.json", "--at", "1,3")
    assert "Row 31 (pixel x 1, y 3) → what it attends to · softmax weight · sum 1.000" in text
    assert re.search(r"^    3 +30 \[31\] 32", text, re.MULTILINE)


# Files --------------------------------------------------------------------------------------------


def test_out_json_is_what_json_prints(tmp_path):
    out = tmp_path / "steps.json"
    assert ok("steps", "--vectors", FOUR_WORDS, "--out", out) == f"wrote {out}\n"
    assert out.read_text() == ok("steps", "--vectors", FOUR_WORDS, "--json")
    assert ok("steps", "--vectors", FOUR_WORDS, "--json", "--out", out) == out.read_text()


def test_out_npz_holds_every_stage(tmp_path):
    ok("steps", "--vectors", FOUR_WORDS, "--out", tmp_path / "steps.npz")
    arrays = np.load(tmp_path / "steps.npz")
    expected = attention(json.loads(FOUR_WORDS.read_text()))
    for name in ("q", "k", "v", "scores", "scaled", "masked", "weights", "weighted_sum"):
        np.testing.assert_allclose(arrays[name], [head[name] for head in expected["heads"]], atol=1e-9)
    np.testing.assert_allclose(arrays["output"], expected["output"], atol=1e-9)
    ok("steps", "--vectors", ROOT / "examples/memory.json", "--out", tmp_path / "memory.npz")
    assert np.load(tmp_path / "memory.npz")["soft_weights"].sum() == pytest.approx(1)


def test_out_png_is_a_figure_of_the_weights(tmp_path):
    out = tmp_path / "weights.png"
    ok("steps", "--vectors", FOUR_WORDS, "--out", out)
    pixels, texts = read_png(out)
    first = out.read_bytes()
    ok("steps", "--vectors", FOUR_WORDS, "--out", out)
    assert out.read_bytes() == first  # the same bytes every time
    assert texts["Title"] == "Four words, two heads"
    light = (pixels[..., 0] > 235) & (pixels[..., 1] > 200) & (pixels[..., 2] < 200)
    assert light.any()  # weights near 1 are pale yellow
    assert tuple(pixels[0, 0]) == (255, 255, 255)


@pytest.mark.parametrize("example", ["four_words", "memory", "picture", "translation"])
@pytest.mark.parametrize("suffix, magic", [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_every_example_is_drawn(tmp_path, example, suffix, magic):
    out = tmp_path / f"{example}.{suffix}"
    ok("steps", "--vectors", ROOT / f"examples/{example}.json", "--out", out)
    assert out.read_bytes().startswith(magic)


# Documentation ------------------------------------------------------------------------------------


def console_commands():
    """Command and expected lines of every ```console block."""
    found = []
    for page in (ROOT / "README.md", ROOT / "docs/steps.md"):
        text = page.read_text()
        for block in re.finditer(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            line = text.count("\n", 0, block.start(1)) + 1
            for part in re.split(r"^\$ ", block.group(1), flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                found.append(
                    pytest.param(command, output.splitlines(), id=f"{page.name}:{line}"))
    return found


@pytest.mark.parametrize("command, expected", console_commands())
def test_the_pages_show_what_the_program_prints(tmp_path, command, expected):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    words = shlex.split(command)
    assert words[0] == "fovea"
    printed = ok(*words[1:], cwd=tmp_path).splitlines()
    pattern = "".join(r"(.*\n)*?" if line == "[…]" else re.escape(line) + r"\n" for line in expected)
    assert re.fullmatch(pattern, "".join(line + "\n" for line in printed)), "\n".join(printed)


def test_every_example_is_explained():
    page = (ROOT / "docs/steps.md").read_text()
    for path in EXAMPLES:
        assert f"fovea steps --vectors examples/{path.name}" in page
