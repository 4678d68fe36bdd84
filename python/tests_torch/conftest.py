"""The package as it was built, and models of PyTorch."""

import pathlib
import sys

import pytest
import torch
import transformers

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/python"), str(pathlib.Path(__file__).parent)]

from program import BUILD  # noqa: E402

sys.path.insert(0, str(BUILD / "python"))

import families  # noqa: E402

torch.set_num_threads(1)  # of tiny models more would wait for each other
transformers.logging.set_verbosity_error()


@pytest.fixture(autouse=True)
def same_numbers():
    torch.manual_seed(0)


def family(kind, **more):
    found = next(each for each in families.FAMILIES if each.type == kind)
    return families.dataclasses.replace(found, **more)


def generating(kind, **sizes):
    """A random model that writes."""
    made = family(kind)
    return families.model_of(families.dataclasses.replace(made, head="AutoModelForCausalLM", sizes={**made.sizes, **sizes}))


def furthest(session, expected, sample=0):
    """The largest difference of the session's maps, in PyTorch and by the engine, from those that a model gave without padding."""
    largest = 0.0
    for site, layers in expected.items():
        assert session.sites[site].layers == len(layers)
        for layer, weights in enumerate(layers):
            for head in range(weights.shape[1]):
                wanted = weights[sample, head]
                for found in (session.device_map(site, layer, head)[:, :], torch.from_numpy(session.map(site, layer, head).numpy())):
                    assert found.shape == wanted.shape
                    largest = max(largest, float((found - wanted).abs().max()))
    return largest
