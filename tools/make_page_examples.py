"""Computes what the page shows before any model is there: every head on one sentence, and one head on a long text.

    python3 tools/make_page_examples.py FOVEA [LONG-TEXT]

FOVEA is the program, which finds all-minilm-l6-v2 and smollm2-135m-instruct by their names (fovea pull gets them); LONG-TEXT is
the GNU General Public License, version 3, where Debian keeps it if nothing else is said. Writes web/public/examples.json.
"""

import base64
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from safetensors import safe_open

TARGET = pathlib.Path(__file__).resolve().parent.parent / "web/public/examples.json"
SENTENCE = "The cat sat on the mat because it was tired."
START = {"layer": 2, "head": 8, "row": 8, "column": 10}
LONG = {"model": "smollm2-135m-instruct", "layer": 26, "head": 3, "bins": 128}
OCTAVES = 32


def codes(weights, steps, dtype):
    """Steps of the logarithm, as tiles have them."""
    with np.errstate(divide="ignore"):
        octave = np.log2(weights) + OCTAVES
    return np.where(octave >= 0, 1 + np.rint(octave * (steps - 1) / OCTAVES), 0).clip(0, steps).astype(dtype)


def packed(array):
    return base64.b64encode(array.tobytes()).decode()


def sentence(fovea, folder):
    run = [fovea, "text", SENTENCE, "--model", "all-minilm-l6-v2"]
    facts = json.loads(subprocess.run([*run, "--json"], check=True, capture_output=True, text=True).stdout)
    subprocess.run([*run, "--layer", "all", "--head", "all", "--out", folder / "maps.npz"], check=True, capture_output=True)
    weights = np.load(folder / "maps.npz")["weights"]
    axis = facts["axes"][0]
    labels, place = [], 0
    for index, name in enumerate(axis["positions"]):
        label = {"position": index, "text": name, "display": name, "kind": "special" if index in axis["special"] else "text"}
        if label["kind"] == "text":
            begin = axis["source"].lower().index(name.lower(), place)
            place = begin + len(name)
            label |= {"span": [begin, place], "group": index}
        labels.append(label)
    heads = 12
    return {
        "model": facts["model"]["name"], "text": SENTENCE, "labels": labels, "special": axis["special"], "layers": len(weights) // heads,
        "heads": heads, "start": START, "maps": packed(codes(weights, 65533, "<u2")),
    }


def long_text(fovea, text, folder):
    run = folder / "long.fovea.safetensors"
    subprocess.run([fovea, "capture", "--text-file", text, "--model", LONG["model"], "--out", run], check=True, capture_output=True)
    site, head, bins = f"self.{LONG['layer']}", LONG["head"], LONG["bins"]
    with safe_open(run, "np") as file:
        q, k, lse = (file.get_tensor(f"{site}.{part}") for part in ("q", "k", "lse"))
        rule = next(each for each in json.loads(file.metadata()["fovea"])["sites"] if each["site"] == site)["rule"]
    tokens = q.shape[1]
    block = -(-tokens // bins)
    keys = k[head * len(k) // len(q)].astype(np.float64)
    even = np.zeros((-(-tokens // block),) * 2)
    share = even.copy()
    for row in range(tokens):
        weights = np.exp(keys[:row + 1] @ q[head, row].astype(np.float64) * rule["scale"] - lse[head, row])
        weights[0] = 0  # the sink is drawn apart
        edges = np.arange(0, row + 1, block)
        share[row // block, :len(edges)] += np.add.reduceat(weights, edges)
        counted = np.ones(row + 1)
        counted[0] = 0
        even[row // block, :len(edges)] += np.add.reduceat(counted, edges) / (row + 1)
    with np.errstate(invalid="ignore"):
        place = np.log(32 * share / even) / np.log(32**2)
    table = np.where(even > 0, np.nan_to_num(place, nan=0, neginf=0).clip(0, 1) * 254, 255).round().astype(np.uint8)
    return {"model": LONG["model"], "tokens": tokens, "layer": LONG["layer"], "head": head, "bins": len(table), "places": packed(table)}


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    fovea = sys.argv[1]
    text = sys.argv[2] if len(sys.argv) == 3 else "/usr/share/common-licenses/GPL-3"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        examples = {"sentence": sentence(fovea, folder), "long": long_text(fovea, text, folder)}
    TARGET.write_text(json.dumps(examples, ensure_ascii=False, separators=(",", ":")) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
