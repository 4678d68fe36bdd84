"""Makes tests/data/explain/detections.json: random detections with their average precision, and masks as COCO's runs.

    pip install numpy==2.4.6
    python tools/make_detection_fixture.py [--check-with-pycocotools]

Everything here is the plain form of COCO's rules, written from their description; nothing of fovea is used.
With --check-with-pycocotools the answers are compared with that package, where it is installed.
"""

import argparse
import contextlib
import io
import json
import pathlib

import numpy as np

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "explain" / "detections.json"
THRESHOLDS = [0.5 + 0.05 * i for i in range(10)]


def random_picture(random, objects, classes, noise):
    """True objects, and found ones that are near them, wrong in their class, doubled, or nowhere."""
    truth, found = [], []
    for _ in range(objects):
        left, top = random.integers(0, 80, 2)
        width, height = random.integers(8, 40, 2)
        box = [int(left), int(top), int(left + width), int(top + height)]
        label = int(random.integers(classes))
        truth.append({"label": label, "box": box})
        for _ in range(int(random.integers(0, 3))):
            moved = [float(round(side + random.normal(0, noise), 3)) for side in box]
            wrong = random.random() < 0.15
            # Few digits, so that scores are equal now and then.
            found.append({"label": int(random.integers(classes)) if wrong else label,
                          "score": float(round(random.random(), 2)),
                          "box": [min(moved[0], moved[2]), min(moved[1], moved[3]),
                                  max(moved[0], moved[2]), max(moved[1], moved[3])]})
    for _ in range(int(random.integers(0, 3))):
        found.append({"label": int(random.integers(classes)), "score": float(round(random.random(), 2)),
                      "box": [1.0, 2.0, 9.0, 30.0]})
    return {"truth": truth, "found": found}


def iou(a, b):
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    shared = max(width, 0) * max(height, 0)
    return shared / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared)


def average_precision(pictures, label, threshold):
    rows, objects = [], 0
    for picture in pictures:
        truth = [t for t in picture["truth"] if t["label"] == label]
        objects += len(truth)
        free = list(range(len(truth)))
        for one in sorted((f for f in picture["found"] if f["label"] == label), key=lambda f: -f["score"]):
            reached = [(iou(one["box"], truth[i]["box"]), i) for i in free]
            reached = [pair for pair in reached if pair[0] >= threshold]
            if reached:
                free.remove(max(reached)[1])
            rows.append((one["score"], bool(reached)))
    if objects == 0:
        return None
    rows.sort(key=lambda row: -row[0])
    right = np.cumsum([row[1] for row in rows])
    recall = right / objects
    precision = right / np.arange(1, len(rows) + 1)
    points = []
    for wanted in np.linspace(0, 1, 101):
        still = precision[recall >= wanted]
        points.append(still.max() if len(still) else 0.0)
    return float(np.mean(points))


def answers(pictures, classes):
    ap = []
    for threshold in THRESHOLDS:
        of_classes = [average_precision(pictures, label, threshold) for label in range(classes)]
        ap.append(float(np.mean([value for value in of_classes if value is not None])))
    return ap


def runs(mask):
    """Lengths of runs down the columns, beginning with the zeros."""
    pixels = mask.T.reshape(-1)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], pixels]))).tolist()
    return np.diff([0] + edges + [len(pixels)]).tolist()


def compressed(counts):
    """LEB128 with sign, six bits a character from '0' on; differences from the fourth number on."""
    text = ""
    for index, count in enumerate(counts):
        value = count - counts[index - 2] if index > 2 else count
        while True:
            low = value & 31
            value >>= 5
            last = value == (-1 if low & 16 else 0)
            text += chr(48 + (low if last else low | 32))
            if last:
                break
    return text


def masks(random):
    shapes = [(1, 1), (3, 5), (7, 4), (40, 60)]
    made = [np.zeros((3, 2), int), np.ones((2, 3), int)]
    for height, width in shapes:
        made.append((random.random((height, width)) < 0.5).astype(int))
    large = np.zeros((120, 60), int)
    large[10:100, 5:50] = 1
    large[40:50, 20:30] = 0
    made.append(large)
    cases = []
    for mask in made:
        counts = runs(mask)
        cases.append({"size": list(mask.shape), "counts": counts, "text": compressed(counts),
                      "rows": ["".join(map(str, row)) for row in mask.tolist()]})
    return cases


def check_with_pycocotools(document):
    from pycocotools import mask as coco_mask
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    worst = 0.0
    for case in document["pictures"]:
        truth, found = COCO(), []
        labels = range(case["classes"])
        data = {"images": [], "annotations": [], "categories": [{"id": label + 1} for label in labels]}
        for number, picture in enumerate(case["pictures"], 1):
            data["images"].append({"id": number})
            for one in picture["truth"]:
                left, top, right, bottom = one["box"]
                data["annotations"].append({
                    "id": len(data["annotations"]) + 1, "image_id": number, "category_id": one["label"] + 1,
                    "bbox": [left, top, right - left, bottom - top], "area": (right - left) * (bottom - top),
                    "iscrowd": 0})
            for one in picture["found"]:
                left, top, right, bottom = one["box"]
                found.append({"image_id": number, "category_id": one["label"] + 1, "score": one["score"],
                              "bbox": [left, top, right - left, bottom - top]})
        with contextlib.redirect_stdout(io.StringIO()):
            truth.dataset = data
            truth.createIndex()
            evaluation = COCOeval(truth, truth.loadRes(found), "bbox")
            evaluation.evaluate()
            evaluation.accumulate()
        for index, expected in enumerate(case["ap"]):
            values = evaluation.eval["precision"][index, :, :, 0, 2]
            worst = max(worst, abs(values[values > -1].mean() - expected))
    for case in document["masks"]:
        mask = np.array([[int(cell) for cell in row] for row in case["rows"]], np.uint8)
        text = coco_mask.encode(np.asfortranarray(mask))["counts"].decode()
        assert text == case["text"], (text, case["text"])
    print(f"pycocotools: AP differs by at most {worst:.2g}; all masks are the same")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check-with-pycocotools", action="store_true")
    arguments = parser.parse_args()
    random = np.random.default_rng(5)
    cases = []
    for pictures, objects, classes, noise in ((1, 3, 1, 1.0), (6, 5, 2, 2.0), (12, 6, 4, 3.5), (3, 4, 9, 0.3)):
        made = [random_picture(random, objects, classes, noise) for _ in range(pictures)]
        cases.append({"classes": classes, "pictures": made, "ap": answers(made, classes)})
    document = {"thresholds": THRESHOLDS, "pictures": cases, "masks": masks(random)}
    if arguments.check_with_pycocotools:
        check_with_pycocotools(document)
    OUT.write_text(json.dumps(document, indent=None, separators=(",", ":")).replace('},{"truth"', '},\n{"truth"') + "\n")


if __name__ == "__main__":
    main()
