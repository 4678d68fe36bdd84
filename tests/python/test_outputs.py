"""What is written never takes the place of what is read, and a suffix means the same in capitals."""

import shutil

import pytest
from program import FOUR_WORDS, ROOT, assert_fails, ok, run

EN_FR = ROOT / "models/en-fr"
SCENES = ROOT / "models/scenes-vit"
DETR = ROOT / "models/scenes-detr"
BERT = ROOT / "tests/data/parity/bert_model"


@pytest.fixture
def folder(tmp_path):
    """Copies of files of every kind that verbs read."""
    (tmp_path / "en").write_text("The house is small.\n")
    (tmp_path / "fr").write_text("La maison est petite.\n")
    (tmp_path / "gold").write_text("0-0 1-1 2-2 3-3\n")
    (tmp_path / "text.json").write_text("The house is small.")
    (tmp_path / "figure.png.json").write_text("The house is small.")
    (tmp_path / "targets.csv").write_text("La maison est petite.\n")
    shutil.copy(FOUR_WORDS, tmp_path / "vectors.json")
    shutil.copy(BERT / "inputs.safetensors", tmp_path)
    shutil.copytree(DETR / "demo", tmp_path / "demo")
    shutil.copytree(BERT, tmp_path / "bert")
    ok("capture", "--inputs", "inputs.safetensors", "-m", BERT, "--out", "run.safetensors", cwd=tmp_path)
    return tmp_path


@pytest.mark.parametrize("arguments, lost", [
    (["open", "run.safetensors", "--head", "0", "--out", "run.safetensors"], "run.safetensors"),
    (["text", "--text-file", "text.json", "-m", EN_FR, "--out", "text.json"], "text.json"),
    (["translate", "--text-file", "text.json", "--out", "text.json"], "text.json"),
    (["translate", "--text-file", "text.json", "--view", "cross", "--out", "./text.json"], "text.json"),
    (["text", "--inputs", "inputs.safetensors", "-m", BERT, "--out", "inputs.safetensors"], "inputs.safetensors"),
    (["export", "--inputs", "inputs.safetensors", "-m", BERT, "--out", "inputs.safetensors"], "inputs.safetensors"),
    (["capture", "--inputs", "inputs.safetensors", "-m", BERT, "--out", "inputs.safetensors"], "inputs.safetensors"),
    (["explain", "--inputs", "inputs.safetensors", "-m", BERT, "--method", "raw", "--out", "inputs.safetensors"],
     "inputs.safetensors"),
    (["capture", "--inputs", "inputs.safetensors", "-m", "bert", "--out", "bert/model.safetensors"], "bert/model.safetensors"),
    (["capture", "--inputs", "inputs.safetensors", "-m", "bert/model.safetensors", "--out", "bert/model.safetensors"],
     "bert/model.safetensors"),
    (["align", "en", "fr", "--gold", "gold", "--out", "gold"], "gold"),
    (["align", "en", "fr", "--out", "fr"], "fr"),
    (["stats", "en", "-m", EN_FR, "--site", "cross", "--targets", "targets.csv", "--out", "targets.csv"], "targets.csv"),
    (["stats", "en", "-m", EN_FR, "--site", "cross", "--state", "en"], "en"),
    (["evaluate", "detections", "demo", "--out", "demo/scene-1.json"], "demo/scene-1.json"),
    (["steps", "--vectors", "vectors.json", "--out", "vectors.json"], "vectors.json"),
    (["text", "--text-file", "figure.png.json", "-m", EN_FR, "--out", "figure.png", "--sidecar"], "figure.png.json"),
], ids=lambda value: value if isinstance(value, str) else value[0])
def test_no_output_takes_the_place_of_an_input(folder, arguments, lost):
    before = (folder / lost).read_bytes()
    files = sorted(folder.rglob("*"))
    assert_fails(run(*arguments, cwd=folder), 2, "would be lost")
    assert (folder / lost).read_bytes() == before
    assert sorted(folder.rglob("*")) == files


def test_two_outputs_are_not_one_file_however_they_are_spelled(folder):
    picture = ["image", "demo/scene-1.png", "--view", "lost"]
    assert_fails(run(*picture, "--out", "m.png", "--mask-out", folder / "m.png", cwd=folder), 2, "--out", "--mask-out", "both")
    explain = ["explain", "demo/scene-1.png", "--size", "96x96", "--method", "raw", "--check"]
    assert_fails(run(*explain, "--out", "c.png", "--check-out", "demo/../c.png", cwd=folder), 2, "--out", "--check-out", "both")
    assert_fails(run("stats", "en", "--out", "s.json", "--state", "./s.json", cwd=folder), 2, "--out", "--state", "both")
    assert not list(folder.glob("[mcs].*"))


@pytest.mark.parametrize("arguments, suffixes", [
    (["explain", "demo/scene-1.png", "--size", "96x96", "--method", "raw"], ["npy", "npz", "safetensors", "json", "csv"]),
    (["detect", "demo/scene-1.png", "-m", DETR], ["json", "csv"]),
    (["stats", "demo", "--limit", "1"], ["csv", "json"]),
    (["translate", "The house is small."], ["json", "csv"]),
    (["steps", "--vectors", "vectors.json"], ["json", "npz"]),
    (["steps", "The house is small.", "-m", EN_FR, "--token", "0"], ["json", "npz"]),
    (["evaluate", "masks", "demo"], ["json", "csv"]),
    (["export", "--inputs", "inputs.safetensors", "-m", BERT], ["safetensors"]),
    (["capture", "--inputs", "inputs.safetensors", "-m", BERT], ["safetensors"]),
], ids=lambda value: value[0])
def test_capitals_in_a_suffix_mean_the_same(folder, arguments, suffixes):
    for suffix in suffixes:
        small, large = f"small.{suffix}", f"LARGE.{suffix.upper()}"
        ok(*arguments, "--out", small, cwd=folder)
        ok(*arguments, "--out", large, cwd=folder)
        assert (folder / small).read_bytes() == (folder / large).read_bytes(), suffix


def test_a_link_that_leads_nowhere_does_not_hide_a_folder(tmp_path):
    (tmp_path / "k.txt").write_text("The house is small.\n")
    for name in "abcdefgz":
        (tmp_path / f"{name}.txt").symlink_to("/nowhere")
    assert ok("stats", tmp_path, "-m", EN_FR, "--site", "encoder", "--json")
    for name in "az":
        (tmp_path / f"{name}.png").symlink_to("/nowhere")
    assert_fails(run("evaluate", "masks", tmp_path), 1, "holds no picture")


def test_the_name_of_a_file_is_told_without_its_escapes(tmp_path):
    name = "a\x1b[31m.json"
    assert "\x1b" not in ok("steps", "--vectors", FOUR_WORDS, "--out", tmp_path / name)
    assert (tmp_path / name).exists()


@pytest.mark.parametrize("arguments, facts", [
    (["open", "run.safetensors", "--out", "p.html", "--json"], ["--json", "page"]),
    (["explain", "demo/scene-1.png", "--method", "raw", "--check", "--check-orders", "10000000000000"], ["10000000000000", "10000"]),
    (["open", "run.safetensors", "--head", "0", "--out", "s.png", "--pixels", "4294967297"], ["--pixels is 4294967297", "1 to 4"]),
    (["stats", "demo", "--limit", "1", "--out", "s.png", "--pixels", "4294967297"], ["--pixels is 4294967297", "1 to 4"]),
    (["image", "demo/scene-1.png", "--out", "s.png", "--pixels", "4294967297"], ["--pixels is 4294967297", "1 to 4"]),
    (["translate", "The house.", "--links", "threshold", "--threshold", "3"], ["--threshold: it", "at most 1", "give --norms too"]),
    (["image", "demo/scene-1.png", "--size", "8x8", "--view", "lost"], ["one patch", "--size"]),
    (["explain", "demo/scene-1.png", "--target", "x"], ["--target", "scenes-vit"]),
    (["--version", "x"], ["'x'", "--version"]),
    (["help", "text", "x"], ["'x'", "help VERB"]),
])
def test_what_cannot_be_meant_is_refused(folder, arguments, facts):
    assert_fails(run(*arguments, cwd=folder), 2, *facts)


def test_a_bundled_model_that_is_missing_is_not_offered_for_fetching(tmp_path):
    result = run("image", SCENES / "demo/scene-1.png", environment={"FOVEA_MODELS": str(tmp_path)})
    assert_fails(result, 1, "scenes-vit", tmp_path, "FOVEA_MODELS")
    assert "fetch" not in result.stderr
