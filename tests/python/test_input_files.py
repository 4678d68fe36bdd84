"""INPUT that names a file: what fovea knows is never taken for a text, whichever verb is asked."""

import numpy
import pytest
from safetensors.numpy import save_file

import models
from png_files import png
from program import assert_fails, ok, run
from test_explain import TRANSLATOR

VERBS = {
    "text": [], "tokenize": [], "translate": [], "steps": [], "capture": ["--out", "out.safetensors"],
    "export": ["--out", "out.safetensors"], "explain": ["--method", "raw"],
}
TAKES_RUNS = ("explain", "steps")
ARRAYS = ("array.npy", "arrays.npz")  # of weights: runs too, for those verbs
KNOWN = {"tensors.safetensors": "--inputs", "model.gguf": "-m", "weights.bin": "-m", "weights.pt": "-m", "array.npy": "the text itself",
         "arrays.npz": "the text itself", "paper.pdf": "the text itself", "table.csv": "--text-file", "page.html": "--text-file",
         "data.json": ""}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    models.bert(folder / "bert")
    for name in KNOWN:
        (folder / name).write_bytes(b"something")
    save_file({"input_ids": numpy.array([2, 5, 6, 3])}, folder / "tensors.safetensors")
    numpy.save(folder / "array.npy", numpy.zeros(3))
    (folder / "photo.png").write_bytes(png(32, 32))
    (folder / "a photo").write_bytes(png(32, 32))
    (folder / "my photo.gif").write_bytes(b"GIF89a")
    ok("capture", "the cat sat", "-m", folder / "bert", "--out", folder / "run.fovea.safetensors")
    return folder


def asked(verb, folder, word):
    model = TRANSLATOR if verb == "translate" else folder / "bert"
    return run(verb, word, "-m", model, *VERBS[verb], cwd=folder)


@pytest.mark.parametrize("verb", VERBS)
def test_a_file_that_fovea_knows_is_no_text(verb, folder):
    before = sorted(folder.iterdir())
    for name, advice in KNOWN.items():
        if verb in TAKES_RUNS and name in ARRAYS:
            assert_fails(asked(verb, folder, name), 2, "--model", name, "is an array of weights")
        else:
            assert_fails(asked(verb, folder, name), 2, "INPUT is", name, advice)
    for name in ("photo.png", "a photo", "my photo.gif"):
        assert_fails(asked(verb, folder, name), 2, "INPUT is the picture", name, "text")
    if verb not in TAKES_RUNS:
        assert_fails(asked(verb, folder, "run.fovea.safetensors"), 2, "INPUT is the captured run", "fovea open", "fovea explain")
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("verb", VERBS)
def test_a_name_without_its_file_stays_a_text(verb, folder, tmp_path):
    for word in ("run.fovea.safetensors", "array.npy", "photo.png", "the cat"):
        if verb in TAKES_RUNS and (word.startswith("run") or word in ARRAYS):
            continue
        model = TRANSLATOR if verb == "translate" else folder / "bert"
        result = run(verb, word, "-m", model, *VERBS[verb], cwd=tmp_path)
        assert result.returncode == 0, result.stderr


def test_a_captured_run_that_is_not_there_is_told(folder, tmp_path):
    for verb in TAKES_RUNS:
        for name in ("rnu.fovea.safetensors", "arary.npy"):
            assert_fails(run(verb, name, cwd=tmp_path), 1, name, "no such file")


@pytest.mark.parametrize("verb, option", [
    ("text", "--pair"), ("tokenize", "--pair"), ("explain", "--pair"), ("explain", "--target"), ("translate", "--target"),
    ("steps", "--target"), ("capture", "--pair")])
def test_a_second_text_is_no_file_either(verb, option, folder):
    model = TRANSLATOR if verb == "translate" else folder / "bert"
    for name in ("photo.png", "run.fovea.safetensors", "array.npy"):
        assert_fails(run(verb, "the cat", option, name, "-m", model, *VERBS[verb], cwd=folder), 2, f"{option} is", name, "text")


def test_what_to_be_similar_to_is_no_other_file(folder):
    model = models.bert(folder / "embedding", "bert_model")
    for name in ("photo.png", "run.fovea.safetensors", "array.npy"):
        result = run("explain", "the cat sat", "-m", model, "--method", "input-gradient", "--against", name, cwd=folder)
        assert_fails(result, 2, "--against is", name, "text")


def test_texts_beside_a_picture_are_no_files(folder):
    for name in ("photo.png", "run.fovea.safetensors", "array.npy"):
        assert_fails(run("image", "photo.png", "--text", "a cat", "--text", name, cwd=folder), 2, "--text is", name)


def test_text_files_are_read_whatever_their_name(folder):
    (folder / "words.json").write_text("the cat sat")
    assert ok("tokenize", "--text-file", folder / "words.json", "-m", folder / "bert") == ok("tokenize", "the cat sat", "-m", folder / "bert")


@pytest.mark.parametrize("verb", VERBS)
def test_a_program_is_no_text(verb, folder):
    assert_fails(asked(verb, folder, "/bin/ls"), 2, "INPUT is '/bin/ls', a binary file and no text")


def test_neither_is_it_one_by_text_file_or_pair(folder):
    assert_fails(run("text", "-m", folder / "bert", "--text-file", "/bin/ls"), 1, "/bin/ls: is a binary file and no text")
    assert_fails(run("text", "-m", folder / "bert", "the cat", "--pair", "/bin/ls"), 2, "--pair is '/bin/ls', a binary file")
