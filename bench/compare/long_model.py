"""A random GPT-2 for long texts: 2 layers, 12 heads of 64, 1,024 words, 32,768 positions. Written without PyTorch."""

import array
import json
import random

LAYERS, HEADS, WIDTH, WORDS, POSITIONS = 2, 12, 768, 1024, 32768


def shapes():
    yield "wte.weight", [WORDS, WIDTH]
    yield "wpe.weight", [POSITIONS, WIDTH]
    for layer in range(LAYERS):
        for name, rows, columns in (("attn.c_attn", WIDTH, 3 * WIDTH), ("attn.c_proj", WIDTH, WIDTH),
                                    ("mlp.c_fc", WIDTH, 4 * WIDTH), ("mlp.c_proj", 4 * WIDTH, WIDTH)):
            yield f"h.{layer}.{name}.weight", [rows, columns]
            yield f"h.{layer}.{name}.bias", [columns]
        yield from norm(f"h.{layer}.ln_1")
        yield from norm(f"h.{layer}.ln_2")
    yield from norm("ln_f")


def norm(name):
    yield f"{name}.weight", [WIDTH]
    yield f"{name}.bias", [WIDTH]


def write_safetensors(path, tensors):
    """`tensors`: (name, type, shape, bytes)."""
    header, end = {}, 0
    for name, kind, shape, data in tensors:
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [end, end + len(data)]}
        end += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _, _, _, data in tensors:
            file.write(data)


def write(folder):
    chosen = random.Random(0)
    # Normal numbers come slowly; these are used again and again, from another place each time.
    numbers = array.array("f", (chosen.gauss(0, 0.02) for _ in range(100_003))).tobytes()

    def data(name, shape):
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        if "ln_" in name:
            return array.array("f", [1.0 if name.endswith("weight") else 0.0]) .tobytes() * count
        begin = 4 * chosen.randrange(100_003)
        return (numbers * (4 * count // len(numbers) + 2))[begin:begin + 4 * count]

    tensors = [(f"transformer.{name}", "F32", shape, data(name, shape)) for name, shape in shapes()]
    write_safetensors(folder / "model.safetensors", tensors)
    ids = array.array("q", (chosen.randrange(WORDS) for _ in range(4096)))
    write_safetensors(folder / "inputs-4096.safetensors", [("input_ids", "I64", [4096], ids.tobytes())])
    (folder / "config.json").write_text(json.dumps({
        "architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "activation_function": "gelu_new",
        "n_layer": LAYERS, "n_head": HEADS, "n_embd": WIDTH, "n_positions": POSITIONS, "vocab_size": WORDS,
        "layer_norm_epsilon": 1e-5, "bos_token_id": 0, "eos_token_id": 0, "tie_word_embeddings": True}, indent=2) + "\n")
