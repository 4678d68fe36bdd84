"""The verb evaluate: scores against a folder of pictures with the truth, checked by numpy from what `image` says."""

import csv
import json
import shutil

import numpy
import pytest

from png_files import png, png_of, read_grey
from program import ROOT, assert_fails, ok, run
from test_image import MODEL

DEMO = MODEL / "demo"


def scored(kind, folder, *arguments):
    """The result, and beside it the layer that was read."""
    facts = json.loads(ok("evaluate", kind, folder, *arguments, "--json"))
    return {**facts["result"], "layer": facts["layer"]}


def shown(picture, *arguments):
    return json.loads(ok("image", picture, *arguments, "--json"))["result"]


def upsampled(cells):
    """A mask of the 28 x 28 grid as the 224 x 224 pixels of a demo scene."""
    return numpy.kron(numpy.array(cells).reshape(28, 28), numpy.ones((8, 8), int)).astype(bool)


def jaccard(a, b):
    return (a & b).sum() / (a | b).sum()


@pytest.mark.numbers
def test_masks_are_scored_as_numpy_does():
    answer = scored("masks", DEMO)
    assert (answer["pictures"], answer["objects"], answer["layer"]) == (3, 18, 7)
    for entry in answer["per_picture"]:
        picture = DEMO / entry["picture"]
        truth = read_grey(picture.with_suffix(".mask.png"))
        heads = [upsampled(mask) for mask in shown(picture, "--mask", "0.6")["masks"]]
        mean = upsampled(shown(picture, "--mask", "0.6", "--head", "mean")["masks"][0])
        objects = [truth == number for number in numpy.unique(truth) if number]
        expected = {
            "best_head_per_object": numpy.mean([max(jaccard(head, each) for head in heads) for each in objects]),
            "mean_of_heads": jaccard(mean, truth > 0),
            "lost": jaccard(upsampled(shown(picture, "--view", "lost")["mask"]), truth > 0),
            "token_cut": jaccard(upsampled(shown(picture, "--view", "tokencut")["mask"]), truth > 0),
            "best_head_per_picture": max(jaccard(head, truth > 0) for head in heads),
            **{f"head_{i}": jaccard(head, truth > 0) for i, head in enumerate(heads)},
        }
        best = entry["scores"].pop("best_head")
        assert entry["scores"] == pytest.approx(expected, abs=1e-12) and best in expected.values()
    heads = [answer["scores"][f"head_{i}"] for i in range(6)]
    assert answer["scores"]["best_head"] == pytest.approx(max(heads))
    assert answer["scores"]["lost"] == pytest.approx(numpy.mean([e["scores"]["lost"] for e in answer["per_picture"]]))


def overlap(a, b):
    width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    both = max(0, width) * max(0, height)
    area = lambda box: (box[2] - box[0]) * (box[3] - box[1])
    return both / (area(a) + area(b) - both)


@pytest.mark.numbers
def test_boxes_are_scored_as_numpy_does():
    answer = scored("boxes", DEMO)
    for entry in answer["per_picture"]:
        picture = DEMO / entry["picture"]
        truth = read_grey(picture.with_suffix(".mask.png"))
        boxes = []
        for number in filter(None, numpy.unique(truth)):
            rows, cols = numpy.nonzero(truth == number)
            boxes.append((cols.min(), rows.min(), cols.max() + 1, rows.max() + 1))
        found = {"lost": shown(picture, "--view", "lost")["box_xyxy"], "token_cut": shown(picture, "--view", "tokencut")["box_xyxy"],
                 "mask": shown(picture, "--mask", "0.6", "--head", "mean")["boxes_xyxy"][0]}
        for name, box in found.items():
            best = max(overlap(box, each) for each in boxes)
            assert entry["scores"][name + "_iou"] == pytest.approx(best, abs=1e-12)
            assert entry["scores"][name] == float(best >= 0.5)


def test_boxes_come_from_json_where_it_is(tmp_path):
    shutil.copy(DEMO / "scene-1.png", tmp_path)
    box = shown(DEMO / "scene-1.png", "--view", "tokencut")["box_xyxy"]
    (tmp_path / "scene-1.json").write_text(json.dumps({"objects": [{"id": 1, "label": "tree", "box_xyxy": box}]}))
    answer = scored("boxes", tmp_path)
    assert answer["objects"] == 1 and answer["scores"]["token_cut"] == 1 and answer["scores"]["token_cut_iou"] == 1


@pytest.mark.numbers
def test_random_weights_stand_beside(tmp_path):
    answer = scored("masks", DEMO, "--baseline")
    assert set(answer["random_weights"]) == set(answer["scores"]) and answer["random_weights"] != answer["scores"]
    assert answer["scores"] == scored("masks", DEMO)["scores"]
    assert scored("masks", DEMO, "--baseline", "--seed", "5")["random_weights"] != answer["random_weights"]
    text = ok("evaluate", "masks", DEMO, "--baseline")
    assert "trained" in text and "random weights" in text and "mean of heads" in text
    assert max(len(line) for line in text.splitlines()) <= 80


@pytest.mark.numbers
def test_scores_of_every_picture_are_written(tmp_path):
    ok("evaluate", "masks", DEMO, "--out", tmp_path / "scores.csv")
    lines = list(csv.DictReader((tmp_path / "scores.csv").open()))
    assert [line["picture"] for line in lines] == ["scene-1.png", "scene-2.png", "scene-3.png"]
    ok("evaluate", "masks", DEMO, "--out", tmp_path / "scores.json")
    written = json.loads((tmp_path / "scores.json").read_text())["result"]
    assert [e["scores"]["lost"] for e in written["per_picture"]] == pytest.approx([float(line["lost"]) for line in lines])
    ok("evaluate", "masks", DEMO, "--out", tmp_path / "scores.png", "--sidecar")
    shown = json.loads((tmp_path / "scores.png.json").read_text())
    assert shown["scores"] == written["scores"] and "per_picture" not in shown  # which the picture does not show either


def test_a_mask_that_was_written_is_found_again(tmp_path):
    """What --mask-out writes is what evaluate reads: LOST against its own mask is perfect."""
    shutil.copy(DEMO / "scene-2.png", tmp_path / "a.png")
    ok("image", tmp_path / "a.png", "--view", "lost", "--mask-out", tmp_path / "a.mask.png")
    assert scored("masks", tmp_path)["scores"]["lost"] == 1


def test_palettes_and_few_bits_are_numbers_too(tmp_path):
    labels = numpy.zeros((224, 224), int)
    labels[10:90, 20:130] = 1
    labels[100:200, 100:220] = 3
    answers = []
    for bits, kind in ((8, 0), (2, 0), (8, 3), (4, 3)):
        folder = tmp_path / f"{bits}-{kind}"
        folder.mkdir()
        shutil.copy(DEMO / "scene-1.png", folder / "a.png")
        (folder / "a.mask.png").write_bytes(png_of(labels, bits, kind))
        answers.append(scored("masks", folder))
        assert answers[-1]["objects"] == 2
    assert all(answer["scores"] == answers[0]["scores"] for answer in answers)


def test_pictures_without_truth_are_named_and_skipped(tmp_path):
    for name in ("scene-1.png", "scene-1.mask.png", "scene-2.png"):
        shutil.copy(DEMO / name, tmp_path)
    (tmp_path / "notes.txt").write_text("not a picture")
    result = run("evaluate", "masks", tmp_path, "--json")
    assert result.returncode == 0 and json.loads(result.stdout)["result"]["pictures"] == 1
    assert "scene-2.png is skipped" in result.stderr and "scene-1" not in result.stderr
    (tmp_path / "scene-2.mask.png").write_bytes(png_of(numpy.zeros((224, 224), int), 8, 0))
    result = run("evaluate", "masks", tmp_path, "--json")
    assert "1 of 2 inputs were left out; the first: scene-2.png: no object" in result.stderr
    assert json.loads(result.stdout)["result"]["pictures"] == 1 and json.loads(result.stdout)["input"]["left_out"] == 1
    (tmp_path / "scene-1.mask.png").write_bytes(b"hello")
    assert_fails(run("evaluate", "masks", tmp_path), 1, "there is no input to count", "scene-1.mask.png", "no PNG")


def test_bad_folders_and_truth_are_told(tmp_path):
    assert_fails(run("evaluate", "masks", tmp_path / "missing"), 1, "missing")
    assert_fails(run("evaluate", "masks", DEMO / "scene-1.png"), 1, "scene-1.png", "folder")
    assert_fails(run("evaluate", "masks", tmp_path), 1, "holds no picture")
    shutil.copy(DEMO / "scene-1.png", tmp_path / "a.png")
    assert_fails(run("evaluate", "masks", tmp_path), 1, "0 of 1 pictures", "NAME.mask.png")
    assert_fails(run("evaluate", "boxes", tmp_path), 1, "0 of 1 pictures", "NAME.json")
    mask = tmp_path / "a.mask.png"
    cases = [(png_of(numpy.ones((100, 50), int), 8, 0), "50 x 100", "224 x 224"), (png(224, 224), "colours", "8-bit grey"),
             (png_of(numpy.ones((224, 224), int), 16, 0), "16 bits"), (b"hello", "no PNG"), (mask_bytes()[:200], "damaged")]
    for content, *facts in cases:
        mask.write_bytes(content)
        assert_fails(run("evaluate", "masks", tmp_path), 1, "a.mask.png", *facts)
    mask.write_bytes(png_of(numpy.zeros((224, 224), int), 8, 0))
    shutil.copy(DEMO / "scene-1.png", tmp_path / "b.png")  # has no mask: a note, but not before an error
    assert_fails(run("evaluate", "masks", tmp_path), 1, "a.png: no object is in it")
    (tmp_path / "b.png").unlink()
    truth = tmp_path / "a.json"
    for text, fact in (("{", "a.json"), ('{"objects": 3}', "array"), ('{"objects": [{"id": 1}]}', "box_xyxy"), ("[]", "an object"),
                       ('{"objects": [{"box_xyxy": [5, 5, 1, 9]}]}', "x0 < x1"), ('{"objects": [{"box_xyxy": [5, 5]}]}', "x0, y0")):
        truth.write_text(text)
        assert_fails(run("evaluate", "boxes", tmp_path), 1, "a.json", fact)


def mask_bytes():
    return (DEMO / "scene-1.mask.png").read_bytes()


def test_wrong_usage_is_told(tmp_path):
    assert_fails(run("evaluate", "colours", DEMO), 2, "colours", "masks")
    assert_fails(run("evaluate", "masks"), 2, "DIR")
    assert_fails(run("evaluate", "masks", DEMO, "--mask", "2"), 2, "2")
    assert_fails(run("evaluate", "masks", DEMO, "--seed", "2"), 2, "--baseline")
    assert_fails(run("evaluate", "masks", DEMO, "--out", tmp_path / "a.npy"), 2, ".csv", ".png")
    assert_fails(run("evaluate", "masks", DEMO, "--pixels", "2"), 2, "--pixels is for figures")
    assert_fails(run("evaluate", "masks", tmp_path / "missing", "--layer", "8"), 2, "--layer: 8 is beyond", "0 to 7")
    assert_fails(run("evaluate", "masks", DEMO, "--out", tmp_path / "no/where.csv"), 1, "no folder")
    assert_fails(run("evaluate", "masks", DEMO, "-m", "en-fr"), 1, "sees no pictures")
    assert list(tmp_path.iterdir()) == []


def test_options_of_detectors_and_of_others_do_not_mix():
    detector = ROOT / "models/scenes-detr"
    assert_fails(run("evaluate", "masks", DEMO, "--threshold", "0.5"), 2, "--threshold")
    assert_fails(run("evaluate", "masks", detector / "demo", "-m", detector, "--baseline"), 2, "--baseline")
    assert_fails(run("evaluate", "boxes", detector / "demo", "-m", detector), 1, "evaluate its detections")
