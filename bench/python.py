"""How fast the Python package is here: import, first map, tiles and cells. Run it with the package on the path:

    PYTHONPATH=build/release/python python3 bench/python.py

Each number is the best of several fresh interpreters or of several rounds; the aims stand beside it.
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

IMPORT = """
import json, resource, time
def kb(): return int(open("/proc/self/statm").read().split()[1]) * 4
before, begin = kb(), time.perf_counter()
import fovea
print(json.dumps({"seconds": time.perf_counter() - begin, "megabytes": (kb() - before) / 1000}))
"""
FIRST_MAP = """
import json, sys, time
begin = time.perf_counter()
import fovea
fovea.load(sys.argv[1])("The cat sat on the mat because it was tired.").map("self", 0, 0)[3, 2]
print(json.dumps({"seconds": time.perf_counter() - begin}))
"""
# A captured run of one head of 64 numbers a position, as the models of today have.
PARTS = """
import json, random, sys, tempfile, time
import numpy as np, fovea
from safetensors.numpy import save_file
TOKENS, SIZE = 32768, 64
numbers = np.random.default_rng(0)
q, k = (numbers.standard_normal((1, TOKENS, SIZE), np.float32) for _ in range(2))
lse = np.empty((1, TOKENS))
for begin in range(0, TOKENS, 2048):
    scores = q[0, begin : begin + 2048] @ k[0].T / 8
    lse[0, begin : begin + 2048] = np.log(np.exp(scores).sum(axis=1))
about = {"format_version": 1, "model": "random", "model_hash": "", "axes": [{"name": "tokens", "source": "", "positions": ["x"] * TOKENS,
         "offsets": [[0, 0]] * TOKENS, "special": []}], "sites": [{"site": "self.0", "rows": "tokens", "cols": "tokens", "rule": {
         "scale": 0.125, "soft_cap": 0, "query_offset": 0, "behind": None, "ahead": None, "bias": "none"}}]}
path = tempfile.mkdtemp() + "/long.fovea.safetensors"
save_file({"self.0.q": q, "self.0.k": k, "self.0.lse": lse}, path, {"fovea": json.dumps(about)})
attention = fovea.open(path).map("self", 0, 0)
part = attention.tile(20000, 20256, 100, 356)
assert np.abs(part - np.exp(q[0, 20000:20256] @ k[0, 100:356].T / 8 - lse[0, 20000:20256, None])).max() < 1e-6
def best(work, rounds=20):
    def once():
        begin = time.perf_counter()
        work()
        return time.perf_counter() - begin
    return min(once() for _ in range(rounds))
chance = random.Random(0)
cells = [(chance.randrange(TOKENS), chance.randrange(TOKENS)) for _ in range(1000)]
print(json.dumps({"tile": best(lambda: attention.tile(20000, 20256, 100, 356)), "cells": best(lambda: [attention[i, j] for i, j in cells]),
                  "row": best(lambda: attention.row(32000)), "pool": best(lambda: attention.pool(256, 256), 2)}))
"""


def measured(code, *arguments):
    result = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(result.stderr)
    return json.loads(result.stdout)


def main():
    imports = [measured(IMPORT) for _ in range(7)]
    print(f"import fovea                        {1e3 * min(one['seconds'] for one in imports):7.1f} ms   (aim 30)")
    print(f"                                    {min(one['megabytes'] for one in imports):7.1f} MB   (aim 15)")
    first = min(measured(FIRST_MAP, "all-minilm-l6-v2")["seconds"] for _ in range(7))
    print(f"first map of a sentence, fresh      {first:7.3f} s    (aim 0.2)")
    parts = measured(PARTS)
    print(f"a.tile of 256 x 256, of 32,768      {1e3 * parts['tile']:7.2f} ms   (aim 0.3)")
    print(f"1,000 random cells of 32,768        {1e3 * parts['cells']:7.1f} ms   (aim 50)")
    print(f"a row of 32,768                     {1e3 * parts['row']:7.2f} ms")
    print(f"a.pool(256, 256) of 32,768          {parts['pool']:7.2f} s")


if __name__ == "__main__":
    main()
