"""Weights that stay as they are stored (docs/adr/0020-weights-stay-as-stored.md): how much memory they take, and the same maps."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file

from program import ENVIRONMENT, PROGRAM, ROOT, ok
from test_real_models import fetched

SENTENCE = "The cat sat on the mat."
# A small process of its own, because a process starts with the peak of the one that it comes from.
MEASURE = ("import resource, subprocess, sys; ended = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode; "
           "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6); sys.exit(ended)")


def peak_mb(*arguments):
    """The most that the program ever had in memory, pages of mapped files included."""
    result = subprocess.run([sys.executable, "-S", "-c", MEASURE, str(PROGRAM), *map(str, arguments)], capture_output=True, text=True,
                            stdin=subprocess.DEVNULL, env={**ENVIRONMENT, "OMP_NUM_THREADS": "2"}, timeout=300)
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    return float(result.stdout)


def peaks_of_a_run(tmp_path, model, text):
    """Of one head to .npy, and of all of them to a run file."""
    yield peak_mb("text", "-m", model, "--text-file", text, "--layer", 1, "--head", 1, "--out", tmp_path / "head.npy")
    yield peak_mb("capture", "-m", model, "--text-file", text, "--out", tmp_path / "run.fovea.safetensors")


def test_smollm2_takes_little_more_than_its_file(tmp_path):
    model, text = fetched("smollm2-135m-instruct"), tmp_path / "text.txt"
    text.write_text("the cat sat on a" + " mat" * 507)
    assert len(json.loads(ok("tokenize", "-m", model, "--json", "--text-file", text))["ids"]) == 512
    assert peak_mb("text", "-m", model, SENTENCE, "--head", 0, "--out", tmp_path / "head.npy") <= 200
    for peak in peaks_of_a_run(tmp_path, model, text):
        assert peak <= 260


def random_model(path, kind, *more):
    """Of the tool, which has no line in common with how fovea reads."""
    subprocess.run([sys.executable, ROOT / "tools/make_random_model.py", path, "--type", kind, *more], check=True)
    return path


@pytest.mark.parametrize("kind, name", [("Q4_K", "model.gguf"), ("F16", "model.gguf"), ("BF16", "folder")])
def test_no_copy_of_the_weights_is_made(tmp_path, kind, name):
    text = tmp_path / "text.txt"
    model = random_model(tmp_path / name, kind, "--layers", "8", "--width", "768", "--inner", "3072", "--heads", "12", "--words", "16000")
    text.write_text("a" * 511)
    assert len(json.loads(ok("tokenize", "-m", model, "--json", "--text-file", text))["ids"]) == 512
    file = model / "model.safetensors" if model.is_dir() else model
    # The program, 22 MB of queries, keys and values, and what one layer makes: 60 to 90 MB. The weights would take 326 MB as f32.
    for peak in peaks_of_a_run(tmp_path, model, text):
        assert peak <= os.path.getsize(file) / 1e6 + 110


@pytest.mark.parametrize("kind, name", [("Q4_K", "model.gguf"), ("Q4_1", "model.gguf"), ("F16", "model.gguf"), ("BF16", "folder")])
@pytest.mark.parametrize("text", ["a", "a few rows", "more rows than are multiplied one by one with what is stored"])
def test_what_is_stored_answers_as_the_same_numbers_in_f32(tmp_path, kind, name, text):
    shape = ("--layers", "2", "--width", "256", "--inner", "512", "--heads", "4", "--key-heads", "2", "--words", "300")
    found = {}
    for more in ((), ("--unpacked",)):
        model = random_model(tmp_path / "".join((*more, name)), kind, *shape, *more)
        ok("export", "-m", model, text, "--out", tmp_path / "maps.safetensors")
        found[more] = load_file(tmp_path / "maps.safetensors")
    stored, wide = found[()], found["--unpacked",]
    assert stored.keys() == wide.keys()
    for key, numbers in stored.items():
        # Sums of 512 products in another order, through two layers.
        np.testing.assert_allclose(numbers, wide[key], rtol=0, atol=1e-5 * max(1, np.abs(wide[key]).max()), err_msg=key)
