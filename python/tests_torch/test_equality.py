"""The same weights and inputs, run by PyTorch within the hook and by fovea: equal maps, and equal answers where no model is asked."""

import itertools
import json

import numpy as np
import pytest
import torch
import transformers
from conftest import ROOT
from safetensors.torch import load_file

import fovea
from fovea.torch import capture

PARITY = ROOT / "tests/data/parity"
# A fixture of each architecture, and the class that reads it in transformers.
FIXTURES = {"bert_model": "AutoModel", "gpt2_model": "AutoModel", "llama_gqa": "AutoModel", "mistral_no_window": "AutoModel", "gemma3_softcap": "AutoModel",
            "t5_model": "AutoModel", "marian_model": "AutoModel", "vit_new_names": "AutoModel", "clip_old_end": "AutoModel", "whisper_model": "AutoModel",
            "detr_model": "DetrModel"}
# The kinds of questions that captured runs answer, with fields that leave nothing open.
QUESTIONS = [("matrix", {"head": 0}), ("matrix", {"head": "mean"}), ("heads", {"layer": "all"}), ("differ", {"most": 2}), ("top", {"head": 1, "top": 3}),
             ("read", {"token": "#3", "head": 0}), ("lines", {"head": 0}), ("maps", {"at": [3, 3]}), ("points", {"at": [[9, 9]]}), ("reading", {"head": 1}),
             ("steps", {"token": "#3", "head": 1}), ("explain", {"method": "rollout", "token": "#3"}), ("explain", {"method": "raw", "token": "#3"}),
             ("explain", {"method": "sinks"}), ("explain", {"method": "column-mass"})]


def both(name):
    """The session of fovea's own run, and of the run captured from PyTorch."""
    inputs = sorted((PARITY / name).glob("inputs*.safetensors"))[0]
    tensors = load_file(inputs)
    own = fovea.load(PARITY / name).inputs(**{key: value.numpy() for key, value in tensors.items() if key != "attention_mask"})
    model = getattr(transformers, FIXTURES[name]).from_pretrained(PARITY / name).float().eval()
    given = {key: value[None] for key, value in tensors.items() if key != "attention_mask"}
    given = {key: value.float() if value.is_floating_point() else value.long() for key, value in given.items()}
    with torch.no_grad(), capture(model) as c:
        model(**given)
    return own, c.session()


def told(facts):
    """Without what names the model and how the input was given; numbers nearly."""
    if isinstance(facts, float):
        return pytest.approx(facts, rel=2e-3, abs=2e-5)
    if isinstance(facts, list):
        return [told(each) for each in facts]
    return {name: told(each) for name, each in facts.items() if name not in ("model", "input")} if isinstance(facts, dict) else facts


@pytest.mark.parametrize("name", FIXTURES)
def test_maps_and_answers_are_those_of_foveas_own_run(name):
    own, captured = both(name)
    assert {site: tuple(each) for site, each in own.sites.items()} == {site: tuple(each) for site, each in captured.sites.items()}
    assert own.axes == captured.axes
    for site, shape in own.sites.items():
        for layer in range(shape.layers):
            for head in range(shape.heads):
                assert np.abs(own.map(site, layer, head).numpy() - captured.map(site, layer, head).numpy()).max() <= 1e-5, (site, layer, head)
    answered = 0
    for (kind, fields), site in itertools.product(QUESTIONS, own.sites):
        fields = {**fields, "site": site}
        try:
            expected = own.ask(kind, **fields).facts
        except (ValueError, NotImplementedError, FileNotFoundError):
            continue  # not a question about such a model, or about a picture
        try:
            found = captured.ask(kind, **fields).facts
        except NotImplementedError:
            continue  # one that needs the model
        if kind == "steps":  # which fovea's own run begins before the queries, and Whisper scales its queries before
            found["result"], expected["result"] = ({name: facts["result"][name] for name in ("row", "weights")} for facts in (found, expected))
        assert json.loads(json.dumps(found["result"])) == told(expected["result"]), (kind, fields)
        assert found["axes"] == expected["axes"] and found["site"] == expected["site"]
        answered += 1
    assert answered >= 5
