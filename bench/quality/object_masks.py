"""How much of true objects the attention of [CLS] covers: the Jaccard index of the mask that holds 60 % of its mass.

    python bench/quality/object_masks.py [DIR] [--fovea build/release/bin/fovea] [--model scenes-vit] [--seeds 5]

DIR holds pictures with NAME.mask.png beside them (default: the demo scenes of scenes-vit; models/train/held_out_scenes.py
makes more). Prints the best head for each object (chosen with the truth in hand), the best single head, the mean of heads, LOST and
TokenCut, beside the mean and the spread of the same model with random weights, one run for each seed.
"""

import argparse
import json
import pathlib
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROWS = {"best_head_per_object": "best head for each object, by the truth", "best_head_per_picture": "best head for each picture, by the truth",
        "best_head": "best single head", "mean_of_heads": "mean of heads", "lost": "LOST", "token_cut": "TokenCut"}


def evaluate(options, seed):
    command = [options.fovea, "evaluate", "masks", options.folder, "-m", options.model, "--baseline", "--seed", str(seed), "--json"]
    facts = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {**facts["result"], "model": facts["model"]["name"], "layer": facts["layer"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="?", default=ROOT / "models/scenes-vit/demo", type=pathlib.Path)
    parser.add_argument("--fovea", default=ROOT / "build/release/bin/fovea", type=pathlib.Path)
    parser.add_argument("--model", default="scenes-vit")
    parser.add_argument("--seeds", default=5, type=int)
    options = parser.parse_args()
    runs = [evaluate(options, seed) for seed in range(options.seeds)]
    first = runs[0]
    print(f"{first['model']}, layer {first['layer']}, {first['pictures']} pictures, {first['objects']} objects: Jaccard index")
    print(f"{'':42} trained   random weights, {options.seeds} seeds")
    for key, label in ROWS.items():
        random = [run["random_weights"][key] for run in runs]
        spread = statistics.stdev(random) if len(random) > 1 else 0
        print(f"{label:42} {first['scores'][key]:7.3f}   {statistics.mean(random):.3f} +- {spread:.3f}")


if __name__ == "__main__":
    main()
