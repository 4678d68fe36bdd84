"""AER on the 447 English-French pairs of tests/data/alignment: of the map that is chosen without gold links, of the
usual guesses, and of the best that any choice could give.

    python3 bench/quality/alignment.py [--fovea build/release/bin/fovea] [-m MODEL]

Prints a table of both readings of each map, and how many pairs a second were aligned.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

DATA = pathlib.Path(__file__).resolve().parents[2] / "tests/data/alignment"


def write_sides(folder):
    pairs = [line.split(" ||| ") for line in (DATA / "enfr.src-tgt").read_text().splitlines()]
    for side, name in enumerate(("source", "target")):
        (folder / name).write_text("".join(pair[side].strip() + "\n" for pair in pairs))
    return [folder / "source", folder / "target"], len(pairs)


def name_of(choice):
    head = "mean of all heads" if choice["head"] is None else f"head {choice['head']}"
    layer = "" if choice["layer"] is None else f"layer {choice['layer']}, "
    return f"{layer}{head}, read by {choice['reading']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fovea", default="build/release/bin/fovea")
    parser.add_argument("-m", "--model", default="en-fr")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as place:
        files, count = write_sides(pathlib.Path(place))
        align = [options.fovea, "align", *files, "-m", options.model, "--gold", DATA / "enfr.gold", "--json"]
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
