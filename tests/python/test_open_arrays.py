"""`fovea open` and `fovea explain` of dense weights that numpy saved."""

import json
import struct
import zipfile

import jsonschema
import numpy as np
import pytest
from models import bert
from program import ROOT, assert_fails, ok, run
from safetensors import safe_open
from safetensors.numpy import save_file

SCHEMA = json.loads((ROOT / "docs/answers.schema.json").read_text())
RANDOM = np.random.default_rng(5)


def softmax(*shape, causal=False):
    scores = RANDOM.normal(size=shape) * 2
    if causal:
        scores[..., np.triu(np.ones(shape[-2:], bool), 1)] = -np.inf
    weights = np.exp(scores)
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


def map_of(path, *arguments):
    """Facts, and the weights with 0 where nothing is allowed."""
    facts = json.loads(ok("open", path, *arguments, "--json"))
    jsonschema.Draft202012Validator(SCHEMA).validate(facts)
    rows = facts["result"]["weights"]
    return facts, np.array([[cell or 0 for cell in row] for row in rows])


@pytest.mark.parametrize("shape", [(6, 6), (3, 6, 6), (2, 3, 6, 6), (2, 1, 3, 6, 6), (2, 3, 4, 9)])
@pytest.mark.parametrize("dtype,allowed", [("f4", 0), ("f8", 1e-7), ("f2", 0)])
def test_every_shape_and_type_gives_its_own_numbers(tmp_path, shape, dtype, allowed):
    weights = softmax(*shape).astype(dtype)
    np.save(tmp_path / "a.npy", weights)
    facts, found = map_of(tmp_path / "a.npy", "--head", 0)
    heads = shape[-3] if len(shape) > 2 else 1
    last = weights.astype("f8").reshape(-1, *shape[-2:])[-heads]
    np.testing.assert_allclose(found, last, rtol=0, atol=allowed)
    assert facts["site"] == ("self" if shape[-1] == shape[-2] else "cross")
    assert facts["layer"] == (shape[0] - 1 if len(shape) > 3 else 0)
    assert facts["model"]["name"] == "a.npy" and facts["notes"] == []
    array = facts["input"]["array"]
    assert (array["file"], array["rows"], array["rows_not_one"]) == ("a.npy", weights[..., 0].size, 0)
    assert array["types"] == {"f4": "F32", "f8": "F64", "f2": "F16"}[dtype] and array["causal"] is False


def test_fortran_order_is_read_right(tmp_path):
    weights = softmax(2, 3, 5, 5)
    np.save(tmp_path / "f.npy", np.asfortranarray(weights))
    assert np.load(tmp_path / "f.npy").flags.f_contiguous
    for layer, head in np.ndindex(2, 3):
        found = map_of(tmp_path / "f.npy", "--layer", layer, "--head", head)[1]
        np.testing.assert_array_equal(found.astype("f4"), weights[layer, head])


def test_bf16_is_read_from_safetensors(tmp_path):
    bits = softmax(2, 4, 4).view(np.uint32) >> 16
    header = json.dumps({"attn": {"dtype": "BF16", "shape": [2, 4, 4], "data_offsets": [0, 64]}}).encode()
    (tmp_path / "b.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bits.astype("<u2").tobytes())
    facts, found = map_of(tmp_path / "b.safetensors", "--head", 1)
    np.testing.assert_array_equal(found.astype("f4"), (bits << 16).astype(np.uint32).view(np.float32)[1])
    assert facts["input"]["array"]["types"] == "BF16"


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_stored_and_deflated(tmp_path, save):
    weights = softmax(2, 6, 6)
    save(tmp_path / "a.npz", attn=weights)
    np.testing.assert_array_equal(map_of(tmp_path / "a.npz", "--head", 1)[1].astype("f4"), weights[1])


def test_a_run_of_arrays_has_every_view(tmp_path):
    np.save(tmp_path / "a.npy", softmax(3, 4, 9, 9, causal=True))
    a = tmp_path / "a.npy"
    summary = ok("open", a)
    for fact in ("array   a.npy", "9 tokens", "self-attention: 3 layers, 0 to 2, 4 heads", "each row sums to 1.00", "· not allowed"):
        assert fact in summary
    for view in ("heads", "matrix", "read", "reading", "lines", "differ"):
        assert "a.npy · self-attention" in ok("open", a, "--view", view)
    assert "[5]" in ok("open", a, "--token", "5", "--head", "2")
    assert "rows 2 to 4 of 9" in ok("open", a, "--head", 1, "--rows", "2:5", "--of", "times-even")
    for name in ("map.png", "page.html", "map.npz", "map.csv"):
        ok("open", a, "--head", "mean", "--out", tmp_path / name)
        assert (tmp_path / name).stat().st_size > 100


def test_causal_maps_are_not_allowed_above_the_diagonal(tmp_path):
    weights = softmax(2, 3, 7, 7, causal=True)
    np.save(tmp_path / "c.npy", weights)
    facts = map_of(tmp_path / "c.npy", "--layer", 0, "--head", 2, "--of", "times-even")[0]
    assert facts["input"]["array"]["causal"] is True
    found = facts["result"]["weights"]
    for row, col in np.ndindex(7, 7):
        if col > row:
            assert found[row][col] is None
        else:
            assert found[row][col] == pytest.approx(weights[0, 2, row, col] * (row + 1), rel=1e-5)
    weights[1, 2, 0, 6] = 1e-4  # one weight of one head is enough
    np.save(tmp_path / "c.npy", weights)
    facts = map_of(tmp_path / "c.npy", "--layer", 0, "--head", 2)[0]
    assert facts["input"]["array"]["causal"] is False and facts["result"]["weights"][0][6] == 0


def test_rows_that_do_not_sum_to_one_are_counted_and_said(tmp_path):
    weights = softmax(3, 8, 8)
    weights[1, 2:5] *= 0.5
    weights[2, 7] = 0
    np.save(tmp_path / "h.npy", weights)
    found = run("open", tmp_path / "h.npy", "--head", 1, "--json")
    assert found.returncode == 0
    assert found.stderr == "fovea: note: 4 of 24 rows of 'h.npy' do not sum to 1; sums are from 0 to 1\n"
    facts = json.loads(found.stdout)
    assert facts["input"]["array"]["rows_not_one"] == 4 and facts["input"]["array"]["sums"][0] == 0
    assert facts["notes"] == ["4 of 24 rows of 'h.npy' do not sum to 1; sums are from 0 to 1"]
    assert "rows sum to 0.50 to 1.00" in facts["caption"]
    reading = run("open", tmp_path / "h.npy", "--view", "reading", "--head", 1).stdout
    assert "rows sum to 0.50 to 1.00, the word itself included" in " ".join(reading.split())
    np.save(tmp_path / "h.npy", weights * 3)
    assert_fails(run("open", tmp_path / "h.npy", "--out", tmp_path / "h.html"), 1, "a page holds weights of 0 to 1")


def test_labels_name_positions(tmp_path):
    np.save(tmp_path / "a.npy", softmax(2, 3, 3))
    np.save(tmp_path / "x.npy", softmax(2, 2, 3))
    (tmp_path / "three.txt").write_text("the\ncat\nsat\n")
    (tmp_path / "two.json").write_text('["le", "ch\\nat"]')
    facts = map_of(tmp_path / "a.npy", "--labels", tmp_path / "three.txt", "--token", "cat")[0]
    assert facts["result"]["cols"] == ["the", "cat", "sat"] and facts["result"]["row"] == 1
    facts = map_of(tmp_path / "x.npy", "--labels", tmp_path / "two.json", "--col-labels", tmp_path / "three.txt", "--head", 0)[0]
    assert facts["result"]["rows"] == ["le", "ch\nat"] and facts["result"]["cols"] == ["the", "cat", "sat"]
    facts = map_of(tmp_path / "a.npy", "--col-labels", tmp_path / "three.txt", "--head", 0)[0]
    assert (facts["site"], facts["result"]["rows"]) == ("cross", ["0", "1", "2"])


def test_what_export_writes_opens_again(tmp_path):
    """Maps, labels and axes of a text and of a translation are those of the run."""
    model = bert(tmp_path / "bert")
    inputs = {"bert": ("the cat sat on the mat", model, ["self"]), "en-fr": ("I love music.", "en-fr", ["encoder", "decoder", "cross"])}
    for name, (text, model, sites) in inputs.items():
        dense, captured = tmp_path / f"{name}.safetensors", tmp_path / f"{name}.fovea.safetensors"
        ok("export", text, "-m", model, "--out", dense)
        ok("capture", text, "-m", model, "--out", captured)
        with safe_open(dense, "numpy") as file:
            layers = {key: file.get_tensor(key) for key in file.keys() if key.rsplit(".", 1)[-1].isdigit()}
        np.savez(tmp_path / f"{name}.npz", **layers)
        for site in sites:
            choice = ("--site", site, "--layer", 0, "--head", 1)
            wanted, weights = map_of(captured, *choice)
            facts, found = map_of(dense, *choice)
            np.testing.assert_allclose(found, weights, rtol=0, atol=1e-6)
            assert facts["model"]["name"] == wanted["model"]["name"] and facts["model"]["hash"] == wanted["model"]["hash"]
            assert facts["result"]["cols"] == wanted["result"]["cols"] and facts["result"]["rows"] == wanted["result"]["rows"]
            np.testing.assert_array_equal(map_of(tmp_path / f"{name}.npz", *choice)[1], found)


@pytest.mark.parametrize("suffix", ["npy", "npz", "safetensors"])
def test_what_open_writes_opens_again(tmp_path, suffix):
    weights = softmax(3, 5, 5, causal=True)
    np.save(tmp_path / "a.npy", weights)
    (tmp_path / "labels.txt").write_text("a\nb\nc\nd\ne\n")
    copy = tmp_path / f"copy.{suffix}"
    ok("open", tmp_path / "a.npy", "--labels", tmp_path / "labels.txt", "--out", copy)
    facts, found = map_of(copy, "--head", 2)
    np.testing.assert_array_equal(found.astype("f4"), weights[2])
    assert facts["result"]["weights"][0][1] is None
    assert facts["result"]["cols"] == (["a", "b", "c", "d", "e"] if suffix == "safetensors" else ["0", "1", "2", "3", "4"])


def test_methods_that_need_only_maps_answer(tmp_path):
    weights = softmax(2, 3, 6, 6)
    np.save(tmp_path / "a.npy", weights)
    (tmp_path / "labels.txt").write_text("a\nb\nc\nd\ne\nf\n")
    found = json.loads(ok("explain", tmp_path / "a.npy", "--method", "rollout", "--token", "d", "--labels", tmp_path / "labels.txt", "--json"))
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    layers = 0.5 * weights.astype("f8").mean(axis=1) + 0.5 * np.eye(6)
    np.testing.assert_allclose(found["result"]["scores"], (layers[1] @ layers[0])[3], rtol=0, atol=1e-6)
    found = json.loads(ok("explain", tmp_path / "a.npy", "--method", "column-mass", "--layer", "0", "--json"))
    np.testing.assert_allclose(found["result"]["scores"], weights[0].mean(axis=0).mean(axis=0), rtol=0, atol=1e-6)
    for method in (["sinks"], ["flow"], ["raw"], ["span-mass", "--span", "1-3"]):
        assert method[0] in ok("explain", tmp_path / "a.npy", "--method", *method)


def test_what_needs_more_than_maps_says_what_is_missing(tmp_path):
    np.save(tmp_path / "a.npy", softmax(2, 6, 6))
    a = tmp_path / "a.npy"
    assert_fails(run("open", a, "--of", "score"), 1, "self.0", "without the queries and keys")
    assert_fails(run("open", a, "--of", "value-weighted"), 1, "--of", "without values")
    assert_fails(run("steps", a), 1, "self.0", "without the queries and keys")
    for method in ("value-norm", "alti", "relevancy", "ablation", "input-gradient"):
        assert_fails(run("explain", a, "--method", method), 1, method, "rollout")
    assert_fails(run("explain", a, "--check"), 2, "--check")
    np.save(tmp_path / "x.npy", softmax(2, 4, 6))
    assert_fails(run("explain", tmp_path / "x.npy", "--method", "rollout"), 1, "rollout", "cross.0")


def bad(name, array, *facts, options=()):
    return pytest.param(name, array, facts, options, id=name)


NAN, NEGATIVE = softmax(2, 4, 4), softmax(2, 2, 4, 4)
NAN[1, 2, 3], NEGATIVE[1, 0, 3, 1] = np.nan, -0.25


@pytest.mark.parametrize("name,array,facts,options", [
    bad("one", np.ones(4, "f4"), "shape [4]", "[heads, rows, columns]"),
    bad("five", np.ones((2, 2, 2, 3, 3), "f4"), "shape [2, 2, 2, 3, 3]"),
    bad("empty", np.ones((0, 3, 3), "f4"), "holds nothing"),
    bad("integers", np.ones((3, 3), "i8"), "holds I64", "F32, F16, BF16 or F64"),
    bad("nan", NAN, "head 1, row 2, column 3 is nan"),
    bad("negative", NEGATIVE, "layer 1: head 0, row 3, column 1 is -0.25"),
    bad("infinite", np.array([[np.inf, 0]], "f2"), "head 0, row 0, column 0 is inf"),
    bad("large", np.array([[1e300, 0]]), "column 0 is inf"),
    bad("swapped", softmax(3, 3).astype(">f4"), "big-endian", "astype('<f4')"),
    bad("objects", np.array([[None]]), "Python objects"),
    bad("layers", np.ones((5000, 1, 1, 1), "f4"), "4096 layers"),
    bad("array", softmax(3, 3), "--array", options=("--array", "x")),
    bad("labels", softmax(3, 3), "--labels", "2 labels but 3", options=("--labels", "two.txt")),
    bad("columns", softmax(3, 4), "--col-labels", "2 labels but 4", options=("--col-labels", "two.txt")),
    bad("missing", softmax(3, 3), "none.txt: no such file", options=("--labels", "none.txt")),
    bad("latin", softmax(3, 3), "is not UTF-8", options=("--labels", "latin.txt")),
    bad("unlisted", softmax(3, 3), "list.json", options=("--labels", "list.json")),
])
def test_a_bad_array_is_one_clear_line(tmp_path, name, array, facts, options):
    (tmp_path / "two.txt").write_text("a\nb\n")
    (tmp_path / "latin.txt").write_bytes(b"a\n\xe9\nb\n")
    (tmp_path / "list.json").write_text('{"a": 1}')
    np.save(tmp_path / f"{name}.npy", array)
    assert_fails(run("open", f"{name}.npy", *options, cwd=tmp_path), 1, *facts)


def test_several_arrays_are_a_question_back(tmp_path):
    arrays = {"first": softmax(2, 4, 4), "second": softmax(3, 5, 5)}
    np.savez(tmp_path / "a.npz", **arrays)
    save_file(arrays, tmp_path / "a.safetensors")
    for path in (tmp_path / "a.npz", tmp_path / "a.safetensors"):
        assert_fails(run("open", path), 1, "--array", "'first'", "'second'")
        assert_fails(run("open", path, "--array", "third"), 1, "--array", "'third' is not in")
        np.testing.assert_array_equal(map_of(path, "--array", "second", "--head", 2)[1].astype("f4"), arrays["second"][2])
    np.savez(tmp_path / "b.npz", **{"self.0": softmax(2, 4, 4), "self.1": softmax(2, 5, 5)})
    assert_fails(run("open", tmp_path / "b.npz"), 1, "self.1 has 5 rows but another array has 4")
    np.savez(tmp_path / "c.npz")
    assert_fails(run("open", tmp_path / "c.npz"), 1, "holds no arrays")


def test_options_of_arrays_are_refused_beside_a_captured_run(tmp_path):
    ok("capture", "the cat", "-m", bert(tmp_path / "bert"), "--out", tmp_path / "r.fovea.safetensors")
    for option in ("--labels", "--col-labels", "--array"):
        assert_fails(run("open", tmp_path / "r.fovea.safetensors", option, "x"), 2, option, "is a captured run")


def test_no_file_that_is_read_is_overwritten(tmp_path):
    np.save(tmp_path / "a.npy", softmax(2, 3, 3))
    (tmp_path / "labels.json").write_text('["a", "b", "c"]')
    for out in ("a.npy", "labels.json"):
        before = (tmp_path / out).read_bytes()
        assert_fails(run("open", "a.npy", "--labels", "labels.json", "--out", out, cwd=tmp_path), 2, "would be lost")
        assert (tmp_path / out).read_bytes() == before


def npy(header, data=b""):
    text = header.encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


@pytest.mark.parametrize("content", [
    b"", b"\x93NUMPY", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4, 4), }", b"\0" * 63),
    npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4, 4), }", b"\0" * 65),
    npy("{'descr': '<f8', 'fortran_order': True, 'shape': (2305843009213693952, 1), }"),
    npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }"),
    npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 4), }"),
    npy("{'descr': '<f4', 'fortran_order': True, 'shape': (0, 9223372036854775807), }"),
    npy("{'descr': '<f4', 'fortran_order': False, 'shape': (" + "1, " * 200 + "), }", b"\0" * 4),
])
def test_hostile_files_are_one_clear_line(tmp_path, content):
    (tmp_path / "h.npy").write_bytes(content)
    assert_fails(run("open", tmp_path / "h.npy"), 1, "h.npy")
    with zipfile.ZipFile(tmp_path / "h.npz", "w") as file:
        file.writestr("self.0.npy", content)
    assert_fails(run("open", tmp_path / "h.npz"), 1, "h.npz")
    (tmp_path / "cut.npz").write_bytes((tmp_path / "h.npz").read_bytes()[:-7])
    assert_fails(run("open", tmp_path / "cut.npz"), 1, "cut.npz")
    assert_fails(run("open", tmp_path / "none.npy"), 1, "none.npy")
