"""Writes a GGUF file of a Llama shape whose blocks are random: for measuring memory and speed, not for reading maps.

    python3 tools/make_random_gguf.py OUT.gguf                     1.1B weights (TinyLlama's shape) in Q4_K, 0.6 GB
    python3 tools/make_random_gguf.py OUT.gguf --type BF16         another type: Q4_K, Q4_1, F16, BF16, F32
    python3 tools/make_random_gguf.py OUT.gguf --layers 4 --width 512 --inner 1536 --heads 8

Standard library only. Its tokens are bytes, so that a text has as many tokens as bytes, and one before them.
"""

import argparse
import random
import struct

# ggml's number, numbers of a block, and its bytes.
TYPES = {"F32": (0, 1, 4), "F16": (1, 1, 2), "Q4_1": (3, 32, 20), "Q4_K": (12, 256, 144), "BF16": (30, 1, 2)}
U32, F32, BOOL, STRING, ARRAY, I32 = 4, 6, 7, 8, 9, 5
ALIGNMENT = 32


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def pair(key, kind, value):
    formats = {U32: "<I", F32: "<f", BOOL: "<?"}
    return text(key) + struct.pack("<I", kind) + (text(value) if kind == STRING else struct.pack(formats[kind], value))


def array(key, kind, values):
    items = b"".join(text(v) for v in values) if kind == STRING else struct.pack(f"<{len(values)}{'f' if kind == F32 else 'i'}", *values)
    return text(key) + struct.pack("<IIQ", ARRAY, kind, len(values)) + items


def metadata(options):
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    tokens += [f"token{i}" for i in range(len(tokens), options.words)]
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
    """(name, sizes innermost first, type)"""
    width, inner, key_width = options.width, options.inner, options.width // options.heads * options.key_heads
    yield "token_embd.weight", (width, options.words), options.type
    yield "output_norm.weight", (width,), "F32"
    for layer in range(options.layers):
        for name, sizes in (("attn_q", (width, width)), ("attn_k", (width, key_width)), ("attn_v", (width, key_width)),
                            ("attn_output", (width, width)), ("ffn_gate", (width, inner)), ("ffn_up", (width, inner)),
                            ("ffn_down", (inner, width))):
            yield f"blk.{layer}.{name}.weight", sizes, options.type
        for name in ("attn_norm", "ffn_norm"):
            yield f"blk.{layer}.{name}.weight", (width,), "F32"


def numbers(kind, count, generator):
    """Weights of about 1 / sqrt(2000)."""
    _, elements, size = TYPES[kind]
    blocks = count // elements
    if kind == "F32" and count < 1 << 17:  # a norm
        return struct.pack("<f", 1.0) * count
    pool = 512  # different blocks; repeated
    made = []
    for _ in range(min(blocks, pool)):
        bits = generator.randbytes(size)
        if kind == "Q4_K":
            bits = struct.pack("<ee", 0.0002, 0.0015) + bits[4:]
        elif kind == "Q4_1":
            bits = struct.pack("<ee", 0.005, -0.0375) + bits[4:]
        elif kind == "BF16":
            bits = struct.pack("<f", generator.gauss(0, 0.022))[2:]
        else:
            bits = struct.pack("<e" if kind == "F16" else "<f", generator.gauss(0, 0.022))
        made.append(bits)
    # Not the same in every row.
    whole = b"".join(made)
    shifted = whole + b"".join(made[7:] + made[:7]) + b"".join(made[101:] + made[:101])
    return (shifted * (blocks * size // len(shifted) + 1))[: blocks * size]


def main():
    parser = argparse.ArgumentParser(description="Writes a GGUF file of random weights.")
    parser.add_argument("out")
    parser.add_argument("--type", choices=TYPES, default="Q4_K")
    for name, value in (("layers", 22), ("width", 2048), ("inner", 5632), ("heads", 32), ("key-heads", 4), ("words", 32000)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    generator = random.Random(1)
    listed, place = [], 0
    for name, sizes, kind in tensors(options):
        count = sizes[0] * (sizes[1] if len(sizes) == 2 else 1)
        number, elements, size = TYPES[kind]
        listed.append((name, sizes, kind, count, place))
        place += (count // elements * size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    pair_count, pairs = metadata(options)
    head = b"GGUF" + struct.pack("<IQ", 3, len(listed)) + pair_count + pairs
    for name, sizes, kind, _, offset in listed:
        head += text(name) + struct.pack("<I", len(sizes)) + struct.pack(f"<{len(sizes)}Q", *sizes)
        head += struct.pack("<IQ", TYPES[kind][0], offset)
    with open(options.out, "wb") as file:
        file.write(head + b"\0" * (-len(head) % ALIGNMENT))
        for _, _, kind, count, _ in listed:
            data = numbers(kind, count, generator)
            file.write(data + b"\0" * (-len(data) % ALIGNMENT))


if __name__ == "__main__":
    main()
