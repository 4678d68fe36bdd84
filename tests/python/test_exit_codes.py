"""Exit code 2 says that the command was wrong. What is wrong with a file, or too much for the machine, is 1."""

import json
import resource
import shutil
import struct
import subprocess
import zlib

import models
import numpy
import pytest
from png_files import SIGNATURE, chunk
from program import ENVIRONMENT, PROGRAM, ROOT, assert_fails, ok, run
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

VIT, DETR = ROOT / "models/scenes-vit", ROOT / "models/scenes-detr"
SCENE = VIT / "demo/scene-1.png"
TEXT = "the cat sat on the mat"


def put_nan(folder, *names):
    """Makes NaNs of these weights, whole tensors."""
    weights = load_file(folder / "model.safetensors")
    for name in names:
        weights[name] = numpy.full_like(weights[name], numpy.nan)
    save_file(weights, folder / "model.safetensors")


@pytest.mark.parametrize("arguments", [
    ("text", TEXT), ("capture", TEXT, "--out", "run.fovea.safetensors"), ("explain", TEXT, "--method", "rollout"),
    ("explain", TEXT, "--method", "relevancy"), ("steps", TEXT), ("export", TEXT, "--out", "maps.safetensors"),
], ids=lambda arguments: " ".join(arguments[::3]))
def test_a_nan_in_a_weight_is_the_files_fault(tmp_path, arguments):
    folder = models.bert(tmp_path / "model")
    put_nan(folder, "bert.encoder.layer.0.attention.self.query.weight")
    assert_fails(run(*arguments, "-m", folder, cwd=tmp_path), 1, "self.", "NaN", "check the weights")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_nan_in_a_table_of_distances_is_the_files_fault(tmp_path):
    folder = models.copy_fixture("t5_lm", tmp_path / "model")
    put_nan(folder, "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight")
    assert_fails(run("text", "-m", folder, "--inputs", models.PARITY / "t5_lm/inputs.safetensors"), 1, "distance table", "nan")


@pytest.mark.parametrize("weight, what", [
    ("class_labels_classifier.weight", "scores of objects"), ("bbox_predictor.layers.2.bias", "boxes"),
])
def test_objects_of_damaged_weights_are_not_told(tmp_path, weight, what):
    shutil.copytree(DETR, tmp_path / "model")
    put_nan(tmp_path / "model", weight)
    assert_fails(run("detect", DETR / "demo/scene-1.png", "-m", tmp_path / "model"), 1, what, "damaged")


def with_offset(source, path, offset):
    """A copy of a captured run in which every query stands somewhere else."""
    with safe_open(source, "numpy") as file:
        about, tensors = json.loads(file.metadata()["fovea"]), {name: file.get_tensor(name) for name in file.keys()}
    for site in about["sites"]:
        site["rule"]["query_offset"] = offset
    save_file(tensors, path, {"fovea": json.dumps(about)})


def test_a_run_file_with_places_that_cannot_be_is_refused(tmp_path):
    ok("capture", TEXT, "-m", models.causal(tmp_path / "model"), "--out", tmp_path / "run.fovea.safetensors")
    changed = tmp_path / "changed.fovea.safetensors"
    with_offset(tmp_path / "run.fovea.safetensors", changed, 0)
    assert ok("open", changed) == ok("open", tmp_path / "run.fovea.safetensors")
    for offset in (-2**63, -2**63 + 1, 2**63 - 1, 2**62, -2**40 - 1):
        with_offset(tmp_path / "run.fovea.safetensors", changed, offset)
        assert_fails(run("open", changed), 1, changed, offset, "place")


def run_within(megabytes, *arguments):
    """The program with no more than so much memory to ask for."""
    limit = megabytes << 20
    return subprocess.run(
        [str(PROGRAM), *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, env=ENVIRONMENT, timeout=300,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))


def write_large_png(path, side, channels):
    """All black, so that the file is small."""
    packer = zlib.compressobj(1)
    data = b"".join(packer.compress(bytes(1 + side * channels)) for _ in range(side)) + packer.flush()
    header = struct.pack(">IIBBBBB", side, side, 8, 2 if channels == 3 else 0, 0, 0, 0)
    path.write_bytes(SIGNATURE + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b""))


def test_a_picture_that_does_not_fit_into_memory_is_no_wrong_usage(tmp_path):
    write_large_png(tmp_path / "large.png", 12000, 3)
    assert_fails(run_within(300, "image", tmp_path / "large.png"), 1, "12000 x 12000", "does not fit into memory")


def test_a_mask_that_does_not_fit_into_memory_is_no_wrong_usage(tmp_path):
    shutil.copy(SCENE, tmp_path / "scene.png")
    write_large_png(tmp_path / "scene.mask.png", 13000, 1)
    assert_fails(run_within(200, "evaluate", "masks", tmp_path), 1, "scene.mask.png", "does not fit into memory")


def test_tensors_that_no_memory_holds_are_no_wrong_usage():
    assert_fails(run_within(600, "image", SCENE, "--size", "2048x2048"), 1, "memory", "smaller input")
