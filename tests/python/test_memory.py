"""How much memory weights take that stay as they are stored (docs/adr/0020-weights-stay-as-stored.md)."""

import json
import os
import subprocess
import sys

import pytest

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


@pytest.mark.parametrize("kind, name", [("Q4_K", "model.gguf"), ("F16", "model.gguf"), ("BF16", "folder")])
def test_no_copy_of_the_weights_is_made(tmp_path, kind, name):
    model, text = tmp_path / name, tmp_path / "text.txt"
    subprocess.run([sys.executable, ROOT / "tools/make_random_model.py", model, "--type", kind, "--layers", "8", "--width", "768",
                    "--inner", "3072", "--heads", "12", "--words", "16000"], check=True)
    text.write_text("a" * 511)
    assert len(json.loads(ok("tokenize", "-m", model, "--json", "--text-file", text))["ids"]) == 512
    file = model / "model.safetensors" if model.is_dir() else model
    # The program, 22 MB of queries, keys and values, and what one layer makes: 60 to 90 MB. The weights would take 326 MB as f32.
    for peak in peaks_of_a_run(tmp_path, model, text):
        assert peak <= os.path.getsize(file) / 1e6 + 110
