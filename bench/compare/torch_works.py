"""What PyTorch is timed with. Each function prepares a work and returns what does it once."""

import json
import pathlib
import time

import torch
import transformers
from safetensors.torch import load_file

import torch_checkpoints
import torch_stats

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
# What a forward pass of these must be told to do as much as fovea does, and no more.
EXTRA = {"gpt2": {"use_cache": False}, "vit": {"interpolate_pos_encoding": True}}
LONG_ENOUGH_S = 0.1  # a work that is shorter is done several times


def timed(work):
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def read_inputs(file, dtype=torch.float32):
    inputs = {name: tensor[None] for name, tensor in load_file(file).items()}
    return {name: tensor.to(dtype) if tensor.is_floating_point() else tensor for name, tensor in inputs.items()}


def forward(folder, file, dtype, kind):
    """`kind`: plain is SDPA without maps, maps is eager with all of them."""
    config = transformers.AutoConfig.from_pretrained(folder)
    cls = transformers.DetrForObjectDetection if config.model_type == "detr" else transformers.AutoModel
    # SDPA is chosen without being asked for; asked for, a trunk of convolutions refuses it.
    how = {"attn_implementation": "eager"} if kind == "maps" else {}
    model = cls.from_pretrained(folder, dtype=DTYPES[dtype], **how).eval()
    assert model.config._attn_implementation == ("eager" if kind == "maps" else "sdpa")
    inputs = read_inputs(file, DTYPES[dtype])
    extra = EXTRA.get(config.model_type, {})

    def turn():
        seconds, out = timed(lambda: model(**inputs, output_attentions=kind == "maps", **extra))
        return {"seconds": seconds, "answer": out.last_hidden_state[0, -1, :8].float().tolist()}

    return turn


def next_word(folder, file):
    """What a causal model would write next: the plain forward pass beside relevancy."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    inputs = read_inputs(file)
    return lambda: {"seconds": timed(lambda: model(**inputs, use_cache=False, logits_to_keep=1))[0]}


def hashed_heads(heads, tokens, dim, seed):
    """As in bench/turns/kernel_turns.cc."""
    index = torch.arange(heads * tokens * dim) + seed * 100000007
    number = index * 2654435761 & 0xFFFFFFFF
    number = (number ^ number >> 16) * 0x45D9F3B & 0xFFFFFFFF
    number = number ^ number >> 16
    return ((number.double() / 4294967296 - 0.5) * 12**0.5).float().view(1, heads, tokens, dim)


def attention(tokens, heads, dim, dtype):
    shape = int(heads), int(tokens), int(dim)
    q, k, v = (hashed_heads(*shape, seed).to(DTYPES[dtype]) for seed in (1, 2, 3))
    work = lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v)

    def turn():
        seconds, out = timed(work)
        if seconds < LONG_ENOUGH_S:
            count = int(LONG_ENOUGH_S / seconds) + 1
            seconds = timed(lambda: [work() for _ in range(count)])[0] / count
        return {"seconds": seconds, "answer": out.flatten()[-8:].float().tolist()}

    return turn


def generate(folder, file, tokens):
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    inputs = read_inputs(file)
    inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
    before = inputs["input_ids"].shape[1]

    def turn():
        seconds, out = timed(lambda: model.generate(**inputs, do_sample=False, min_new_tokens=int(tokens),
                                                    max_new_tokens=int(tokens), pad_token_id=0))
        written = out[0, before:].tolist()
        return {"seconds": seconds, "tokens": len(written), "answer": written}

    return turn


def translate(folder, file):
    """Sentence by sentence, as ids: fovea's time has its tokenizer's in it, this has not."""
    model = transformers.MarianMTModel.from_pretrained(folder, dtype=torch.float32).eval()
    sentences = [torch.tensor([ids]) for ids in json.loads(pathlib.Path(file).read_text())]

    def work():
        return [model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), num_beams=1, do_sample=False).shape[1] - 1
                for ids in sentences]

    def turn():
        seconds, counts = timed(work)
        return {"seconds": seconds, "tokens": sum(counts), "answer": counts}

    return turn


def stats(folder, file, batch):
    counter = torch_stats.HeadNumbers(folder, pathlib.Path(file).read_text().splitlines())

    def turn():
        seconds, numbers = timed(lambda: counter.numbers(int(batch)))
        return {"seconds": seconds, "answer": numbers}

    return turn


def write(name, folder):
    return lambda: torch_checkpoints.write(name, pathlib.Path(folder)) or {}


WORKS = {work.__name__: work for work in (forward, next_word, attention, generate, translate, stats, write)}
