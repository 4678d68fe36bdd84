"""Makes tests/data/explain/ranks.json: what scipy and numpy answer to correlations of ranks, and to quantiles.

    python3 tools/make_rank_answers.py

Needs numpy and scipy. Lists with and without ties, short and long, the same and the other way round.
"""

import json
from pathlib import Path

import numpy as np
from scipy import stats

OUT = Path(__file__).parent.parent / "tests" / "data" / "explain" / "ranks.json"


def main():
    random = np.random.default_rng(20261116)
    lists = [([1.0, 2.0], [2.0, 1.0]), ([3.0, 1.0, 2.0], [3.0, 1.0, 2.0])]
    for count in (4, 9, 40):
        a = np.round(random.standard_normal(count), 4)
        lists.append((a, np.round(a + random.standard_normal(count), 4)))
        lists.append((random.integers(0, 3, count), random.integers(0, 4, count)))  # mostly ties
        lists.append((a, random.integers(0, 2, count)))
        lists.append((a, -a))
    answers = []
    for a, b in lists:
        a, b = np.asarray(a, float), np.asarray(b, float)
        answers.append({"a": a.tolist(), "b": b.tolist(), "tau_b": stats.kendalltau(a, b).statistic,
                        "rho": stats.spearmanr(a, b).statistic, "ranks": stats.rankdata(a).tolist(),
                        "quantiles": np.quantile(a, [0, 0.025, 0.5, 0.975, 1]).tolist()})
    OUT.write_text("[\n" + ",\n".join(json.dumps(answer, separators=(",", ":")) for answer in answers) + "\n]\n")


if __name__ == "__main__":
    main()
