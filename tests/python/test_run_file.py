"""docs/run-file.md says how to read a run without fovea; its code must work on a real file."""

import json
import re

import models
import numpy as np
from program import ROOT, assert_fails, ok, run


def test_the_documented_code_reads_a_run():
    text = (ROOT / "docs" / "run-file.md").read_text()
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1)
    path = ROOT / "tests" / "data" / "run_format_1.fovea.safetensors"
    scope = {}
    exec(code.replace("run.fovea.safetensors", str(path)), scope)
    weights = scope["weights"]
    np.testing.assert_allclose(weights.sum(axis=2), 1, atol=1e-6)
    np.testing.assert_allclose(weights[1, 2], [0.125, 0.25, 0.625], atol=1e-6)


def test_a_run_that_does_not_fit_into_memory_goes_through_a_file(tmp_path):
    model = models.bert(tmp_path / "model")
    here, there = tmp_path / "a.fovea.safetensors", tmp_path / "b.fovea.safetensors"
    capture = ("capture", "the cat sat", "-m", model)
    answer = json.loads(ok(*capture, "--out", here, "--json"))
    assert answer["peak_memory_bytes"] > 1_000_000
    ok(*capture, "--out", there, "--memory", "0", environment={"TMPDIR": str(tmp_path)})
    assert here.read_bytes() == there.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.fovea.safetensors", "b.fovea.safetensors", "model"]

    lost = tmp_path / "c.fovea.safetensors"
    nowhere = run(*capture, "--out", lost, "--memory", "0", environment={"TMPDIR": str(tmp_path / "no")})
    assert_fails(nowhere, 1, tmp_path / "no", "set TMPDIR")
    assert not lost.exists()
