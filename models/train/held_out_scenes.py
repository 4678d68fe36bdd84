"""Writes held-out scenes with the truth, as `fovea evaluate` reads them: photographs and compositions that no training saw.

    python held_out_scenes.py PACK OUT_DIR [COUNT]

PACK is what pack_scenes.py wrote; its held-out photographs are enough. Writes scene-NNN.png (224 x 224), scene-NNN.mask.png
(pixel = object number, 0 = background) and scene-NNN.json. The first 80 are the scenes that the card of scenes-vit was measured on, but
for the rounding to 8 bits. The same versions of torch and numpy write the same files.
"""
import json, os, sys
import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from scenes import SceneMaker

pack, out, count = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 80
os.makedirs(out, exist_ok=True)
maker, size, written = SceneMaker(pack, "cpu", "test", 31337), 224, 0
for _ in range(count // 8):
    s = maker(8, size, size, most=5)
    for image, box, label, inst in zip(s.image, s.box, s.label, s.inst):
        if (F.avg_pool2d((inst > 0).float()[None, None], 8) > 0.5).sum() < 4:      # hardly an object in it
            continue
        written += 1
        name = f"{out}/scene-{written:03}"
        cx, cy, w, h = (box * size).unbind(-1)
        corners = torch.stack([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2], -1).round().int().tolist()
        objects = [{"id": k + 1, "label": maker.names[c], "box_xyxy": corners[k]} for k, c in enumerate(label.tolist()) if c >= 0]
        Image.fromarray((image.permute(1, 2, 0) * 255).round().byte().numpy()).save(name + ".png")
        Image.fromarray(inst.numpy().astype(np.uint8)).save(name + ".mask.png", optimize=True)
        with open(name + ".json", "w") as file:
            json.dump({"width": size, "height": size, "objects": objects}, file, indent=1)
print(written, "scenes")
