"""What transformers says is in pictures, by scenes-vit: tests/data/vision/classes.json.

    pip install -r tools/fixture-requirements.txt
    python tools/make_class_answers.py

Classes do not exclude each other: those with a probability above one half, the best at least, the most probable first.
"""

import json
import pathlib

import torch
from PIL import ImageOps, Image
from transformers import ViTForImageClassification, ViTImageProcessorPil

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODEL = ROOT / "models/scenes-vit"
FILES = [f"models/scenes-vit/demo/scene-{i}.png" for i in (1, 2, 3)] + [
    f"tests/data/vision/files/{name}" for name in (
        "420.jpg", "444.jpg", "bytes.ppm", "exif_6.jpg", "grey8.png", "lossless.webp", "lossy.webp", "one_pixel.png", "palette8.png",
        "progressive.jpg", "rgb8.png", "rgba8.png")]


@torch.inference_mode()
def classes(model, processor, path):
    picture = ImageOps.exif_transpose(Image.open(path)).convert("RGB")
    logits = model(**processor(picture, return_tensors="pt")).logits[0].double()
    # An answer that rounding could turn is no answer.
    assert (logits.abs() > 0.02).all() or logits.max() < -0.02, path
    ordered = logits.sort(descending=True)
    kept = max(1, int((logits > 0).sum()))
    names = [model.config.id2label[int(i)] for i in ordered.indices[:kept]]
    return [[name, round(float(p), 4)] for name, p in zip(names, ordered.values.sigmoid())]


def main():
    model = ViTForImageClassification.from_pretrained(MODEL, dtype=torch.float32, attn_implementation="eager").eval()
    processor = ViTImageProcessorPil.from_pretrained(MODEL)
    answers = {name: classes(model, processor, ROOT / name) for name in FILES}
    path = ROOT / "tests/data/vision/classes.json"
    path.write_text("{\n" + ",\n".join(f" {json.dumps(k)}: {json.dumps(v)}" for k, v in answers.items()) + "\n}\n")


if __name__ == "__main__":
    main()
