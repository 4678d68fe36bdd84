"""Every fixture of tests/parity again, through the package: m.inputs and m.image's way to the engine, the same tolerances."""

import pathlib
import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file

import fovea
from conftest import ROOT

FIXTURES = sorted(path for path in (ROOT / "tests/data/parity").iterdir() if path.is_dir())
# As in tests/parity/parity_test.cc: of maps absolute, of outputs beside the largest number.
MAP_TOLERANCE, OUTPUT_TOLERANCE = 1e-5, 1e-4
OUTPUTS = {"last_hidden_state", "encoder_last_hidden_state", "text_last_hidden_state", "pooler_output", "image_embeds", "text_embeds",
           "pred_boxes", "pred_masks", "logits"}


def largest_difference(actual, expected):
    """NaN in what is expected means: not compared."""
    compared = ~np.isnan(expected)
    return np.abs(actual.astype(float) - expected.astype(float))[compared].max(initial=0)


def checkpoint_of(fixture):
    named = [fixture / name for name in ("whisper.pt", "model.gguf") if (fixture / name).exists()]
    return named[0] if named else fixture


def with_config(fixture, config, folder):
    """A copy of the fixture with another config.json."""
    for file in fixture.iterdir():
        if file.suffix != ".json" or (file.name != "config.json" and not file.name.endswith(".index.json")):
            shutil.copy(file, folder / file.name)
    shutil.copy(config, folder / "config.json")
    return folder


def compare_cases(checkpoint, fixture):
    model = fovea.load(checkpoint)
    for inputs in sorted(fixture.glob("inputs*.safetensors")):
        session = model.inputs(**load_file(inputs))
        expected = load_file(fixture / inputs.name.replace("inputs", "expected"))
        outputs = session.outputs
        maps = 0
        for name, wanted in expected.items():
            if name in OUTPUTS:
                assert outputs[name].shape == wanted.shape, name
                size = np.nanmax(np.abs(wanted), initial=1)
                assert largest_difference(outputs[name], wanted) / size <= OUTPUT_TOLERANCE, name
                continue
            site, layer = name.rsplit(".", 1)
            assert session.sites[site].heads == len(wanted)
            for head, weights in enumerate(wanted):
                maps += 1
                assert largest_difference(session.map(site, int(layer), head).numpy(), weights) <= MAP_TOLERANCE, f"{name}, head {head}"
        assert maps == sum(site.layers * site.heads for site in session.sites.values())


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.name)
def test_every_map_and_output_matches_transformers(fixture, tmp_path):
    compare_cases(checkpoint_of(fixture), fixture)
    for config in sorted(fixture.glob("config-*.json")):
        folder = pathlib.Path(tmp_path / config.stem)
        folder.mkdir()
        compare_cases(with_config(fixture, config, folder), fixture)
