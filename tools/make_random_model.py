"""Writes a model of a Llama shape whose weights are random: for measuring memory and speed, not for reading maps.

    python3 tools/make_random_model.py OUT.gguf                    1.1B weights (TinyLlama's shape) in Q4_K, 0.6 GB
    python3 tools/make_random_model.py OUT.gguf --type F16         another type: Q4_K, Q4_1, F16, BF16, F32
    python3 tools/make_random_model.py OUT.gguf --unpacked         the numbers that Q4_K stores, as F32
    python3 tools/make_random_model.py FOLDER --type BF16          a Hugging Face folder: F16, BF16, F32
    python3 tools/make_random_model.py OUT.gguf --layers 4 --width 512 --inner 1536 --heads 8

Standard library only. Its tokens are bytes: a text without spaces (which are three bytes) has as many tokens as bytes,
and one before them.
"""

import argparse
import json
import pathlib
import random
import struct

# ggml's number, numbers of a block, and its bytes.
TYPES = {"F32": (0, 1, 4), "F16": (1, 1, 2), "Q4_1": (3, 32, 20), "Q4_K": (12, 256, 144), "BF16": (30, 1, 2)}
U32, F32, BOOL, STRING, ARRAY, I32 = 4, 6, 7, 8, 9, 5
ALIGNMENT = 32
HUB_NAMES = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "attn_q": "self_attn.q_proj",
             "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
             "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
             "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"}


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def pair(key, kind, value):
    formats = {U32: "<I", F32: "<f", BOOL: "<?"}
    return text(key) + struct.pack("<I", kind) + (text(value) if kind == STRING else struct.pack(formats[kind], value))


def array(key, kind, values):
    items = b"".join(text(v) for v in values) if kind == STRING else struct.pack(f"<{len(values)}{'f' if kind == F32 else 'i'}", *values)
    return text(key) + struct.pack("<IIQ", ARRAY, kind, len(values)) + items


def tokens_of(options):
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    return tokens + [f"token{i}" for i in range(len(tokens), options.words)]


def metadata(options):
    tokens = tokens_of(options)
    kinds = [2, 3, 3] + [6] * 256 + [1] * (options.words - 259)
    pairs = [pair("general.architecture", STRING, "llama"), pair("llama.context_length", U32, 2048),
             pair("llama.embedding_length", U32, options.width), pair("llama.block_count", U32, options.layers),
             pair("llama.feed_forward_length", U32, options.inner), pair("llama.attention.head_count", U32, options.heads),
             pair("llama.attention.head_count_kv", U32, options.key_heads),
             pair("llama.attention.layer_norm_rms_epsilon", F32, 1e-5), pair("tokenizer.ggml.model", STRING, "llama"),
             array("tokenizer.ggml.tokens", STRING, tokens), array("tokenizer.ggml.scores", F32, [0.0] * len(tokens)),
             array("tokenizer.ggml.token_type", I32, kinds), pair("tokenizer.ggml.bos_token_id", U32, 1),
             pair("tokenizer.ggml.eos_token_id", U32, 2), pair("tokenizer.ggml.add_space_prefix", BOOL, False)]
    return struct.pack("<Q", len(pairs)), b"".join(pairs)


def tensors(options):
    """(name, sizes innermost first, type as it is written)"""
    kind = "F32" if options.unpacked else options.type
    width, inner, key_width = options.width, options.inner, options.width // options.heads * options.key_heads
    yield "token_embd.weight", (width, options.words), kind
    yield "output_norm.weight", (width,), "F32"
    for layer in range(options.layers):
        for name, sizes in (("attn_q", (width, width)), ("attn_k", (width, key_width)), ("attn_v", (width, key_width)),
                            ("attn_output", (width, width)), ("ffn_gate", (width, inner)), ("ffn_up", (width, inner)),
                            ("ffn_down", (inner, width))):
            yield f"blk.{layer}.{name}.weight", sizes, kind
        for name in ("attn_norm", "ffn_norm"):
            yield f"blk.{layer}.{name}.weight", (width,), "F32"


def unpacked(kind, bits):
    """The numbers of a block."""
    if kind in ("F32", "F16"):
        return struct.unpack("<f" if kind == "F32" else "<e", bits)
    if kind == "BF16":
        return struct.unpack("<f", b"\0\0" + bits)
    (scale, least), rest = struct.unpack("<ee", bits[:4]), bits[4:]
    if kind == "Q4_1":
        return [scale * (byte >> shift & 15) + least for shift in (0, 4) for byte in rest]
    found = []
    for group in range(8):
        low = rest[group] & 63 if group < 4 else rest[group + 4] & 15 | rest[group - 4] >> 6 << 4
        minimum = rest[group + 4] & 63 if group < 4 else rest[group + 4] >> 4 | rest[group] >> 6 << 4
        quants = rest[12 + group // 2 * 32 : 44 + group // 2 * 32]
        found += [scale * low * (byte >> group % 2 * 4 & 15) - least * minimum for byte in quants]
    return found


def random_block(kind, generator):
    """Weights of about 1 / sqrt(2000)."""
    bits = generator.randbytes(TYPES[kind][2])
    if kind == "Q4_K":
        return struct.pack("<ee", 0.0002, 0.0015) + bits[4:]
    if kind == "Q4_1":
        return struct.pack("<ee", 0.005, -0.0375) + bits[4:]
    if kind == "BF16":
        return struct.pack("<f", generator.gauss(0, 0.022))[2:]
    return struct.pack("<e" if kind == "F16" else "<f", generator.gauss(0, 0.022))


def count_of(sizes):
    return sizes[0] * (sizes[1] if len(sizes) == 2 else 1)


def numbers(sizes, generator, options):
    """Those of a tensor as they are written: a pool of blocks, again and again, but not the same in every row."""
    if len(sizes) == 1:  # a norm
        return struct.pack("<f", 1.0) * sizes[0]
    kind, pool = options.type, 512
    blocks = count_of(sizes) // TYPES[kind][1]
    made = [random_block(kind, generator) for _ in range(min(blocks, pool))]
    if options.unpacked:
        made = [struct.pack(f"<{len(found)}f", *found) for found in (unpacked(kind, bits) for bits in made)]
    whole = b"".join(made)
    shifted = whole + b"".join(made[7:] + made[:7]) + b"".join(made[101:] + made[:101])
    return (shifted * (blocks * len(made[0]) // len(shifted) + 1))[: blocks * len(made[0])]


def write_gguf(path, options, generator):
    listed, place = [], 0
    for name, sizes, kind in tensors(options):
        _, elements, size = TYPES[kind]
        listed.append((name, sizes, kind, place))
        place += (count_of(sizes) // elements * size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    pair_count, pairs = metadata(options)
    head = b"GGUF" + struct.pack("<IQ", 3, len(listed)) + pair_count + pairs
    for name, sizes, kind, offset in listed:
        head += text(name) + struct.pack("<I", len(sizes)) + struct.pack(f"<{len(sizes)}Q", *sizes)
        head += struct.pack("<IQ", TYPES[kind][0], offset)
    with open(path, "wb") as file:
        file.write(head + b"\0" * (-len(head) % ALIGNMENT))
        for _, sizes, _, _ in listed:
            data = numbers(sizes, generator, options)
            file.write(data + b"\0" * (-len(data) % ALIGNMENT))


def hub_name(name):
    *layer, part, kind = name.split(".")
    return ".".join((["model.layers", layer[1]] if layer else []) + [HUB_NAMES[part], kind])


def write_folder(folder, options, generator):
    folder.mkdir(parents=True, exist_ok=True)
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": options.width,
              "intermediate_size": options.inner, "num_hidden_layers": options.layers, "num_attention_heads": options.heads,
              "num_key_value_heads": options.key_heads, "vocab_size": options.words, "max_position_embeddings": 2048,
              "rms_norm_eps": 1e-5, "tie_word_embeddings": True, "hidden_act": "silu"}
    words = tokens_of(options)
    added = [{"id": i, "content": words[i], "special": True, "normalized": False} for i in range(3)]
    tokenizer = {"added_tokens": added, "model": {"type": "BPE", "byte_fallback": True, "unk_token": "<unk>", "merges": [],
                                                  "vocab": {word: i for i, word in enumerate(words)}},
                 "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"},
                 "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                                                                             {"Sequence": {"id": "A", "type_id": 0}}],
                                    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                                    "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}}}
    for name, value in (("config.json", config), ("tokenizer.json", tokenizer)):
        (folder / name).write_text(json.dumps(value))
    listed, header, place = [], {}, 0
    for name, sizes, kind in tensors(options):
        listed.append(sizes)
        end = place + count_of(sizes) * TYPES[kind][2]
        header[hub_name(name)] = {"dtype": kind, "shape": sizes[::-1], "data_offsets": [place, end]}
        place = end
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head)
        for sizes in listed:
            file.write(numbers(sizes, generator, options))


def main():
    parser = argparse.ArgumentParser(description="Writes a model of random weights.")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--type", choices=TYPES, default="Q4_K")
    parser.add_argument("--unpacked", action="store_true", help="write the same numbers as F32")
    for name, value in (("layers", 22), ("width", 2048), ("inner", 5632), ("heads", 32), ("key-heads", 4), ("words", 32000)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    generator = random.Random(1)
    if options.out.suffix == ".gguf":
        write_gguf(options.out, options, generator)
    elif TYPES[options.type][1] > 1 and not options.unpacked:
        parser.error(f"a folder holds F16, BF16 or F32, no blocks of {options.type}")
    else:
        write_folder(options.out, options, generator)


if __name__ == "__main__":
    main()
