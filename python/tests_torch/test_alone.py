"""The hook without the engine, its benchmark, and the page about it."""

import os
import re
import subprocess
import sys

import families
import fovea.torch
from conftest import ROOT

ALONE = """
import sys
sys.path.insert(0, {bench!r})
import hook, torch, transformers
folder = hook.hook()
torch.manual_seed(0)
sizes = dict(hidden_size=48, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, vocab_size=99)
model = transformers.LlamaModel._from_config(transformers.LlamaConfig(**sizes), attn_implementation="eager").eval()
ids = torch.arange(5, 17)[None]
with torch.no_grad():
    expected = model(ids, output_attentions=True).attentions
    with folder.capture(model) as c:
        model(ids)
found = c.session().map("self", 1, 3)
assert (found[:, :] - expected[1][0, 3]).abs().max() < 1e-5
assert found.pool(3, 3).shape == (3, 3) and abs(float(found.column_sums().sum()) - 12) < 1e-4
c.save({file!r})
assert not [name for name in sys.modules if name == "fovea" or name.startswith("fovea.")], "the engine was loaded"
"""


def test_it_captures_and_shows_maps_without_the_engine(tmp_path):
    file = str(tmp_path / "run.fovea.safetensors")
    code = ALONE.format(bench=str(ROOT / "bench"), file=file)
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": ""})
    assert result.returncode == 0, result.stderr
    assert fovea.open(file).sites["self"].layers == 2


def test_the_benchmark_of_the_hook_runs(tmp_path):
    command = [sys.executable, ROOT / "bench/hook.py", "--tokens", "32", "--rounds", "1", "--json", tmp_path / "found.json"]
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert result.returncode == 0 and result.stdout.count("captured") == 3 and (tmp_path / "found.json").stat().st_size > 300, result.stderr


def test_the_page_lists_the_families_that_are_tried():
    """tools/write_any_model.py writes it."""
    page = (ROOT / "docs/any-model.md").read_text()
    listed = re.findall(r"^\| \w+ \(`([\w-]+)`\) \|", page, re.MULTILINE)
    assert listed == [family.type for family in families.FAMILIES]
    errors = re.findall(r"\| (\d)e([+-]\d\d) \| (\d)e([+-]\d\d) \|$", page, re.MULTILINE)
    assert len(errors) == len(listed)
    assert all(float(f"{a}e{b}") <= 1e-5 and float(f"{c}e{d}") <= 2e-2 for a, b, c, d in errors)


def test_the_blocks_of_the_page_run(tmp_path, monkeypatch):
    from test_capture import Words

    class Tokenizer(Words):
        def __call__(self, text, return_tensors):
            import torch

            return {"input_ids": torch.tensor([[7, *(8 + i for i, _ in enumerate(text.split()))]])}

    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs/any-model.md").read_text()
    names = {"model": families.model_of(families.dataclasses.replace(families.FAMILIES[0], sizes={**families.GROUPED, "num_hidden_layers": 6})),
             "tokenizer": Tokenizer()}
    for block in re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        exec(compile(block, "any-model.md", "exec"), names)
    assert (tmp_path / "heads.png").stat().st_size > 500 and (tmp_path / "run.fovea.safetensors").exists()
