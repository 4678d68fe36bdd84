"""AER on the 447 English-French pairs of tests/data/alignment: of the map that is chosen without gold links, of the
usual guesses, and of the best that any choice could give.

    python3 bench/quality/alignment.py [--fovea build/release/bin/fovea] [-m MODEL] [--random SEED]

Prints a table of both readings of each map, and how many pairs a second were aligned. With --random the weights of the model, a
folder, are drawn as before training (biases 0, norms 1, the rest normal); that needs numpy and safetensors.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import tempfile
import time

DATA = pathlib.Path(__file__).resolve().parents[2] / "tests/data/alignment"


def write_sides(folder):
    pairs = [line.split(" ||| ") for line in (DATA / "enfr.src-tgt").read_text().splitlines()]
    for side, name in enumerate(("source", "target")):
        (folder / name).write_text("".join(pair[side].strip() + "\n" for pair in pairs))
    return [folder / "source", folder / "target"], len(pairs)


def random_copy(model, folder, seed):
    """The model as it would begin training."""
    import numpy
    from safetensors.numpy import load_file, save_file

    deviation = json.loads((model / "config.json").read_text())["init_std"]
    generator = numpy.random.default_rng(seed)

    def drawn(name, weight):
        if "bias" in name:
            return numpy.zeros_like(weight)
        if weight.ndim < 2:
            return numpy.ones_like(weight)
        return (deviation * generator.standard_normal(weight.shape)).astype(weight.dtype)

    shutil.copytree(model, folder)
    for file in sorted(folder.glob("*.safetensors")):
        weights = {name: drawn(name, weight) for name, weight in sorted(load_file(file).items())}
        save_file(weights, file, metadata={"format": "pt"})
    return folder


def name_of(choice):
    head = "mean of all heads" if choice["head"] is None else f"head {choice['head']}"
    layer = "" if choice["layer"] is None else f"layer {choice['layer']}, "
    return f"{layer}{head}, read by {choice['reading']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fovea", default="build/release/bin/fovea")
    parser.add_argument("-m", "--model", default="en-fr")
    parser.add_argument("--random", type=int, metavar="SEED")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as place:
        files, count = write_sides(pathlib.Path(place))
        model = options.model
        if options.random is not None:
            model = random_copy(pathlib.Path(model), pathlib.Path(place) / "random", options.random)
        align = [options.fovea, "align", *files, "-m", model, "--gold", DATA / "enfr.gold", "--json"]
        start = time.perf_counter()
        links = json.loads(subprocess.check_output(align, stderr=subprocess.DEVNULL))
        seconds = time.perf_counter() - start
        ranking = json.loads(subprocess.check_output([*align, "--ranking"], stderr=subprocess.DEVNULL))

    aer = {(m["layer"], m["head"], m["reading"]): 100 * m["aer"] for m in ranking["maps"]}
    last = max(layer for layer, _, _ in aer if layer is not None)
    rows = {"head 0 of the last layer": (last, 0), "mean of the last layer": (last, None),
            "mean of all heads": (None, None)}
    print(f"{count} pairs, {options.model}; AER in %, lower is better\n")
    print(f"{'':28}{'by input':>9}{'by output':>10}")
    for title, (layer, head) in rows.items():
        print(f"{title:28}{aer[layer, head, 'input']:9.1f}{aer[layer, head, 'output']:10.1f}")
    best = ranking["best_by_gold"]
    best_aer = aer[best["layer"], best["head"], best["reading"]]
    print(f"\nchosen without gold   {100 * links['aer']:5.1f}   {name_of(links['map'])}")
    print(f"best head by gold     {best_aer:5.1f}   {name_of(best)}")
    print(f"\n{count / seconds:.0f} pairs a second, opening the model and choosing the map included")


if __name__ == "__main__":
    main()
