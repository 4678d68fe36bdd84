"""What a user of the hook meets: batches, generation, names, places, and a model that is afterwards what it was."""

import contextlib
import json

import conftest
import families
import numpy as np
import pytest
import torch
import transformers

import fovea
from fovea.torch import CaptureError, DeviceMap, capture


def state(model):
    """All that a hook could change: of the model, its configurations and PyTorch."""
    parts = {}
    for path, part in model.named_modules():
        config = getattr(part, "config", None)
        parts[path] = (sorted(part.__dict__), type(part), len(part._forward_hooks), len(part._forward_pre_hooks), len(part._forward_hooks_always_called),
                       len(part._forward_pre_hooks_with_kwargs), None if config is None else json.dumps(config.__dict__, default=str, sort_keys=True))
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    return (parts, {name: value.clone() for name, value in model.state_dict().items()}, torch.backends.mha.get_fastpath_enabled(),
            torch.nn.functional.scaled_dot_product_attention, torch.nn.functional.softmax, ALL_ATTENTION_FUNCTIONS["sdpa"], torch.overrides._get_current_function_mode())


@pytest.mark.parametrize("kind", ["t5", "detr", "bloom", "siglip", "gemma2"])
@pytest.mark.parametrize("broken", [False, True], ids=["done", "broken off"])
def test_the_model_is_afterwards_what_it_was(kind, broken):
    family = conftest.family(kind)
    model, inputs = families.model_of(family), families.inputs_of(family)
    capture(model)  # made and not entered
    before = state(model)
    with torch.no_grad():
        plain = model(**inputs)
    with contextlib.suppress(ZeroDivisionError), torch.no_grad(), capture(model):
        model(**inputs)
        if broken:
            last = list(model.modules())[-1]
            last.register_forward_pre_hook(lambda *_: 1 / 0)
            try:
                model(**inputs)
            finally:
                last._forward_pre_hooks.popitem()
    after = state(model)
    assert after[0] == before[0] and after[2:] == before[2:]
    assert all(torch.equal(before[1][name], after[1][name]) for name in before[1])
    with torch.no_grad():
        again = model(**inputs)
    for one, other in zip(plain.to_tuple(), again.to_tuple()):
        if isinstance(one, torch.Tensor):
            assert torch.equal(one, other)


def test_an_exception_of_the_block_is_the_callers():
    model = families.model_of(conftest.family("bert"))
    with pytest.raises(ZeroDivisionError), capture(model):
        raise ZeroDivisionError
    with pytest.raises(CaptureError, match="already"), capture(model), capture(model):
        pass
    assert model.config._attn_implementation == "eager"
    with capture(model) as c:
        pass
    with pytest.raises(CaptureError, match="nothing was captured"):
        c.session()


@pytest.mark.parametrize("kind", ["llama", "mistral", "gemma2", "gpt2", "falcon", "gpt_oss", "deepseek_v3"])
def test_a_generation_is_one_causal_map(kind):
    """Of all steps, with a cache: as one call of the model on what was written."""
    model = conftest.generating(kind)
    ids = torch.randint(5, 90, (1, 7))
    with capture(model) as c:
        written = model.generate(ids, max_new_tokens=9, do_sample=False, pad_token_id=0, eos_token_id=None)
    with torch.no_grad():
        expected = families.eager_maps(model(written[:, :-1], output_attentions=True))
    session = c.session()
    assert conftest.furthest(session, expected) <= 1e-5 and len(c.runs) == 1
    assert session.tokens == [f"#{number}" for number in written[0, :-1].tolist()]


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_a_cache_of_fixed_size_is_no_other_map(kind):
    model = conftest.generating(kind)
    with capture(model) as c:
        written = model.generate(torch.randint(5, 90, (1, 7)), max_new_tokens=9, do_sample=False, pad_token_id=0, eos_token_id=None, cache_implementation="static")
    with torch.no_grad():
        assert conftest.furthest(c.session(), families.eager_maps(model(written[:, :-1], output_attentions=True))) <= 1e-5


def test_what_a_generation_mixes_up_is_refused():
    model = conftest.generating("llama")
    with pytest.raises(CaptureError, match="beam search"), capture(model):
        model.generate(torch.randint(5, 90, (1, 7)), max_new_tokens=9, num_beams=3, do_sample=False, pad_token_id=0, eos_token_id=None)
    model = conftest.generating("mistral")
    with pytest.raises(CaptureError, match="fixed size with a window"), capture(model):
        model.generate(torch.randint(5, 90, (1, 7)), max_new_tokens=9, do_sample=False, pad_token_id=0, eos_token_id=None, cache_implementation="static")


def test_a_batch_with_padding_is_one_session_per_sample():
    model = conftest.generating("llama")
    ids = torch.randint(5, 90, (2, 7))
    mask = torch.ones_like(ids)
    mask[0, :3] = 0
    with capture(model) as c:
        written = model.generate(ids, attention_mask=mask, max_new_tokens=5, do_sample=False, pad_token_id=0, eos_token_id=None)
    assert c.samples == 2
    for sample, begin in ((0, 3), (1, 0)):
        with torch.no_grad():
            expected = families.eager_maps(model(written[sample : sample + 1, begin:-1], output_attentions=True))
        assert conftest.furthest(c.session(sample), expected) <= 1e-5
        assert c.session(sample).tokens == [f"#{number}" for number in written[sample, begin:-1].tolist()]
    with pytest.raises(IndexError, match="the batch holds 2"):
        c.session(2)


@pytest.mark.parametrize("kind", ["bart", "t5", "marian"])
def test_a_generation_of_an_encoder_and_a_decoder(kind):
    model = families.model_of(conftest.family(kind, head="AutoModelForSeq2SeqLM"))
    inputs = families.inputs_of(conftest.family(kind), batch=1)
    inputs.pop("decoder_input_ids")
    with capture(model) as c:
        written = model.generate(**inputs, max_new_tokens=8, do_sample=False, num_beams=1, eos_token_id=None, decoder_start_token_id=2)
    with torch.no_grad():
        expected = families.eager_maps(model(**inputs, decoder_input_ids=written[:, :-1], output_attentions=True))
    session = c.session()
    assert conftest.furthest(session, expected) <= 1e-5
    assert set(session.axes) == {"source", "target", "steps"} and session.sites["cross"][2:] == (8, 11)
    assert session.ask("matrix", site="cross", layer=1, head=0).facts["result"]


class Words:
    """As much of a tokenizer as names need."""

    all_special_ids = (7,)

    @staticmethod
    def convert_ids_to_tokens(ids):
        return [{7: "[CLS]", 8: "Ġcat", 9: "▁sat", 10: "##ting"}.get(number, f"w{number}") for number in ids]


def test_positions_have_the_tokenizers_names():
    model = families.model_of(conftest.family("bert"))
    with torch.no_grad(), capture(model, Words) as c:
        model(torch.tensor([[7, 8, 9, 10, 11]]))
    session = c.session()
    assert session.tokens == ["[CLS]", "·cat", "·sat", "##ting", "w11"]
    assert session.ask("read", token="·cat", layer=0, head=0).facts["result"]
    assert "·cat" in str(session.ask("matrix", layer=0, head=1))


def test_pictures_have_patches_and_objects_queries():
    vit, detr = (conftest.family(kind) for kind in ("vit", "detr"))
    with torch.no_grad(), capture(families.model_of(vit)) as c:
        c.model(**families.inputs_of(vit))
    assert c.session().axes["patches"][:3] == ["[CLS]", "patch 0,0", "patch 0,1"] and len(c.session().axes["patches"]) == 17
    with torch.no_grad(), capture(families.model_of(detr)) as c:
        c.model(**families.inputs_of(detr))
    assert {name: len(names) for name, names in c.session().axes.items()} == {"cells": 4, "queries": 7}


def test_a_picture_that_a_decoder_writes_about():
    """Two models in one: patches are read, words written."""
    encoder = transformers.ViTModel(transformers.ViTConfig(**families.VISION))
    decoder = transformers.BertLMHeadModel(transformers.BertConfig(**families.TEXT, is_decoder=True, add_cross_attention=True))
    model = transformers.VisionEncoderDecoderModel(encoder=encoder, decoder=decoder).eval()
    with torch.no_grad(), capture(model) as c:
        model(pixel_values=torch.randn(1, 3, 32, 32), decoder_input_ids=torch.randint(5, 90, (1, 7)))
    session = c.session()
    assert {name: len(names) for name, names in session.axes.items()} == {"patches": 17, "target": 7, "steps": 7}
    assert session.axes["patches"][:2] == ["[CLS]", "patch 0,0"] and session.sites["cross"] == (2, 4, 7, 17)


def test_only_the_wanted_sites_are_kept():
    family = conftest.family("bart")
    model, inputs = families.model_of(family), families.inputs_of(family)
    with torch.no_grad(), capture(model, sites=["cross"]) as c:
        model(**inputs)
    assert set(c.session().sites) == {"cross"}
    with torch.no_grad(), capture(model, sites=["encoder.layers.1.self_attn"]) as c:
        model(**inputs)
    assert c.session().sites["encoder_self"].layers == 1
    with pytest.raises(ValueError, match="sites: this model has no crossed; it has cross, decoder_self, encoder_self"):
        capture(model, sites=["crossed"])
    with pytest.raises(ValueError, match="offload: 'moon' is none of gpu, host, disk"):
        capture(model, offload="moon")


@pytest.mark.parametrize("offload", ["gpu", "host", "disk"])
def test_wherever_it_is_kept_the_run_file_is_the_same(offload, tmp_path):
    family = conftest.family("t5")
    model, inputs = families.model_of(family), families.inputs_of(family)
    with torch.no_grad():
        expected = families.eager_maps(model(**inputs, output_attentions=True))
        with capture(model, offload=offload) as c:
            model(**inputs)
    c.save(tmp_path / "run.fovea.safetensors")
    assert conftest.furthest(c.session(), expected) <= 1e-5
    opened = fovea.open(tmp_path / "run.fovea.safetensors")
    assert {name: tuple(site) for name, site in opened.sites.items()} == {name: tuple(site) for name, site in c.session().sites.items()}
    np.testing.assert_allclose(opened.map("decoder_self", 1, 2).numpy(), expected["decoder_self"][1][0, 2], atol=1e-5)
    assert [path.name for path in tmp_path.iterdir()] == ["run.fovea.safetensors"]


def test_gradients_go_through_and_training_is_let_be():
    family = conftest.family("bert")
    model, inputs = families.model_of(family).train(), families.inputs_of(family)
    with capture(model) as c:
        model(**inputs).last_hidden_state.sum().backward()
    assert model.encoder.layer[0].attention.self.query.weight.grad.abs().sum() > 0
    assert not c.session()._placed["self", 0].record.q.requires_grad


def test_the_parts_of_a_map_on_the_device_are_those_of_the_whole():
    """Plain PyTorch: what a record on a GPU is looked at with."""
    family = conftest.family("gemma2")
    with torch.no_grad(), capture(families.model_of(family)) as c:
        c.model(**families.inputs_of(family, padded=False))
    session = c.session()
    found, engine = session.device_map("self", 0, 2), session.map("self", 0, 2)
    assert isinstance(found, DeviceMap) and not isinstance(engine, DeviceMap)
    whole = found.numpy()
    assert np.asarray(found).shape == (14, 14) and found.shape == engine.shape and len(found) == 14
    for part in (lambda a: a[3, 2], lambda a: a[2:9:2, :4], lambda a: a[-1], lambda a: a[:, 3], lambda a: a.row(5), lambda a: a.column(1),
                 lambda a: a.tile(2, 5, 1, 9), lambda a: a.pool(3, 5), lambda a: a.pool(4, 4, "mean"), lambda a: a.column_sums(), lambda a: a.entropy(),
                 lambda a: a.pool(99, 2)):
        np.testing.assert_allclose(np.asarray(part(found)), np.asarray(part(engine)), atol=2e-6)
    assert [column for column, _ in found.top(9, 3)] == [column for column, _ in engine.top(9, 3)]
    np.testing.assert_allclose(whole.sum(1), 1, atol=1e-6)
    for wrong, error in ((lambda: found[99], IndexError), (lambda: found.tile(0, 99, 0, 1), ValueError), (lambda: found.pool(0, 1), ValueError),
                         (lambda: found.pool(1, 1, "median"), ValueError), (lambda: session.device_map("self", 0, 9), ValueError),
                         (lambda: session.map("cross", 0, 0), ValueError), (lambda: session.map("self", 9, 0), ValueError)):
        with pytest.raises(error):
            wrong()


def test_a_part_of_a_model_that_runs_by_itself_is_captured():
    model = families.model_of(conftest.family("clip"))
    with torch.no_grad(), capture(model.text_model) as c:
        model.get_text_features(input_ids=torch.randint(5, 90, (1, 12)))
    assert c.session().sites["self"][:3] == (2, 4, 12)


def test_what_is_never_called_is_an_error():
    model = families.model_of(conftest.family("llama"))
    other = families.model_of(conftest.family("llama"))
    with pytest.raises(CaptureError, match="no attention was captured"), capture(model), torch.no_grad():
        model.layers = torch.nn.ModuleList()
        model(torch.randint(5, 90, (1, 7)))
    with pytest.raises(CaptureError, match="never called"), capture(other), torch.no_grad():
        other.layers = other.layers[:1]
        other(torch.randint(5, 90, (1, 7)))
    with pytest.raises(CaptureError, match="no module that calls"), capture(torch.nn.Linear(3, 3)):
        pass
