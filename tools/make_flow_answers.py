"""Makes tests/data/explain/flow.json: what scipy answers to the largest flows through layered networks.

    python3 tools/make_flow_answers.py

Needs numpy and scipy. Each case has L layers of N x N whole-number capacities; layer l leads from node (l + 1, i) to (l, j), as
attention leads from a position back to what it read. The answer holds the flow from (L, i) to (0, j) for every i and j.
"""

import json
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_flow

OUT = Path(__file__).parent.parent / "tests" / "data" / "explain" / "flow.json"
UNITS, LEAST = 1e7, 1e-4


def softmax(scores):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def attention(random, layers, positions, sharpness=1.0, causal=False):
    """Whole-number capacities of (A + I) / 2, small ones left out."""
    scores = sharpness * random.standard_normal((layers, positions, positions))
    if causal:
        scores = np.where(np.tril(np.ones((positions, positions), bool)), scores, -np.inf)
    weights = (softmax(scores) + np.eye(positions)) / 2
    return np.where(weights < LEAST, 0, weights * UNITS).astype(np.int32)


def flows(capacities):
    layers, positions, _ = capacities.shape
    graph = np.zeros(((layers + 1) * positions,) * 2, np.int32)
    for layer, weights in enumerate(capacities):
        graph[(layer + 1) * positions:(layer + 2) * positions, layer * positions:(layer + 1) * positions] = weights
    graph = csr_matrix(graph)
    return [[int(maximum_flow(graph, layers * positions + i, j).flow_value) for j in range(positions)] for i in range(positions)]


def main():
    random = np.random.default_rng(20261115)
    cases = {
        "even": attention(random, 4, 8),
        "sharp": attention(random, 4, 8, sharpness=5),
        "causal": attention(random, 3, 6, causal=True),
        "one layer": attention(random, 1, 5),
        "deep": attention(random, 7, 5, sharpness=3),
        "bottlenecks": random.integers(0, 4, (4, 6, 6)).astype(np.int32) * random.integers(0, 2, (4, 6, 6)).astype(np.int32),
        "nothing": np.zeros((2, 3, 3), np.int32),
    }
    answers = [{"name": name, "capacities": capacities.tolist(), "flows": flows(capacities)} for name, capacities in cases.items()]
    OUT.write_text("[\n" + ",\n".join(json.dumps(answer, separators=(",", ":")) for answer in answers) + "\n]\n")


if __name__ == "__main__":
    main()
