"""docs/run-file.md says how to read a run without fovea; its code must work on a real file."""

import pathlib
import re

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_documented_code_reads_a_run():
    text = (ROOT / "docs" / "run-file.md").read_text()
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1)
    path = ROOT / "tests" / "data" / "run_format_1.fovea.safetensors"
    scope = {}
    exec(code.replace("run.fovea.safetensors", str(path)), scope)
    weights = scope["weights"]
    np.testing.assert_allclose(weights.sum(axis=2), 1, atol=1e-6)
    np.testing.assert_allclose(weights[1, 2], [0.125, 0.25, 0.625], atol=1e-6)
