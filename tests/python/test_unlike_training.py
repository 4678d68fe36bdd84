"""Who shows a bundled model of synthetic scenes something else is told so, and who shows it scenes is not. Photographs are those of
photographs.py; the 200 scenes of tests/data/scenes are held out: their backgrounds and compositions are in no training."""

import concurrent.futures
import json
import shutil

import pytest

from photographs import photographs
from program import ROOT, assert_fails, ok, run

SCENES = sorted((ROOT / "tests/data/scenes").glob("*.webp"))
LINE = "fovea: note: this picture is unlike the synthetic scenes that {} was trained on ("
VERBS = {"image": ("scenes-vit", "google/vit-base-patch16-224"), "detect": ("scenes-detr", "facebook/detr-resnet-50")}


def told(verb, path):
    """Whether the line came; no more than the one may come."""
    result = run(verb, path, "--json", environment={"OMP_NUM_THREADS": "1"}, all_notes=True)
    assert result.returncode == 0, result.stderr
    lines = [line for line in result.stderr.splitlines() if line.startswith(LINE.format(VERBS[verb][0]))]
    assert len(lines) <= 1
    notes = json.loads(result.stdout)["notes"]
    assert any("unlike the synthetic scenes" in note for note in notes) == bool(lines)
    return bool(lines)


def share(verb, paths):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return sum(pool.map(lambda path: told(verb, path), paths)) / len(paths)


@pytest.mark.numbers
@pytest.mark.parametrize("verb", VERBS)
def test_at_least_nine_of_ten_photographs_are_told(verb):
    assert len(photographs()) == 12
    assert share(verb, photographs()) >= 0.9


@pytest.mark.numbers
@pytest.mark.parametrize("verb", VERBS)
def test_at_most_one_of_twenty_held_out_scenes_is_told(verb):
    assert len(SCENES) == 200
    assert share(verb, SCENES) <= 0.05


@pytest.mark.parametrize("verb", VERBS)
def test_the_line_says_what_to_pull_and_figures_carry_it(verb, tmp_path):
    model, instead = VERBS[verb]
    grey = tmp_path / "grey.ppm"
    grey.write_bytes(b"P6 64 64 255\n" + bytes([120]) * (64 * 64 * 3))
    result = run(verb, grey, "--out", tmp_path / "grey.svg", "--svg-text", "--sidecar", all_notes=True)
    assert result.returncode == 0 and result.stderr.count("\n") >= 1
    assert result.stderr.startswith(LINE.format(model)) and f"pull {instead}\n" in result.stderr
    about = json.loads((tmp_path / "grey.svg.json").read_text())
    assert about["badge"] == "unlike the training" and "synthetic scenes; this picture is unlike them" in about["caption"]
    assert "[unlike the training]" in run(verb, grey).stdout


@pytest.mark.parametrize("verb", VERBS)
def test_demo_scenes_are_not_told(verb):
    assert run(verb, ROOT / "models" / VERBS[verb][0] / "demo/scene-1.png", all_notes=True).stderr == ""


def test_it_is_the_card_that_says_so(tmp_path):
    model = tmp_path / "model"
    shutil.copytree(ROOT / "models/scenes-vit", model, ignore=shutil.ignore_patterns("demo", "README.md"))
    scene = ROOT / "models/scenes-vit/demo/scene-1.png"
    card = json.loads((model / "fovea_card.json").read_text())
    card["training"] |= {"what": "trees", "instead": "look elsewhere", "least_clear": 1.01}
    (model / "fovea_card.json").write_text(json.dumps(card))
    assert "is unlike the trees that" in (said := run("image", scene, "-m", model, all_notes=True).stderr) and said.endswith("; look elsewhere\n")
    card["training"]["least_clear"] = "much"
    (model / "fovea_card.json").write_text(json.dumps(card))
    assert_fails(run("image", scene, "-m", model), 1, "fovea_card.json", "least_clear")
    del card["training"]
    (model / "fovea_card.json").write_text(json.dumps(card))
    assert ok("image", scene, "-m", model)
