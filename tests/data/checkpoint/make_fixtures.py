"""Makes the files of this folder. Needs torch, safetensors, numpy and gguf.

    python make_fixtures.py [FOLDER]

Each fixture NAME.bin, .pt or .gguf has the tensors that reading it must give in NAME.safetensors.
"""

import argparse
import collections
import pathlib
import sys

import gguf
import numpy as np
import torch
from safetensors.torch import save_file

FOLDER = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)


def expect(name, tensors):
    plain = {key: value.detach().clone().contiguous() for key, value in tensors.items()}
    save_file(plain, FOLDER / f"{name}.safetensors")


def varied():
    """Tensors of every type and of every layout that views give."""
    base = torch.arange(24, dtype=torch.float32).reshape(4, 6) * 0.37 - 3
    cube = torch.arange(60, dtype=torch.int32).reshape(3, 4, 5)
    tensors = collections.OrderedDict()
    tensors["f32"] = base.clone()
    tensors["f64"] = base.double()
    tensors["f16"] = base.half()
    tensors["bf16"] = base.bfloat16()
    tensors["i64"] = torch.tensor([-(2**40), 0, 7])
    tensors["i32"] = torch.tensor([-5, 2**31 - 1], dtype=torch.int32)
    tensors["i16"] = torch.tensor([-300, 300], dtype=torch.int16)
    tensors["i8"] = torch.tensor([-128, 127], dtype=torch.int8)
    tensors["u8"] = torch.tensor([0, 255], dtype=torch.uint8)
    tensors["bool"] = torch.tensor([True, False, True])
    tensors["scalar"] = torch.tensor(2.5)
    tensors["empty"] = torch.zeros(0, 4)
    tensors["transposed"] = base.t()
    tensors["columns"] = base[1:, 2:5]
    tensors["stepped"] = cube[::2, 1:4:2, ::3]
    tensors["permuted"] = cube.permute(2, 0, 1)
    tensors["expanded"] = torch.tensor([1.0, 2.0]).expand(3, 2)
    tensors["parameter"] = torch.nn.Parameter(base[0].clone())
    tensors["tied"] = tensors["f32"]
    return tensors


def torch_files():
    tensors = varied()
    expect("stream", tensors)
    torch.save(tensors, FOLDER / "stream.bin", _use_new_zipfile_serialization=False)
    tensors["u16"] = torch.tensor([1, 65535], dtype=torch.uint16)
    expect("zip", tensors)
    torch.save(tensors, FOLDER / "zip.bin")

    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.LayerNorm(2))
    state = model.state_dict()
    expect("nested", state)
    around = {
        "epoch": 3,
        "loss": 0.5,
        "args": argparse.Namespace(lr=1e-3, names=["a", "b"], nothing=None),
        "seen": {1, 2},
        "bytes": b"\x00\xff raw",
        "shape": torch.Size([2, 3]),
        "device": torch.device("cpu"),
        "type": torch.float16,
        "large": 2**70,
        "negative": -(2**40),
        "model_state_dict": state,
        "optimizer": {"state": {0: {"exp_avg": torch.ones(2)}}, "param_groups": [{"lr": 0.1}]},
    }
    torch.save(around, FOLDER / "nested.pt")
    torch.save({"state_dict": {"model": state}}, FOLDER / "protocol4.pt", pickle_protocol=4)
    expect("protocol4", state)
    torch.save(model, FOLDER / "whole_model.pt")
    torch.jit.save(torch.jit.script(model), FOLDER / "script.pt")


def permute(weights, heads):
    """Rows as llama.cpp stores them: the two halves of each head interleaved."""
    shape = weights.shape
    halves = weights.reshape(heads, 2, shape[0] // heads // 2, *shape[1:])
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(shape))


class GgufFixture:
    """A GGUF file and, beside it, what its tensors are in Hugging Face's terms."""

    def __init__(self, name, architecture):
        self.name = name
        self.writer = gguf.GGUFWriter(FOLDER / f"{name}.gguf", architecture)
        self.expected = {}

    def add(self, stored_name, name, values, kind, heads=0):
        kind = gguf.GGMLQuantizationType[kind]
        rows = permute(values, heads) if heads else values
        if kind in (gguf.GGMLQuantizationType.F32, gguf.GGMLQuantizationType.F16):
            stored = rows.astype(np.float32 if kind == 0 else np.float16)
            back = torch.from_numpy(values.astype(stored.dtype))
        else:
            stored = gguf.quants.quantize(rows, kind)
            # Quantising row by row commutes with moving rows.
            back = torch.from_numpy(gguf.quants.dequantize(gguf.quants.quantize(values, kind), kind))
            if kind == gguf.GGMLQuantizationType.BF16:
                back = back.bfloat16()
        self.writer.add_tensor(stored_name, stored, raw_dtype=kind)
        self.expected[name] = back

    def finish(self):
        self.writer.write_header_to_file()
        self.writer.write_kv_data_to_file()
        self.writer.write_tensors_to_file()
        self.writer.close()
        expect(self.name, self.expected)


def gguf_model(name, architecture, biases, random):
    hidden, heads, kv_heads, wide, vocabulary = 32, 4, 2, 64, 10
    kv = hidden // heads * kv_heads
    make = lambda *shape: random.standard_normal(shape).astype(np.float32)
    fixture = GgufFixture(name, architecture)
    writer = fixture.writer
    writer.add_context_length(128)
    writer.add_embedding_length(hidden)
    writer.add_block_count(1)
    writer.add_feed_forward_length(wide)
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(100000.0)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list([f"t{i}é" for i in range(vocabulary)])
    writer.add_token_types([3] + [1] * (vocabulary - 1))
    writer.add_token_merges(["a b", "ab c"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(2)
    writer.add_uint8("test.u8", 200)
    writer.add_int8("test.i8", -100)
    writer.add_uint16("test.u16", 60000)
    writer.add_int16("test.i16", -30000)
    writer.add_int32("test.i32", -2000000000)
    writer.add_uint64("test.u64", 2**63 + 1)
    writer.add_int64("test.i64", -(2**62))
    writer.add_float64("test.f64", 0.1)
    writer.add_bool("test.bool", True)
    writer.add_array("test.floats", [0.5, -1.5])
    permuted = architecture == "llama"
    layer = "model.layers.0."
    fixture.add("token_embd.weight", "model.embed_tokens.weight", make(vocabulary, hidden), "Q8_0")
    fixture.add("output_norm.weight", "model.norm.weight", make(hidden), "F32")
    fixture.add("blk.0.attn_norm.weight", layer + "input_layernorm.weight", make(hidden), "F32")
    fixture.add("blk.0.ffn_norm.weight", layer + "post_attention_layernorm.weight", make(hidden), "F32")
    for letter, rows, count, kind in (("q", hidden, heads, "Q4_1"), ("k", kv, kv_heads, "Q5_0"), ("v", kv, 0, "Q4_0")):
        count = count if permuted else 0
        fixture.add(f"blk.0.attn_{letter}.weight", f"{layer}self_attn.{letter}_proj.weight", make(rows, hidden), kind, count)
        if biases:
            fixture.add(f"blk.0.attn_{letter}.bias", f"{layer}self_attn.{letter}_proj.bias", make(rows), "F32", count)
    fixture.add("blk.0.attn_output.weight", layer + "self_attn.o_proj.weight", make(hidden, hidden), "Q5_1")
    fixture.add("blk.0.ffn_gate.weight", layer + "mlp.gate_proj.weight", make(wide, hidden), "F16")
    fixture.add("blk.0.ffn_up.weight", layer + "mlp.up_proj.weight", make(wide, hidden), "BF16")
    fixture.add("blk.0.ffn_down.weight", layer + "mlp.down_proj.weight", make(hidden, wide), "Q8_0")
    fixture.finish()


if __name__ == "__main__":
    torch.manual_seed(1)
    torch_files()
    generator = np.random.default_rng(1)
    gguf_model("llama", "llama", False, generator)
    gguf_model("qwen2", "qwen2", True, generator)
