"""Makes tests/data/search: what transformers' generate answers for a model that is a hash function.

    pip install -r tools/fixture-requirements.txt
    python tools/make_search_fixture.py

Made with torch 2.13.0, transformers 5.22.2. The logits of the next word are exact f32 numbers computed from the
last two words and the length of the text (`logits_after`, repeated in tests/unit/generate/hashed_words.h), so a
search written elsewhere must find the same ids. A case of answers.json: the prompt, `coarse` (few levels of logits,
so that most scores are equal), the keys of a generation_config.json, and each text with its score and the rows its
words were chosen from, best first. Greedy search has no scores.
"""

import json
import logging
import pathlib
import random
import warnings

import numpy
import torch
from transformers import GenerationConfig, GenerationMixin, PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutput

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "search"
VOCABULARY = 320  # torch.topk orders equal scores by another algorithm where fewer are to be sorted
ENDS = [2, 3, 5]
CASES = 500
WORTHLESS = -1e8  # what transformers fills up with has a score below


def mix(x):
    """A 32-bit integer hash of each element of a uint64 array that holds 32-bit numbers."""
    mask = numpy.uint64(0xFFFFFFFF)
    for factor in (0x7FEB352D, 0x846CA68B):
        x = ((x ^ (x >> numpy.uint64(16))) * numpy.uint64(factor)) & mask
    return x ^ (x >> numpy.uint64(15))


def logits_after(text, coarse):
    before = text[-2] if len(text) > 1 else 0
    seed = mix(numpy.array([before * 7919 + text[-1] * 104729 + len(text) * 15485863], dtype=numpy.uint64)
               & numpy.uint64(0xFFFFFFFF))[0]
    words = numpy.arange(VOCABULARY, dtype=numpy.uint64)
    bits = mix((seed + words * numpy.uint64(2654435761)) & numpy.uint64(0xFFFFFFFF)) >> numpy.uint64(22)
    if coarse:
        bits = (bits >> numpy.uint64(6)) << numpy.uint64(6)
    logits = bits.astype(numpy.float64) ** 2 / 65536  # 0 to 16, exact in f32
    logits[ENDS] += min(len(text), 12) * 0.25
    return torch.from_numpy(logits.astype(numpy.float32))


class HashedConfig(PreTrainedConfig):
    model_type = "hashed_words"
    vocab_size: int = VOCABULARY
    num_hidden_layers: int = 1
    hidden_size: int = 4
    num_attention_heads: int = 1


class HashedWords(PreTrainedModel, GenerationMixin):
    config_class = HashedConfig
    main_input_name = "input_ids"

    def __init__(self, config):
        super().__init__(config)
        self.unused = torch.nn.Parameter(torch.zeros(1))
        self.coarse = False
        self.post_init()

    def forward(self, input_ids, **_):
        rows = [logits_after(text, self.coarse) for text in input_ids.tolist()]
        return CausalLMOutput(logits=torch.stack(rows)[:, None])

    def prepare_inputs_for_generation(self, input_ids, **_):
        return {"input_ids": input_ids}


def draw_settings(chance):
    """One point of the grid; each rule is on in some of the cases."""
    prompt = [chance.randrange(6, VOCABULARY) for _ in range(chance.choice([1, 1, 1, 3, 5]))]
    keys = {"num_beams": chance.choice([1, 2, 3, 4, 4, 5]), "eos_token_id": chance.choice([2, [2], [2, 3], ENDS])}
    if chance.random() < 0.5:
        keys["max_new_tokens"] = chance.choice([1, 2, 3, 5, 8, 12, 16])
    elif chance.random() < 0.9:
        keys["max_length"] = len(prompt) + chance.choice([1, 4, 7, 10, 14])
    if keys["num_beams"] > 1:
        keys["length_penalty"] = chance.choice([0.0, 0.6, 1.0, 2.0, -1.0])
        keys["early_stopping"] = chance.choice([False, True, "never"])
    rules = {
        "pad_token_id": lambda: 0,
        "forced_bos_token_id": lambda: chance.choice([7, 11]),
        "forced_eos_token_id": lambda: chance.choice([2, 2, [2, 3]]),
        "bad_words_ids": lambda: [[chance.randrange(VOCABULARY) for _ in range(length)] for length in (1, 1, 1, 2)]
        + [[2], [6, 6]],
        "min_length": lambda: chance.choice([3, 6, 9]),
        "min_new_tokens": lambda: chance.choice([0, 2, 5]),
        "no_repeat_ngram_size": lambda: chance.choice([1, 2, 3]),
        "repetition_penalty": lambda: chance.choice([0.5, 1.2, 1.2, 2.0]),
        "suppress_tokens": lambda: chance.sample(range(6, VOCABULARY), 40),
        "begin_suppress_tokens": lambda: ENDS + chance.sample(range(12, VOCABULARY), 60),
    }
    for name, value in rules.items():
        if chance.random() < 0.2:
            keys[name] = value()
    if 1 in (keys.get("max_new_tokens"), keys.get("max_length", 0) - len(prompt)):
        # Of two forced words with score 0, transformers takes one by how its places for further beams are sorted.
        keys.pop("forced_eos_token_id", None)
    if isinstance(keys.get("suppress_tokens"), list) and keys.get("forced_bos_token_id") in keys["suppress_tokens"]:
        del keys["suppress_tokens"]
    return prompt, keys, chance.random() < 0.3


def answer(model, prompt, keys, coarse):
    model.coarse = coarse
    beams = keys["num_beams"]
    config = GenerationConfig(**keys, num_return_sequences=beams, use_cache=False, do_sample=False,
                              return_dict_in_generate=True, output_scores=True)
    with torch.no_grad():
        made = model.generate(torch.tensor([prompt]), generation_config=config)
    written = made.sequences[:, len(prompt):].tolist()
    if beams == 1:
        return [{"ids": written[0]}]
    texts = []
    for ids, score, rows in zip(written, made.sequences_scores.tolist(), made.beam_indices.tolist()):
        if score < WORTHLESS:
            continue
        length = sum(row >= 0 for row in rows)
        texts.append({"ids": ids[:length], "score": round(score, 7), "rows": rows[:length]})
    return texts


def main():
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    model = HashedWords(HashedConfig()).eval()
    model.generation_config = GenerationConfig()
    chance = random.Random(6)
    cases = []
    while len(cases) < CASES:
        prompt, keys, coarse = draw_settings(chance)
        cases.append({"prompt": prompt, "coarse": coarse, "generation_config": keys,
                      "texts": answer(model, prompt, keys, coarse)})
    OUT.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    (OUT / "answers.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
