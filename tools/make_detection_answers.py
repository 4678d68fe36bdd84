"""Makes tests/data/detection/scenes-detr.json: what transformers finds in the demo scenes of models/scenes-detr.

    pip install -r tools/fixture-requirements.txt
    python tools/make_detection_answers.py

Every query's best class, score and box in pixels, and the average precision of all of them by COCO's rules as
make_detection_fixture.py has them (compared there with pycocotools).
"""

import json
import pathlib

import numpy as np
import torch
import transformers
from PIL import Image

from make_detection_fixture import THRESHOLDS, average_precision

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODEL = ROOT / "models" / "scenes-detr"


def main() -> None:
    torch.set_num_threads(2)
    processor = transformers.DetrImageProcessor.from_pretrained(MODEL)
    model = transformers.DetrForObjectDetection.from_pretrained(MODEL, attn_implementation="eager", dtype=torch.float32)
    model.eval()
    names = model.config.label2id
    scenes, pictures = {}, []
    for path in sorted((MODEL / "demo").glob("scene-?.png")):
        picture = Image.open(path).convert("RGB")
        with torch.no_grad():
            outputs = model(**processor(picture, return_tensors="pt"))
        found = processor.post_process_object_detection(outputs, threshold=0.0, target_sizes=[picture.size[::-1]])[0]
        rows = [{"label": int(label), "score": float(score), "box": [float(side) for side in box]}
                for label, score, box in zip(found["labels"], found["scores"], found["boxes"])]
        objects = json.loads(path.with_suffix(".json").read_text())["objects"]
        pictures.append({"found": rows,
                         "truth": [{"label": names[one["label"]], "box": one["box_xyxy"]} for one in objects]})
        scenes[path.name] = [{"label": model.config.id2label[row["label"]], "score": round(row["score"], 6),
                              "box_xyxy": [round(side, 3) for side in row["box"]]} for row in rows if row["score"] > 0.7]
    ap = []
    for threshold in THRESHOLDS:
        values = [average_precision(pictures, label, threshold) for label in range(len(names))]
        ap.append(float(np.mean([value for value in values if value is not None])))
    document = {"ap50": ap[0], "ap75": ap[5], "ap": float(np.mean(ap)), "scenes": scenes}
    out = ROOT / "tests" / "data" / "detection" / "scenes-detr.json"
    out.write_text(json.dumps(document, indent=1) + "\n")
    print({name: document[name] for name in ("ap50", "ap75", "ap")}, {name: len(rows) for name, rows in scenes.items()})


if __name__ == "__main__":
    main()
