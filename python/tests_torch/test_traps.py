"""What breaks a simple hook, each seen; every test here fails without what handles it."""

import dataclasses

import conftest
import families
import pytest
import torch
import transformers
from torch import nn

from fovea.torch import CaptureError, capture
from fovea.torch import _doors as doors
from fovea.torch import _kernels as kernels
from fovea.torch import _masks as masks
from fovea.torch._records import Record


def captured(model, **inputs):
    with torch.no_grad(), capture(model) as c:
        model(**inputs)
    return c


@pytest.mark.parametrize("kind", ["llama", "bert"])
def test_masks_are_made_for_our_attention_too(kind):
    """Transformers makes none for a name that has no function of masks, and the result is silently wrong."""
    family = conftest.family(kind)
    model, inputs = families.model_of(family), families.inputs_of(family)
    with torch.no_grad():
        plain = model(**inputs).last_hidden_state
        with capture(model) as c:
            seen = model(**inputs).last_hidden_state
    valid = inputs["attention_mask"].bool()
    torch.testing.assert_close(seen[valid], plain[valid], atol=2e-5, rtol=1e-4)
    assert c.session(1).sites["self"].rows == 11  # of 14, without padding


def test_our_name_is_one_that_transformers_takes():
    assert "flash" not in doors.NAME
    doors.register()
    model = families.model_of(conftest.family("llama"))
    model.set_attn_implementation(doors.NAME)
    assert model.config._attn_implementation == doors.NAME


def test_copies_of_a_configuration_are_reached():
    """T5's stacks have copies, which the model's own method leaves as they were."""
    model = families.model_of(conftest.family("t5"))
    with capture(model):
        assert {model.encoder.config._attn_implementation, model.decoder.config._attn_implementation} == {doors.NAME}
        model(**families.inputs_of(conftest.family("t5")))
    assert {model.encoder.config._attn_implementation, model.decoder.config._attn_implementation, model.config._attn_implementation} == {"eager"}


class Kernels:
    """In the place of CUDA's: they tell which was called, and give zeros."""

    def __init__(self):
        self.called = []

    def __getattr__(self, name):
        def kernel(q, *rest, **more):
            self.called.append((name, more))
            rows_second = name == "_flash_attention_forward"
            lse = torch.zeros(q.shape[0], q.shape[2 if rows_second else 1], q.shape[1 if rows_second else 2])
            return torch.zeros_like(q), lse

        return kernel


@pytest.mark.parametrize("dtype, window, kernel", [
    (torch.float32, None, "_scaled_dot_product_efficient_attention"), (torch.bfloat16, None, "_scaled_dot_product_cudnn_attention"),
    (torch.bfloat16, 5, "_flash_attention_forward"), (torch.float32, 5, None)])
def test_no_f32_for_the_kernel_that_answers_it_with_nan(dtype, window, kernel, monkeypatch):
    """cuDNN gives NaN there without an error; a window of W keys is W - 1 to the left."""
    fake = Kernels()
    monkeypatch.setattr(kernels, "aten", fake)
    q = torch.ones(1, 4, 12, 8, dtype=dtype)
    from transformers.masking_utils import causal_mask_function, sliding_window_causal_mask_function

    function = causal_mask_function if window is None else sliding_window_causal_mask_function(window)
    mask = masks.LazyMask.of({"batch_size": 1, "q_length": 12, "kv_length": 12, "q_offset": 0, "kv_offset": 0, "mask_function": function})
    found = kernels._with_lse(q, q, q, mask, 0.5, False, None)
    assert [name for name, _ in fake.called] == ([kernel] if kernel else []) and (found is None) == (kernel is None)
    if window:
        assert not fake.called or fake.called[0][1]["window_size_left"] == window - 1


def test_nan_of_a_kernel_is_an_error(monkeypatch):
    monkeypatch.setattr(doors, "attended", lambda module, q, k, v, mask, **_: (torch.full_like(q, torch.nan).transpose(1, 2), None))
    with pytest.raises(CaptureError, match="NaN"):
        captured(families.model_of(conftest.family("llama")), input_ids=torch.arange(5, 12)[None])


def test_a_wrong_log_sum_exp_of_a_kernel_is_an_error(monkeypatch):
    def wrong(module, q, k, v, mask, **more):
        output, _ = kernels.attended(module, q, k, v, mask, **more)
        return output, torch.zeros(q.shape[:3])

    monkeypatch.setattr(doors, "attended", wrong)
    with pytest.raises(CaptureError, match="not to 1"):
        captured(families.model_of(conftest.family("llama")), input_ids=torch.arange(5, 12)[None])


@pytest.mark.parametrize("given", [None, torch.full((1, 3), -torch.inf), torch.tensor([[0.0, -torch.inf, torch.inf]])])
def test_rows_that_see_no_key_have_a_log_sum_exp_of_0(given):
    """cuDNN says minus infinity, another kernel 0."""
    q = torch.randn(1, 3, 4)
    seen = masks.Seen(key_valid=torch.zeros(3, dtype=torch.bool))
    record = Record("here", q, q, q, seen=seen, kernel_lse=given)
    assert record.lse.tolist() == [[0, 0, 0]]
    assert not record.part(0, torch.arange(3), torch.arange(3)).any()


@pytest.mark.parametrize("kind", ["vit", "distilbert", "clip", "detr", "whisper"])
def test_layers_have_numbers_where_modules_have_none(kind):
    family = conftest.family(kind)
    model = families.model_of(family)
    for module in model.modules():
        if hasattr(module, "layer_idx"):
            module.layer_idx = None
    c = captured(model, **families.inputs_of(family), **({"use_cache": False} if kind == "whisper" else {}))
    assert all(site.layers == 2 for name, site in c.session().sites.items() if name != "pool")


def test_pytorchs_own_layers_do_not_take_their_short_cut():
    """In eval mode a layer is one fused operation, in which nothing can be seen."""
    layer = nn.TransformerEncoderLayer(48, 4, 64, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    values = torch.randn(2, 9, 48)
    weights = []
    before = torch.backends.mha.get_fastpath_enabled()
    with torch.no_grad():
        hidden = values
        for each in model.layers:
            weights.append(each.self_attn(hidden, hidden, hidden, average_attn_weights=False)[1])
            hidden = each(hidden)
        with capture(model) as c:
            model(values)
    assert torch.backends.mha.get_fastpath_enabled() == before
    assert conftest.furthest(c.session(), {"self": weights}) <= 1e-5
    with torch.no_grad(), capture(model.layers[0].self_attn) as c:  # which makes its own softmax when its weights are wanted
        model.layers[0].self_attn(values, values, values, need_weights=True)
    assert conftest.furthest(c.session(), {"self": weights[:1]}) <= 1e-5


class Mixer(nn.Module):
    """Somebody's own, of a name that says nothing."""

    def __init__(self):
        super().__init__()
        self.parts = nn.Linear(24, 72)

    def forward(self, values):
        q, k, v = (part.unflatten(-1, (4, 6)).transpose(1, 2) for part in self.parts(values).chunk(3, -1))
        return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)


def test_a_module_of_ones_own_is_captured():
    model = nn.Sequential(Mixer(), nn.GELU(), Mixer()).eval()
    values = torch.randn(2, 9, 24)
    with torch.no_grad(), capture(model) as c:
        model(values)
    q, k, _ = (part.unflatten(-1, (4, 6)).transpose(1, 2) for part in model[0].parts(values).chunk(3, -1))
    scores = (q @ k.transpose(2, 3) / 6**0.5).masked_fill(torch.ones(9, 9).triu(1).bool(), -torch.inf)
    assert c.session(1).sites["self"][:3] == (2, 4, 9)
    assert conftest.furthest(c.session(1), {"self": [scores.softmax(-1).detach(), torch.stack([
        torch.stack([c.session(sample).device_map("self", 1, head)[:, :] for head in range(4)]) for sample in range(2)])]}, 1) <= 1e-5


def test_the_log_sum_exp_of_bf16_is_exact():
    """PyTorch's kernel for the CPU gives it to 5e-5."""
    family = conftest.family("llama")
    session = captured(families.model_of(family, torch.bfloat16), **families.inputs_of(family, padded=False)).session()
    record = session._placed["self", 0].record
    scores = record.q[1].double() @ record.k[0].double().T * record.scale
    scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -torch.inf)
    assert record.q.dtype == torch.bfloat16
    torch.testing.assert_close(record.lse[1], torch.logsumexp(scores, 1), atol=2e-6, rtol=0)


def test_several_calls_of_a_site_are_one_map():
    """Qwen2.5-VL's vision tower attends to one chunk after the other."""
    sizes = {"depth": 2, "hidden_size": 32, "num_heads": 4, "intermediate_size": 48, "patch_size": 4, "spatial_merge_size": 2, "window_size": 16,
             "fullatt_block_indexes": [1], "out_hidden_size": 32}
    configuration = transformers.models.qwen2_5_vl.configuration_qwen2_5_vl.Qwen2_5_VLVisionConfig(**sizes)
    model = transformers.models.qwen2_5_vl.modeling_qwen2_5_vl.Qwen2_5_VisionTransformerPretrainedModel._from_config(configuration, attn_implementation="eager").eval()
    grid = torch.tensor([[1, 8, 12]])
    values = torch.randn(96, 3 * 2 * 4 * 4)
    kept = []
    from transformers.models.qwen2_5_vl import modeling_qwen2_5_vl as modeling

    plain = modeling.eager_attention_forward

    def remembered(module, *given, **more):
        output, weights = plain(module, *given, **more)
        kept.append((module, weights))
        return output, weights

    modeling.eager_attention_forward = remembered
    try:
        with torch.no_grad():
            model(values, grid_thw=grid)
    finally:
        modeling.eager_attention_forward = plain
    with torch.no_grad(), capture(model) as c:
        model(values, grid_thw=grid)
    session = c.session()
    site = next(iter(session.sites))
    assert session.sites[site].layers == 2 and session.sites[site].rows == 96
    for layer, block in enumerate(model.blocks):
        chunks = [weights for module, weights in kept if module is block.attn]
        assert len(chunks) == (1 if layer == 1 else 6)
        for head in range(4):
            wanted = torch.block_diag(*(weights[0, head] for weights in chunks))
            torch.testing.assert_close(session.device_map(site, layer, head)[:, :], wanted, atol=1e-5, rtol=0)


def test_a_compiled_model_is_refused():
    model = families.model_of(conftest.family("llama"))
    with pytest.raises(CaptureError, match="torch.compile"):
        capture(torch.compile(model))
    model.compile()
    with pytest.raises(CaptureError, match="compiled"):
        capture(model)


def test_shared_layers_are_as_many_as_they_are_called():
    """ALBERT's one layer is called for all of them; a second call of the model is another run."""
    family = conftest.family("albert")
    model, inputs = families.model_of(family), families.inputs_of(family, padded=False)
    with torch.no_grad(), capture(model) as c:
        model(**inputs)
        model(**{**inputs, "input_ids": inputs["input_ids"][:, :9], "attention_mask": inputs["attention_mask"][:, :9]})
    assert c.session(run=0).sites["self"][:3] == (3, 4, 14) and c.session().sites["self"][:3] == (3, 4, 9) and len(c.runs) == 2


def test_a_mask_that_nothing_short_says_is_kept_whole():
    """Of transformers' own functions, and one that somebody gave."""
    family = conftest.family("llama")
    model = families.model_of(family)
    ids = families.inputs_of(family, padded=False)["input_ids"][:1]
    allowed = torch.rand(1, 1, 14, 14) > 0.4
    allowed |= torch.eye(14, dtype=torch.bool)
    added = torch.zeros(allowed.shape).masked_fill(~allowed, torch.finfo(torch.float32).min)
    with torch.no_grad():
        expected = families.eager_maps(model(ids, attention_mask=added, output_attentions=True))
        with capture(model) as c:
            model(ids, attention_mask=added)
    assert conftest.furthest(c.session(), expected) <= 1e-5
    gemma = conftest.family("gemma2")
    with pytest.raises(CaptureError, match="soft cap"):
        captured(families.model_of(gemma), input_ids=ids, attention_mask={"full_attention": allowed, "sliding_attention": allowed})


def test_what_an_attention_is_wrong_about_is_seen(monkeypatch):
    """A soft cap that the output lacks, and a sink that our attention was not told of."""
    gemma = conftest.family("gemma2")
    model = families.model_of(dataclasses.replace(gemma, sizes={**gemma.sizes, "attn_logit_softcapping": 0.5}))
    with monkeypatch.context() as patch:
        patch.setattr(doors, "attended", lambda *given, soft_cap, **more: kernels.attended(*given, soft_cap=0.0, **more))
        with pytest.raises(CaptureError, match="weights times values"):
            captured(model, **families.inputs_of(gemma, padded=False))
    whole = doors.attend
    monkeypatch.setattr(doors, "attend", lambda *given, s_aux=None, **more: whole(*given, **more))
    model = families.model_of(conftest.family("gpt_oss"))
    for part in model.modules():
        if hasattr(part, "sinks"):
            nn.init.constant_(part.sinks, 3.0)
    with pytest.raises(CaptureError, match="the model's own attention"):
        captured(model, **families.inputs_of(conftest.family("gpt_oss"), padded=False))


def test_several_texts_in_one_row_see_themselves_only():
    """Packed by their positions: two groups, each causal."""
    model = families.model_of(conftest.family("llama"))
    ids, positions = torch.randint(5, 90, (1, 13)), torch.tensor([[*range(5), *range(8)]])
    with torch.no_grad():
        expected = families.eager_maps(model(ids, position_ids=positions, use_cache=False, output_attentions=True))
        with capture(model) as c:
            model(ids, position_ids=positions, use_cache=False)
    session = c.session()
    assert conftest.furthest(session, expected) <= 1e-5
    seen = session._placed["self", 0].record.seen
    assert seen.ahead == 0 and seen.query_group is not None and session.map("self", 0, 0)[7, 2] == 0


def test_chunks_of_a_text_see_themselves_only():
    """Llama 4: three of four layers look at chunks of the text."""
    sizes = {**families.GROUPED, **families.EXPERTS, "attention_chunk_size": 5, "intermediate_size_mlp": 64, "layer_types": ["chunked_attention", "full_attention"],
             "no_rope_layers": [1, 0], "moe_layers": []}
    known = set(transformers.Llama4TextConfig().to_dict())
    model = transformers.Llama4TextModel._from_config(transformers.Llama4TextConfig(**{name: value for name, value in sizes.items() if name in known}),
                                                      attn_implementation="eager").eval()
    ids = torch.randint(5, 90, (1, 13))
    with torch.no_grad():
        expected = families.eager_maps(model(ids, output_attentions=True))
        with capture(model) as c:
            model(ids)
    assert conftest.furthest(c.session(), expected) <= 1e-5
    assert c.session().map("self", 0, 0)[7, 2] == 0 and c.session().map("self", 1, 0)[7, 2] > 0
